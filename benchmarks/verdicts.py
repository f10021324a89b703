"""Simulated studies: coverage of the intervals over families, and shares of wrong verdicts.

`python -m benchmarks verdicts` draws studies from populations of families whose true gains are known, and
prints for every population, number of families and number of methods

- coverage: the share of studies in which the intervals of all methods hold at once,
- wrong: the share of studies with any wrong better, worse or equivalent, first at the true gains of the
  population, then with the true gain of every method at the edge of the rope, where it is easiest to be
  wrong,

and a table of power, which is that of docs/why.md. It misses where coverage is below the bounds, or where
more than 5 % of the studies have a wrong verdict; with 10 families only the true gains of the population
count.

The populations are made from ``verdicts.csv``: gains of 12 methods over `log_reg` on 169 data sets of 66
families from KEEL and ADBench. To make it again, run the methods and data sets of the table,

    python -m benchmarks defaults --methods ... --sets ...
    python -c "import benchmarks.verdicts; benchmarks.verdicts.made_from('defaults.csv')"
"""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from aucbench.reports.report import FEWEST
from aucbench.reports.statistics.family_intervals import family_intervals
from aucbench.reports.statistics.verdicts import Verdict, verdict_of
from benchmarks.measuring import Measure

Floats = NDArray[np.float64]

TABLE = Path(__file__).with_suffix(".csv")
REFERENCE = "log_reg"
ROPE = 0.005
OUTSIDE = 0.0052  # a true gain just outside the rope
ROUNDING = 5e-5  # gains are reported with four decimals; smaller errors do not count
FAMILIES, METHODS, STUDIES = (5, 10, 20, 40, 80), (1, 9, 39), 500  # METHODS beside the reference
LARGE = 20_000  # families of a population that is drawn from a distribution
BOUNDS = {20: 0.90, 40: 0.91, 80: 0.91}  # families to the coverage in each population
AVERAGE, WRONG = 0.93, 0.05
WEAK = ("fsauc", "solam")  # references that fail on a few families
ALIKE = ("psam", "pair_batch", "oam_gra", "sgd_hinge")  # rank nearly as the reference, unlike the others


class TrueVerdict(NamedTuple):
    """A true verdict, with the kind of its methods and their true gain."""

    alike: bool
    gain: float
    verdict: Verdict

    @property
    def heading(self) -> str:
        """The heading of the column of the verdict."""
        return f"{'alike' if self.alike else 'unlike'}, {self.gain:+.2f}: {self.verdict}"


VERDICTS = tuple(
    TrueVerdict(alike, sign * gain, verdict)
    for alike, gain in ((True, 0.01), (False, 0.03))
    for sign, verdict in ((0, Verdict.equivalent), (1, Verdict.better), (-1, Verdict.worse))
)


