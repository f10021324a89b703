"""The check of the cost per iteration that a method claims, such as "nnz", "d^2" or "n d min(n, d)"."""

import copy
from time import monotonic, process_time_ns, thread_time_ns
from typing import Any

import numpy as np

from aucbench.contracts import Access, MethodFacts
from aucbench.contracts.claimed_formula import evaluate
from aucbench.testing import problems
from aucbench.testing.findings import Broken
from aucbench.testing.problems import Toy
from aucbench.testing.trainee import Trainee

ROWS = 300
NONZEROS = 20
SPARSE_COLUMNS = (1 << 14, 1 << 18)  # two sizes with the same number of non-zeros
DENSE_COLUMNS = (64, 1024)
FACTOR = 9.0  # tolerated growth over the claimed: larger problems leave the caches; a power of d more is 16
ATTEMPTS = 5
REPEATS = 3
ENOUGH_NS = 2_000_000  # shortest measurement
LONG = 0.2  # seconds after which a measurement is long enough in any case
MOST_ITERATIONS = 4096


def cost(trainee: Trainee) -> str | None:
    """The time of an iteration grows with the number of columns no faster than claimed.

    Measured in CPU time of the thread: from 16,384 to 262,144 columns with 20 non-zeros a row where the
    claim names nnz, else from 64 to 1,024 dense columns. Growth of 9 times the claimed passes.
    """
    claims = MethodFacts(trainee.plugin).claims
    if claims is None:
        return "claims no cost"
    sparse = "nnz" in claims.cost and trainee.requirement("dense") is None
    columns = SPARSE_COLUMNS if sparse else DENSE_COLUMNS
    try:
        claimed = [
            evaluate(claims.cost, {"d": d, "nnz": NONZEROS if sparse else d, "n": ROWS}) for d in columns
        ]
    except ValueError:
        return f"its claim {claims.cost!r} is not a formula that could be measured"
    expected = claimed[1] / claimed[0]
    toys = [problems.sparse_rows(ROWS, d, NONZEROS) if sparse else _dense(d) for d in columns]
    growth, times = np.inf, (0.0, 0.0)
    for _ in range(ATTEMPTS):
        small, large = (_nanoseconds(trainee, toy, _enough(trainee, toy)) for toy in toys)
        if large / small < growth:
            growth, times = large / small, (small, large)
        if growth <= FACTOR * expected:
            break
    words = (
        f"from d = {columns[0]:,} to {columns[1]:,} the cost grew {growth:.1f}-fold, "
        f"{expected:.1f}-fold by the claim {claims.cost!r}"
    )
    if growth > FACTOR * expected:
        trainee.where = toys[1].words
        raise Broken(f"{words} ({times[0]:,.0f} and {times[1]:,.0f} ns per iteration).")
    return words


def _dense(d: int) -> Toy:
    """The same rows for any d, plus tiny columns, so that projections are equally active for every d."""
    toy = problems.small(problems.Size(ROWS, DENSE_COLUMNS[0], 1))
    more = np.random.default_rng(1).uniform(0.5e-6, 1e-6, (ROWS, d - DENSE_COLUMNS[0]))
    return Toy(np.hstack([toy.X, more]), toy.y, f"{ROWS} x {d:,} dense rows")


def _enough(trainee: Trainee, toy: Toy) -> int:
    """Iterations that take long enough to be measured."""
    if trainee.access is Access.full:
        return 1
    iterations = 16
    while iterations < MOST_ITERATIONS:
        began = monotonic()
        is_enough = _nanoseconds(trainee, toy, iterations, 1) * iterations > ENOUGH_NS
        if is_enough or monotonic() - began > LONG:  # a method may sleep instead of computing
            break
        iterations *= 4
    return iterations


def _nanoseconds(trainee: Trainee, toy: Toy, iterations: int, repeats: int = REPEATS) -> float:
    """CPU time of an iteration, the median over some chunks after a first chunk.

    Of this thread, and of all threads if the method declares `wait`.
    """
    waits = MethodFacts(trainee.plugin).wait
    now = thread_time_ns if waits is None else process_time_ns
    rows = trainee.rows(toy, iterations=2 * iterations)
    batch = trainee.batch(toy, rows)
    state: Any = trainee.start(toy, len(rows))
    # A method of access full may be done after one iteration, so only first iterations are measured. Other
    # methods are measured once their buffers are full.
    if trainee.access is not Access.full:
        state = trainee.step(state, batch.take(rows[:iterations]))
    times = []
    for _ in range(repeats):
        chunk, fresh = batch.take(rows[iterations:]), copy.deepcopy(state)
        begin = now()
        after = trainee.plugin.step(fresh, chunk)
        if waits is not None:
            trainee.plugin.wait(after)
        times.append(now() - begin)
    return max(1.0, float(np.median(times))) / iterations
