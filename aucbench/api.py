"""The Python interface to runs: one entry, a study, its plan and its leaderboard."""

import shlex
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aucbench.errors import CellError, ParameterError
from aucbench.humanize import without_secrets
from aucbench.registry import Catalog, catalog
from aucbench.studies.result import Result
from aucbench.studies.study import Observer, Study

if TYPE_CHECKING:
    import pandas as pd

    from aucbench.config.words import Request
    from aucbench.data.readers.blocks import ColumnRecord
    from aucbench.reports.report import Report
    from aucbench.studies.execution.execute import PlannedStudy
    from aucbench.studies.result import FinishedEntry, StudyResult
    from aucbench.studies.store import Store

__all__ = ["Catalog", "catalog", "leaderboard", "plan_study", "run", "run_study"]


def run(*overrides: str, X: Any = None, y: Any = None) -> Result:
    """Run an entry like the command line, but print nothing.

    Parameters
    ----------
    *overrides : str
        Hydra overrides, such as ``"algo=psam"``, ``"dataset=a9a"``, ``"budget.epochs=5"``. Nothing is
        written to MLflow without the override ``"tracking=mlflow"``, and finished cells are neither looked
        up nor stored without ``"store.path=FOLDER"``.
    X : (n, d) array, scipy sparse matrix or pandas DataFrame, optional
        Rows that, with the labels `y`, replace ``"dataset=NAME"``. Columns of a data frame, including texts
        and categories, are read like columns of a table. The cache keeps a copy, named by its digest, which
        ``aucbench data`` shows and removes; the record has the digest of the rows (`data.sha256`).
    y : (n,) array, optional
        Labels of two classes, or of more with ``"dataset.positive=LABEL"`` or ``"dataset.grouping=rarest"``.

    Returns
    -------
    Result
        With `auc`, `curve`, `weights`, `scores`, `y_test` and `record`.

    Raises
    ------
    AucbenchError
        The errors that the command line prints as one sentence.

    Examples
    --------
    >>> import aucbench
    >>> result = aucbench.run("algo=ls_svm", "dataset=breast_cancer")
    >>> result.auc > 0.95
    True
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> aucbench.run("algo=ls_svm", "dataset.positive=0", X=X, y=y).auc > 0.95
    True
    """
    from aucbench.config.words import check_overrides

    check_overrides(overrides)
    if X is not None or y is not None:
        overrides = (*_array_words(overrides, X, y), *overrides)
    keys = [override.split("=")[0] for override in overrides]
    no_tracking = [] if any(key.startswith("tracking") for key in keys) else ["tracking=none"]
    no_store = [] if "store.path" in keys else ["store.path=null"]
    observer = _Single()
    result = run_study([*overrides, *no_tracking, *no_store], observer)
    if result.failures:
        failure = result.failures[0]
        raise CellError(f"{failure.reason} (seed {failure.seed}): {failure.message}")
    if result.left:
        raise CellError(f"stop_after left {result.left[0][1]} cells that were not run; allow more seconds.")
    if result.untracked:
        raise result.untracked
    from aucbench.studies.execution.worker import labels_of, scores_of

    executed = observer.entry
    assert executed is not None
    assert executed.entry is not None  # an executed cell has its entry
    return Result(executed.cells, partial(scores_of, executed.entry), partial(labels_of, executed.entry))


def _array_words(overrides: Sequence[str], X: Any, y: Any) -> list[str]:
    from aucbench.data.files.kept_files import array_words

    if X is None or y is None:
        raise ParameterError("X and y go together: the rows and their labels.")
    for override in overrides:
        if override.partition("=")[0].lstrip("+") in ("dataset", "dataset.path"):
            raise ParameterError(f"{override}: X and y are the data; leave it out, or leave them out.")
    return array_words(X, y)


def run_study(words: Sequence[str], observer: Observer | None = None) -> "StudyResult":
    """Run a study (one entry, a sweep or an experiment) like the command line, but print nothing.

    Finished cells are kept in the store and logged to MLflow as ``aucbench run`` does; a study with a name
    gets its leaderboard.

    Parameters
    ----------
    words : sequence of str
        Overrides and flags, such as ``["--multirun", "algo=solam,psam", "dataset=a9a", "runs=5"]`` or
        ``["+experiment=smoke", "tracking=none"]``.
    observer : Observer, optional
        Receives the progress, and every finished entry.

    Returns
    -------
    StudyResult
        The numbers of all cells and of cells that were run; failures, refusals and logging errors.

    Raises
    ------
    AucbenchError
        The words are invalid, or describe one entry that cannot be run.

    Examples
    --------
    >>> from aucbench.api import run_study
    >>> words = ["-m", "algo=ls_svm,solam", "tracking=none", "store.path=null"]
    >>> run_study(words).finished
    2
    """
    request = _request(words)
    if request.dry_run:
        raise ParameterError("--dry-run: aucbench.plan_study plans a study without running it.")
    study, observer = study_of(request, words), observer or Observer()
    from aucbench.studies.execution.execute import execute_study, opened_store

    with opened_store(study.store_path) as store:
        listeners, tracker = [], None
        if study.tracking_uri:
            from aucbench.tracking import Tracker

            tracker = Tracker(study.tracking_uri, store if study.store_path else None, observer)
            listeners.append(tracker.entry_finished)
        observer.study_begun(study)
        result = execute_study(study, store, observer, listeners)
        if result.refused and not study.swept:
            raise result.refused[0].error
        is_written = bool(study.name) and store.board_folder(str(study.name)).is_dir()
        has_cells = result.finished or ((result.stored or result.failures) and not is_written)
        if study.name and study.swept and has_cells:
            observer.stage("writing the leaderboard")
            report, page = write_board(store, study.name)
            result.page = page if study.store_path else None
            if tracker is not None:
                tracker.board_written(study.name, page, _standings(report))
        result.untracked = tracker.trouble if tracker else None
        observer.study_finished(result)
        return result


