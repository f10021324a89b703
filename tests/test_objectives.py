"""The loss over all pairs against the pairs written out, for any loss, and its adapters to other trainers."""

from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import jax
import jax.numpy as jnp
import lightgbm
import numpy as np
import pytest
import xgboost
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from aucbench import ParameterError, kernels, pair_loss
from aucbench.booster_derivatives import booster_derivatives
from aucbench.kernels import pair_loss as means
from aucbench.kernels import pair_tree
from aucbench.kernels.pair_loss import class_shares, pair_mean
from aucbench.kernels.translated_loss import translated
from aucbench.objectives import jax_pair_loss, lightgbm_objective, torch_pair_loss, xgboost_objective
from aucbench_losses import Exponential, Hinge, Logistic, SmoothHinge, Square, SquaredHinge
from tests.helpers.losses import Hyperbola, Sigmoid, Softplus, UndeclaredHinge

SMOOTH = [Logistic(), Sigmoid(), Sigmoid(0.05), Softplus(1e-3), Softplus(30.0), Hyperbola()]
LOSSES = [
    Square(), Hinge(), Hinge(0.3), SquaredHinge(), SmoothHinge(), Exponential(), UndeclaredHinge(), *SMOOTH,
]  # fmt: skip
NAMES = ["square", "hinge", "squared_hinge", "smooth_hinge", "logistic", "exponential"]


def written_out(loss, scores, y, weights=None):
    """(n+, n-) weights, losses and slopes of all pairs; the weights add up to 1."""
    mass = np.ones(len(y)) if weights is None else weights
    shares = np.outer(mass[y == 1] / mass[y == 1].sum(), mass[y != 1] / mass[y != 1].sum())
    margins = scores[y == 1][:, None] - scores[y != 1]
    theta = kernels.theta(loss)
    arrays = [np.array([[function(float(m), theta) for m in row] for row in margins])
             for function in (loss.value, loss.derivative)]  # fmt: skip
    return shares, *arrays


def by_row(y, pairs, sign=-1.0):
    """(n,) sums of the pairs of each row."""
    total = np.empty(len(y))
    total[y == 1], total[y != 1] = pairs.sum(axis=1), sign * pairs.sum(axis=0)
    return total


