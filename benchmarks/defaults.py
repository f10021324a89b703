"""The default of every method on real data: beside the optimum, beside its own tuned result, on any scaling.

`python -m benchmarks defaults` takes every data set that is on this machine (the bundled ones, and those in
the cache or in AUCBENCH_MIRROR; it downloads nothing), five stratified hold-outs of each on the default
scaling and one on every other, and trains every method at its defaults for one and for five passes.

The yardsticks are `ls_svm` and `log_reg` at the best value of their grids, chosen by the test rows: nobody
can choose better. A method's tuned result takes the best setting of its own grid by an inner hold-out. The
figures of all runs go to ``defaults.csv`` in the current folder, and the tables say what follows from them:

- a default is more than 0.02 below ls_svm's test AUC on at most two data sets, after five passes;
- on no scaling does a run diverge, or end below 0.5;
- `AUCClassifier()` beside `LogisticRegression()` on the better of maxabs and standardised features.
"""

import os
import warnings
from collections.abc import Iterator
from dataclasses import replace
from time import thread_time
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

import aucbench
from aucbench import data
from aucbench.contracts import MethodFacts
from aucbench.data.loader import Loaded, Part
from aucbench.data.preprocess import Prepared, prepare
from aucbench.data.scaler import Scaling
from aucbench.data.splits.inner import inner_split, limited
from aucbench.data.splits.protocols import Holdout, Split
from aucbench.errors import AucbenchError
from aucbench.runner.cell import run_cell
from aucbench.runner.task import StopReason, Task
from aucbench.studies.tuners import grid_points, resolve
from benchmarks.measuring import Measure

NOT_REAL = (
    "australian_scale",  # the rows of another
    "gaussian",
    "hard_margin",
    "label_noise",
    "sparse_text",
    "csv",
    "libsvm",
    "npz",
    "openml",
    "parquet",
)
ROWS, FEW_ROWS = 10_000, 3_000  # for training: on the default scaling, and on every other
SPLITS = 5  # on the default scaling
WIDE = 5_000  # features, above which yardsticks have three values
# Most features of methods whose cost grows with their square; more would take hours.
NARROW = {"cbr": 60, "opauc": 300, "adaoam": 300, "mba": 1_000, "svm_or": 130, "bam": 300}
TUNED_FEATURES = 60  # the same for tuning them
BEHIND, BEHIND_SETS = 0.02, 2
FILE = "defaults.csv"


def rows() -> Iterator[dict[str, Any]]:
    """One row a data set, scaling, split, method and number of passes."""
    os.environ["AUCBENCH_OFFLINE"] = "1"
    for name in sorted(aucbench.catalog().plugins["datasets"]):
        if name in NOT_REAL:
            continue
        try:
            loaded = data.load(aucbench.catalog().dataset(name)(), Part.train)
        except AucbenchError:
            continue  # not at hand
        print(f"  {name}: {loaded.X.shape[0]:,} x {loaded.X.shape[1]:,}", flush=True)
        for scaling in Scaling:
            if sparse.issparse(loaded.X) and scaling in (Scaling.minmax, Scaling.centred_unit):
                continue  # they would make it dense
            usual = scaling is Scaling.auto
            for seed in range(SPLITS if usual else 1):
                split = _split(loaded, ROWS if usual else FEW_ROWS, seed)
                where = {"dataset": name, "scaling": str(scaling), "seed": seed}
                for row in _on_split(split, scaling, seed, usual and seed == 0):
                    yield where | row


def _split(loaded: Loaded, most: int, seed: int) -> Split:
    split = Holdout().split(lambda part: loaded, Part.train, seed)
    return limited(split, most, seed)


