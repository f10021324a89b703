"""Sparse measures: O(nnz) beside O(d) updates with equal results, and cost that does not depend on d."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import aucbench
from aucbench import Problem
from aucbench.contracts import csr_rows
from benchmarks import peers, shapes
from benchmarks.dense import trainer
from benchmarks.measuring import Measure, alternate, seconds
from benchmarks.shapes import Shape

STEPS_OF_D = 60  # O(d) steps that are timed; they are slow
SAME = 1e-9  # relative distance of weights


def pairs_of(shape: Shape, count: int) -> Any:
    """Random pairs of a positive and a negative row."""
    rng = np.random.default_rng(0)
    positives, negatives = np.flatnonzero(shape.y == 1), np.flatnonzero(shape.y == -1)
    return np.column_stack([rng.choice(positives, count), rng.choice(negatives, count)])


def against_all_weights() -> Iterator[Measure]:
    """The O(d) update beside ours, with the papers' steps: cost of an iteration and distance of results."""
    shape = shapes.text()
    X, d, y, order = csr_rows(shape.X), shape.X.shape[1], shape.y, shape.order
    problem = Problem(shape.X, y)
    pairs = pairs_of(shape, len(order))
    draws = np.random.default_rng(0).standard_normal((len(order), 50))
    kappa = problem.max_norm
    sides: dict[str, tuple[dict[str, Any], Any, Callable[[Any], Any], float]] = {
        "solam": (
            {"zeta": 1.0, "radius": 1.0, "bounded": False},
            order,
            lambda rows: peers.solam(X, y, rows, d, 1.0, 1.0, kappa, False),
            100.0,
        ),
        "spam": (
            {"C": 1.0, "beta": 1e-4, "bounded": False},
            order,
            lambda rows: peers.spam(X, y, rows, problem.mean_pos, problem.mean_neg, problem.p, 1.0, 1e-4),
            80.0,
        ),
        "psam": (
            {"gamma": 1e-3},
            pairs,
            lambda rows: peers.psam_dense(X, rows, d, 1e-3, 1e-3**-0.75, 16),
            40.0,
        ),
        "opauc_r": (
            {"eta": 2.0**-5, "lam": 2.0**-8, "centring": "author"},
            order,
            lambda rows: peers.opauc_r(X, y, rows, draws, d, 2.0**-5, 2.0**-8),
            80.0,
        ),
        "solam_l1": (
            {"zeta": 1.0, "radius": 0.5, "bounded": False},
            order,
            lambda rows: peers.solam(X, y, rows, d, 1.0, 0.5, kappa, True),
            20.0,
        ),
    }
    yield from _every_sixteenth(shape, X, pairs)
    for name, (fields, rows, slow, target) in sides.items():
        part = rows[:STEPS_OF_D]
        ours, theirs = trainer(name, shape, part, **fields)(), slow(part)
        distance = np.linalg.norm(ours - theirs) / np.linalg.norm(theirs)
        # init is O(d) in both; steps alone are compared: a long run less an empty one, per iteration
        long, none = trainer(name, shape, rows, **fields), trainer(name, shape, rows[:0], **fields)
        total, start = alternate(long, none, 3)
        slow_total, slow_start = alternate(lambda: slow(part), lambda: slow(part[:0]), 3)  # noqa: B023
        ratio = ((slow_total - slow_start) / len(part)) / ((total - start) / len(rows))
        yield Measure(f"O(d) / O(nnz): {name}", ratio, target)
        yield Measure(f"distance of both results: {name}", distance, SAME, at_most=True)


def _every_sixteenth(shape: Shape, X: Any, pairs: Any) -> Iterator[Measure]:
    """PSAM's other O(d) form touches all weights at every 16th pair only, so there is less to gain."""
    d, part = shape.X.shape[1], pairs[: 16 * STEPS_OF_D]
    ours, none = trainer("psam", shape, part, gamma=1e-3), trainer("psam", shape, part[:0], gamma=1e-3)
    theirs = lambda rows: peers.psam(X, rows, d, 1e-3, 1e-3**-0.75, 16)  # noqa: E731
    total, start = alternate(ours, none, 5)
    slow_total, slow_start = alternate(lambda: theirs(part), lambda: theirs(part[:0]), 5)
    ratio = (slow_total - slow_start) / (total - start)
    yield Measure("O(d) every 16th step / O(nnz): psam", ratio, 1.0)


def independent_of_width() -> Iterator[Measure]:
    """Cost per iteration, without init and scoring, when d grows 16-fold at equal non-zeros per row."""
    methods = (
        *("asam", "roc_sgd", "uni_exp", "oam_seq", "oam_gra", "cbr_diag", "spdam", "sauc"),
        *("fifo_ogd", "aogd", "spauc", "ftrl_auc", "ftrl_log"),
        *("pair_batch", "pesg", "sopa", "sopa_s", "soap"),
    )
    narrow, wide = shapes.wide(84_699, 4000), shapes.wide(1_355_191, 4000)
    for name in methods:
        costs = []
        for shape in (narrow, wide):
            rows = rows_for(name, shape)
            run, none = trainer(name, shape, rows), trainer(name, shape, rows[:0])
            run()
            none()
            costs.append(min(seconds(run) - seconds(none) for _ in range(5)) / len(rows))
        yield Measure(
            f"cost at d = 1,355,191 / at d = 84,699: {name}",
            costs[1] / costs[0],
            4.0,
            at_most=True,
            note=f"{costs[1] * 1e6:.1f} us an iteration",
        )


def rows_for(name: str, shape: Shape) -> Any:
    """Rows in the shape of a method's access."""
    if aucbench.catalog().algorithm(name).access == "pairs":
        return pairs_of(shape, len(shape.order))
    if name == "spdam":
        rng = np.random.default_rng(0)
        m = -(-len(shape.order) // 10)
        return np.stack([rng.choice(len(shape.order), m, replace=False) for _ in range(40)])
    return shape.order


MEASURES = {"lazy": against_all_weights, "width": independent_of_width}
