"""Memory is asked for before it is taken: what is available, and what is refused."""

import resource

import numpy as np
import psutil
import pytest

from aucbench import ParameterError, Problem, require_memory
from aucbench.data import memory
from aucbench_algorithms import AdaOam, Cbr, Mba, Opauc, OpaucR

X, Y = np.ones((4, 100)), np.array([1, -1, 1, -1], np.int8)


def begun(algorithm):
    return algorithm.init(Problem(X, Y, 4), np.random.default_rng(0))


def test_an_array_is_refused_as_soon_as_it_does_not_fit(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 8 * 24_000_000)
    require_memory("mine", (2, 3000, 4000), "use less")
    with pytest.raises(ParameterError) as caught:
        require_memory("mine", (2, 3000, 4001), "use less")
    for part in ("mine", "2 x 3000 x 4001", "0.2 GB", "use less"):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("algorithm", "needed"),
    [(AdaOam(), 160_000), (Cbr(), 80_000), (Mba(), 160_000), (Opauc(), 160_000), (OpaucR(tau=50), 81_600)],
    ids=str,
)
def test_methods_with_matrices_ask_for_them(algorithm, needed, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: needed)
    begun(algorithm)
    monkeypatch.setattr(memory, "available", lambda: needed - 1)
    with pytest.raises(ParameterError, match=algorithm.name):
        begun(algorithm)


def test_the_limits_of_the_process_and_of_its_container_count(monkeypatch):
    machine = psutil.virtual_memory().available
    taken = psutil.Process().memory_info().data
    limits = {resource.RLIMIT_DATA: taken // 2}
    monkeypatch.setattr(resource, "getrlimit", lambda which: (limits.get(which, resource.RLIM_INFINITY),) * 2)
    assert machine > 10 * 160_000
    with pytest.raises(ParameterError, match="opauc"):
        begun(Opauc())
    limits.clear()
    begun(Opauc())
    monkeypatch.setattr(memory, "_room_in_group", lambda: [100_000])
    with pytest.raises(ParameterError, match="opauc"):
        begun(Opauc())
