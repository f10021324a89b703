"""The line that says why the first fit takes seconds."""

import io
from types import SimpleNamespace

import numba
import numpy as np
import pytest

from aucbench.sklearn import AUCClassifier, _trained_model
from aucbench.sklearn._trained_model import NOTICE, compile_notice


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(_trained_model, "_notified", [])
    shown = Terminal()
    monkeypatch.setattr(_trained_model, "sys", SimpleNamespace(stderr=shown))
    return shown


def compile_something():
    numba.njit(lambda x: x + 1)(1)


def test_a_terminal_is_told_once_that_something_is_compiled_and_nobody_else(terminal, monkeypatch):
    with compile_notice():
        pass
    compile_something()
    monkeypatch.setattr(terminal, "isatty", lambda: False)
    with compile_notice():
        compile_something()
    assert terminal.getvalue() == ""
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    for _ in range(2):
        with compile_notice():
            compile_something()
    assert terminal.getvalue() == f"{NOTICE}\n"


def test_a_fit_that_compiles_says_so(terminal, monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 3)), np.arange(50) % 2
    seen = []
    monkeypatch.setattr(
        "aucbench.sklearn._trained_model.batch_sampler", lambda task: seen.append(task) or compile_something()
    )
    with pytest.raises(TypeError):
        AUCClassifier("psam").fit(X, y)
    assert seen
    assert terminal.getvalue() == f"{NOTICE}\n"
