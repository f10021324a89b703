"""Settings of `opauc_r` in training that share the matrices Z, which do not depend on the weights."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from aucbench import Batch, require_memory
from aucbench.kernels import Layout, kernel, rows
from aucbench_algorithms import _moments_together as moments
from aucbench_algorithms import _opauc_r_low_rank as low_rank

AHEAD = 4  # rows prefetched before their use
VECTORS = 3  # (d,) arrays of each setting


class LowRankTogether:
    """Settings of one or several ranks, those of each at once."""

    def __init__(self, algorithms: Sequence[Any], states: Sequence[Any]):
        numbers: dict[int, list[int]] = {}
        for number, algorithm in enumerate(algorithms):
            numbers.setdefault(algorithm.tau, []).append(number)
        self._parts = [
            _of_rank([algorithms[k] for k in members], [states[k] for k in members])
            for members in numbers.values()
        ]
        self._places = {
            number: (part, place)
            for part, members in zip(self._parts, numbers.values(), strict=True)
            for place, number in enumerate(members)
        }

    def step(self, batch: Batch) -> None:
        """Consume the rows of a chunk, in order."""
        for part in self._parts:
            part.step(batch)

    def state(self, number: int) -> Any:
        """The state of a setting; Z is shared."""
        part, place = self._places[number]
        return part.state(place)

    def drop(self, number: int) -> None:
        """Take a setting out of the products."""
        part, place = self._places[number]
        part.drop(place)


def _of_rank(algorithms: Sequence[Any], states: Sequence[Any]) -> moments.MomentsTogether:
    tau, count = algorithms[0].tau, len(states)
    require_memory("opauc_r", (2 * (tau + 1) + VECTORS * count, states[0].u.size), "lower tau")
    first = low_rank.allocated(states[0])
    lazy, exact = first.layout is Layout.lazy, algorithms[0].centring == "exact"
    kernel_of_layout = _run_lazy if lazy else _run
    eta, lam = (moments.column(algorithms, field) for field in ("eta", "lam"))

    def run(X: Any, y: np.ndarray, order: np.ndarray, *arrays: np.ndarray) -> None:
        for part, draws in low_rank.drawn(order, tau, first.rng):
            kernel_of_layout(X, y, part, draws, exact, *arrays)

    own = [np.zeros((count, *vector.shape)) for vector in (first.u, first.b, first.products)]
    own.append(np.ones((count, 1)))
    return moments.MomentsTogether(
        run, (first.Z, first.sums, first.gram), (*own, eta, lam), partial(_state, first)
    )


def _state(first: Any, u: Any, b: Any, products: Any, scale: Any, *parameters: Any) -> Any:
    return first._replace(u=u, b=b, products=products, scale=scale)


@kernel
def _run(X, y, order, draws, exact, Z, sums, gram, W, b, products, scale, eta, lam):
    size = draws.shape[1] + 1
    r, x, s = np.empty(size), np.empty(W.shape[1]), np.empty(W.shape[0])
    q, out = np.empty((W.shape[0], size)), np.empty((W.shape[0], size))
    G = np.empty_like(W)
    for k in range(order.size):
        if k + AHEAD < order.size:
            rows.prefetch(X, order[k + AHEAD])
        i = order[k]
        label, own, other = (1.0, 0, 1) if y[i] > 0 else (-1.0, 1, 0)
        low_rank.take(draws, k, r, sums[own])
        x[:] = 0.0
        rows.axpy(1.0, X, i, x)
        low_rank.add_outer(x, r, Z[own])
        if sums[other, size - 1] > 0.0:
            np.dot(W, x, s)
            np.dot(W, Z[other], q)
            for n in range(W.shape[0]):
                s[n] = low_rank.direction(q[n], s[n], label, sums[other], eta[n], exact, out[n])
            np.dot(out, Z[other].T, G)
            for n in range(W.shape[0]):
                for j in range(W.shape[1]):
                    W[n, j] = (1.0 - eta[n] * lam[n]) * W[n, j] + s[n] * x[j] + G[n, j]


@kernel
def _run_lazy(X, y, order, draws, exact, Z, sums, gram, u, b, products, scale, eta, lam):
    size = draws.shape[1] + 1
    r, zx, out = np.empty(size), np.empty((2, size)), np.empty(size)
    q, across = np.zeros((u.shape[0], size)), np.empty((2, size, size))
    for k in range(order.size):
        if k + AHEAD < order.size:
            rows.prefetch(X, order[k + AHEAD])
        i = order[k]
        label, own, other = (1.0, 0, 1) if y[i] > 0 else (-1.0, 1, 0)
        square = rows.norm(X, i)
        low_rank.take(draws, k, r, sums[own])
        low_rank.add_row(X, i, own, other, r, square, Z, gram, zx)
        if sums[other, size - 1] > 0.0:
            across[0], across[1] = gram[0, other], gram[1, other]
            np.dot(b.reshape(u.shape[0], 2 * size), across.reshape(2 * size, size), q)
        folded = low_rank.folds(sums, u.shape[1])
        for n in range(u.shape[0]):
            ux = rows.dot(X, i, u[n])
            low_rank.step_lazy(
                X, i, label, own, other, ux, square, r, zx, q[n], sums, folded,
                u[n], Z, b[n], products[n], scale[n], eta[n], lam[n], exact, out,
            )  # fmt: skip