def _on_split(split: Split, scaling: Scaling, seed: int, tunes: bool) -> Iterator[dict[str, Any]]:
    identity = aucbench.catalog().features("identity")()
    prepared = prepare(split, scaling, identity, "float64", seed, rescale=True)
    for name in ("ls_svm", "log_reg") if scaling is Scaling.auto else ("ls_svm",):
        yield {"method": f"best {name}", "auc": _best(name, prepared, seed)}
    d = prepared.X.shape[1]
    for name in sorted(aucbench.catalog().plugins["algorithms"]):
        if d > NARROW.get(name, d):
            continue
        method = _method(name)
        full = str(method.access) == "full"
        for passes in (None,) if full else (1.0, 5.0):
            found = _trained(method, prepared, passes, seed)
            yield {"method": name, "passes": 5.0 if full else passes, "auc": found}
            if full:
                yield {"method": name, "passes": 1.0, "auc": found}
        if tunes and d <= (TUNED_FEATURES if name in NARROW else WIDE):
            inner = prepare(inner_split(split, 5, seed), scaling, identity, "float64", seed, rescale=True)
            passes = None if full else 5.0
            points = grid_points(resolve(method, None), method)
            settings = [replace(method, **point) for point in points]
            aucs = [_trained(setting, inner, passes, seed) for setting in settings]
            winner = settings[int(np.nanargmax(aucs))] if np.isfinite(aucs).any() else method
            yield {"method": name, "passes": "tuned", "auc": _trained(winner, prepared, passes, seed)}


def _method(name: str) -> Any:
    return aucbench.catalog().algorithm(name)()


