"""The Python interface beside runs: optima, suggestions, user data, and measures computed later."""

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
        As for `run`: ``"algo=psam"``, ``"dataset=a9a"``, ``"algo.gamma=1e-4"``. Nothing is kept in a store.
        The search ends after ``"limits.optimum=SECONDS"`` of processor time. A tuning is refused, for the
        objective depends on the hyperparameters.

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
    >>> found = aucbench.optimum("algo=spam", "dataset=breast_cancer").record
    >>> found.relative_gap <= 1e-8
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
    """Read a file of one's own and tell how; missing cells of a table are counted and not refused.

    How it is read follows from its ending, unless an override of `run` says, such as ``dataset=npz`` or
    ``dataset.drop=[id]``. Raises an `AucbenchError` that names the override without which it cannot be read.

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
    kind, *rest = _file_words(path, overrides)
    given = {word.partition("=")[0] for word in overrides}
    is_table = kind.partition("=")[2] in ("csv", "parquet", "arff")
    counted = ["dataset.missing=median"] if is_table and "dataset.missing" not in given else []
    return data.describe(entry_of((kind, *rest, *counted)).dataset.instance)


def entry_of(overrides: Sequence[str], trust: Collection[str] | None = None) -> "Entry":
    """The entry of the overrides of one run.

    `trust` are the modules from which import paths in recorded settings are imported; None, for a user's own
    settings, are all. `ParameterError` if they give several runs, as those of an experiment may.
    """
    from aucbench.config.build import build_study
    from aucbench.config.words import Request

    entries = build_study(catalog(), Request(tuple(overrides)), trust=trust).entries
    if len(entries) != 1:
        raise ParameterError(f"Expected overrides of one method and data set, got those of {len(entries)}.")
    return entries[0]


def run_command(path: str, *overrides: str) -> str:
    """The command that trains the default method on a file of one's own, for a shell."""
    return shlex.join(["aucbench", *_file_words(path, overrides)])


def _file_words(path: str, overrides: Sequence[str]) -> tuple[str, ...]:
    """Overrides that read a file of one's own, by its ending where they do not say how."""
    from aucbench.data.readers.formats import reader_of

    kind = next((word for word in overrides if word.startswith("dataset=")), f"dataset={reader_of(path)}")
    return (kind, f"dataset.path={path}", *(word for word in overrides if word != kind))


def dataset_words(dataset: str, *overrides: str) -> tuple[str, ...]:
    """The overrides of a run on a data set by its name, or on a file of one's own."""
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
    """Suggest methods and settings for a data set, from what did best on similar data sets.

    Parameters
    ----------
    dataset : str
        Name of a data set, or a file of one's own as in `describe_data`.
    *overrides : str
        Those of `run` that decide its rows: ``"dataset.target=outcome"``, ``"max_train_rows=5000"``.
    seconds : float, optional
        Largest expected time of a training.
    archive : str or Path, optional
        Results of a study under ``ruleset=trials``; by default those that come with aucbench.
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
    words = dataset_words(dataset, *overrides)
    is_named = words[0] == f"dataset={dataset}"
    taken = re.compile(rf"\+*((algo|tuning)\b{'|dataset=' * is_named})")
    if given := [word for word in overrides if taken.match(word)]:
        raise ParameterError(
            f"The data set is {dataset}, and methods and settings are suggested: leave out {' '.join(given)}."
        )
    if is_named and ("/" in dataset or Path(dataset).suffix):
        raise ParameterError(f"{dataset}: there is no such file, and no data set of that name.")
    path = archive or shipped()
    if path is None:
        raise ParameterError("This installation has no archive of trials: give one (--with FILE).")
    entry, tried = entry_of(words), tried_settings(read(path)[1])
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
        The store that has the study.
    study : str
        Its name.
    metrics : sequence of str
        Names of measures, such as ``["ap", "pauc"]``.
    parameters : sequence of str
        Words for those of the measures, such as ``"pauc.max_fpr=0.05"``.
    replace_others : bool
        Whether a measure that a cell has with other parameters is computed with these. Where only the final
        weights or scores are kept, its curve is then lost but for its end.

    Returns
    -------
    Rescored
        How many cells were measured, and which could not be.

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
    for word in parameters:
        if word.partition(".")[0] not in metrics:
            raise ParameterError(
                f"'{word}' is no parameter of the measures {', '.join(metrics)}, such as pauc.max_fpr=0.05."
            )
    asked = [f"metrics=[{','.join(metrics)}]", *parameters]
    measures = entry_of(asked).measures
    if not measures:
        raise ParameterError(f"metrics: expected measures beside the AUC, such as ap, got {asked[0]}.")
    done = rescore_study(
        store,
        study,
        measures,
        lambda planned: entry_of([*words(planned.described, list(planned.cells.values())), *asked], trust),
        replace_others,
    )
    if store.board_folder(study).is_dir():
        write_board(store, study)
    return done


def check(archive: "Archive", method: str | None = None) -> list[str]:
    """Sentences on what an archive lacks for a public board.

    These are missing and failed cells, entries without a ruleset, settings that differ from the ruleset as it
    is installed here, and entries of the reference study that the method lacks: its data sets, splits and
    rows, under each of its rulesets. Raises an `AucbenchError` if the method is not installed.
    """
    from aucbench.config.words import Request
    from aucbench.studies.archives.gaps import gaps_of, lacking

    found = gaps_of(archive, entry_of)
    if method:
        words = (f"algo={method}", "tracking=none", "store.path=null")
        studies = [study_of(Request((f"experiment={name}", *words))) for name in REFERENCE]
        found += lacking(archive, [entry for study in studies for entry in study.entries])
        if archive.others:
            found.append(
                f"{counted(len(archive.others), 'cell')} with replications that the sender wrote: send the "
                f"runs of each machine in an archive of their own, for those who publish them to merge"
            )
    return found
