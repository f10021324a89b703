"""Every recursion against its transcription in plain NumPy, on dense and on sparse rows, in chunks.

A line of the table names a method, its transcription and the settings that are tried: a pair of numbers is
a range, from which Hypothesis draws by the logarithm, and a list is a choice. Fields that are true or false,
or a word of several, are drawn without being named; others keep their default.
"""

from inspect import signature
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

import aucbench
from aucbench import Access, kernels
from aucbench_losses import Exponential, Hinge, Logistic, SmoothHinge, Square, SquaredHinge
from tests.algorithms import reference, reference_blocks, reference_pairs, reference_square
from tests.algorithms.pair_oracles import block_least_squares, sgd_classifier
from tests.helpers.losses import Softplus
from tests.helpers.settings_of_plugins import fields_of
from tests.helpers.training import difference, random_pairs, random_problem, train

PROBLEMS = {
    "dense": random_problem(1, 300, 20),
    "sparse": random_problem(2, 300, 3000, density=0.005),  # the lazy layout
    "narrow": random_problem(2, 300, 400, density=0.03),  # sparse rows for methods with d x d matrices
    "unscaled": random_problem(3, 300, 20, unit=False),
}
ANY, SQUARE, SCALED = ("dense", "sparse", "unscaled"), ("dense", "narrow", "unscaled"), ("dense", "sparse")
MOST = {Access.stream: 600, Access.pairs: 600, Access.minibatch: 30, Access.full: 1}
EXAMPLES = 8
BOUNDS = {"delta": [0.01, 0.5], "kappa": [None, 1.0]}
MARGINS = [Hinge(), Hinge(margin=0.3)]
OF_BLOCKS = [SquaredHinge(), Hinge(margin=0.3), Logistic(), SmoothHinge()]
OF_PAIRS = [Hinge(margin=2.0), Square(), Logistic(), Exponential(), SmoothHinge(margin=0.3), Softplus(0.5)]


class Run(NamedTuple):
    """The training data and the loss of a method."""

    X: np.ndarray
    y: np.ndarray
    rows: np.ndarray
    loss: Any

    def __repr__(self):
        return f"{len(self.rows)} rows of {self.X.shape}, {self.loss}"


class Case(NamedTuple):
    """A line of the table."""

    name: str
    transcription: Any  # of the run and all fields; weights, or weights and an intercept
    choices: dict[str, Any]
    problems: tuple[str, ...]
    losses: tuple[Any, ...]
    most: int  # iterations; 0 takes those of the access
    sizes: tuple[int, ...]  # of a minibatch

    cls = property(lambda self: aucbench.catalog().algorithm(self.name))

    def __str__(self):
        return f"{self.name} {self.choices} {self.problems}"


def slope(loss):
    theta = kernels.theta(loss)
    return lambda m: type(loss).derivative(m, theta)


def by(function, **more):
    """The transcription as a function of a run and all fields; it ignores fields that it does not name."""
    names = set(signature(function).parameters)
    names |= {"momentum", "lam", "schedule"} if "rest" in names else set()  # of an optimiser

    def call(run, **fields):
        of_run = {"X": run.X, "y": run.y, "loss": run.loss}
        of_run |= {"margin": run.loss.margin} if hasattr(run.loss, "margin") else {}
        of_run |= dict.fromkeys(("order", "pairs", "batches"), run.rows)
        of_run |= {"kind": fields.get("optimiser"), "derivative": run.loss and slope(run.loss)}
        if "tau" in fields:
            of_run["draws"] = np.random.default_rng(0).standard_normal((len(run.rows), fields["tau"]))
        values = {**of_run, **fields, **more}
        return function(**{name: values[name] for name in names & values.keys()})

    return call


def by_soap(run, prior, **fields):
    p = np.mean(run.y == 1) if prior == "data" else 0.5
    return by(reference_blocks.soap, p=p)(run, **fields)


def case(name, transcription, problems=ANY, losses=(), most=0, sizes=(20,), **choices):
    return Case(name, transcription, choices, problems, losses, most, sizes)


