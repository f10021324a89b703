"""The audit of functions that claim to be AUC losses: correct ones pass, and planted faults are found."""

from importlib.util import find_spec
from textwrap import dedent

import numpy as np
import pytest

from aucbench import ParameterError, api
from aucbench.cli.main import main
from aucbench.contracts.validation import Family
from aucbench.kernels.pair_loss import pair_mean
from aucbench.testing.audit import DEPARTS, audit
from aucbench.testing.audited_function import AuditedFunction
from aucbench_losses import Hinge, Logistic, Square

LOSSES = {name: plugin.cls for name, plugin in api.catalog().plugins[Family.losses].items()}


def audited(function):
    return audit(AuditedFunction(function, "given"), api.catalog())


def departing(function):
    """The text of each property that departs."""
    return {name: line.text for name, line in audited(function).lines.items() if line.status == DEPARTS}


def over_pairs(loss, factor=lambda p, n: 1.0):
    """A loss plugin over all pairs, with its gradient, times a factor of p and n."""

    def function(scores, labels):
        if not np.isfinite(scores).all():
            return np.nan, np.full(scores.size, np.nan)
        y = np.where(labels == 1, 1, -1).astype(np.int8)
        if abs(int(y.sum())) == y.size:
            return 0.0, np.zeros(y.size)
        mean, size = pair_mean(loss, scores, y), factor((y == 1).mean(), y.size)
        return size * mean.value, size * mean.slopes

    return function


def sides(scores, labels):
    return scores[labels == 1], scores[labels != 1]


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_is_recognised_with_its_parameter_and_factor(name):
    rng = np.random.default_rng(sum(map(ord, name)))
    cls = LOSSES[name]
    margin = round(float(rng.uniform(0.3, 2.5)), 3)
    loss = cls(margin) if hasattr(cls, "__dataclass_fields__") and cls.__dataclass_fields__ else cls()
    factors = {"n+ n-": lambda p, n: p * (1 - p) * n * n, "0.7 p (1 - p)": lambda p, n: 0.7 * p * (1 - p)}
    text, factor = list(factors.items())[rng.integers(2)]
    report = audited(over_pairs(loss, factor))
    assert not report.departures, report.lines
    assert f"the {name.replace('_', ' ')} loss" in report.computes
    assert f"times {text}" in report.computes
    if vars(loss):
        assert f"margin {margin:g}" in report.computes


@pytest.mark.slow
def test_correct_losses_in_other_forms_pass():
    rng = np.random.default_rng(0)
    margin, scale = round(float(rng.uniform(0.2, 2.0)), 3), round(float(rng.uniform(0.2, 2.0)), 3)

    def logistic(scores, labels):
        high, low = sides(scores, labels)
        return scale * np.logaddexp(0.0, (low - high[:, None]) / margin).mean()

    def square(scores, labels):  # in O(n)
        high, low = sides(scores, labels)
        gap = high.mean() - low.mean()
        return scale * (high.var() + low.var() + (1.0 - gap) ** 2)

    def saddle(scores, labels):
        high, low = sides(scores, labels)
        gap = max(0.0, margin + low.mean() - high.mean())
        return (high.var() + low.var() + gap**2) * (labels == 1).mean() * (labels != 1).mean()

    def unregistered(scores, labels):
        high, low = sides(scores, labels)
        return np.arctan(1.0 - (high[:, None] - low)).mean()

    expected = {saddle: f"{margin:g}", logistic: f"divided by {margin:g}"}
    expected |= {square: "square", unregistered: "unknown"}
    for function, text in expected.items():
        report = audited(function)
        assert not report.departures, report.lines
        assert text in report.computes


class Single:
    """A parameter in single precision, as PyTorch makes them."""

    dtype, value = np.dtype("float32"), np.float32(0.0)

    def detach(self):
        return self

    def fill_(self, value):
        self.value = np.float32(value)


class MinMax:
    """The min-max margin loss with its gradient, and auxiliary variables in single precision."""

    def __init__(self, cross=lambda p: 1.0):
        self.a, self.b, self.alpha, self.cross = Single(), Single(), Single(), cross

    def __call__(self, scores, labels):
        a, b, alpha = (np.float64(single.value) for single in (self.a, self.b, self.alpha))
        high, low = sides(scores, labels)
        factor = self.cross((labels == 1).mean())
        value = ((high - a) ** 2).mean() + ((low - b) ** 2).mean()
        value += 2.0 * alpha * (1.0 + factor * low.mean() - high.mean()) - alpha**2
        up, down = (scores - a - alpha) / high.size, (scores - b + factor * alpha) / low.size
        return value, 2.0 * np.where(labels == 1, up, down)


def test_auxiliary_variables_in_single_precision_are_no_fault():
    report = audited(MinMax())
    assert not report.departures, report.lines
    assert "min-max margin loss at the best a, b and alpha with margin 1." in report.computes


def ends(scores, labels):
    raise SystemExit(3)


