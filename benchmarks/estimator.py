"""`AUCClassifier()` beside a LogisticRegressionCV that chooses its strength by the AUC, on all data at hand.

Both get the same rows, at most 5,000, and are fitted in turn; the options --sets and --workers are those of
`python -m benchmarks defaults`.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucbench.errors import DataError
from aucbench.sklearn import AUCClassifier
from benchmarks.measuring import Measure, seconds
from benchmarks.real_sets import Choice, RealSet, over_families, over_sets, split_of

ROWS = 200  # fewest rows of a data set that counts as far behind
FAR, FAR_SETS = -0.02, 3
FILE = "estimator.csv"


def _on_set(real: RealSet, choice: Choice) -> list[dict[str, Any]]:
    """A row for every hold-out; a fit of `AUCClassifier` before the first compiles and imports."""
    rows = []
    for seed in range(real.seeds):
        try:
            train, test, _ = split_of(real, seed)
        except DataError as error:  # 5,000 rows of the training part have one class
            print(f"  {real.name}, seed {seed}: {error}")
            continue
        X, X_test = (side.X[slice(None) if side.rows is None else side.rows] for side in (train, test))
        rival = LogisticRegressionCV(
            Cs=np.logspace(-3, 3, 7), cv=5, scoring="roc_auc", class_weight="balanced", max_iter=1000
        )
        ours = AUCClassifier(random_state=seed)
        theirs = make_pipeline(StandardScaler(with_mean=not sparse.issparse(X)), rival)
        row: dict[str, Any] = {"seed": seed}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scikit-learn warns of iterations and of classes with few rows
            if seed == 0:
                ours.fit(X, train.y)
            for name, model in (("ours", ours), ("theirs", theirs)):
                row[f"{name}_seconds"] = seconds(lambda model=model: model.fit(X, train.y))  # type: ignore[misc]  # noqa: B023
                row[name] = float(roc_auc_score(test.y, model.decision_function(X_test)))
        rows.append(row)
    return rows


def estimator(choice: Choice) -> Iterator[Measure]:
    """Mean difference, the sets far behind, and the time of a fit."""
    frame = over_sets(_on_set, choice, FILE)
    frame["difference"] = frame["ours"] - frame["theirs"]
    frame["ratio"] = frame["ours_seconds"] / frame["theirs_seconds"]
    by_set = frame.drop(columns="seed").groupby(["family", "dataset"]).mean()
    print("\n| data set | rows | difference in test AUC | times its fit time |\n|---|---|---|---|")
    for (_, name), row in by_set.sort_values("difference").iterrows():
        print(f"| {name} | {row['n']:.0f} | {row['difference']:+.4f} | {row['ratio']:.2f} |")
    mean = over_families(by_set["difference"])
    yield Measure("AUCClassifier() - LogisticRegressionCV, mean over families", mean, -0.0005)
    far_sets = by_set[(by_set["n"] >= ROWS) & (by_set["difference"] < FAR)].index.get_level_values("dataset")
    label = f"sets of {ROWS} rows or more below {FAR}"
    yield Measure(label, len(far_sets), FAR_SETS, at_most=True, note=", ".join(far_sets))
    lost = by_set[(by_set["ours"] < 0.5) & (by_set["theirs"] > 0.6)].index.get_level_values("dataset")
    label = "sets below .5 where LogisticRegressionCV is above .6"
    yield Measure(label, len(lost), 0, at_most=True, note=", ".join(lost))
    ratio = float(by_set["ratio"].median())
    yield Measure("fit time beside it, median over sets", ratio, 1.5, at_most=True)


MEASURES = {"estimator": estimator}