RATES = {"eta": (0.02, 0.3), "momentum": [0.0, 0.3, 0.5, 0.8], "lam": [0.0, 0.02, 0.4]}
CONFIDENT = {"C": (2.0**-10, 100.0), "eta": [0.51, 0.7, 0.95], "buffer": [1, 7, 50]}
SUMS = {"gamma": (0.01, 1.0), "smooth": (0.1, 1.0), "l1": [0.0, 0.05, 0.3], "l2": [0.0, 2.0]}
UNSCALED = {"problems": ("unscaled",)}
BLOCKS = {"problems": SCALED, "losses": OF_BLOCKS, "most": 150, "block": [2, 8], **RATES}
SHRINKS_TO_NOTHING = {
    "eta": [1.0], "lam": [1.0], "block": [1],
    "optimiser": ["sgd"], "schedule": ["constant"], "average": [True],
}  # fmt: skip
SOLAM, FSAUC = by(reference.solam), by(reference.fsauc)
SPAM, SPAUC = by(reference_square.spam), by(reference_pairs.spauc)
OPAUC, PAIR_BATCH = by(reference.opauc), by(reference_blocks.pair_batch)
DESCENT = by(reference_pairs.pair_descent)
ASAM, SPDAM = by(reference.psam), by(reference_square.spdam)
CASES = [
    case("solam", SOLAM, zeta=(0.1, 100.0), radius=(0.05, 1e4), kappa=[None, 0.5]),
    case("regsolam", SOLAM, zeta=(0.1, 100.0), lam=(1e-5, 1e5), kappa=[None, 1.0]),
    case("fsauc", FSAUC, SCALED, radius=(0.05, 100.0), eta=(0.01, 0.3), eta_rule=["halve", "capped"]),
    # the paper's rule multiplies eta by 20
    case(
        "fsauc", FSAUC, SCALED, radius=(0.05, 100.0), eta=(1e-4, 1e-3), eta_rule=["paper"], bounded=[False]
    ),
    case("fsauc", FSAUC, **UNSCALED, radius=(0.01, 0.1), eta=(0.01, 0.1), eta_rule=["halve"], **BOUNDS),
    case("spam", SPAM, SCALED, C=(0.01, 10.0), beta=[0.0, 0.01, 1.0], nu=[0.0, 0.01], radius=(0.05, 1e3)),
    case("spam", SPAM, C=(0.01, 0.3), beta=[0.0, 1e-2, 1e3], radius=[0.05], penalty=["l2", "ball"]),
    case("spauc", SPAUC, SCALED, C=(0.01, 10.0), beta=[0.0, 1e-3, 1.0], nu=[0.01]),
    case("spauc", SPAUC, **UNSCALED, C=(0.01, 0.3), beta=[0.0, 1e-3, 1.0], nu=[0.01]),
    case("opauc", OPAUC, SQUARE, most=200, eta=(1e-3, 0.01), lam=[0.0, 0.01, 1.0]),
    case("adaoam", OPAUC, SQUARE, most=200, eta=(1e-3, 0.1), lam=[0.0, 1e-2, 4.0]),
    case("opauc_r", by(reference_square.opauc_r), most=600, eta=(1e-3, 0.03), lam=[0.0, 0.1], tau=[1, 10]),
    case("spdam", SPDAM, SCALED, sizes=(1, 30, 300), lam=[1e-5, 1e-2, 10.0], kappa=[None, 1.0]),
    case("spdam", SPDAM, **UNSCALED, sizes=(1, 30, 300), lam=[1e-5, 1e-2, 10.0], kappa=[None]),
    *(
        case(
            "sauc", by(reference_square.sauc), (name,), (Hinge(), Logistic(), SmoothHinge()),
            radius=(0.05, 0.5), beta=(0.3, 2.0), degree=[1, 4],
            kappa=[float(np.linalg.norm(PROBLEMS[name][0], axis=1).max())], step_rule=["code"],
        )
        for name in ANY
    ),
    case(
        "psam", by(reference.psam, derivative=None), losses=MARGINS,
        gamma=(1e-10, 0.1), t0=[None, 0.0, 100.0], rskip=[1, 16], askip=[1, 50],
    ),
    case("asam", ASAM, losses=OF_PAIRS, gamma=(1e-3, 0.1), t0=[1e4], rskip=[1, 16], askip=[1, 16]),
    case("asam", ASAM, SCALED, (SmoothHinge(),), gamma=(1e-3, 1.0), rskip=[1, 16], askip=[1, 50]),
    case("roc_sgd", by(reference_pairs.roc_sgd), losses=MARGINS, lam=(1e-6, 1e3)),
    case("uni_exp", by(reference_pairs.uni_exp), eta=(1e-4, 2.0)),
    *(
        case(name, by(reference_pairs.oam, kind=name[4:]), losses=MARGINS, most=500, C=C,
             buffer=[1, 7, 50, 300], radius=radius)
        for name in ("oam_seq", "oam_gra")
        for C, radius in (((2.0**-12, 0.1), [None, 0.3]), ((10.0, 100.0), [0.01, 1.0]))
    ),
    case("cbr_diag", by(reference_pairs.cbr, diagonal=True), most=300, **CONFIDENT),
    case("cbr", by(reference_pairs.cbr), SQUARE, most=60, **CONFIDENT),
    case("fifo_ogd", DESCENT, losses=[Hinge(), Logistic()], eta=(0.01, 3.0), radius=[None, 0.3]),
    case(
        "aogd", DESCENT, losses=[Hinge(), Logistic()],
        eta=(0.01, 3.0), radius=[None, 0.3], theta=[0.0, 0.85, 0.99],
    ),
    case("ftrl_auc", by(reference_pairs.ftrl_auc), **SUMS),
    case("ftrl_log", by(reference_pairs.ftrl_log), **SUMS),
    case("sgd_hinge", sgd_classifier("sgd_hinge"), SCALED, alpha=(1e-4, 3.0)),
    case("sgd_log", sgd_classifier("sgd_log"), SCALED, alpha=(1e-4, 3.0)),
    case(
        "pair_batch", PAIR_BATCH, SCALED, [*OF_PAIRS, SquaredHinge(margin=2.0), *MARGINS], most=250,
        block=[1, 2, 9], **RATES,
    ),
    case("pair_batch", PAIR_BATCH, SCALED, [SquaredHinge()], most=60, **SHRINKS_TO_NOTHING),
    case("sopa", by(reference_blocks.sopa), **BLOCKS, alpha=[0.4, 1.0], eta_s=[0.2]),
    case("sopa_s", by(reference_blocks.sopa_s), **BLOCKS, temperature=[0.7], gamma=[0.6, 1.0]),
    case("soap", by_soap, **BLOCKS, gamma=[0.6, 1.0]),
    case(
        "pesg", by(reference_blocks.pesg), SCALED, block=[1, 3, 8], eta=(0.02, 0.1), margin=[0.4, 1.0],
        lam=[1e-5, 0.3, 2.0], pull=[2e-3, 0.5, 3.0], stages=[3, 7, 900], decay=[1.0, 2.0, 10.0],
    ),
    case("sht_auc", by(reference_blocks.sht_auc), SCALED, sparsity=[1, 3, 7, 20], eta=[0.5], lam=[0.1]),
    case("mba", block_least_squares, ("dense", "unscaled"), sizes=(30,), lam=(1e-3, 1.0)),
    case("ls_svm", by(reference.ls_svm), SQUARE, lam=(1e-3, 10.0)),
]  # fmt: skip