def _best(name: str, prepared: Prepared, seed: int) -> float:
    """The best test AUC over the grid of a yardstick."""
    method = _method(name)
    ((field, values),) = method.grid.items()
    chosen = values if prepared.X.shape[1] <= WIDE else values[len(values) // 4 :: max(1, len(values) // 3)]
    return max(_trained(replace(method, **{field: value}), prepared, None, seed) for value in chosen)


def _trained(method: Any, prepared: Prepared, passes: float | None, seed: int) -> float:
    """The test AUC, NaN where the run diverged."""
    losses = MethodFacts(method).losses
    loss = aucbench.catalog().loss(losses[0])() if losses else None
    task = Task(
        method, loss, prepared.X, prepared.y, prepared.X_test, prepared.y_test,
        epochs=passes, checkpoints=1, seed=seed, order_seed=seed,
    )  # fmt: skip
    outcome = run_cell(task)
    return float("nan") if outcome.stop_reason is StopReason.diverged else float(outcome.auc[-1])


def defaults() -> Iterator[Measure]:
    """Every default beside the yardsticks, and which scaling suits most of them."""
    frame = pd.DataFrame(rows())
    frame.to_csv(FILE, index=False)
    yield from summarised(frame)


def summarised(frame: pd.DataFrame) -> Iterator[Measure]:
    """The tables and measures that follow from the runs."""
    key = ["dataset", "scaling", "seed"]
    best, log_reg = (
        frame[frame["method"] == f"best {name}"].set_index(key)["auc"] for name in ("ls_svm", "log_reg")
    )
    print(f"\n  mean of (best log_reg - best ls_svm), scaling=auto: {(log_reg - best).mean():+.4f}")
    runs = frame[~frame["method"].str.startswith("best")].copy()
    runs["gap"] = best.reindex(pd.MultiIndex.from_frame(runs[key])).to_numpy()
    runs["gap"] -= runs["auc"]
    usual = runs[runs["scaling"] == Scaling.auto]
    by_set = usual.groupby(["method", "passes", "dataset"], sort=True)["gap"].mean().reset_index()
    _show_methods(by_set, usual)
    _show_scalings(runs)
    for method, own in by_set[by_set["passes"] == 5.0].groupby("method"):
        behind = own[~(own["gap"] <= BEHIND)]
        note = ", ".join(
            f"{name} {gap:.3f}" for name, gap in zip(behind["dataset"], behind["gap"], strict=True)
        )
        name = f"{method}: sets of {len(own)} more than {BEHIND} below ls_svm, 5 passes"
        yield Measure(name, len(behind), BEHIND_SETS, at_most=True, note=note)
    for method, own in runs[runs["passes"] != "tuned"].groupby("method"):
        bad = own[~(own["auc"] >= 0.5)]
        where = sorted({f"{row.dataset} {row.scaling}" for row in bad.itertuples()})
        name = f"{method}: runs of {len(own)} that diverged or ended below 0.5, all scalings"
        yield Measure(name, len(bad), 0, at_most=True, note=", ".join(where[:4]))


def _show_methods(by_set: pd.DataFrame, usual: pd.DataFrame) -> None:
    """Mean test AUC below ls_svm at its best, over the data sets, by method and passes."""
    table = by_set.pivot_table(index="method", columns="passes", values="gap", aggfunc="mean")
    first = usual[usual["seed"] == 0]
    both = first.pivot_table(index=["method", "dataset"], columns="passes", values="auc")
    lost = (both["tuned"] - both[5.0]).groupby("method").mean()
    print("\n  mean of (best ls_svm - method) over the data sets, scaling=auto; what tuning adds")
    print(f"  {'method':<12} {'1 pass':>8} {'5 passes':>9} {'tuned adds':>11}")
    for name, row in table.iterrows():
        print(f"  {name:<12} {row[1.0]:>8.4f} {row[5.0]:>9.4f} {lost.get(name, np.nan):>11.4f}")


def _show_scalings(runs: pd.DataFrame) -> None:
    """Mean test AUC of all methods after five passes, by scaling, on the first split of every data set."""
    first = runs[(runs["seed"] == 0) & (runs["passes"] == 5.0)]
    print("\n  mean test AUC of all methods after 5 passes, first split, by scaling")
    counts = first.groupby("dataset")["scaling"].nunique()
    for kind, sets in (
        ("all scalings", counts[counts == len(Scaling)]),
        ("wide sparse", counts[counts < len(Scaling)]),
    ):
        part = first[first["dataset"].isin(sets.index)]
        means = part.groupby("scaling")["auc"].mean().sort_values(ascending=False)
        print(
            f"  {kind}, {len(sets)} sets: " + ", ".join(f"{name} {mean:.4f}" for name, mean in means.items())
        )


def estimator() -> Iterator[Measure]:
    """`AUCClassifier()` beside `LogisticRegression()`, given the better of two scalings by the test rows."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MaxAbsScaler, StandardScaler

    from aucbench.sklearn import AUCClassifier

    os.environ["AUCBENCH_OFFLINE"] = "1"
    differences: dict[str, float] = {}
    ratios: dict[str, float] = {}
    for name in sorted(aucbench.catalog().plugins["datasets"]):
        if name in NOT_REAL:
            continue
        try:
            loaded = data.load(aucbench.catalog().dataset(name)(), Part.train)
        except AucbenchError:
            continue
        centred = not sparse.issparse(loaded.X)
        found, times = [], []
        for seed in range(SPLITS):
            split = _split(loaded, ROWS, seed)
            X, X_test = (np.array(loaded.X[s.rows]) if centred else loaded.X[s.rows] for s in split[:2])
            y, y_test = split.train.y, split.test.y
            rivals = [
                make_pipeline(scaler, LogisticRegression())
                for scaler in (MaxAbsScaler(), StandardScaler(with_mean=centred))
            ]
            models = [AUCClassifier(random_state=seed), *rivals]
            aucs, seconds = [], []
            for model in models:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # scikit-learn's, of 100 iterations that do not suffice
                    if seed == 0:
                        model.fit(X, y)  # what is compiled or imported is not to be measured
                    start = thread_time()
                    model.fit(X, y)
                    seconds.append(thread_time() - start)
                aucs.append(float(roc_auc_score(y_test, model.decision_function(X_test))))
            better = 1 if aucs[1] >= aucs[2] else 2
            found.append(aucs[0] - aucs[better])
            times.append(seconds[0] / seconds[better])
        differences[name], ratios[name] = float(np.mean(found)), float(np.median(times))
        print(f"  {name:<14} {differences[name]:+.4f}, fit time x {ratios[name]:.2f}", flush=True)
    values = np.array(list(differences.values()))
    worst = min(differences, key=lambda name: differences[name])
    yield Measure("AUCClassifier() - better LogisticRegression(), mean", float(values.mean()), -0.001)
    yield Measure("the same on the worst data set", float(values.min()), -0.01, note=worst)
    slowest = max(ratios, key=lambda name: ratios[name])
    times_ = float(np.median(list(ratios.values())))
    yield Measure("fit time beside it, median over the data sets", times_, 2.0, at_most=True)
    yield Measure("fit time beside it, the largest", ratios[slowest], 2.0, at_most=True, note=slowest)


MEASURES = {"defaults": defaults, "estimator": estimator}
