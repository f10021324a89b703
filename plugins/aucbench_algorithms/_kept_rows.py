"""Settings of a method with buffers over one order: all settings keep the same rows, which are stored once.

The rows of a chunk are copied behind the kept rows into a CSR matrix, float64 and without zeros, so that
compiled code sees one form of data and reads rows that are close in memory. The weights of
eight settings lie side by side (`kernels.lanes`): one pass over a row serves all eight.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from aucbench import Batch, ParameterError, kernels, require_memory
from aucbench.kernels import lanes, rows
from aucbench_algorithms._groups import Groups

PIECE = 1024  # rows copied at once


class Piece(NamedTuple):
    """Rows of a batch, stored behind the rows kept before, in the form that steps need."""

    rows: Any  # (2 B + k, d) CSR, float64
    y: np.ndarray  # (2 B + k,) their labels
    order: np.ndarray  # (k,) the rows to consume: 2 B, 2 B + 1, ...
    slots: np.ndarray  # (k,) the slot of each row in the buffer of its class, -1 for none
    members: np.ndarray  # (2, B) kept rows among `rows`, positives first
    norms: np.ndarray  # (2, B) squared norms of the members
    seen: np.ndarray  # (2,) positives and negatives before this piece

    def fresh(self) -> "Piece":
        """A copy whose buffers and counts may be changed."""
        return self._replace(members=self.members.copy(), norms=self.norms.copy(), seen=self.seen.copy())


class KeptRows:
    """The buffers of both classes."""

    def __init__(self, size: int):
        self.members = np.zeros((2, size), np.int64)  # row numbers in the data, positives first
        self.norms = np.zeros((2, size))  # squared norms of the members
        self.seen = np.zeros(2, np.int64)
        self._rows: Any = None  # (2 B, d) CSR, float64

    def pieces(self, batch: Batch, slots: np.ndarray) -> Iterator[Piece]:
        """A batch in pieces; the rows of a piece enter the buffers when the next piece is requested."""
        count, size = len(batch), self.members.shape[1]
        members = np.arange(2 * size).reshape(2, size)
        labels = np.repeat(np.array([1, -1], np.int8), size)
        for start in range(0, count, PIECE):
            numbers = batch.rows[start : start + PIECE]
            if self._rows is None:
                self._rows = sparse.csr_matrix((2 * size, batch.X.shape[1]))
            data = sparse.vstack([self._rows, _nonzeros(batch.X, numbers)], format="csr")
            view = Batch(data, batch.y, numbers).rows_view
            order = np.arange(2 * size, 2 * size + len(numbers))
            y, piece_slots = np.concatenate([labels, batch.y[numbers]]), slots[start : start + PIECE]
            piece = Piece(view, y, order, piece_slots, members, self.norms, self.seen)
            yield piece
            updated = piece.fresh()
            _enter_all(*updated)
            self._rows = data[updated.members.ravel()]
            self.members = np.concatenate([self.members.ravel(), numbers])[updated.members]
            self.norms, self.seen = updated.norms, updated.seen


def _nonzeros(X: Any, numbers: np.ndarray) -> sparse.csr_matrix:
    """Some rows as float64 CSR, without the zeros of dense data."""
    rows = X[numbers]
    if sparse.issparse(rows):
        return rows.astype(np.float64)
    rows = np.asarray(rows)
    filled = rows != 0.0
    indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(filled, axis=1))])
    return sparse.csr_matrix((rows[filled].astype(np.float64), np.nonzero(filled)[1], indptr), rows.shape)


@kernels.kernel
def _enter_all(X, y, order, slots, members, norms, seen):
    for k in range(order.size):
        i = order[k]
        side = 0 if y[i] > 0 else 1
        seen[side] += 1
        if slots[k] >= 0:
            members[side, slots[k]] = i
            norms[side, slots[k]] = rows.norm(X, i)


class Blocks:
    """`Lockstep` of settings with buffers of one size, eight in a block.

    `block` makes a block of eight algorithms and their states. Its ``run(piece)`` consumes a piece and may
    change the piece's members and counts; its ``states(kept)`` are the states that separate training would
    give. `draw` returns the slots of a batch, given the numbers of rows seen and the size of the buffers.
    """

    def __init__(
        self,
        algorithms: Sequence[Any],
        states: Sequence[Any],
        block: Callable[[list[Any], list[Any]], Any],
        draw: Callable[[Batch, np.ndarray, int], np.ndarray],
    ):
        self._algorithms, self._block, self._draw = algorithms, block, draw
        self._size = algorithms[0].buffer
        self._kept = KeptRows(self._size)
        self._fill(dict(enumerate(states)))

    def _fill(self, states: dict[int, Any]) -> None:
        numbers, width = list(states), lanes.WIDTH
        parts = [numbers[start : start + width] for start in range(0, len(numbers), width)]
        self._places = {k: (b, lane) for b, part in enumerate(parts) for lane, k in enumerate(part)}
        # An idle lane repeats a setting of its block; its results are not read.
        padded = [part + part[:1] * (width - len(part)) for part in parts]
        self._blocks = [
            self._block([self._algorithms[k] for k in part], [states[k] for k in part]) for part in padded
        ]
        self._states: list[list[Any] | None] = [None] * len(parts)

    def step(self, batch: Batch) -> None:
        for piece in self._kept.pieces(batch, self._draw(batch, self._kept.seen.copy(), self._size)):
            for block in self._blocks:
                block.run(piece.fresh())
        self._states = [None] * len(self._blocks)

    def state(self, number: int) -> Any:
        b, lane = self._places[number]
        states = self._states[b]
        if states is None:  # the states of the other settings are requested next
            states = self._states[b] = self._blocks[b].states(self._kept)
        return states[lane]

    def drop(self, number: int) -> None:
        """Pack the remaining settings into blocks."""
        remaining = [k for k in self._places if k != number]
        self._fill({k: self.state(k) for k in remaining})


def by_buffer(
    algorithms: Sequence[Any],
    states: Sequence[Any],
    shape: tuple[int, ...],
    block: Callable[[list[Any], list[Any]], Any],
    draw: Callable[[Batch, np.ndarray, int], np.ndarray],
) -> Groups | None:
    """`Lockstep` of settings whose buffers may differ in size: one `Blocks` for each size.

    None if no two settings have the same size, or if arrays of `shape` for whole blocks exceed the memory.
    """
    sizes = Counter(algorithm.buffer for algorithm in algorithms)
    blocks = sum(-(-count // lanes.WIDTH) for count in sizes.values())
    try:
        require_memory("together", (blocks * lanes.WIDTH, *shape), "train the settings one by one")
    except ParameterError:
        return None
    if max(sizes.values()) == 1:
        return None
    return Groups(algorithms, states, "buffer", partial(Blocks, block=block, draw=draw))
