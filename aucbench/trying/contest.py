"""Which methods meet on which data in a trial, and what each reached."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from aucbench.studies.result import CellResult, mean_curve

STOCHASTIC = ("solam", "fsauc", "psam")
BATCH = ("ls_svm", "svm_or")  # their optimum is what the others approach
# None needs a download; the last has sparse rows. With each, how many rows its training part has.
DATASETS: dict[str, tuple[int, tuple[str, ...]]] = {
    "breast_cancer": (455, ()),
    "digits": (1438, ()),
    "sparse_text": (1600, ("dataset.n=2000", "dataset.d=1000")),
}
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
    failed : bool
        Whether that is the method's fault: it is not where it declares that it cannot take such rows, or
        where there was no time.
    hung : bool
        Whether it was ended because it took too long.
    planned : int or None
        Iterations that a run would have had with more time; None where it had all.
    """

    label: str
    dataset: str
    cells: tuple[CellResult, ...] = ()
    trouble: str = ""
    failed: bool = False
    hung: bool = False
    planned: int | None = None

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

    def auc_after(self, samples: float) -> float:
        """Mean test AUC after so many samples, between checkpoints that of a straight line."""
        seen, auc = self.curve
        return float(np.interp(samples, seen, auc)) if len(seen) else float("nan")

    @property
    def iterations(self) -> int:
        """Iterations of the longest run."""
        return max((cell.outcome["iterations"] for cell in self.cells), default=0)

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

    def rivals(self, own: Standing) -> list[Standing]:
        """The other stochastic methods that ended well on its data, over the seeds that it has itself."""
        return self._others(STOCHASTIC, own)

    def optimum(self, own: Standing) -> Standing | None:
        """The batch method with the best AUC on its data, over the seeds that it has itself."""
        return max(self._others(BATCH, own), key=_finite, default=None)

    def _others(self, names: tuple[str, ...], own: Standing) -> list[Standing]:
        found = [each for name in names if name != self.name and (each := self.at(name, own.dataset))]
        same = [replace(each, cells=each.cells[: len(own.cells)]) for each in found]
        return [each for each in same if np.isfinite(each.auc)]

    def own(self, dataset: str) -> Standing | None:
        """The tried method, with its defaults or tuned, whichever is better, as for the others."""
        return better(self.at(self.name, dataset), self.at(self.name + TUNED, dataset))

    def level(self, dataset: str) -> Standing | None:
        """The batch method with the best AUC there, over all seeds."""
        found = [each for name in BATCH if name != self.name and (each := self.at(name, dataset))]
        return max(found, key=_finite, default=None)


def better(default: Standing | None, tuned: Standing | None) -> Standing | None:
    """The one with the larger AUC, of equals the first; a run that diverged has none."""
    found = [each for each in (default, tuned) if each is not None and each.cells]
    return max(found, key=_finite, default=None)


def _finite(standing: Standing) -> float:
    return float(np.nan_to_num(standing.auc, nan=-1.0))