@st.composite
def samples(draw):
    """Scores of many kinds, labels and weights of up to 40 rows."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(2, 40))
    scale = 10.0 ** draw(st.floats(-12.0, 6.0))
    y = (rng.random(n) < draw(st.sampled_from([0.1, 0.5]))).astype(int)
    y[:2] = 0, 1
    normal = rng.normal(size=n)
    kinds = {
        "normal": normal,
        "scaled": scale * normal,
        "ties": np.round(2.0 * normal) / 2.0 * scale,
        "equal": np.full(n, scale),
        "heavy tails": rng.standard_cauchy(n),
        "offset": scale + normal,
        "outliers": normal + 1e6 * (rng.random(n) < 0.1),
        "separated": normal + draw(st.sampled_from([5.0, 60.0])) * y,
    }
    scores = kinds[draw(st.sampled_from(list(kinds)))]
    power = draw(st.sampled_from([None, 1, 10]))
    return scores, y, None if power is None else 1e-9 + rng.random(n) ** power


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@settings(max_examples=10)
@given(sample=samples())
def test_value_and_gradient_are_those_of_all_pairs(loss, sample):
    scores, y, weights = sample
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(means, "FEW_PAIRS", 0)  # few pairs take the code path of many
        result = pair_loss(loss, scores, y, weights)
    shares, values, slopes = written_out(loss, scores, y, weights)
    assert result.value == pytest.approx((shares * values).sum(), rel=1e-9, abs=1e-300)
    # The error of a row is compared with the absolute slopes of its pairs, and with a share of the mean.
    size = by_row(y, shares * abs(slopes), 1.0) + 0.1 * by_row(y, shares, 1.0) * (shares * abs(slopes)).sum()
    assert np.all(abs(result.gradient - by_row(y, shares * slopes)) <= 1e-9 * size)
    assert np.all(result.curvature >= 0.0) or loss.convex is False


@dataclass(frozen=True)
class Bump:
    """e^(-(m / width)^2)."""

    name: ClassVar[str] = "bump"
    convex: ClassVar[bool] = False
    width: float = 1.0

    @staticmethod
    def value(m, theta):
        return np.exp(-((m / theta) ** 2))

    @staticmethod
    def derivative(m, theta):
        return -2.0 * m / theta**2 * np.exp(-((m / theta) ** 2))


@pytest.mark.parametrize("weighted", [False, True])
def test_a_loss_that_changes_within_narrow_margins_is_right_or_refused(weighted):
    rng = np.random.default_rng(0)
    y = (rng.random(600) < 0.1).astype(int)  # more pairs than are visited one by one
    scores, weights = rng.normal(size=600) + y, rng.integers(0, 3, 600) if weighted else None
    for width in (1.0, 0.3, 0.1):
        shares, values, _ = written_out(Bump(width), scores, y, weights)
        assert pair_loss(Bump(width), scores, y, weights).value == pytest.approx((shares * values).sum())
    for width in (0.01, 1e-3, 1e-4):
        with pytest.raises(ParameterError, match="narrow margins"):
            pair_loss(Bump(width), scores, y, weights)


@pytest.mark.parametrize("loss", [Hinge(), Exponential()], ids=str)
def test_the_bound_of_a_loss_without_one_is_infinite_whatever_the_weight(loss):
    assert np.all(np.isinf(pair_loss(loss, [1.0, 0.5, 0.0], [1, 1, 0], [1, 0, 1]).curvature_bound))


@pytest.mark.parametrize("n", [50, 300])  # pair by pair, and with more pairs
@pytest.mark.parametrize("loss", [Square(), SquaredHinge(), SmoothHinge(), Exponential(), *SMOOTH], ids=str)
def test_the_curvature_is_that_of_the_gradient_and_below_its_bound(loss, n):
    rng = np.random.default_rng(n)
    y = (rng.random(n) < 0.3).astype(int)
    scores, weights = rng.normal(size=n) + y, rng.random(n)
    result = pair_loss(loss, scores, y, weights)
    for row in range(5):
        step = np.zeros(n)
        step[row] = 1e-5
        high, low = (pair_loss(loss, scores + sign * step, y, weights).gradient for sign in (1, -1))
        size = 1e-3 * result.curvature.max()  # a knot may lie beside a margin
        assert result.curvature[row] == pytest.approx((high - low)[row] / 2e-5, rel=1e-4, abs=size)
    labels = np.where(y == 1, 1, -1).astype(np.int8)
    mean = means.pair_mean(loss, scores, labels, weights)
    hessian, involved = np.zeros((n, n)), mean.curvature.rows
    hessian[np.ix_(involved, involved)] = mean.curvature.dense()
    np.testing.assert_allclose(hessian.diagonal(), result.curvature, atol=1e-8 * hessian.max())
    v = rng.normal(size=n)
    np.testing.assert_allclose(mean.curvature.product(v), hessian @ v, atol=1e-8 * abs(hessian @ v).max())
    for layout in (np.asarray, sparse.csr_array):
        Z = rng.normal(size=(n, 2))
        scatter, expected = mean.curvature.scatter(layout(Z)), Z.T @ hessian @ Z
        np.testing.assert_allclose(scatter, expected, atol=1e-8 * abs(expected).max())
    if np.all(np.isfinite(result.curvature_bound)):
        assert np.linalg.eigvalsh(np.diag(result.curvature_bound) - hessian).min() > -1e-12


@pytest.mark.parametrize("loss", SMOOTH, ids=str)
def test_copies_of_all_rows_change_nothing(loss):
    rng = np.random.default_rng(3)
    y = (rng.random(300) < 0.3).astype(int)
    scores = rng.normal(size=300) * 3.0 + y
    shares, values, slopes = written_out(loss, scores, y)
    result = pair_loss(loss, np.tile(scores, 1000), np.tile(y, 1000))
    assert result.value == pytest.approx((shares * values).sum(), rel=1e-9)
    expected = by_row(y, shares * slopes)
    np.testing.assert_allclose(result.gradient[:300] * 1000, expected, rtol=1e-9, atol=1e-15)


def test_a_kink_that_is_not_declared_costs_few_pairs_and_too_many_are_declined(monkeypatch):
    rng = np.random.default_rng(0)
    y = (rng.random(30_000) < 0.3).astype(int)
    scores = rng.normal(size=30_000) + y
    declared = pair_loss("hinge", scores, y)
    monkeypatch.setattr(pair_tree, "MOST_PAIRS", 10_000_000)  # of 189 million pairs
    result = pair_loss(UndeclaredHinge(), scores, y)
    assert result.value == pytest.approx(declared.value, rel=1e-12)
    np.testing.assert_allclose(result.gradient, declared.gradient, rtol=1e-10, atol=1e-18)
    with pytest.raises(ParameterError, match="undeclared_hinge"):
        pair_loss(UndeclaredHinge(), np.round(scores), y)  # all pairs with the margin 1


def test_labels_may_be_those_of_either_convention_and_a_row_of_weight_zero_does_not_count():
    scores, y = np.array([0.3, -0.4, 1.0, 0.2]), np.array([1, 0, 1, 0])
    plain = pair_loss("logistic", scores, y)
    for labels in (2 * y - 1, y.astype(bool), y.astype(np.float32), list(y)):
        assert pair_loss("logistic", scores, labels).value == plain.value
    for name in NAMES:
        expected = pair_loss(name, scores[:3], y[:3])
        for weight in (1.0, 1e308, 1e-310):
            result = pair_loss(name, scores, y, [weight, weight, weight, 0.0])
            assert result.value == pytest.approx(expected.value, rel=1e-12)
            np.testing.assert_allclose(result.gradient, [*expected.gradient, 0.0], atol=1e-15)


@dataclass(frozen=True)
class OfTwo:
    """A function of a score and a label, in the form of a plugin."""

    name = "of_two"

    @staticmethod
    def value(score, y, theta):
        return (score - y) ** 2

    @staticmethod
    def derivative(score, y, theta):
        return 2.0 * (score - y)


@pytest.mark.parametrize(
    ("loss", "scores", "y", "weights", "message"),
    [
        ("logistic", [0.0, 1.0], [1, 1], None, "2 positives"),
        ("logistic", [0.0, np.nan], [0, 1], None, "row 1"),
        ("logistic", [np.inf, 1.0], [0, 1], None, "row 0"),
        ("logistic", [0.0, 1.0], [0, 1, 1], None, "shapes"),
        ("logistic", [[0.0], [1.0]], [0, 1], None, "shapes"),
        ("logistic", [0.0, 1.0], [0, 2], None, "labels"),
        ("logistic", ["a", "b"], [0, 1], None, "numbers"),
        ("logistic", ["0", "1"], [0, 1], None, "real numbers"),
        ("logistic", [0.0, 1j], [0, 1], None, "real numbers"),
        ("logistic", [0, 10**400], [0, 1], None, "real numbers"),
        ("logistic", np.ma.array([0.0, 1.0], mask=[0, 1]), [0, 1], None, "real numbers"),
        ("logistic", [0.0, 1.0], [0, 1], [1.0], "weights"),
        ("logistic", [0.0, 1.0], [0, 1], [1.0, -1.0], "weights"),
        ("logistic", [0.0, 1.0], [0, 1], [1.0, 0.0], "weight"),
        (OfTwo(), [0.0, 1.0], [0, 1], None, "margin"),
        (Logistic, [0.0, 1.0], [0, 1], None, "instance"),
        (np.square, [0.0, 1.0], [0, 1], None, "margin"),
    ],
)
def test_bad_input_gets_one_sentence(loss, scores, y, weights, message):
    with pytest.raises(ParameterError, match=message) as caught:
        pair_loss(loss, scores, y, weights)
    assert "\n" not in str(caught.value)


@pytest.fixture(scope="module")
def rows():
    """Rows that trees can separate, labels and weights."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(2000, 4))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=2000) > 2.0).astype(int)
    return X, y, rng.uniform(0.5, 2.0, 2000)


