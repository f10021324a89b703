"""The loss over all pairs beside the training of a model: a boosting round, and a step of a small network."""

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

import aucbench
from aucbench.objectives import jax_pair_loss, lightgbm_objective
from benchmarks.measuring import Measure, alternate, per_round_ratio, seconds

LOSSES = ("square", "hinge", "squared_hinge", "smooth_hinge", "logistic", "exponential")
SIZES = (100_000, 1_000_000)
LEAVES = (31, 255)  # LightGBM's default, and large trees
A_ROUND = 0.10  # largest share of a LightGBM round on 100,000 rows of 30 columns
A_STEP = 1.20  # largest time of a network's step, relative to a step with cross entropy
ROWS, BATCH, ROUNDS = 100_000, 128, 15


def pair_losses() -> Iterator[Measure]:
    """Value, gradient and curvature of each loss, and their share of training."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 30))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=ROWS) > 1.5).astype(int)
    for leaves in LEAVES:
        train, objective = _round(X, y, leaves)
        for name in LOSSES:
            times = ", ".join(f"{1e3 * _seconds(name, size):.1f} ms" for size in SIZES)
            share = per_round_ratio(lambda name=name, objective=objective: objective(name), train, ROUNDS)
            note = f"value, gradient and curvature of 1e5 and 1e6 rows: {times}"
            label = f"{name}: share of a LightGBM round of {leaves} leaves"
            yield Measure(label, share, A_ROUND, at_most=True, note=note)
    for name in LOSSES:
        ours, theirs = alternate(_steps(X, y, jax_pair_loss(name)), _steps(X, y, _cross_entropy))
        yield Measure(f"{name}: step of a network, by cross entropy", ours / theirs, A_STEP, at_most=True)


def _seconds(name: str, size: int) -> float:
    rng = np.random.default_rng(1)
    y = (rng.random(size) < 0.1).astype(int)
    scores = rng.normal(size=size) + y
    aucbench.pair_loss(name, scores, y)
    return min(seconds(lambda: aucbench.pair_loss(name, scores, y)) for _ in range(5))


def _round(X: np.ndarray, y: np.ndarray, leaves: int) -> tuple[Callable[[], object], Callable[[str], object]]:
    """A round of boosting with the objective of LightGBM, and the objective of a loss over pairs."""
    import lightgbm

    data = lightgbm.Dataset(X, y).construct()
    params = {"objective": "binary", "verbose": -1, "num_threads": 1, "num_leaves": leaves}
    booster = lightgbm.Booster(params, data)
    for _ in range(10):
        booster.update()
    scores = booster.predict(X, raw_score=True)
    objectives = {
        name: lightgbm_objective(name) for name in LOSSES
    }  # objectives keep the labels between rounds
    return booster.update, lambda name: objectives[name](scores, data)


def _cross_entropy(scores, y):  # type: ignore[no-untyped-def]
    import jax.numpy as jnp

    return jnp.mean(jnp.logaddexp(0.0, (1 - 2 * y) * scores))


def _steps(X: np.ndarray, y: np.ndarray, loss: Callable[..., object]) -> Callable[[], object]:
    """A hundred steps of Adam for two hidden layers of 64, on balanced batches."""
    import jax
    import jax.numpy as jnp
    import optax

    rng = np.random.default_rng(2)
    sizes = [30, 64, 64, 1]
    weights = [rng.normal(size=shape) / shape[0] ** 0.5 for shape in pairwise(sizes)]
    halves = (np.flatnonzero(y == 1), np.flatnonzero(y == 0))
    chosen = [np.concatenate([rng.choice(half, BATCH // 2) for half in halves]) for _ in range(100)]
    batches = [(jnp.asarray(X[rows], jnp.float32), jnp.asarray(y[rows])) for rows in chosen]
    rule = optax.adam(1e-3)

    def scores(w, rows):  # type: ignore[no-untyped-def]
        for layer in w[:-1]:
            rows = jax.nn.relu(rows @ layer)
        return (rows @ w[-1])[:, 0]

    @jax.jit
    def step(w, state, rows, labels):  # type: ignore[no-untyped-def]
        slopes = jax.grad(lambda w: loss(scores(w, rows), labels))(w)
        moves, state = rule.update(slopes, state)
        return optax.apply_updates(w, moves), state

    def run() -> object:
        w = [jnp.asarray(layer, jnp.float32) for layer in weights]
        state = rule.init(w)
        for rows, labels in batches:
            w, state = step(w, state, rows, labels)
        return jax.block_until_ready(w)

    return run


MEASURES = {"pair_loss": pair_losses}
