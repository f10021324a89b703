"""The Python interface besides runs: optima, suggestions, user data, and measures computed later."""

import re
import shlex
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aucbench.api import study_of, write_board
from aucbench.contracts.validation import Family
from aucbench.errors import ParameterError
from aucbench.humanize import counted
from aucbench.registry import catalog

if TYPE_CHECKING:
    from aucbench.data.description import DataDescription
    from aucbench.reports.suggestion import Suggestion
    from aucbench.studies.archives.archive import Archive
    from aucbench.studies.entry_and_keys import Entry
    from aucbench.studies.execution.rescore import Rescored
    from aucbench.studies.result import OptimumResult
    from aucbench.studies.store import Store

__all__ = ["check", "describe_data", "optimum", "rescore", "suggest"]

REFERENCE = ("reference_defaults", "reference")  # experiments: the reference study under each ruleset


def optimum(*overrides: str) -> "OptimumResult":
    """Find the certified minimum of the objective of a method, on the training rows of its first run.

    Parameters
    ----------
    *overrides : str
        As for `run`: ``"algo=psam"``, ``"dataset=a9a"``, ``"algo.gamma=1e-4"``. Nothing is stored. The search
        ends after ``"limits.optimum=SECONDS"`` of processor time. A tuning is refused, because the objective
        depends on the hyperparameters.

    Returns
    -------
    OptimumResult
        With `weights` and a `record`: the objective in words, its `value`, the certified `gap` to the
        minimum, the `solver`, its `seconds`, and the AUC of the weights on training and test rows.

    Raises
    ------
    AucbenchError
        The method declares no objective, no method minimises it, or the minimum cannot be certified in time.

    Examples
    --------
    >>> import aucbench
    >>> record = aucbench.optimum("algo=spam", "dataset=breast_cancer").record
    >>> record.relative_gap <= 1e-8
    True
    """
    from aucbench.studies.execution.optimum import entry_optimum

    entry = entry_of((*overrides, "tracking=none"))
    if (tuning := entry.tuning.choice.name) != "none":
        raise ParameterError(
            f"tuning={tuning}: the objective depends on the hyperparameters, and a tuning may choose others "
            f"for each run; give those that it chose, as in algo.NAME=VALUE."
        )
    if not entry.limits.optimum:
        raise ParameterError("limits.optimum=0 asks for no search; expected seconds of processor time.")
    return entry_optimum(catalog(), entry)


def describe_data(path: str, *overrides: str) -> "DataDescription":
    """Read a user's file and describe its columns; missing cells of a table are counted, not refused.

    The ending of the file determines how it is read, unless overrides of `run` do, such as ``dataset=npz``
    or ``dataset.drop=[id]``. Raises an `AucbenchError` that names the override needed to read the file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "people.csv"
    >>> _ = path.write_text("age,job,sick\\n30,cook,no\\n41,nurse,yes\\n52,cook,no\\n")
    >>> [(column.name, column.kind) for column in describe_data(str(path)).columns]
    [('age', 'number'), ('job', 'categories'), ('sick', 'label')]
    """
    from aucbench import data
    from aucbench.config.words import check_overrides

    check_overrides(overrides)
    kind, *options = _file_words(path, overrides)
    names = {item.partition("=")[0] for item in overrides}
    is_table = kind.partition("=")[2] in ("csv", "parquet", "arff")
    defaults = ["dataset.missing=median"] if is_table and "dataset.missing" not in names else []
    return data.describe(entry_of((kind, *options, *defaults)).dataset.instance)


def entry_of(overrides: Sequence[str], trust: Collection[str] | None = None) -> "Entry":
    """The entry of the overrides of one run.

    `trust` are the modules from which import paths in recorded settings are imported; None, for settings of
    the user, trusts all modules. `ParameterError` if the overrides give several runs, as an experiment may.
    """
    from aucbench.config.build import build_study
    from aucbench.config.words import Request

    entries = build_study(catalog(), Request(tuple(overrides)), trust=trust).entries
    if len(entries) != 1:
        raise ParameterError(f"Expected overrides of one method and data set, got those of {len(entries)}.")
    return entries[0]


def run_command(path: str, *overrides: str) -> str:
    """The command that trains the default method on a user's file, for a shell."""
    return shlex.join(["aucbench", *_file_words(path, overrides)])


def _file_words(path: str, overrides: Sequence[str]) -> tuple[str, ...]:
    """Overrides that read a user's file; without a reader among them, its ending decides."""
    from aucbench.data.readers.formats import reader_of

    kind = next((item for item in overrides if item.startswith("dataset=")), f"dataset={reader_of(path)}")
    return (kind, f"dataset.path={path}", *(item for item in overrides if item != kind))


def dataset_words(dataset: str, *overrides: str) -> tuple[str, ...]:
    """The overrides of a run on a data set by its name, or on a user's file."""
    if dataset not in catalog().plugins[Family.datasets] and Path(dataset).is_file():
        return _file_words(dataset, overrides)
    return (f"dataset={dataset}", *overrides)


