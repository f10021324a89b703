"""A trial from its beginning to its end, in a bounded time: a slow method sees fewer rows or is not tuned."""

import math
from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import Any

from aucbench.entry import Entry
from aucbench.errors import ParameterError
from aucbench.humanize import duration
from aucbench.registry import Catalog, Family
from aucbench.studies.estimating import iterations_of
from aucbench.studies.settings import Budget, Limits
from aucbench.trying import contest
from aucbench.trying.contest import TUNED, Contest, Standing, better
from aucbench.trying.pricing import Price, priced
from aucbench.trying.racing import Job, Key, Race

EPOCHS = 5.0
SECONDS = 60.0
RUNS = 3
TRIALS = 12  # settings a tuning tries
FEWEST_TRIALS = 4  # that are worth it
FOLDS = 2
CHECKPOINTS = 50
FEWEST_CHECKPOINTS = 4
ANY_LOSS = "logistic"  # of a method that takes any and has no default
GRACE = 6.0  # seconds beyond its own that a run may take: for a process to begin, and for compiling
RIVAL_SECONDS = 1e-6  # that an iteration of the others takes at most


def hold(
    catalog: Catalog,
    name: str,
    epochs: float = EPOCHS,
    seconds: float = SECONDS,
    said: Callable[[str], None] = print,
    told: Callable[[str], None] = lambda text: None,
) -> Contest:
    """Run a method against others on small data; nothing is kept or logged.

    The tried method runs in a process of its own, which is ended when it hangs.

    Parameters
    ----------
    catalog : Catalog
        Where plugins are found.
    name : str
        Of the method.
    epochs : float
        Passes over the training rows, > 0; a slow method gets fewer.
    seconds : float
        After which nothing more begins, > 0.
    said : callable
        Is told the stages.
    told : callable
        Is told which method runs on which data.

    Raises
    ------
    PluginError
        There is no such method.
    ParameterError
        The name is that of another kind of plugin, the method cannot be made with its defaults, or the other
        methods alone take longer.
    """
    rows = sum(rows for rows, _ in contest.DATASETS.values())
    needed = rows * epochs * RUNS * len(contest.STOCHASTIC) * RIVAL_SECONDS
    if needed > seconds:
        raise ParameterError(
            f"--epochs {epochs:g} may take the other methods {needed:,.0f} s: "
            f"set --seconds {math.ceil(2 * needed)}, or fewer epochs."
        )
    end = monotonic() + seconds
    with Race(catalog, end, told) as race:
        return _Trial(race, _method(catalog, name), epochs, seconds, end, said).hold()


def _method(catalog: Catalog, name: str) -> Any:
    if name not in catalog.plugins[Family.algorithms]:
        for plugin in catalog:
            if plugin.name == name:
                raise ParameterError(
                    f"'{name}' is a {plugin.family.singular}; only methods are tried: "
                    f"aucbench check {name} tests it against the rules."
                )
    return catalog.find(Family.algorithms, name).cls