@pytest.mark.boosters
@pytest.mark.parametrize("weighted", [False, True])
def test_objectives_of_boosters_add_up_over_rows(weighted, rows):
    X, y, weights = rows
    row_weights, scores = weights if weighted else None, X[:, 0]
    for objective, data in (
        (lightgbm_objective, lightgbm.Dataset(X, y, weight=row_weights).construct()),
        (xgboost_objective, xgboost.DMatrix(X, y, weight=row_weights)),
    ):
        gradient, hessian = objective("logistic")(scores, data)
        result = pair_loss("logistic", scores, y, row_weights)
        np.testing.assert_allclose(gradient, len(y) * result.gradient, rtol=1e-6)
        np.testing.assert_allclose(hessian, len(y) * result.curvature, rtol=1e-6)
        for name in NAMES:
            for scaled in (scores, 1e3 * scores):
                assert np.all(objective(name)(scaled if name != "exponential" else scores, data)[1] > 0.0)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_derivatives_for_boosters_are_those_of_the_pairs(loss):
    rng = np.random.default_rng(3)
    y = np.where(np.arange(400) % 9 == 0, 1, -1).astype(np.int8)
    for scale, weights in product([0.0, 1e-9, 5.0, 200.0], [None, rng.integers(0, 3, 400).astype(float)]):
        scores = 1000.0 + scale * (rng.normal(size=400) + 0.5 * y)
        scores[::3] = scores[0]  # ties, as in leaves
        with np.errstate(over="ignore"):
            gradient, curvature = booster_derivatives(loss)(scores, y, weights)
            mean = pair_mean(loss, scores, y, weights)
        slopes, bends = len(y) * mean.slopes, len(y) * mean.curvature.diagonal
        if np.all(np.abs(slopes) + bends < np.finfo(np.float32).max):  # else a booster stops
            np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-6 * np.abs(slopes).max())
            least = len(y) * class_shares(y, weights) * (1e-3 if bends.any() else 1.0)
            expected = np.maximum(bends, least)
            np.testing.assert_allclose(curvature, expected, rtol=1e-6, atol=1e-6 * bends.max())