def plan_study(words: Sequence[str], observer: Observer | None = None) -> "PlannedStudy":
    """Plan the study that `run_study` would run, and estimate its cost (``--dry-run``).

    Parameters
    ----------
    words : sequence of str
        As for `run_study`.
    observer : Observer, optional
        Receives the plan, and each entry before its estimate (`started`).

    Returns
    -------
    PlannedStudy
        The plan, with its study, and an estimate for each of its entries.

    Raises
    ------
    AucbenchError
        The words are invalid, or describe one entry that cannot be built.
    """
    from aucbench.pool import start_fork_server

    start_fork_server()  # methods are probed in its processes; it imports while the study is composed
    from aucbench.studies.execution.execute import estimate_study, opened_store

    study = study_of(_request(words), words)
    with opened_store(study.store_path) as store:
        return estimate_study(study, store, observer or Observer())


class LastEntry(Observer):
    """Stores the entry that was finished last."""

    entry: "FinishedEntry | None" = None

    def entry_finished(self, executed: "FinishedEntry") -> None:
        self.entry = executed


class _Single(LastEntry):
    """Refuses a sweep, and warns of columns that were left out."""

    def study_begun(self, study: Study) -> None:
        if study.swept:
            raise ParameterError(
                "aucbench.run runs one entry; aucbench.run_study runs a sweep or an experiment."
            )

    def data_read(self, title: str, columns: "Sequence[ColumnRecord]") -> None:
        from aucbench.data.readers.blocks import columns_in_words

        for line in columns_in_words(columns)[1:]:
            warnings.warn(f"{title}: {line}", stacklevel=2)


def _request(words: Sequence[str]) -> "Request":
    from aucbench.config.words import parse

    request = parse(words)
    if request.help or request.cfg or request.completion:
        raise ParameterError("--help, --cfg and --shell-completion belong to the command line: aucbench run.")
    return request


def study_of(request: "Request", words: Sequence[str] = ()) -> Study:
    """Build the study; raise on invalid overrides before planning."""
    from aucbench.config.build import build_study

    command = without_secrets(shlex.join(["aucbench", *words])) if words else ""
    study = build_study(catalog(), request, command)
    if study.tracking_uri:
        from aucbench import tracking

        tracking.check_address(study.tracking_uri)
    if study.running.reference:
        from aucbench.reports.cell_frame import check_reference

        check_reference(study.running.reference.partition(" (")[0])
    return study


def write_board(store: "Store", study: str) -> "tuple[Report, Path]":
    """Write the leaderboard of a study into its folder of the store; returns the report and its page."""
    from aucbench.reports.build import build
    from aucbench.reports.cells import gathered
    from aucbench.reports.views.export import PAGE, write

    report, folder = build(**gathered([store], study)), store.board_folder(study)
    write(report, folder)
    return report, folder / PAGE


def _standings(report: "Report") -> "pd.DataFrame":
    """The rank of each method on each data set, as shown in MLflow's runs."""
    keys = ["setting", "data_set", "method"]
    gains = report.gains[[*keys, "gain", "low", "high", "verdict"]]
    table = report.results[[*keys, "algorithm", "mean"]].merge(gains, how="left", on=keys)
    table["rank"] = table.groupby(keys[:2])["mean"].rank(ascending=False, method="min")
    names = {"low": "gain_low", "high": "gain_high"}
    return table.assign(verdict=table["verdict"].replace("", "none").fillna("none")).rename(columns=names)


def leaderboard(
    source: str | Path = "aucbench-store",
    study: str | None = None,
    *,
    reference: str | None = None,
    by: str = "auc",
    rope: float | None = None,
    model_class: str | None = None,
) -> "Report":
    """The data frames of a leaderboard: cells, curves, data sets, methods, results, gains, verdicts, slopes.

    Parameters
    ----------
    source : str or Path
        The folder of a store, or an archive of results (``.zip``).
    study : str, optional
        Name of one study. If left out, everything in the source is used.
    reference : str, optional
        Name of the method with which others are compared: by default the reference of the plan, else
        ``log_reg_cv`` if methods are tuned and ``log_reg_cv`` was run, else ``log_reg``.
    by : str
        Name of the measure to compare.
    rope : float, optional
        The largest difference in the measure that does not matter in practice: by default the rope of the
        plan, else .005 for the AUC; other measures have verdicts only with a rope.
    model_class : str, optional
        Class of the compared methods (linear, kernel, trees, network or other), besides the reference.

    Returns
    -------
    Report
        `cells`, `curves`, `data_sets`, `methods`, `results`, `gains`, `verdicts` and `slopes` are pandas data
        frames.

    Raises
    ------
    ParameterError
        The source has no such study or measure, or the reference is unknown.

    Examples
    --------
    >>> import aucbench
    >>> archive = "docs/results/reference_defaults.zip"
    >>> report = aucbench.leaderboard(archive, "reference_defaults")  # doctest: +SKIP
    >>> over_all = report.verdicts.query("group == 'all'")  # doctest: +SKIP
    >>> over_all.loc[over_all.verdict == "equivalent", ["method", "gain", "time_ratio"]]  # doctest: +SKIP
    """
    from aucbench.reports.build import build
    from aucbench.reports.cells import gathered
    from aucbench.studies.archives.archive_file import read
    from aucbench.studies.store import Store

    path = Path(source)
    if not path.exists():
        raise ParameterError(f"There is neither a store nor an archive at {path}.")
    results = read(path)[1] if path.is_file() else Store(path)
    contents = gathered([results], study)
    return build(**contents, reference=reference, by=by, rope=rope, model_class=model_class)
