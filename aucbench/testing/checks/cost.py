"""The check of the cost per iteration that a method claims, such as "nnz", "d^2" or "n d min(n, d)"."""

import copy
from time import process_time_ns, thread_time_ns

import numpy as np

from aucbench.contracts import Access
from aucbench.contracts.claimed_formula import evaluate
from aucbench.testing import problems
from aucbench.testing.findings import Broken
from aucbench.testing.problems import Toy
from aucbench.testing.trainee import Trainee

ROWS = 300
NONZEROS = 20
SPARSE_COLUMNS = (1 << 14, 1 << 18)  # two sizes with the same number of non-zeros
DENSE_COLUMNS = (64, 1024)
FACTOR = 9.0  # tolerated excess growth: large problems leave the caches, a further power of d gives 16
ATTEMPTS = 5
REPEATS = 3
SECONDS = 4e-3  # duration of a measurement, estimated from a small problem
ITERATIONS = 16, 2048  # smallest and largest number in a measurement


def cost(trainee: Trainee) -> str | None:
    """The time of an iteration grows with the number of columns no faster than claimed.

    The CPU time of the thread is measured from 16,384 to 262,144 columns with 20 non-zeros per row if the
    claim contains nnz, otherwise from 64 to 1,024 dense columns. Growth up to 9 times the claimed passes.
    """
    claims = trainee.facts.claims
    if claims is None:
        return "claims no cost"
    sparse = "nnz" in claims.cost and "dense" not in trainee.facts.requires
    columns = SPARSE_COLUMNS if sparse else DENSE_COLUMNS
    try:
        small, large = (
            evaluate(claims.cost, {"d": d, "nnz": NONZEROS if sparse else d, "n": ROWS}) for d in columns
        )
    except ValueError:
        return f"its claim {claims.cost!r} is not a formula that could be measured"
    toys = [problems.sparse_rows(ROWS, d, NONZEROS) if sparse else _dense(d) for d in columns]
    expected, best = large / small, [1.0, np.inf]
    for _ in range(ATTEMPTS):
        best = min(best, [_nanoseconds(trainee, toy) for toy in toys], key=lambda times: times[1] / times[0])
        growth = best[1] / best[0]
        message = (
            f"from d = {columns[0]:,} to {columns[1]:,} the cost grew {growth:.1f}-fold, "
            f"{expected:.1f}-fold by the claim {claims.cost!r}"
        )
        if growth <= FACTOR * expected:
            return message
    trainee.where = toys[1].words
    raise Broken(f"{message} ({best[0]:,.0f} and {best[1]:,.0f} ns per iteration).")


def _dense(d: int) -> Toy:
    """The same rows for any d, plus tiny columns, so that projections are equally active for every d."""
    toy = problems.small(problems.Size(ROWS, DENSE_COLUMNS[0], 1))
    more = np.random.default_rng(1).uniform(0.5e-6, 1e-6, (ROWS, d - DENSE_COLUMNS[0]))
    return Toy(np.hstack([toy.X, more]), toy.y, f"{ROWS} x {d:,} dense rows")


def _nanoseconds(trainee: Trainee, toy: Toy) -> float:
    """CPU time of an iteration, the median over some chunks after a first chunk.

    Of this thread, and of all threads if the method declares `wait`.
    """
    is_full = trainee.access is Access.full
    clock = thread_time_ns if trainee.facts.wait is None else process_time_ns
    iterations = 1 if is_full else int(np.clip(SECONDS / max(trainee.seconds, 1e-9), *ITERATIONS))
    rows = trainee.rows(toy, iterations=2 * iterations)
    batch = trainee.batch(toy, rows)
    state = trainee.start(toy, len(rows))
    # A method of access full may be done after one iteration, so only first iterations are measured. Other
    # methods are measured once their buffers are full.
    if not is_full:
        state = trainee.call("step", state, batch.take(rows[:iterations]))
    times = []
    for _ in range(REPEATS):
        chunk, fresh = batch.take(rows[iterations:]), copy.deepcopy(state)
        begin = clock()
        trainee.call("step", fresh, chunk)
        times.append(clock() - begin)
    return max(1.0, float(np.median(times))) / iterations