@pytest.mark.slow
def test_a_cross_term_scaled_by_the_share_of_negatives_is_named():
    report = audited(MinMax(lambda p: 1.0 - p))
    assert "scaled by 1 - p" in report.lines["value"].text
    assert "mean(s-)" in report.lines["value"].text
    assert "with margin 1," in report.computes


def cross_entropy(scores, labels):
    return np.logaddexp(0.0, np.where(labels == 1, -scores, scores)).mean()


def test_a_loss_over_rows_is_told_from_one_over_pairs():
    report = audited(cross_entropy)
    assert "a sum over rows" in report.computes
    assert "of the other class" in report.lines["value"].text
    assert report.lines["shift"].status == DEPARTS


def test_losses_of_probabilities_over_rows_and_over_pairs_are_told_apart():
    expected = {
        "a sum over rows": lambda high, low: -np.log(high).mean() - np.log(1.0 - low).mean(),
        "mean over all pairs of an unknown": lambda high, low: -np.log(1.01 + high[:, None] - low).mean(),
        "no known surrogate": lambda high, low: high.var() + low.var() + (high.mean() - low.mean()) ** 4,
    }
    for text, loss in expected.items():

        def function(scores, labels, loss=loss):
            if not ((scores >= 0.0) & (scores <= 1.0)).all():  # like the losses of torch
                raise ValueError("all scores should be between 0 and 1")
            return np.float32(loss(*sides(scores, labels)))

        assert text in audited(function).computes


def test_a_function_that_takes_only_some_scores_is_refused_with_its_error():
    def function(scores, labels):
        if scores[0] > 0.9:
            raise RuntimeError("too large")
        high, low = sides(scores, labels)
        return (high.mean() - low.mean()) ** 3

    with pytest.raises(ParameterError, match="raised RuntimeError: too large"):
        audited(function)


hinge, logistic = over_pairs(Hinge(0.6)), over_pairs(Logistic())


def overflowing(scores, labels):
    high, low = sides(scores, labels)
    return np.log(1.0 + np.exp(low - high[:, None])).mean()


def losing_rows(scores, labels):  # of a large batch
    value, slopes = logistic(scores[:64], labels[:64])
    return value, np.concatenate([slopes, np.zeros(scores[64:].size)])


def ignoring_ties(scores, labels):
    order = np.argsort(scores, kind="stable")  # counts pairs of neighbours in sorted order
    positive = labels[order] == 1
    return float((np.cumsum(positive) * ~positive).sum()) / max(1, positive.sum() * (~positive).sum())


FAULTS = {
    "wrong gradient": (lambda s, y: (hinge(s, y)[0], 1.01 * hinge(s, y)[1]), "gradient"),
    "overflow": (overflowing, "saturation"),
    "clipped gradient": (lambda s, y: (hinge(s, y)[0], hinge(s, y)[1] * (np.abs(s) < 20)), "saturation"),
    "ties": (ignoring_ties, "ties"),
    "labels the wrong way round": (lambda s, y: logistic(-s, y), "direction"),
    "rows that are lost": (losing_rows, "order of rows"),
    "weight decay": (lambda s, y: over_pairs(Square())(s, y)[0] + 0.01 * (s**2).mean(), "value"),
    "odd factor": (lambda s, y: hinge(s, y)[0] * np.log1p((y == 1).sum()), "scale"),
    "NaN ignored": (lambda s, y: logistic(np.nan_to_num(s), y)[0], "infinite"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault):
    function, name = FAULTS[fault]
    assert name in departing(function)


SOURCES = {
    "jax": """
        import jax, jax.numpy as jnp
        def loss(scores, labels):
            pairs = (labels[:, None] == 1) & (labels != 1)
            losses = jax.nn.softplus(scores - scores[:, None])
            return jnp.where(pairs, losses, 0.0).sum() / jnp.maximum(pairs.sum(), 1)
        """,
    "numpy": """
        import numpy as np
        def loss(scores, labels):
            return np.logaddexp(0.0, scores[labels != 1] - scores[labels == 1][:, None]).mean()
        """,
}


@pytest.mark.parametrize("library", [name for name in SOURCES if find_spec(name)])
def test_the_command_imports_from_the_current_folder_and_differentiates(
    library, tmp_path, monkeypatch, capsys
):
    (tmp_path / f"own_{library}_loss.py").write_text(dedent(SOURCES[library]))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)  # undone after the test
    assert main(["audit", f"own_{library}_loss:loss"]) == 0
    output = capsys.readouterr().out
    assert f"({library})" in output
    assert "logistic loss." in output
    assert ("It gives none" in output) == (library == "numpy")


BAD = {
    "no_colon": "MODULE:NAME",
    "aucbench.testing.audit:adit": "audit",
    "aucbench.testing.audit:HUGE": "float",
    "numpy:add": "(12,)",
    "numpy:copyto": "NoneType",
    "builtins:dict": "dict",
    f"{__name__}:ends": "ends the program",
}


@pytest.mark.parametrize("path", BAD)
def test_what_cannot_be_tried_is_refused_with_a_sentence(path, capsys):
    assert main(["audit", path]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert BAD[path] in message