class Population(NamedTuple):
    """All families that a study might have."""

    gains: Floats  # (families, methods)
    missing: float = 0.0  # share of missing gains in a study

    def study(
        self, families: int, columns: NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """The gains (families, methods) of a study, NaN where missing, and the true gain of every method."""
        drawn = self.gains[np.ix_(rng.integers(len(self.gains), size=families), columns)]
        drawn = np.where(rng.random(drawn.shape) < self.missing, np.nan, drawn)
        return drawn, self.gains[:, columns].mean(axis=0)


def made_from(file: str) -> None:
    """Write the table of gains from the runs of `python -m benchmarks defaults`."""
    runs = pd.read_csv(file)
    aucs = runs.groupby(["family", "dataset", "method"])["auc"].mean().unstack("method")
    methods = aucs.columns.difference([REFERENCE, "log_reg_cv", "scikit-learn"])
    aucs[methods].sub(aucs[REFERENCE], axis=0).round(5).to_csv(TABLE)


def populations(rng: np.random.Generator) -> dict[str, Population]:
    """Populations like the measured gains, and harder populations."""
    table = pd.read_csv(TABLE, index_col=["family", "dataset"])
    families = table.groupby("family").mean()
    against_any = families.assign(**{REFERENCE: 0.0}).to_numpy()
    first, second = np.nonzero(~np.eye(against_any.shape[1], dtype=bool))
    pairs = against_any[:, first] - against_any[:, second]
    over_weak = {
        f"measured, over {weak}": Population(
            families.assign(**{REFERENCE: 0.0}).sub(families[weak], axis=0).drop(columns=weak).to_numpy()
        )
        for weak in WEAK
    }
    sample = pairs[rng.integers(len(pairs), size=LARGE // 4)]
    shape, shared = (LARGE, max(METHODS)), (LARGE, 1)
    sets = np.minimum(rng.geometric(0.5, size=shared), 19)
    normal = 0.6 * rng.standard_normal(shared) + 0.8 * rng.standard_normal(shape)
    return {
        "measured, over log_reg": Population(families.to_numpy()),
        "measured, over any method": Population(pairs),
        **over_weak,  # all methods gain where the reference loses, on a few families
        "gaps in a tenth": Population(pairs, missing=0.1),
        "half the families saturated": Population(
            sample * (rng.random((len(sample), 1)) < 0.5) * rng.lognormal(-0.125, 0.5, (len(sample), 1))
        ),
        "unequal families": Population(
            # large families have smaller errors and other gains
            0.002 * np.log(sets)
            + 0.003 * rng.standard_t(4, shape)
            + 0.006 * rng.standard_t(4, shape) / np.sqrt(sets)
        ),
        "heavy tails (t, 3 degrees)": Population(
            0.004 * (0.5 * rng.standard_t(3, shared) + rng.standard_t(3, shape))
        ),
        "skewed (lognormal, to -4)": Population(0.006 - 0.006 * np.exp(0.75 * normal)),
    }


class Tally(NamedTuple):
    """Shares of studies."""

    coverage: float
    wrong_side: float  # any wrong verdict better or worse
    wrong_equivalent: float
    edge_side: float  # the same with true gains at the edges of the rope
    edge_equivalent: float
    width: float  # median of half the interval in standard errors


def tally(population: Population, families: int, methods: int, rng: np.random.Generator) -> Tally:
    """Coverage and wrong verdicts in simulated studies."""
    rows = []
    for _ in range(STUDIES):
        columns = rng.permutation(population.gains.shape[1])[:methods]
        values, truth = population.study(families, columns, rng)
        intervals = family_intervals(values)
        low, high = intervals.low - truth, intervals.high - truth
        holds = (low <= ROUNDING) & (high >= -ROUNDING)
        edges = [  # better and worse are wrong just inside the rope, equivalent just outside
            (
                _wrong(low + inside, high + inside, inside)[0],
                _wrong(low + outside, high + outside, outside)[1],
            )
            for inside, outside in ((ROPE, OUTSIDE), (-ROPE, -OUTSIDE))
        ]
        rows.append((holds.all(), *_wrong(intervals.low, intervals.high, truth), *np.mean(edges, axis=0),
                     np.median(intervals.critical)))  # fmt: skip
    return Tally(*np.mean(rows, axis=0))


def _wrong(low: Floats, high: Floats, truth: Floats | float) -> tuple[bool, bool]:
    """Whether any verdict better or worse is wrong, and whether any verdict equivalent is."""
    verdicts = verdict_of(low, low, high, ROPE)
    side = (verdicts == Verdict.better) & (truth < ROPE + ROUNDING)
    side |= (verdicts == Verdict.worse) & (truth > -ROPE - ROUNDING)
    same = (verdicts == Verdict.equivalent) & (np.abs(truth) > ROPE + ROUNDING)
    return bool(side.any()), bool(same.any())


def power(families: int, methods: int, rng: np.random.Generator) -> list[float]:
    """The frequency of each verdict of `VERDICTS` where it is true, with gains shifted to the true gain."""
    table = pd.read_csv(TABLE, index_col=["family", "dataset"]).groupby("family").mean()
    population, alike = Population(table.to_numpy()), table.columns.isin(ALIKE)
    outcomes: list[list[bool]] = [[] for _ in VERDICTS]
    for _ in range(STUDIES):
        columns = rng.permutation(len(alike))[:methods]
        values, truth = population.study(families, columns, rng)
        shifted = family_intervals(values - truth)
        for case, hits in zip(VERDICTS, outcomes, strict=True):
            verdicts = verdict_of(shifted.mean, shifted.low + case.gain, shifted.high + case.gain, ROPE)
            hits += list(verdicts[alike[columns] == case.alike] == case.verdict)
    return [float(np.mean(hits)) for hits in outcomes]


def verdicts() -> Iterator[Measure]:
    """Coverage and wrong verdicts in every population, and the table of power."""
    rng, coverages = np.random.default_rng(0), []
    for (name, population), families in product(populations(rng).items(), FAMILIES):
        tallies = [tally(population, families, min(n, population.gains.shape[1]), rng) for n in METHODS]
        mean = Tally(*np.mean(tallies, axis=0))
        details = ", ".join(f"{t.coverage:.3f}" for t in tallies)
        title = f"{name}, {families} families: "
        if families in BOUNDS:
            coverages.append(mean.coverage)
            yield Measure(title + "coverage", mean.coverage, BOUNDS[families], note=details)
        else:
            print(f"     {title}coverage {mean.coverage:.3f} ({details})", flush=True)
        if families >= FEWEST:
            shares = {kind: share for kind, share in mean._asdict().items() if kind.startswith("wrong")}
            if families in BOUNDS:
                shares |= {kind: share for kind, share in mean._asdict().items() if kind.startswith("edge")}
            note = "; ".join(f"{kind} {share:.3f}" for kind, share in shares.items())
            yield Measure(title + "wrong", max(shares.values()), WRONG, at_most=True, note=note)
    yield Measure("mean coverage, from 20 families on", float(np.mean(coverages)), AVERAGE)
    print("\n| families | methods | " + " | ".join(case.heading for case in VERDICTS) + " |")
    print("|" + "---|" * (len(VERDICTS) + 2))
    for families, methods in product(FAMILIES[1:], (1, 12)):
        cells = " | ".join(f"{100 * share:.0f} %" for share in power(families, methods, rng))
        print(f"| {families} | {methods + 1} | {cells} |", flush=True)


MEASURES = {"verdicts": verdicts}
