"""Claims under test: laws of made curves, and methods with a known fault, which are caught."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import click
import numpy as np
import psutil
import pytest

import aucbench
from aucbench import Access, CellError, Claims, Objective, kernels
from aucbench.cli.main import main
from aucbench.evaluation.power_law import Verdict
from aucbench.execution.convergence_rate import (
    Effort,
    can_be_measured,
    claimed_exponent,
    rate_finding,
    rate_verdict,
    statistic,
)
from aucbench.execution.cost_law import claimed_exponents, cost_finding, design
from aucbench.execution.execute import opened_store
from aucbench.kernels import rows
from aucbench.studies.entry_and_keys import BoundPlugin
from aucbench_losses import Square
from tests.helpers.studies import study_of

EFFORT = Effort(seeds=10, seconds=0.3)
T = np.arange(1, 3000)


class Given(NamedTuple):
    lam: float
    t0: float
    power: float


def _step(pair, own, given):
    eta = 1.0 / (given.lam * given.t0 * (1.0 + pair.t / given.t0) ** given.power)
    return kernels.Move(2.0 * eta * (1.0 - pair.s), 1.0 - eta * given.lam, 0.0, 0.0), own


RULE = kernels.rule(_step)


@dataclass(frozen=True)
class Descent(kernels.RuleMethod):
    """Steps that fall as 1 / t approach a strongly convex objective as 1 / t; other powers do not."""

    name: ClassVar[str] = "descent"
    access: ClassVar[Access] = Access.pairs
    losses: ClassVar[tuple[str, ...]] = ("square",)
    claims: ClassVar[Claims] = Claims(rate="1/t", cost="nnz")

    power: float = 1.0
    lam: float = 0.5

    @property
    def rule(self):
        return RULE

    def init(self, problem, rng):
        return self.first_state(problem, Given(self.lam, 100.0, self.power))

    def objective(self, problem):
        return Objective(problem.loss, l2=self.lam)


@kernels.kernel
def _run(X, y, order, w, shrinks):
    for i in order:
        rows.axpy(0.1 * y[i] * (1.0 - y[i] * rows.dot(X, i, w)), X, i, w)
        if shrinks:
            for j in range(w.size):
                w[j] *= 0.999


@dataclass(frozen=True)
class Linear:
    """Least squares row by row; it claims the cost of the non-zeros, and has it unless it shrinks."""

    name: ClassVar[str] = "linear"
    access: ClassVar[Access] = Access.stream
    claims: ClassVar[Claims] = Claims(rate="1/t", cost="nnz")
    shrinks: bool = False

    def init(self, problem, rng):
        return np.zeros(problem.n_features)

    def step(self, state, batch):
        _run(batch.rows_view, batch.y, batch.rows, state, self.shrinks)
        return state

    def score(self, state, X):
        return X @ state


@pytest.fixture(scope="module")
def entries():
    found = study_of("+experiment=claims", "tracking=none").entries
    return lambda method: [
        replace(entry, algorithm=BoundPlugin(method, "tests", "0"), loss=BoundPlugin(Square(), "tests", "0"))
        for entry in found
    ]


def rate_of(entries, method):
    with opened_store(None) as store:
        return rate_finding(aucbench.catalog(), entries(method), store, EFFORT)


@pytest.mark.slow
def test_a_rate_of_1_over_t_holds(entries):
    found = rate_of(entries, Descent())
    assert found.verdict is Verdict.holds
    assert found.measured.low <= -1.0 + 0.15
    assert len(found.by_dataset) == 6
    assert all(len(values) == EFFORT.seeds for values in found.by_dataset.values())


@pytest.mark.slow
def test_a_step_schedule_that_is_off_by_a_square_root_is_caught(entries):
    found = rate_of(entries, Descent(power=0.5))
    assert found.verdict is Verdict.slower
    assert found.measured.estimate == pytest.approx(-0.5, abs=0.15)


def test_a_method_without_a_minimum_has_the_reason_in_place_of_a_number(entries):
    class Unbounded(Descent):
        def objective(self, problem):
            return Objective(aucbench.catalog().loss("hinge")())

    found = rate_of(entries, Unbounded())
    assert found.verdict is Verdict.unknown
    assert found.measured is None
    assert "regulariser" in found.why


def exponents_of(method):
    return {each.variable: each for each in cost_finding(method, None, 3, 0.002).exponents}


@pytest.mark.slow
def test_a_loop_over_all_columns_that_claims_the_non_zeros_is_caught():
    honest, slow = exponents_of(Linear()), exponents_of(Linear(shrinks=True))
    assert {name: each.verdict for name, each in honest.items()} == dict.fromkeys(
        ("n", "d", "nnz"), Verdict.holds
    )
    assert slow["d"].verdict is Verdict.slower
    assert slow["d"].measured.estimate == pytest.approx(1.0, abs=0.2)
    assert slow["n"].verdict is Verdict.holds


@pytest.mark.parametrize(
    ("claimed", "exponent"),
    [
        ("1/t", -1.0),
        ("1/sqrt(t)", -0.5),
        ("t^(-1/4)", -0.25),
        ("t^-2", -2.0),
        ("linear", None),
        ("fast", None),
    ],
)
def test_powers_of_t_are_read(claimed, exponent):
    assert claimed_exponent(claimed) == exponent


def test_what_lies_below_the_gap_of_the_certificate_does_not_count():
    s = 1.0 / T
    floored = np.where(s > 1e-3, s, 1e-9 * np.sin(T))
    assert statistic("1/t", T, floored, 1e-3, 1.0) == pytest.approx(-1.0)


@pytest.mark.parametrize(
    ("curve", "linear", "superlinear"),
    [
        (np.exp(-0.01 * T), Verdict.holds, Verdict.unknown),
        (np.exp(-0.001 * T**1.5), Verdict.faster, Verdict.holds),
        (1.0 / T**2, Verdict.slower, Verdict.slower),
    ],
    ids=["linear", "superlinear", "1/t^2"],
)
def test_linear_rates_are_told_from_faster_and_slower_ones(curve, linear, superlinear):
    from aucbench.evaluation.power_law import Interval

    def judged(claimed):
        value = statistic(claimed, T, curve, 1e-12, 1.0)
        return rate_verdict(claimed, Interval(value, value - 0.01, value + 0.01))

    assert judged("linear") is linear
    assert judged("superlinear") is superlinear


@pytest.mark.parametrize(
    ("first", "expected"), [(1e-12, Verdict.holds), (1e-3, Verdict.slower)], ids=["solved", "not solved"]
)
def test_an_exact_method_is_at_the_minimum_after_one_iteration(first, expected):
    from aucbench.evaluation.power_law import group_interval

    value = statistic("exact", np.array([1]), np.array([first]), 1e-9, 1.0)
    assert rate_verdict("exact", group_interval([[value]])) is expected


def test_claimed_exponents_are_those_of_the_terms_along_an_axis():
    oam = aucbench.catalog().algorithm("oam_seq")()
    lines = design(oam, "buffer nnz + d")
    for variable, expected in {"n": (0, 0), "d": (0, 1), "nnz": (0, 1), "buffer": (0, 1)}.items():
        assert claimed_exponents(oam, "buffer nnz + d", variable, lines[variable][0]) == pytest.approx(
            expected
        )
    bam = aucbench.catalog().algorithm("bam")()
    least, most = claimed_exponents(bam, "nnz + n log n", "n", design(bam, "nnz + n log n")["n"][0])
    assert least == pytest.approx(1.0)
    assert 1.05 < most < 1.2
    assert claimed_exponents(bam, "n d min(n, d)", "d", design(bam, "n d min(n, d)")["d"][0])[
        0
    ] == pytest.approx(2.0)


@dataclass(frozen=True)
class Exploding(Descent):
    """Steps that are far too long: in most runs the weights overflow."""

    name: ClassVar[str] = "exploding"
    factor: float = 1e3

    def init(self, problem, rng):
        return self.first_state(problem, Given(self.lam, 1.0 / self.factor, 0.0))


@pytest.mark.slow
def test_runs_that_blow_up_leave_rate_and_cost_open_with_the_reason(entries):
    found = rate_of(entries, Exploding())
    assert found.verdict is Verdict.unknown
    assert found.measured is None
    assert "wine" in found.why
    cost = cost_finding(Exploding(), Square(), 2, 0.002)
    assert cost.verdict is Verdict.unknown
    assert cost.exponents == []
    assert "finite" in cost.why


def test_a_single_scattered_repetition_of_a_cost_widens_the_interval(monkeypatch):
    """Each pass over the design gives one exponent: what disturbs one pass is in the interval."""
    from aucbench.execution import cost_law

    slope, passes = cost_law._slope, []

    def disturbed(variable, timers):
        passes.append(variable)
        return slope(variable, timers) + 0.6 * (passes.count(variable) == 1)

    before = {name: each.measured for name, each in exponents_of(Linear()).items()}
    monkeypatch.setattr(cost_law, "_slope", disturbed)
    found = exponents_of(Linear())
    for name in ("n", "d", "nnz"):
        assert found[name].measured.low < before[name].estimate < found[name].measured.high
        assert found[name].verdict is Verdict.unknown
    assert passes == ["n", "n", "d", "d", "nnz", "nnz"] * 3


def test_a_variable_that_is_no_hyper_parameter_leaves_the_cost_open():
    class Strange(Linear):
        claims = Claims(rate="1/t", cost="widgets nnz")

    found = cost_finding(Strange(), None, 2, 0.001)
    assert found.verdict is Verdict.unknown
    assert "widgets" in found.why


@pytest.mark.parametrize(
    "word", ["psamm", "algo.gamma=-1", "algo.gamma=1,2", "tuning=grid", "budget.epochs=3", "runs=2"]
)
def test_what_is_asked_for_wrongly_is_said_before_anything_is_measured(word, capsys):
    assert main(["claims", "psam", word]) == 2
    shown = capsys.readouterr()
    assert word.partition("=")[0].removeprefix("algo.") in shown.err
    assert shown.out == ""


@pytest.mark.parametrize("file", ["absent/claims.json", "claims.json/claims.json"])
def test_a_file_that_cannot_be_written_is_said_before_anything_is_measured(file, tmp_path, capsys):
    (tmp_path / "claims.json").touch()
    assert main(["claims", "psam", "--output", str(tmp_path / file)]) == 2
    shown = capsys.readouterr()
    assert str(tmp_path / file) in shown.err
    assert ".part" not in shown.err
    assert shown.out == ""


def test_a_claim_that_is_no_formula_is_said(capsys):
    assert main(["claims", "sklearn", "--quick"]) == 0
    shown = capsys.readouterr().out
    assert "no formula" in shown
    assert "classifier, fit" not in shown


@pytest.mark.usefixtures("process")
def test_ctrl_c_while_processes_start_ends_with_one_line():
    methods = ("psam", "solam", "fsauc", "spam")  # more than it has processes, and some seconds of work
    words = [sys.executable, "-m", "aucbench", "claims", *methods, "--quick"]
    for wait in (0.0, 0.3, 1.5):
        process = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, text=True
        )
        while not psutil.Process(process.pid).children():
            time.sleep(0.01)
        time.sleep(wait)
        os.killpg(process.pid, signal.SIGINT)
        error = process.communicate(timeout=60)[1]
        assert process.returncode != 0
        assert error.split("\n") in (["aucbench: interrupted", ""], ["", "aucbench: interrupted", ""])


def test_a_process_that_is_killed_is_said(entries, monkeypatch):
    from aucbench.execution import claims

    def serve(connection, quick):
        connection.recv()

    monkeypatch.setattr(claims, "_serve", serve)
    monkeypatch.setattr(claims, "forking_context", lambda: multiprocessing.get_context("fork"))
    studies = {name: entries(Descent()) for name in ("one", "two")}
    with pytest.raises(CellError, match="process"):
        claims.measure_claims(studies, "aucbench claims", quick=True)


@pytest.mark.slow
def test_the_command_writes_what_it_measured(tmp_path, capsys):
    import json

    assert (
        main(["claims", "ls_svm", "algo.lam=0.01", "--quick", "--output", str(tmp_path / "claims.json")]) == 0
    )
    found = json.loads((tmp_path / "claims.json").read_text())
    (method,) = found["methods"]
    assert found["command"] == "aucbench claims ls_svm algo.lam=0.01 --quick"
    assert method["settings"] == {"lam": 0.01}
    assert method["rate"]["verdict"] == "holds"
    assert method["rate"]["measured"][0] < 1e-8
    assert {each["variable"] for each in method["cost"]["exponents"]} == {"n", "d"}
    assert "ls_svm" in capsys.readouterr().out


@dataclass(frozen=True)
class Planned(Descent):
    """The same, told the number of iterations beforehand."""

    name: ClassVar[str] = "planned"
    plans: ClassVar[bool] = True


def test_a_method_that_plans_is_run_anew_for_each_length(entries):
    effort = Effort(seeds=2, seconds=0.05, datasets=2)
    with opened_store(None) as store:
        found = rate_finding(aucbench.catalog(), entries(Planned()), store, effort)
    assert set(found.by_dataset) == {"gaussian", "breast_cancer"}
    assert -1.6 < found.measured.estimate < -0.5


@pytest.mark.slow
def test_the_file_has_every_method_that_was_finished_before_an_interruption(tmp_path, monkeypatch):
    import json

    from aucbench.cli.commands import claims as command

    file, shown = tmp_path / "claims.json", []

    def interrupted(found):
        shown.append(found.method)
        if len(shown) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(command, "_show", interrupted)
    with pytest.raises(click.exceptions.Abort):
        command.claims.main(
            ["ls_svm", "uni_square", "psam", "--quick", "--output", str(file)], standalone_mode=False
        )
    found = json.loads(file.read_text())
    assert len(shown) == 2
    assert [each["method"] for each in found["methods"]] == shown
    assert list(tmp_path.iterdir()) == [file]


@dataclass(frozen=True)
class Halving:
    """Its distance from the solution is halved, or raised to a power, in every iteration; no objective."""

    name: ClassVar[str] = "halving"
    access: ClassVar[Access] = Access.full
    claims: ClassVar[Claims] = Claims(rate="linear", cost="d")
    order: float = 1.0

    def init(self, problem, rng):
        return np.full(problem.n_features, 0.5)

    def step(self, state, batch):
        for _ in batch.rows:
            state = 0.5 * state if self.order == 1.0 else state**self.order
        return state

    def done(self, state):
        return bool(state[0] < 1e-7)

    def weights(self, state):
        return 1.0 + state

    def score(self, state, X):
        return X @ (1.0 + state)


@pytest.mark.parametrize(
    ("order", "rate", "expected"),
    [(1.0, "linear", Verdict.holds), (1.5, "linear", Verdict.faster), (1.5, "superlinear", Verdict.holds)],
)
def test_the_order_of_a_method_without_objective_is_that_of_its_distance_from_the_end(
    entries, order, rate, expected
):
    class Method(Halving):
        claims = Claims(rate=rate, cost="d")

    assert can_be_measured(Method())
    found = rate_of(entries, Method(order=order))
    assert found.verdict is expected
    assert found.quantity.endswith("|w - w_end|^2")
    assert (abs(found.measured.estimate - 1.0) < 0.1) == (order == 1.0)


def test_a_method_that_never_stops_and_declares_no_objective_has_no_rate(entries):
    class Restless(Halving):
        def done(self, state):
            return False

    assert not can_be_measured(Linear())
    found = rate_of(entries, Restless())
    assert found.measured is None
    assert "converge" in found.why
