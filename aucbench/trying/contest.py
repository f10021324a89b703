"""The runs of a trial: which methods meet on which data, how they are tuned, and what came of it."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucbench.config import binding, sweeping
from aucbench.errors import AucbenchError, ParameterError
from aucbench.registry import Catalog, Family
from aucbench.result import CellResult, mean_curve
from aucbench.studies.conducting import Executed
from aucbench.studies.running import Study, opened_store, run_study

STOCHASTIC = ("solam", "fsauc", "psam")
BATCH = ("ls_svm", "svm_or")  # their optimum is what the others approach
# None needs a download; the last has sparse rows. The rows are those of a training part.
DATASETS = {
    "breast_cancer": (455, ()),
    "digits": (1438, ()),
    "sparse_text": (1600, ("dataset.n=2000", "dataset.d=1000")),
}
EPOCHS = 5
RUNS = 3
TRIALS = 12  # settings a tuning tries
FEWEST_TRIALS = 4  # that are worth it
FOLDS = 2
LONGEST = 15.0  # seconds that a tuning, or the runs of all seeds, may take
ANY_LOSS = "logistic"  # of a method that takes any and has no default
TUNED = " tuned"


@dataclass(frozen=True)
class Standing:
    """What a method reached on a data set.

    Parameters
    ----------
    label : str
        The method's name, with " tuned" behind it where the tried method was tuned.
    dataset : str
        Name of the data set.
    cells : tuple of CellResult
        One a seed; none where it could not run.
    trouble : str
        Why it could not run.
    """

    label: str
    dataset: str
    cells: tuple[CellResult, ...] = ()
    trouble: str = ""

    @cached_property
    def aucs(self) -> NDArray[np.float64]:
        """(seeds,) final test AUC, NaN for a run that diverged."""
        return np.array([cell.auc for cell in self.cells])

    @property
    def auc(self) -> float:
        """Their mean; NaN when one of them diverged, or there is none."""
        return float(self.aucs.mean()) if len(self.cells) else float("nan")

    @property
    def nanoseconds(self) -> float:
        """Training time of an iteration, the median over the seeds."""
        times = [cell.outcome["ns_per_iteration"] for cell in self.cells]
        return float(np.median(times)) if times else float("nan")

    @property
    def diverged_at(self) -> int | None:
        """The first iteration at which a run diverged, None when all ended well."""
        found = [c.outcome["iterations"] for c in self.cells if c.outcome["stop_reason"] == "diverged"]
        return min(found, default=None)

    @property
    def curve(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Samples seen and mean test AUC at the checkpoints after the first sample."""
        mean = mean_curve([cell.curve for cell in self.cells])
        seen = (mean["samples"] > 0) & np.isfinite(mean["auc"])
        return mean["samples"][seen].astype(np.float64), mean["auc"][seen]

    @property
    def chosen(self) -> list[dict[str, object]]:
        """The parameters that each tuning chose."""
        return [cell.record["tuned"]["parameters"] for cell in self.cells if cell.record["tuned"]]


@dataclass(frozen=True)
class Contest:
    """All standings of a trial.

    Parameters
    ----------
    name : str
        Of the method that is tried.
    access : str
        What its iterations consume.
    epochs : float
        Passes over the training rows.
    standings : mapping
        By label and data set.
    grid : mapping
        Field to values, as the method declares them; empty for none.
    remarks : tuple of str
        What was done otherwise than usual.
    """

    name: str
    access: str
    epochs: float
    standings: dict[tuple[str, str], Standing]
    grid: dict[str, tuple[object, ...]]
    remarks: tuple[str, ...] = ()

    @property
    def datasets(self) -> list[str]:
        """Their names, in order."""
        return list(dict.fromkeys(dataset for _, dataset in self.standings))

    @property
    def labels(self) -> list[str]:
        """The methods, in order: the tried one, the stochastic ones, the batch ones."""
        found = dict.fromkeys(label for label, _ in self.standings)
        order = [self.name, self.name + TUNED, *STOCHASTIC, *BATCH]
        return sorted(found, key=order.index)

    def at(self, label: str, dataset: str) -> Standing | None:
        """What the method reached there, None when it has no cells."""
        found = self.standings.get((label, dataset))
        return found if found is not None and found.cells else None

    def own(self, dataset: str) -> Standing | None:
        """The tried method, with its defaults or tuned, whichever is better, as for the others."""
        return better(self.at(self.name, dataset), self.at(self.name + TUNED, dataset))

    def optimum(self, dataset: str) -> Standing | None:
        """The batch method with the best AUC there."""
        found = [each for name in BATCH if name != self.name and (each := self.at(name, dataset))]
        return max(found, key=_finite, default=None)


def better(default: Standing | None, tuned: Standing | None) -> Standing | None:
    """The one with the larger AUC, of equals the first; a run that diverged has none."""
    found = [each for each in (default, tuned) if each is not None and each.cells]
    return max(found, key=_finite, default=None)


def _finite(standing: Standing) -> float:
    return float(np.nan_to_num(standing.auc, nan=-1.0))