class _Trial:
    def __init__(
        self, race: Race, cls: Any, epochs: float, seconds: float, end: float, said: Callable[[str], None]
    ):
        self._race, self._cls, self._epochs, self._said = race, cls, epochs, said
        self._seconds, self._end = seconds, end
        self._name = str(cls.name)
        self._grid = {field: tuple(values) for field, values in (getattr(cls, "grid", None) or {}).items()}
        takes_any = tuple(getattr(cls, "losses", ()))[:1] == ("*",)
        self._words = (f"loss={ANY_LOSS}",) * takes_any
        self._remarks = [f"it takes any loss and has no default: {ANY_LOSS} was used"] * takes_any
        self._standings: dict[Key, Standing] = {}
        self._prices: dict[str, Price] = {}
        self._planned: dict[str, int] = {}  # iterations of a complete run, by data set

    @property
    def _left(self) -> float:
        return max(0.0, self._end - monotonic())

    def hold(self) -> Contest:
        own = self._race.entries(self._job(dataset) for dataset in contest.DATASETS)
        self._measure(own)
        self._run_rivals()
        runs = self._run_own()
        if runs:
            self._tune_own(runs)
        access = str(self._cls.access)
        return Contest(self._name, access, self._epochs, self._standings, self._grid, tuple(self._remarks))

    def _job(self, dataset: str, *words: str) -> Job:
        return Job(self._name, dataset, (*self._words, f"budget.epochs={self._epochs}", *words))

    def _measure(self, own: dict[Key, Entry]) -> None:
        """The price of every data set; where the method hangs on one, the others are not tried."""
        self._said(f"measuring an iteration of {self._name}")
        limits = Limits(self._seconds / 10.0, None, max(GRACE, self._seconds / 6.0))
        hung = ""
        for (name, dataset), entry in own.items():
            if hung:
                why = f"it was not tried, as it hung on {hung}"
                self._standings[name, dataset] = Standing(name, dataset, trouble=why, failed=True)
                continue
            planned = max(1, round(iterations_of(entry, contest.DATASETS[dataset][0])))
            price, standing = priced(entry, planned, self._seconds / 30.0, self._apart(limits))
            if price is None:
                self._standings[name, dataset] = standing
                hung = dataset if standing.hung else ""
            else:
                self._prices[dataset], self._planned[dataset] = price, planned

    def _apart(self, limits: Limits) -> Callable[[Entry], Standing]:
        def run(entry: Entry) -> Standing:
            # It begins in any case, and lasts as long as the limits allow.
            entries = {(entry.algorithm.name, entry.dataset.name): entry}
            (standing,) = self._race.run(entries, limits, math.inf).values()
            return standing

        return run

    def _run_rivals(self) -> None:
        self._said("training the methods it is compared with")
        seeds = f"runs={RUNS}"
        names = [name for name in contest.STOCHASTIC if name != self._name]
        usual = (f"budget.epochs={self._epochs}", seeds)
        jobs = [Job(name, dataset, usual) for name in names for dataset in contest.DATASETS]
        batch = [name for name in contest.BATCH if name != self._name]
        jobs += [Job(name, dataset, (seeds,)) for name in batch for dataset in contest.DATASETS]
        self._standings |= self._race.run(self._race.entries(jobs))
        if sum(map(self._full, self._prices)) > self._left / 2:
            self._remarks.append("the others were not tuned, to leave it the time")
            return
        self._said("tuning them")
        search = (*usual, *_tuning(TRIALS))
        jobs = [Job(name, dataset, search) for name in names for dataset in contest.DATASETS]
        found = self._race.run(self._race.entries(jobs), end=self._end - self._left / 2)
        for key, tuned in found.items():
            self._standings[key] = better(self._standings[key], tuned) or self._standings[key]

    def _full(self, dataset: str) -> float:
        """Seconds of a complete run."""
        return self._prices[dataset].whole(self._planned[dataset])

    def _run_own(self) -> int:
        """Run it with its defaults; the number of seeds, 0 where something was cut."""
        if not self._prices:
            return 0
        self._said(f"training {self._name} with its defaults")
        needed = sum(map(self._full, self._prices))
        runs = RUNS if needed * RUNS <= self._left / 2 else 1
        cut: dict[str, Standing] = {}
        for count, dataset in enumerate(sorted(self._prices, key=self._full)):
            share = 0.8 * self._left / (len(self._prices) - count)
            standing = self._run_on(dataset, runs, share)
            self._standings[self._name, dataset] = standing
            if standing.planned is not None:
                cut[dataset] = standing
            if standing.hung:
                break
        for dataset in self._prices:
            key = self._name, dataset
            self._standings.setdefault(key, Standing(*key, trouble="it was not tried, as it hung before"))
        if cut:
            self._remarks.append(self._cut(cut, needed, runs))
            return 0
        if runs < RUNS:
            self._remarks.append("there was time for one seed only (--seconds allows more)")
        return runs

    def _run_on(self, dataset: str, runs: int, share: float) -> Standing:
        """Run it on a data set, for as many iterations as there is time."""
        price, planned = self._prices[dataset], self._planned[dataset]
        points = int(0.25 * share / max(price.checkpoint, 1e-9))
        points = max(FEWEST_CHECKPOINTS, min(CHECKPOINTS, points))
        training = 0.7 * share / runs
        whole = price.training(planned) <= training
        if whole:
            budget = Budget(epochs=self._epochs, checkpoints=points)
        elif getattr(self._cls, "plans", False):
            fitting = (training - price.start) / max(price.iteration, 1e-12)
            budget = Budget(iterations=max(1, int(fitting)), checkpoints=points)
        else:
            budget = Budget(seconds=max(training, 1e-3), checkpoints=points)
        (entry,) = self._race.entries([self._job(dataset, f"runs={runs}")]).values()
        expected = price.training(planned) if whole else share
        allowed = Limits(1.0 + 2.0 * expected, None, GRACE)
        standing = self._apart(allowed)(replace(entry, budget=budget))
        return standing if whole or not standing.cells else replace(standing, planned=planned)

    def _cut(self, cut: dict[str, Standing], needed: float, runs: int) -> str:
        """The sentence that says how far it came."""
        slowest = max(self._prices[dataset].iteration for dataset in cut)
        seen = [f"{each.iterations:,} of {each.planned:,} on {name}" for name, each in cut.items()]
        enough = 10 * math.ceil(0.2 * needed + 2.0)
        seeds = f"{runs} seeds" if runs > 1 else "one seed"
        return (
            f"{self._name} takes {duration(slowest)} an iteration: it did {', '.join(seen)}, with {seeds}, "
            f"and was not tuned (with --seconds {enough} it comes to its end)"
        )

    def _tune_own(self, runs: int) -> None:
        if not self._grid:
            self._remarks.append("it declares no grid and was not tuned")
            return
        tried = [d for d in self._prices if self._standings[self._name, d].cells]
        if not tried:
            return
        needed = runs * sum(map(self._full, tried))
        trials = min(TRIALS, int(0.7 * self._left / max(1e-9, needed)))
        if trials < FEWEST_TRIALS:
            self._remarks.append("there was no time to tune it (--seconds allows more)")
            return
        self._said(f"tuning {self._name} over {trials} settings")
        entries = self._race.entries(self._job(d, f"runs={runs}", *_tuning(trials)) for d in tried)
        limits = Limits(1.0 + 3.0 * max(map(self._full, tried)), None, GRACE)
        for (_, dataset), standing in self._race.run(entries, limits).items():
            label = self._name + TUNED
            self._standings[label, dataset] = replace(standing, label=label)


def _tuning(trials: int) -> tuple[str, ...]:
    return "tuning=random", f"tuning.trials={trials}", f"tuning.folds={FOLDS}", "tuning.report=false"