@st.composite
def trials(draw, case):
    """A setting of a method, and a run."""
    fields = draw(fields_of(case.cls, case.choices))
    X, y = PROBLEMS[draw(st.sampled_from(case.problems))]
    access, n = Access(case.cls.access), len(y)
    count = case.most or MOST[access]
    if access is Access.pairs:
        rows = random_pairs(5, y, count)
    elif access is Access.minibatch:
        size = draw(st.sampled_from(case.sizes))
        rows = np.stack([np.random.default_rng(seed).permutation(n)[:size] for seed in range(count)])
    elif access is Access.stream:
        rows = np.concatenate([np.random.default_rng(seed).permutation(n) for seed in range(-(-count // n))])
        rows = rows[:count]
    else:
        rows = np.zeros((count, 0), np.int64)
    loss = draw(st.sampled_from(case.losses)) if case.losses else None
    return case.cls(**fields), Run(X, y, rows, loss)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_method_follows_its_transcription(case):
    @settings(max_examples=EXAMPLES, deadline=None, derandomize=True)
    @given(trials(case))
    def follow(trial):
        algorithm, run = trial
        expected = case.transcription(run, **vars(algorithm))
        expected, intercept = expected if isinstance(expected, tuple) else (expected, None)
        assert np.isfinite(expected).all()
        assume(expected.any())
        for layout in (np.asarray, sparse.csr_array):
            state = train(algorithm, layout(run.X), run.y, run.rows, parts=3, loss=run.loss)
            assert difference(algorithm.weights(state), expected) < 1e-9, layout.__name__
            if intercept is not None:
                actual = algorithm.fitted_intercept(state)
                assert actual == pytest.approx(intercept, rel=1e-9, abs=1e-12)

    follow()