def hold(catalog: Catalog, name: str, epochs: float = EPOCHS, said: Callable[[str], None] = print) -> Contest:
    """Run a method against others on small data; nothing is kept or logged.

    Parameters
    ----------
    catalog : Catalog
        Where plugins are found.
    name : str
        Of the method.
    epochs : float
        Passes over the training rows.
    said : callable
        Is told what happens.

    Raises
    ------
    PluginError
        There is no such method.
    ParameterError
        The name is that of another kind of plugin, or the method cannot be run on any of the data.
    """
    cls = _method(catalog, name)
    loss = [f"loss={ANY_LOSS}"] if tuple(getattr(cls, "losses", ()))[:1] == ("*",) else []
    own = [*loss, f"budget.epochs={epochs}"]
    grid = {field: tuple(values) for field, values in (getattr(cls, "grid", None) or {}).items()}
    runner = _Runner(catalog, said)
    remarks = [f"it takes any loss and has no default: {ANY_LOSS} was used"] if loss else []

    said(f"training {name} with its defaults")
    first = runner.run([(name, dataset, [*own, "runs=1"]) for dataset in DATASETS], first=True)
    seconds = sum(cell.outcome["train_seconds"] for each in first.values() for cell in each.cells)
    runs = RUNS if seconds * RUNS <= LONGEST else 1
    if runs == 1:
        remarks.append("one seed only, as a run is slow")
    said("training the methods it is compared with")
    jobs = [(name, dataset, own) for dataset in DATASETS if first[name, dataset].cells]
    others = [label for label in STOCHASTIC if label != name]
    jobs += [(label, dataset, [f"budget.epochs={epochs}"]) for label in others for dataset in DATASETS]
    jobs += [(label, dataset, []) for label in BATCH if label != name for dataset in DATASETS]
    seeds = f"runs={runs}"
    standings = first | runner.run([(label, dataset, [*words, seeds]) for label, dataset, words in jobs])
    said("tuning them")
    search = [f"budget.epochs={epochs}", seeds, *_tuning(TRIALS)]
    for key, tuned in runner.run([(label, d, search) for label in others for d in DATASETS]).items():
        standings[key] = better(standings[key], tuned) or tuned
    trials = min(TRIALS, int(LONGEST / max(1e-9, seconds * runs)))
    if not grid:
        remarks.append("it declares no grid and was not tuned")
    elif trials < FEWEST_TRIALS:
        remarks.append("it was not tuned, as a run is slow")
    else:
        said(f"tuning {name} over {trials} settings")
        found = runner.run(
            [
                (name, dataset, [*own, seeds, *_tuning(trials)])
                for dataset in DATASETS
                if first[name, dataset].cells
            ]
        )
        for (_, dataset), standing in found.items():
            label = name + TUNED
            standings[label, dataset] = Standing(label, dataset, standing.cells, standing.trouble)
    return Contest(name, str(cls.access), epochs, standings, grid, tuple(remarks))


def _tuning(trials: int) -> list[str]:
    return ["tuning=random", f"tuning.trials={trials}", f"tuning.folds={FOLDS}", "tuning.report=false"]


def _method(catalog: Catalog, name: str) -> Any:
    if name not in catalog.plugins[Family.algorithms]:
        for plugin in catalog:
            if plugin.name == name:
                raise ParameterError(
                    f"'{name}' is a {plugin.family.singular}; only methods are tried: "
                    f"aucbench check {name} tests it against the rules."
                )
    return catalog.find(Family.algorithms, name).cls


class _Runner:
    def __init__(self, catalog: Catalog, said: Callable[[str], None]):
        self._catalog, self._said = catalog, said

    def run(
        self, jobs: Sequence[tuple[str, str, Sequence[str]]], first: bool = False
    ) -> dict[tuple[str, str], Standing]:
        """What came of (label, data set, words) jobs; with `first`, one that all were refused is an error."""
        words = [
            [f"algo={label}", f"dataset={dataset}", *DATASETS[dataset][1], *more, "tracking=none"]
            for label, dataset, more in jobs
        ]
        entries = [
            binding.bind(self._catalog, cfg) for cfg in sweeping.runs(self._catalog, words) if cfg is not None
        ]
        found: dict[tuple[str, str], Standing] = {}

        def keep(executed: Executed) -> None:
            key = executed.entry.algorithm.name, executed.entry.dataset.name
            trouble = "; ".join(dict.fromkeys(str(each["message"]) for each in executed.failures))
            found[key] = Standing(*key, executed.cells, trouble)

        with opened_store(None) as store, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a diverging method's overflows are said in the verdict
            _, conducted = run_study(Study(entries), store, on_entry=keep)
        reasons: dict[str, AucbenchError] = {each.entry: each.error for each in conducted.refused}
        for label, dataset, _ in jobs:
            error = reasons.get(f"{label} on {dataset}")
            if (label, dataset) not in found:
                found[label, dataset] = Standing(label, dataset, trouble=str(error or "it gave no result"))
        if first and reasons and len(reasons) == len(jobs):
            raise next(iter(reasons.values()))
        return found