@pytest.mark.jax
@pytest.mark.parametrize("n", [200, 1000])  # pair by pair in JAX, and on the host
@pytest.mark.parametrize("name", NAMES)
def test_jax_and_torch_give_the_same_gradient_in_the_type_of_the_scores(name, n, rows):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    X, y, weights = (array[:n] for array in rows)
    scores = X[:, 0].astype(np.float32)
    expected = pair_loss(name, scores, y, weights)
    of_jax = jax_pair_loss(name)
    function = jax.jit(jax.value_and_grad(lambda *args: 2.0 * of_jax(*args)))
    value, gradient = function(jnp.asarray(scores), jnp.asarray(y), jnp.asarray(weights))
    leaf = torch.tensor(scores, requires_grad=True)
    mean = torch_pair_loss(name)(leaf, torch.tensor(y), torch.tensor(weights))
    (2.0 * mean).backward()
    assert gradient.dtype == jnp.float32
    assert leaf.grad.dtype == mean.dtype == torch.float32
    half = torch.tensor(scores, dtype=torch.bfloat16, requires_grad=True)
    torch_pair_loss(name)(half, y).backward()
    rounded = pair_loss(name, half.detach().double().numpy(), y)
    np.testing.assert_allclose(half.grad.double().numpy(), rounded.gradient, rtol=1e-2, atol=1e-6)
    with pytest.raises(ParameterError, match="floating-point"):
        torch_pair_loss(name)(torch.tensor(y), y)
    for mean_loss, slopes in ((value / 2.0, gradient / 2.0), (mean.item(), leaf.grad.numpy() / 2.0)):
        assert float(mean_loss) == pytest.approx(expected.value, rel=1e-5)
        np.testing.assert_allclose(slopes, expected.gradient, rtol=1e-4, atol=1e-8)


@pytest.mark.jax
@pytest.mark.parametrize("n", [2, 1000])
def test_a_network_that_diverges_gets_nan_from_jax_and_a_batch_of_one_class_a_sentence(n):
    scores, y = jnp.zeros(n).at[0].set(jnp.nan), jnp.arange(n) % 2
    value, gradient = jax.value_and_grad(jax_pair_loss("logistic"))(scores, y)
    assert np.isnan(value)
    assert np.isnan(gradient[0])
    with pytest.raises(ParameterError, match="both classes"):
        jax_pair_loss("logistic")(scores, jnp.ones(n))
    for labels in ([1, 1], [1, 2], [-1, 0]):
        assert np.isnan(jax.jit(jax_pair_loss("logistic"))(jnp.zeros(2), jnp.array(labels)))
    short = jnp.linspace(-1.0, 1.0, n).astype(jnp.bfloat16)
    expected = pair_loss("logistic", np.asarray(short, float), np.arange(n) % 2).value
    for function in (jax_pair_loss("logistic"), jax.jit(jax_pair_loss("logistic"))):
        assert float(function(short, y)) == pytest.approx(expected, rel=1e-2)
    with pytest.raises(ParameterError, match="floating-point numbers, got int32"):
        jax_pair_loss("logistic")(jnp.arange(n), y)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_a_translated_loss_has_its_numbers(loss):
    functions = translated(loss, np)
    assert functions is not None
    margins = np.random.default_rng(0).normal(size=50) * 3.0
    for ours, function in zip(functions, (loss.value, loss.derivative), strict=True):
        expected = [function(m, kernels.theta(loss)) for m in margins]
        np.testing.assert_allclose(ours(margins), expected, rtol=1e-9, atol=1e-15)
