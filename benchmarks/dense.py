"""Dense measures: bare memory traffic, plain NumPy loops, scikit-learn, the exact AUC, cost of a call."""

from collections.abc import Callable, Iterator
from statistics import median
from time import thread_time_ns
from typing import Any

import numpy as np

import aucbench
from aucbench import Batch, Problem
from aucbench.contracts import MethodFacts
from aucbench.evaluation import auc, exact_auc, measures
from benchmarks import peers, shapes
from benchmarks.measuring import Measure, alternate, per_round_ratio
from benchmarks.shapes import Shape
from tests.algorithms import reference, reference_square


def trainer(name: str, shape: Shape, rows: Any = None, **fields: Any) -> Callable[[], Any]:
    """An action that trains a method once over the rows (the shape's order when left out)."""
    catalog = aucbench.catalog()
    algorithm = catalog.algorithm(name)(**fields)
    losses = MethodFacts(algorithm).losses
    loss = catalog.loss(losses[0])() if losses else None
    rows = shape.order if rows is None else rows
    batch = Batch(shape.X, shape.y, rows, algorithm.access)
    problem = Problem(shape.X, shape.y, len(rows), loss)
    problem.max_norm, problem.p, problem.mean_pos, problem.mean_neg  # noqa: B018  # not part of the kernel's time

    def train() -> Any:
        state = algorithm.init(problem, np.random.default_rng(0))
        return algorithm.weights(algorithm.step(state, batch))

    return train


def against_memory() -> Iterator[Measure]:
    """`solam` beside a bare dot + axpy over the same rows in the same order."""
    for name, shape in (("covtype", shapes.covtype()), ("a9a", shapes.a9a())):
        w = np.zeros(shape.X.shape[1])
        solam = trainer("solam", shape)
        ratio = per_round_ratio(solam, lambda s=shape, w=w: peers.dot_axpy(s.X, s.order, w), 15)
        yield Measure(f"solam / bare dot + axpy, {name}", ratio, 1.25, at_most=True)


def by_hand() -> Iterator[Measure]:
    """`solam`, which is a rule, beside the same method with a loop of its own; the weights must agree."""
    for name, shape in (("covtype", shapes.covtype()), ("a9a", shapes.a9a())):
        method, d = aucbench.catalog().algorithm("solam")(), shape.X.shape[1]
        kappa = Problem(shape.X, shape.y).max_norm

        def peer(shape: Shape = shape, d: int = d, kappa: float = kappa, method: Any = method) -> Any:
            u, v = np.zeros((2, d))
            zeta, radius = float(method.zeta), float(method.radius)
            return peers.solam_by_hand(shape.X, shape.y, shape.order, u, v, zeta, radius, kappa)

        solam = trainer("solam", shape)
        np.testing.assert_allclose(solam(), peer(), rtol=1e-9, atol=1e-12)
        yield Measure(
            f"a rule / by hand: solam, {name}", per_round_ratio(solam, peer, 15), 1.05, at_most=True
        )


def against_numpy() -> Iterator[Measure]:
    """Plain NumPy loops beside the kernels, per iteration."""
    loops = {
        "solam": (reference.solam, 25.0),
        "spam": (reference_square.spam, 25.0),
        "fsauc": (reference.fsauc, 25.0),
        "opauc": (reference.opauc, 12.0),
    }
    for data, shape in (("covtype", shapes.covtype()), ("a9a", shapes.a9a())):
        size = 3000
        X, y, order = shape.X[:size], shape.y[:size], np.random.default_rng(0).permutation(size)
        small = Shape(X, y, order)
        for name, (loop, target) in loops.items():
            rows = np.tile(order, 10)  # long enough for the clock
            ours = trainer(name, small, rows)
            fields = vars(aucbench.catalog().algorithm(name)()) | ({"beta": 1e-4} if name == "spam" else {})
            fast, slow = alternate(ours, lambda: loop(X, y, order, **fields), 5)  # noqa: B023
            yield Measure(f"NumPy loop / {name}, {data}", slow / (fast / 10), target)


def against_sgd() -> Iterator[Measure]:
    """scikit-learn's averaged SGD beside `solam`, one epoch."""
    from sklearn.linear_model import SGDClassifier

    for name in ("a9a", "covtype", "mnist", "text"):
        shape = getattr(shapes, name)()

        def sgd(shape: Shape = shape) -> None:
            SGDClassifier(average=True, max_iter=1, tol=None).fit(shape.X, shape.y)

        yield Measure(f"SGDClassifier / solam, {name}", per_round_ratio(sgd, trainer("solam", shape), 7), 1.2)


def exact_area() -> Iterator[Measure]:
    """scikit-learn's roc_auc_score beside `exact_auc` on 100,000 scores, and all measures beside the AUC."""
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(0)
    y = np.where(rng.random(100_000) < 0.3, 1, -1).astype(np.int8)
    metrics = [cls() for cls in measures.MEASURES.values()]
    for name, scores in (
        ("no ties", rng.standard_normal(100_000) + 0.3 * y),
        ("ties", np.round(rng.standard_normal(100_000) + 0.3 * y, 2)),
    ):
        difference = abs(exact_auc(scores, y) - roc_auc_score(y, scores))
        fast, slow = alternate(lambda s=scores: exact_auc(s, y), lambda s=scores: roc_auc_score(y, s), 15)
        yield Measure(f"roc_auc_score / exact_auc, {name}", slow / fast, 10.0)
        yield Measure(f"roc_auc_score - exact_auc, {name}", difference, 1e-12, at_most=True)
        column = scores.reshape(-1, 1)
        ratio = per_round_ratio(
            lambda s=column: auc.measure_columns(s, y, metrics),
            lambda s=column: auc.measure_columns(s, y, metrics[:1]),
            101,
        )
        yield Measure(f"all {len(metrics)} measures / AUC alone, {name}", ratio, 1.5, at_most=True)


def call_cost() -> Iterator[Measure]:
    """Microseconds of one `step` call on a chunk of one row, and on none, for every compiled method."""
    catalog = aucbench.catalog()
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 10)), np.where(np.arange(200) % 3, -1, 1).astype(np.int8)
    rows = {"stream": np.arange(200), "pairs": np.column_stack([np.arange(0, 60, 3), np.arange(1, 61, 3)])}
    for name, plugin in sorted(catalog.plugins["algorithms"].items()):  # type: ignore[index]
        cls: Any = plugin.cls
        if cls.access not in rows:
            continue
        algorithm = cls()
        losses = MethodFacts(algorithm).losses
        problem = Problem(X, y, 10_000, catalog.loss(losses[0])() if losses else None)
        state = algorithm.init(problem, np.random.default_rng(0))
        all_rows = Batch(X, y, rows[cls.access], cls.access)
        for label, length, target in (("one row", 1, 10.0), ("empty", 0, 2.0)):
            batches = [all_rows.take(all_rows.rows[k : k + length]) for k in range(20)]
            times = []
            for _ in range(200):
                start = thread_time_ns()
                for batch in batches:
                    state = algorithm.step(state, batch)
                times.append((thread_time_ns() - start) / len(batches) / 1000)
            yield Measure(f"{name}: step call, {label}, microseconds", median(times), target, at_most=True)


MEASURES = {
    "memory": against_memory,
    "rule": by_hand,
    "numpy": against_numpy,
    "sgd": against_sgd,
    "auc": exact_area,
    "call": call_cost,
}
