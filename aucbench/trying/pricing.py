"""What an iteration of a method costs, measured with longer and longer runs as far as there is time."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic

from aucbench.entry import Entry
from aucbench.studies.settings import Budget
from aucbench.trying.contest import Standing

RUNGS = (1, 2, 16, 256, 2_048)  # iterations


@dataclass(frozen=True)
class Price:
    """What a run costs, in seconds.

    Parameters
    ----------
    start : float
        Before the first iteration.
    iteration : float
        Each iteration.
    checkpoint : float
        At most, each checkpoint; also what a run costs beside its training.
    """

    start: float
    iteration: float
    checkpoint: float

    def training(self, iterations: float) -> float:
        """Training for so many iterations."""
        return self.start + self.iteration * iterations

    def whole(self, iterations: float) -> float:
        """Training for so many iterations, and what the run costs beside it."""
        return self.training(iterations) + self.checkpoint


def priced(
    entry: Entry, iterations: int, longest: float, run: Callable[[Entry], Standing]
) -> tuple[Price | None, Standing]:
    """The price of a run, and the last standing: that with the trouble where there is no price.

    Parameters
    ----------
    entry : Entry
        The method on its data.
    iterations : int
        Of a complete run; no measurement has more.
    longest : float
        Seconds that a measurement should not exceed, by the one before it.
    run : callable
        Runs an entry.
    """
    known: list[tuple[int, float]] = []  # iterations, seconds
    beside = 0.0
    for rung in RUNGS:
        rung = min(rung, iterations)
        if known and (rung <= known[-1][0] or _price(known, beside).whole(rung) > longest):
            break
        begun = monotonic()
        standing = run(replace(entry, budget=Budget(iterations=rung, checkpoints=1)))
        if not standing.cells:
            return None, standing
        seconds = standing.cells[0].outcome["train_seconds"]
        if known:  # the first one also begins a process, loads the data and compiles
            beside = max(0.0, monotonic() - begun - seconds)
        known.append((rung, seconds))
    return _price(known, beside), standing


def _price(known: list[tuple[int, float]], beside: float) -> Price:
    count, seconds = known[-1]
    before, earlier = known[-2] if len(known) > 1 else (0, 0.0)
    iteration = max(0.0, seconds - earlier) / (count - before)
    return Price(max(0.0, seconds - iteration * count), iteration, beside)
