"""Settings that a method trains together end where each ends alone: one property of every method that can."""

from itertools import islice, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import aucbench
from aucbench import Access, ParameterError
from aucbench.runner.cell import training_context
from aucbench.runner.sampler import batch_sampler
from aucbench.runner.task import Task
from aucbench_algorithms import _kept_rows, cbr
from tests.helpers.training import difference, random_problem

N, D = 200, 30
X, Y = random_problem(2, N, D, density=0.3)
FORMS = {
    "dense": X,
    "float32": X.astype(np.float32),
    "csr": sparse.csr_matrix(X),
    "csr float32": sparse.csr_matrix(X.astype(np.float32)),
    "lazy": sparse.csr_matrix(np.hstack([X * (np.arange(D) % 4 == 0), np.zeros((N, 400))])),
}
ITERATIONS = {Access.stream: 500, Access.pairs: 500, Access.minibatch: 24}
BUFFERS = (3, 8)
HUGE = 1e200  # as a step it makes weights infinite, or nearly
CATALOG = aucbench.catalog()


def algorithm(name):
    return CATALOG.algorithm(name)


JOINING = [
    name
    for name in sorted(CATALOG.plugins["algorithms"])
    if hasattr(algorithm(name), "together") and algorithm(name).access != Access.full
]


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch):
    """So that a batch is cut, and `cbr` joins on rows with more non-zeros than it gains by."""
    monkeypatch.setattr(_kept_rows, "PIECE", 50)
    monkeypatch.setattr(cbr, "SPARSE", 1.0)


@st.composite
def grids(draw, name):
    """Some settings of the grid of a method, of which a few have a huge step or a buffer of another size."""
    cls = algorithm(name)
    points = []
    for values in islice(product(*cls.grid.values()), 200):
        try:
            points.append(cls(**dict(zip(cls.grid, values, strict=True))))
        except ParameterError:
            continue
    chosen = draw(st.lists(st.sampled_from(points), min_size=1, max_size=18))
    has_buffer, step = hasattr(cls, "buffer"), getattr(cls, "step_size", None)
    found = []
    for each in chosen:
        fields = dict(vars(each))
        if has_buffer:
            fields["buffer"] = draw(st.sampled_from(BUFFERS))
        if step and draw(st.integers(0, 9)) == 9:
            fields[step] = HUGE
        found.append(cls(**fields))
    return found


@pytest.mark.parametrize("name", JOINING)
def test_settings_together_end_where_each_ends_alone(name):
    cls = algorithm(name)
    losses = [each for each in getattr(cls, "losses", ()) if each != "*"]
    loss = CATALOG.loss(losses[0])() if losses else None

    @settings(max_examples=12, deadline=None, derandomize=True)
    @given(st.data(), grids(name), st.sampled_from(sorted(FORMS)))
    def hold(data, members, form):
        total = ITERATIONS[Access(cls.access)]
        cuts = sorted(data.draw(st.lists(st.integers(0, total), max_size=4), "cuts"))
        dropped = data.draw(st.sets(st.sampled_from(range(len(members))), max_size=len(members) - 1), "drop")
        dropped_after = data.draw(st.integers(0, len(cuts)), "after")
        task = Task(members[0], loss, FORMS[form], Y, FORMS[form], Y)

        def begin():
            return [each.init(task.problem(total), task.generator()) for each in members]

        with training_context():
            states, together = begin(), cls.together(members, begin())
            if together is None:
                return
            next_batch = batch_sampler(task)
            for number, (start, stop) in enumerate(pairwise([0, *cuts, total])):
                batch = next_batch(stop - start)
                together.step(batch)
                states = [each.step(state, batch) for each, state in zip(members, states, strict=True)]
                if number == dropped_after:
                    for k in dropped:
                        together.drop(k)
            for k in set(range(len(members))) - dropped:
                found, alone = members[k].weights(together.state(k)), members[k].weights(states[k])
                if np.isfinite(alone).all() and np.abs(alone).max() < 1e100:
                    assert difference(found, alone) < 1e-9 if alone.any() else not found.any(), members[k]

    hold()