def suggest(
    dataset: str,
    *overrides: str,
    seconds: float | None = None,
    archive: str | Path | None = None,
    count: int = 3,
    linear: bool = False,
) -> "Suggestion":
    """Suggest methods and settings for a data set, based on the best results on similar data sets.

    Parameters
    ----------
    dataset : str
        Name of a data set, or a file as in `describe_data`.
    *overrides : str
        Overrides of `run` that decide the rows: ``"dataset.target=outcome"``, ``"max_train_rows=5000"``.
    seconds : float, optional
        Largest expected time of a training, in seconds.
    archive : str or Path, optional
        Results of a study under ``ruleset=trials``; by default the results shipped with aucbench.
    count : int
        Largest number of methods.
    linear : bool
        Whether to suggest linear models only.

    Returns
    -------
    Suggestion
        With the `facts` of the data set and `methods`, the best first, each with its `parameters`, its mean
        `gain` over balanced logistic regression and the `evidence`; without methods, it has a `reason`.

    Raises
    ------
    AucbenchError
        The data cannot be read, there is no archive, it is damaged, or an override chooses a method.
    """
    from aucbench.config.words import check_overrides
    from aucbench.reports.suggestion import suggest_methods
    from aucbench.studies.archives.archive_file import read, shipped
    from aucbench.studies.archives.tried_settings import tried_settings
    from aucbench.studies.execution.prepared_data import facts_of

    if count < 1 or (seconds is not None and not seconds > 0):
        raise ParameterError(f"count must be >= 1 and seconds > 0, got count={count} and seconds={seconds}.")
    check_overrides(overrides)
    options = dataset_words(dataset, *overrides)
    is_named = options[0] == f"dataset={dataset}"
    taken = re.compile(rf"\+*((algo|tuning)\b{'|dataset=' * is_named})")
    if extra := [item for item in overrides if taken.match(item)]:
        raise ParameterError(
            f"The data set is {dataset}, and methods and settings are suggested: leave out {' '.join(extra)}."
        )
    if is_named and ("/" in dataset or Path(dataset).suffix):
        raise ParameterError(f"{dataset}: there is no such file, and no data set of that name.")
    path = archive or shipped()
    if path is None:
        raise ParameterError("This installation has no archive of trials: give one (--with FILE).")
    entry, tried = entry_of(options), tried_settings(read(path)[1])
    return suggest_methods(tried, facts_of(entry), seconds, count, linear)


def rescore(
    store: "Store",
    study: str,
    metrics: Sequence[str],
    parameters: Sequence[str] = (),
    replace_others: bool = False,
    trust: Collection[str] = (),
) -> "Rescored":
    """Compute measures of the finished cells of a study from stored weights or scores, without training.

    The leaderboard in the store is written anew, and `aucbench sync` logs the entries again.

    Parameters
    ----------
    store : Store
        The store of the study.
    study : str
        Name of the study.
    metrics : sequence of str
        Names of measures, such as ``["ap", "pauc"]``.
    parameters : sequence of str
        Overrides of parameters of the measures, such as ``"pauc.max_fpr=0.05"``.
    replace_others : bool
        Whether a measure that a cell has with other parameters is replaced. If only the final weights or
        scores are stored, only the end of its curve then remains.

    Returns
    -------
    Rescored
        The number of measured cells, and the cells that could not be measured.

    Raises
    ------
    ParameterError
        The store has no such study, or a measure or a parameter is unknown, out of its range or not used.
    """
    from aucbench.config.words import check_overrides
    from aucbench.studies.execution.rescore import rescore_study
    from aucbench.studies.rerun_command import words

    store.plans(study)
    check_overrides(parameters)
    for item in parameters:
        if item.partition(".")[0] not in metrics:
            raise ParameterError(
                f"'{item}' is no parameter of the measures {', '.join(metrics)}, such as pauc.max_fpr=0.05."
            )
    options = [f"metrics=[{','.join(metrics)}]", *parameters]
    measures = entry_of(options).measures
    if not measures:
        raise ParameterError(f"metrics: expected measures beside the AUC, such as ap, got {options[0]}.")
    result = rescore_study(
        store,
        study,
        measures,
        lambda planned: entry_of([*words(planned.described, list(planned.cells.values())), *options], trust),
        replace_others,
    )
    if store.board_folder(study).is_dir():
        write_board(store, study)
    return result


def check(archive: "Archive", method: str | None = None) -> list[str]:
    """The gaps of an archive for a public board, described in sentences.

    The gaps are missing and failed cells, entries without a ruleset, settings that differ from the installed
    ruleset, and entries of the reference study that the method lacks: its data sets, splits and
    rows, under each of its rulesets. Raises an `AucbenchError` if the method is not installed.
    """
    from aucbench.config.words import Request
    from aucbench.studies.archives.gaps import gaps_of, lacking

    gaps = gaps_of(archive, entry_of)
    if method:
        options = (f"algo={method}", "tracking=none", "store.path=null")
        studies = [study_of(Request((f"experiment={name}", *options))) for name in REFERENCE]
        gaps += lacking(archive, [entry for study in studies for entry in study.entries])
        if archive.others:
            gaps.append(
                f"{counted(len(archive.others), 'cell')} with replications that the sender wrote: send the "
                f"runs of each machine in an archive of their own, for those who publish them to merge"
            )
    return gaps
