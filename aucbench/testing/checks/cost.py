"""The check of the cost per iteration that a method claims, such as "nnz", "d^2" or "n d min(n, d)"."""

import copy
from time import process_time_ns, thread_time_ns

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
ITERATIONS = 64  # that are measured, after as many; 1 of access full
ATTEMPTS, REPEATS = 5, 3


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
    sizes = [{"d": d, "nnz": NONZEROS if sparse else d, "n": ROWS} for d in columns]
    try:
        small, large = (evaluate(claims.cost, size) for size in sizes)
    except ValueError:
        return f"its claim {claims.cost!r} is not a formula that could be measured"
    toys = [problems.sparse_rows(ROWS, d, NONZEROS) if sparse else _dense(d) for d in columns]
    growth, expected = np.inf, large / small
    for _ in range(ATTEMPTS):
        times = [_nanoseconds(trainee, toy) for toy in toys]
        growth = min(growth, times[1] / times[0])
        if growth <= FACTOR * expected:
            break
    words = (
        f"from d = {columns[0]:,} to {columns[1]:,} the cost grew {growth:.1f}-fold, "
        f"{expected:.1f}-fold by the claim {claims.cost!r}"
    )
    if growth > FACTOR * expected:
        trainee.where = toys[1].words
        raise Broken(f"{words}.")
    return words


def _dense(d: int) -> Toy:
    """The same rows for any d, plus tiny columns, so that projections are equally active for every d."""
    toy = problems.small(problems.Size(ROWS, DENSE_COLUMNS[0], 1))
    more = np.random.default_rng(1).uniform(0.5e-6, 1e-6, (ROWS, d - DENSE_COLUMNS[0]))
    return Toy(np.hstack([toy.X, more]), toy.y, f"{ROWS} x {d:,} dense rows")


def _nanoseconds(trainee: Trainee, toy: Toy) -> float:
    """CPU time of a chunk, the median of some; of all threads if the method declares `wait`."""
    now = thread_time_ns if MethodFacts(trainee.plugin).wait is None else process_time_ns
    # A method of access full may be done after one iteration. Others are measured once buffers are full.
    first = 0 if trainee.access is Access.full else ITERATIONS
    rows = trainee.rows(toy, iterations=max(1, 2 * first))
    batch, state = trainee.batch(toy, rows), trainee.start(toy, len(rows))
    state, chunk, times = trainee.step(state, batch.take(rows[:first])), batch.take(rows[first:]), []
    for _ in range(REPEATS):
        fresh = copy.deepcopy(state)
        begin = now()
        trainee.step(fresh, chunk)
        times.append(now() - begin)
    return max(1.0, float(np.median(times)))
