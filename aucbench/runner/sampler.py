"""The rows that a run visits, drawn from the order seed alone: all methods of one access visit the same."""

from collections.abc import Callable, Iterator
from itertools import chain, repeat

import numpy as np
from numpy.typing import NDArray

from aucbench.contracts import Access, Batch
from aucbench.contracts.random_streams import RandomStream, generator
from aucbench.errors import ParameterError
from aucbench.runner.task import Order, Task

Rows = NDArray[np.int64]

BLOCK_ROWS = 65_536  # rows in a shuffled block, and pairs whose positives are drawn at a time
PART_PAIRS = 4096  # pairs whose negatives are drawn at a time: a short run must not wait for a block
DRAW_ELEMENTS = 1 << 20  # most row numbers drawn at a time for minibatches
REPEATED = 1024  # rows of a balanced batch that are allowed even if training rows must be repeated
DRAW_BATCHES = 8  # most minibatches drawn at a time: a short run must not wait for many


def batch_sampler(task: Task) -> Callable[[int], Batch]:
    """A function that returns a batch of the next `count` iterations of a run."""
    rows = RowSampler(task.access, task.y, task.order, task.order_seed, task.rows_per_iteration, task.fold)
    # All batches share the view of the rows of this batch.
    empty = Batch(task.X, task.y, rows.take(0), task.access, task.weights)
    return lambda count: empty.take(rows.take(count))


class RowSampler:
    """The endless sequence of rows of one run, cut into chunks of any length.

    The access determines the shape of the rows, `y` (n,) holds the labels of the training rows, `seed` is the
    order seed, `batch_size` is m of a minibatch. A seed sequence pads with zeros, so that fold 0 is the order
    seed alone. An order that does not apply to the access, or m above n, is a `ParameterError`.
    """

    def __init__(
        self,
        access: Access,
        y: NDArray[np.int8],
        order: Order = Order.shuffled,
        seed: int = 0,
        batch_size: int = 1,
        fold: int = 0,
    ):
        rng = generator(seed, RandomStream.order, fold)
        check_order(access, order)
        limit = max(REPEATED, 2 * len(y))
        if access is Access.balanced and (batch_size % 2 or not 2 <= batch_size <= limit):
            raise ParameterError(
                f"A balanced batch has an even number of rows, 2 to {limit:,} here, got {batch_size:,}."
            )
        if access is Access.minibatch and not 1 <= batch_size <= len(y):
            raise ParameterError(f"A minibatch has 1 to {len(y)} rows (the training rows), got {batch_size}.")
        self._blocks: Iterator[Rows] = {
            Access.stream: chain.from_iterable(_visits(len(y), order, rng)),
            Access.pairs: _pairs(y, rng),
            Access.balanced: _balanced(y, batch_size, rng),
            Access.minibatch: _minibatches(len(y), batch_size, order, rng),
            Access.full: repeat(np.empty((BLOCK_ROWS, 0), np.int64)),
        }[access]
        self._block: Rows = next(self._blocks)

    def take(self, count: int) -> Rows:
        """The rows of the next `count` iterations; they do not depend on the lengths of chunks."""
        parts = []
        while count > 0:
            if not len(self._block):
                self._block = next(self._blocks)
            part = self._block[:count]
            self._block = self._block[len(part) :]
            count -= len(part)
            parts.append(part)
        return parts[0] if len(parts) == 1 else np.concatenate([self._block[:0], *parts])


def check_order(access: Access, order: Order) -> None:
    """Raise ParameterError if methods of this access draw their rows at random, and another order is set."""
    if access in (Access.pairs, Access.balanced) and order is not Order.shuffled:
        drawn = "random pairs" if access is Access.pairs else "random rows of each class"
        raise ParameterError(f"order={order} does not apply to a method that draws {drawn}.")


def _visits(n: int, order: Order, rng: np.random.Generator) -> Iterator[Iterator[Rows]]:
    """The blocks of rows of each pass over all rows, drawn when they are needed."""
    starts = range(0, n, BLOCK_ROWS)
    while True:
        if order is Order.shuffled:
            yield iter([rng.permutation(n)])
        elif order is Order.stored:
            yield (np.arange(start, min(start + BLOCK_ROWS, n)) for start in starts)
        else:
            shuffled = rng.permutation(np.array(starts))
            yield (start + rng.permutation(min(BLOCK_ROWS, n - start)) for start in shuffled)


def _pairs(y: NDArray[np.int8], rng: np.random.Generator) -> Iterator[Rows]:
    positives, negatives = np.flatnonzero(y == 1), np.flatnonzero(y == -1)
    while True:
        drawn = rng.integers(0, len(positives), BLOCK_ROWS)
        for part in drawn.reshape(-1, PART_PAIRS):
            rows = np.empty((PART_PAIRS, 2), np.int64)
            rows[:, 0] = positives[part]
            rows[:, 1] = negatives[rng.integers(0, len(negatives), PART_PAIRS)]
            yield rows


def _balanced(y: NDArray[np.int8], m: int, rng: np.random.Generator) -> Iterator[Rows]:
    classes = [np.flatnonzero(y == label) for label in (1, -1)]
    queues = [side[:0] for side in classes]
    count = max(1, min(DRAW_BATCHES, DRAW_ELEMENTS // m))
    while True:
        rows = np.empty((count, m), np.int64)
        for batch in rows:
            for part, side in enumerate(classes):
                while len(queues[part]) < m // 2:
                    queues[part] = np.concatenate([queues[part], rng.permutation(side)])
                batch[part * m // 2 : (part + 1) * m // 2] = queues[part][: m // 2]
                queues[part] = queues[part][m // 2 :]
        yield rows


def _minibatches(n: int, m: int, order: Order, rng: np.random.Generator) -> Iterator[Rows]:
    count = max(1, min(DRAW_BATCHES, DRAW_ELEMENTS // m))
    if order is Order.shuffled:
        while True:
            yield np.stack([rng.choice(n, m, replace=False, shuffle=False) for _ in range(count)])
    # Other passes are cut into consecutive batches. The remaining rows of a stored epoch begin the next one;
    # after a reshuffle they could repeat a row within a batch, and are dropped.
    visits = (np.concatenate([*visit]) for visit in _visits(n, order, rng))
    queue = next(visits)
    while True:
        end = len(queue) // m * m
        yield queue[:end].reshape(-1, m)
        tail = queue[end:] if order is Order.stored else queue[:0]
        queue = np.concatenate([tail, next(visits)])
