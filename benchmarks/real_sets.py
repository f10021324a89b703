"""The data sets that are on this machine, a loop over them, and the mean over their families."""

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, NamedTuple

import pandas as pd

import aucbench
from aucbench import data
from aucbench.contracts.hooks import PROJECT
from aucbench.contracts.validation import Family
from aucbench.data.loader import Part
from aucbench.data.splits.inner import limited
from aucbench.data.splits.protocols import Holdout, Split
from aucbench.errors import AucbenchError
from aucbench.registry import Catalog, Plugin
from benchmarks.click_logs import CLICKS
from benchmarks.hard_sets import HARD

NOT_REAL = (  # generated, or the rows of another data set; used if named
    *("australian_scale", "gaussian", "hard_margin", "label_noise", "sparse_text"),
    *(cls.name for cls in HARD),  # type: ignore[attr-defined]
)
MADE: tuple[type, ...] = (*CLICKS, *HARD)  # data sets that only benchmarks have
TEST, MOST_ROWS = 1 / 3, 5_000  # the share of a hold-out, and the training rows
SEEDS, BIG = 2, 2_000_000  # hold-outs of a data set; one if it has more values


@dataclass(frozen=True)
class Choice:
    """The options of the command line; empty tuples stand for everything, or for the default scaling."""

    methods: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    scalings: tuple[str, ...] = ()
    workers: int = 1


class RealSet(NamedTuple):
    """A data set and its training part."""

    name: str
    family: str  # name of the data set if it shares its origin with no other
    rows: int
    features: int
    seeds: int  # hold-outs


def catalog_with(classes: tuple[type, ...]) -> Catalog:
    """All plugins, and the data sets `classes`."""
    plugins = {family: dict(members) for family, members in aucbench.catalog().plugins.items()}
    for cls in classes:
        name = cls.name  # type: ignore[attr-defined]
        plugins[Family.datasets][name] = Plugin(Family.datasets, name, cls, PROJECT, "0")
    return Catalog(plugins)


def at_hand(choice: Choice) -> list[RealSet]:
    """The chosen data sets that need no download, large ones first, so that workers end together."""
    catalog, sets = catalog_with(MADE), []
    for name in choice.sets or sorted(catalog.plugins[Family.datasets]):
        if name in NOT_REAL and not choice.sets:
            continue
        try:
            dataset = catalog.dataset(name)()
            X = data.load(dataset, Part.train).X
        except AucbenchError:
            if choice.sets:
                raise
            continue
        rows, features = X.shape
        seeds = 1 if rows * features > BIG else SEEDS
        family = getattr(dataset, "family", None) or name
        sets.append(RealSet(name, family, rows, features, seeds))
    return sorted(sets, key=lambda real: -real.rows * real.features)


def over_sets(
    job: Callable[[RealSet, Choice], list[dict[str, Any]]], choice: Choice, file: str
) -> pd.DataFrame:
    """The rows that `job` returns for every data set, with facts of the set; `file` grows set by set."""
    sets, rows = at_hand(choice), []
    for real, records in zip(sets, _mapped(job, sets, choice), strict=True):
        print(f"  {real.name}: {real.rows:,} x {real.features:,}", flush=True)
        facts = {"dataset": real.name, "family": real.family, "n": real.rows, "d": real.features}
        rows += [facts | row for row in records]
        pd.DataFrame(rows).to_csv(file, index=False)
    return pd.DataFrame(rows)


def _mapped(job: Any, sets: list[RealSet], choice: Choice) -> Iterator[list[dict[str, Any]]]:
    if choice.workers == 1:
        yield from (job(real, choice) for real in sets)
        return
    with ProcessPoolExecutor(choice.workers, get_context("spawn")) as pool:
        yield from pool.map(job, sets, [choice] * len(sets))


def split_of(real: RealSet, seed: int) -> Split:
    """A stratified hold-out with a bounded number of training rows."""
    loaded = data.load(catalog_with(MADE).dataset(real.name)(), Part.train)
    return limited(Holdout(TEST).split(lambda part: loaded, Part.train, seed), MOST_ROWS, seed)


def over_families(values: "pd.Series[float]") -> float:
    """The mean in which every family counts once; the index has the levels family and dataset."""
    by_set = values.groupby(level=["family", "dataset"]).mean()
    return float(by_set.groupby(level="family").mean().mean())
