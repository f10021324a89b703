"""Settings that a method trains together end where each ends alone: one property of every method that can."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

import aucbench
from aucbench import Access, Batch, ParameterError, kernels
from aucbench.contracts import MethodFacts, field_types
from aucbench.runner.cell import training_context
from aucbench.runner.sampler import batch_sampler
from aucbench.runner.task import Task
from aucbench_algorithms import Mba, _kept_rows
from tests.helpers.settings_of_plugins import fields_of
from tests.helpers.training import difference, is_like_other_rules, problem_of, random_problem

N, D = 200, 30
X, Y = random_problem(2, N, D, density=0.3)
FORMS = {
    "dense": X,
    "csr": sparse.csr_matrix(X),
    "lazy": sparse.csr_matrix(np.hstack([X * (np.arange(D) % 4 == 0), np.zeros((N, 400))])),
}
SINGLE = {"float32": X.astype(np.float32)}
ITERATIONS = {Access.stream: 500, Access.pairs: 500, Access.minibatch: 24}
SIZES = {"buffer": (3, 8), "tau": (4, 7)}  # fields shared only by settings with equal values
HUGE = 1e200  # a step of this size makes weights infinite, or nearly
CATALOG = aucbench.catalog()
JOINING = [
    plugin.cls
    for plugin in CATALOG.plugins["algorithms"].values()
    if MethodFacts(plugin.cls).together is not None and plugin.cls.access != Access.full
]

CASES = [
    pytest.param(
        cls, forms, id=f"{cls.name}-{next(iter(forms))}", marks=[pytest.mark.variants] if is_other else []
    )
    for cls in JOINING
    for forms, is_other in ((FORMS, is_like_other_rules(cls)), (SINGLE, True))
]


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch):
    """Cut batches into small pieces."""
    monkeypatch.setattr(_kept_rows, "PIECE", 50)


def made(cls, **fields):
    try:
        return cls(**fields)
    except ParameterError:
        assume(False)


@st.composite
def members(draw, cls):
    """Settings with numbers of the grid; a few have a huge step or another size of the buffer."""
    same = draw(fields_of(cls, {}))
    numbers = {name: st.sampled_from(values) for name, values in cls.grid.items() if name not in same}
    numbers |= {name: st.sampled_from(sizes) for name, sizes in SIZES.items() if name in field_types(cls)}
    if cls.step_size:
        steps = [*cls.grid.get(cls.step_size, (0.1, 1.0))] * 3
        numbers[cls.step_size] = st.sampled_from([*steps, HUGE])
    # The loops of a rule are compiled for 8, 16 and 32 settings: see tests/kernels/test_rules.py.
    limit = 8 if issubclass(cls, kernels.RuleMethod) else 18
    chosen = draw(st.lists(st.fixed_dictionaries(numbers), min_size=1, max_size=limit))
    return [made(cls, **same, **fields) for fields in chosen]


@pytest.mark.slow
@pytest.mark.parametrize(("cls", "forms"), CASES)
def test_settings_together_end_where_each_ends_alone(cls, forms):
    losses = [name for name in cls.losses if name != "*"]
    loss = CATALOG.loss(losses[0])() if losses else None

    @settings(max_examples=12, deadline=None, derandomize=True)
    @given(st.data(), members(cls), st.sampled_from(sorted(forms)))
    def hold(data, several, form):
        total = ITERATIONS[Access(cls.access)]
        cuts = sorted(data.draw(st.lists(st.integers(0, total), max_size=4), "cuts"))
        dropped = data.draw(st.sets(st.sampled_from(range(len(several))), max_size=len(several) - 1), "drop")
        dropped_after = data.draw(st.integers(0, len(cuts)), "after")
        task = Task(several[0], loss, forms[form], Y, forms[form], Y)

        def begin():
            return [method.init(task.problem(total), task.generator()) for method in several]

        with training_context():
            states, together = begin(), cls.together(several, begin())
            if together is None:
                return
            next_batch = batch_sampler(task)
            for number, (start, stop) in enumerate(pairwise([0, *cuts, total])):
                batch = next_batch(stop - start)
                together.step(batch)
                states = [method.step(state, batch) for method, state in zip(several, states, strict=True)]
                if number == dropped_after:
                    for k in dropped:
                        together.drop(k)
            for k in set(range(len(several))) - dropped:
                joint, single = several[k].weights(together.state(k)), several[k].weights(states[k])
                if np.isfinite(single).all() and np.abs(single).max() < 1e100:
                    assert difference(joint, single) < 1e-9 if single.any() else not joint.any(), several[k]

    hold()


# Cases outside the property


def starts(several):
    return [method.init(problem_of(method, X, Y, 600), np.random.default_rng(0)) for method in several]


@pytest.mark.parametrize("name", ["oam_seq", "oam_gra", "cbr_diag"])
def test_settings_that_do_not_fit_the_memory_together_or_share_no_buffer_train_one_by_one(name, monkeypatch):
    cls = CATALOG.algorithm(name)
    mixed, several = [cls(buffer=buffer) for buffer in (3, 8)], [cls(C=C) for C in (0.1, 1.0)]
    assert cls.together(mixed, starts(mixed)) is None
    monkeypatch.setattr("aucbench.data.memory.available", lambda: 0)
    assert cls.together(several, starts(several)) is None


@pytest.mark.parametrize("name", ["opauc", "adaoam"])
def test_moments_without_memory_for_all_weights_are_refused(name, monkeypatch):
    several = [CATALOG.algorithm(name)()] * 600
    states = starts(several)
    monkeypatch.setattr("aucbench.data.memory.available", lambda: 2 * 8 * D * D)
    with pytest.raises(ParameterError, match=rf"{name}: \d+ x 30 numbers"):
        type(several[0]).together(several, states)


def test_moments_of_blocks_are_summed_once_for_all_settings(monkeypatch):
    several, steps, step = [Mba(lam=lam, block=20) for lam in (1e-4, 1e-2, 1.0)], [], Mba.step
    monkeypatch.setattr(Mba, "step", lambda self, *args: steps.append(self.lam) or step(self, *args))
    together = Mba.together(several, starts(several))
    together.step(Batch(X, Y, np.arange(N).reshape(-1, 20)))
    assert len(steps) == 1
