"""Every method at its defaults on all data at hand, beside `log_reg` and scikit-learn's LogisticRegression.

`python -m benchmarks defaults` takes the data sets that are on this machine (bundled, in the cache or in
AUCBENCH_MIRROR; it downloads nothing) and trains every method with its default settings and budget on two
stratified hold-outs of a third of the rows, one of large sets, with at most 5,000 training rows. Options:

    --methods psam,solam        only these methods, beside the yardsticks
    --sets keel_glass0,a9a      only these data sets
    --workers 2                 processes
    --scalings standard,unit    these scalings instead of the default, and a table that compares them

All runs go to ``defaults.csv`` in the current folder, a row each. The tables are in Markdown. In means, a
family of data sets, such as all those made from the glass data, counts once; runs that diverged do not count.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

import aucbench
from aucbench.api import Observer
from aucbench.config.build import build_study
from aucbench.config.words import Request
from aucbench.contracts import MethodFacts
from aucbench.studies.execution.execute import execute_study, opened_store
from benchmarks.measuring import Measure
from benchmarks.real_sets import (
    MADE,
    MOST_ROWS,
    TEST,
    Choice,
    RealSet,
    catalog_with,
    over_families,
    over_sets,
)

# Most features of methods whose cost grows with their square; more would take hours.
NARROW = {"cbr": 60, "opauc": 300, "adaoam": 300, "mba": 300, "svm_or": 130, "bam": 300}
YARDSTICKS = ("log_reg", "log_reg_cv")
SKLEARN = "scikit-learn"  # LogisticRegression(C=1, class_weight="balanced") on scaled rows, not rescaled
RIVAL = ("algo=sklearn", "algo.estimator=logistic_regression", "algo.params={tol:1e-8}", "rescale=false")
GOOD, BAD = 0.8, 0.6  # no method is below BAD where log_reg is above GOOD
BEHIND, BEHIND_METHODS = 0.01, 3  # largest mean gap over families, and how many linear methods may exceed it
SAME = 1e-4  # mean distance between log_reg and scikit-learn's
FILE = "defaults.csv"


class _Cells(Observer):
    """Keeps the finished cells of a study."""

    def __init__(self) -> None:
        self.cells: list[Any] = []

    def entry_finished(self, executed: Any) -> None:
        self.cells += executed.cells


def _on_set(real: RealSet, choice: Choice) -> list[dict[str, Any]]:
    """A row for every scaling, method and hold-out."""
    names = [
        name
        for name in sorted(aucbench.catalog().plugins["algorithms"])
        if (not choice.methods or name in (*choice.methods, *YARDSTICKS))
        and real.features <= NARROW.get(name, real.features)
    ]
    rows = []
    for scaling in choice.scalings or (None,):
        scaled = [f"scaling={scaling}"] if scaling else []
        rows += _run(real, [*scaled, f"algo={','.join(names)}"])
        rows += [row | {"method": SKLEARN} for row in _run(real, [*scaled, *RIVAL])]
    return rows


def _run(real: RealSet, overrides: list[str]) -> list[dict[str, Any]]:
    """A row for every cell; the AUC of a diverged cell is NaN."""
    common = [
        f"dataset={real.name}", f"protocol.test_fraction={TEST}", f"runs={real.seeds}",
        f"max_train_rows={MOST_ROWS}", "budget.checkpoints=1", "tracking=none", "store.path=null",
    ]  # fmt: skip
    catalog, observer = catalog_with(MADE), _Cells()
    study = build_study(catalog, Request((*overrides, *common), multirun=True))
    with opened_store(study.store_path) as store:
        result = execute_study(study, store, observer)
    for refused in result.refused:
        print(f"  left out: {refused.entry}: {refused.why}", flush=True)
    for failure in result.failures:
        print(f"  failed: {failure.algorithm.name} on {real.name}: {failure.message}", flush=True)
    return [
        {
            "scaling": cell.record.scaling,
            "method": cell.record.algorithm.name,
            "seed": cell.record.seed,
            "auc": np.nan if cell.diverged else cell.auc,
            "seconds": cell.record.result.train_cpu_seconds,
        }
        for cell in observer.cells
    ] + [
        {"scaling": f.scaling, "method": f.algorithm.name, "seed": f.seed, "auc": np.nan}
        for f in result.failures
    ]


def defaults(choice: Choice) -> Iterator[Measure]:
    """Every default beside the yardsticks."""
    frame = over_sets(_on_set, choice, FILE)
    for name, limit in NARROW.items():
        if choice.methods and name not in choice.methods:
            continue
        wide = sorted(frame.loc[frame["d"] > limit, "dataset"].unique())
        print(f"  {name}: left out on {len(wide)} sets of more than {limit} features: {', '.join(wide)}")
    for scaling, part in frame.groupby("scaling"):
        yield from _summarised(part, str(scaling))
    if choice.scalings:
        _show_scalings(frame)


def _summarised(frame: pd.DataFrame, scaling: str) -> Iterator[Measure]:
    """The table and the measures of one scaling."""
    aucs = frame.set_index(["family", "dataset", "seed", "method"])["auc"].unstack("method")
    seconds = frame.groupby("method")["seconds"].sum()
    yardsticks = [name for name in (*YARDSTICKS, SKLEARN) if name in aucs]
    by_set = aucs.groupby(level=["family", "dataset"]).mean()
    behind: list[str] = []
    measures: list[Measure] = []
    print(f"\nscaling={scaling}, {len(by_set)} data sets\n")
    print("| method | sets | " + " | ".join(f"against {name}" for name in yardsticks) + " | worst set | s |")
    print("|---|---|" + "---|" * len(yardsticks) + "---|---|")
    for name in aucs:
        means = [over_families((aucs[name] - aucs[yardstick]).dropna()) for yardstick in yardsticks]
        gaps = (by_set[name] - by_set["log_reg"]).dropna()
        worst = f"{gaps.idxmin()[1]} {gaps.min():+.3f}"
        cells = [str(len(gaps)), *(f"{mean:+.4f}" for mean in means), worst, f"{seconds[name]:.1f}"]
        print(f"| {name} | " + " | ".join(cells) + " |")
        if _is_linear(name) and means[0] < -BEHIND:
            behind.append(f"{name} {means[0]:+.4f}")
        bad = by_set.index[(by_set[name] < BAD) & (by_set["log_reg"] > GOOD)].get_level_values("dataset")
        label = f"{name}, {scaling}: sets below {BAD}, log_reg above {GOOD}"
        measures.append(Measure(label, len(bad), 0, at_most=True, note=", ".join(bad)))
        runs = frame[frame["method"] == name]
        lost = runs[runs["auc"].isna()]
        label = f"{name}, {scaling}: runs of {len(runs)} that diverged or failed"
        where = ", ".join(sorted(set(lost["dataset"])))
        measures.append(Measure(label, len(lost), 0, at_most=True, note=where))
    print()
    yield from measures
    label = f"linear methods, {scaling}: more than {BEHIND} behind log_reg"
    yield Measure(label, len(behind), BEHIND_METHODS, at_most=True, note=", ".join(behind))
    distance = over_families((aucs["log_reg"] - aucs[SKLEARN]).abs().dropna())
    yield Measure(f"log_reg, {scaling}: distance to {SKLEARN}", distance, SAME, at_most=True)


def _is_linear(name: str) -> bool:
    """Whether a method has weights."""
    return name != SKLEARN and MethodFacts(aucbench.catalog().algorithm(name)()).weights is not None


def _show_scalings(frame: pd.DataFrame) -> None:
    """Mean test AUC over families by method and scaling."""
    rows = frame.set_index(["family", "dataset"]).groupby(["method", "scaling"])["auc"]
    table = rows.apply(lambda aucs: over_families(aucs.dropna())).unstack("scaling")
    print("\n| method | " + " | ".join(table.columns) + " |\n|---|" + "---|" * len(table.columns))
    for name, means in table.iterrows():
        print(f"| {name} | " + " | ".join(f"{mean:.4f}" for mean in means) + " |")


MEASURES = {"defaults": defaults}
