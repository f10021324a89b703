"""algo=mlp against backpropagation written out in NumPy; seeds, chunks, pickles and bad fields."""

import io
import math
from dataclasses import dataclass
from typing import ClassVar

import jax
import numpy as np
import optax
import pytest

import aucbench
from aucbench import Access, Batch, ParameterError, Problem, kernels
from aucbench.runner.sampler import RowSampler
from aucbench_algorithms import Mlp, Psam, _network
from tests.helpers.losses import Growth, Softplus, Valley
from tests.helpers.studies import bound
from tests.helpers.training import difference, random_problem

pytestmark = pytest.mark.jax

X, Y = random_problem(0, 90, 5, unit=False)
SHARE = float(np.mean(Y == 1))


@dataclass(frozen=True)
class Unsaid(Psam):
    packages: ClassVar[tuple[str, ...]] = ("jax",)


STEP = 1.0


@dataclass(frozen=True)
class Integer:
    """A loss whose source is not translated, for it reads a global name."""

    name: ClassVar[str] = "integer"

    @staticmethod
    def value(m, theta):
        return abs(m) // STEP + abs(m)

    @staticmethod
    def derivative(m, theta):
        return 1.0 if m > 0.0 else -1.0


BUILT_IN = [plugin.cls() for plugin in aucbench.catalog().plugins["losses"].values()]
LOSSES = [*BUILT_IN, Valley(), Growth(), Softplus(), Integer()]
LOGISTIC = aucbench.catalog().loss("logistic")()


def rows_of(algorithm, count):
    return RowSampler(Access.balanced, Y, batch_size=algorithm.batch).take(count)


def train(algorithm, rows, loss=LOGISTIC):
    state = algorithm.init(Problem(X, Y, len(rows), loss), np.random.default_rng(3))
    return algorithm.step(state, Batch(X, Y, rows, Access.balanced))


def sigmoid(s):
    return 1.0 / (1.0 + np.exp(-s))


def pair_slopes(s, size, loss):
    """The derivatives by the scores of the mean over pairs, one pair at a time."""
    slopes, theta = np.zeros(2 * size), kernels.theta(loss)
    for a in range(size):
        for b in range(size, 2 * size):
            slope = loss.derivative(float(s[a] - s[b]), theta) / size**2
            slopes[a] += slope
            slopes[b] -= slope
    return slopes


def slopes_of(criterion, s, loss):
    size = len(s) // 2
    if criterion == "pairs":
        return pair_slopes(s, size, loss)
    share = SHARE if criterion == "cross_entropy" else 0.5
    positive = np.arange(2 * size) < size
    return np.where(positive, -share * sigmoid(-s), (1.0 - share) * sigmoid(s)) / size


def by_hand(algorithm, rows, loss=LOGISTIC):
    """The layers after training in NumPy; optax makes steps of the gradients."""
    state = algorithm.init(Problem(X, Y, len(rows), loss), np.random.default_rng(3))
    layers = [[np.asarray(part, np.float64) for part in layer] for layer in state.trained.params]
    scale, decay = 1.0 / math.sqrt(np.mean(X**2)), algorithm.weight_decay
    flat = [part for layer in layers for part in layer]
    make = getattr(optax, algorithm.optimiser)
    owns_decay = algorithm.optimiser == "adamw"
    optimiser = make(algorithm.learning_rate, **({"weight_decay": decay} if owns_decay else {}))
    memory = optimiser.init(flat)
    first = round(algorithm.pretrain * len(rows)) if algorithm.criterion == "min_max_margin" else len(rows)
    length = math.ceil((len(rows) - first) / 3)
    a = b = alpha = 0.0
    reference, total = None, None
    for t, block in enumerate(rows):
        size = len(block) // 2
        x = [X[block] * scale]
        for k in range(0, len(flat), 2):
            z = x[-1] @ flat[k] + flat[k + 1]
            x.append(np.maximum(z, 0.0) if k + 2 < len(flat) else z)
        s = x[-1][:, 0]
        if t < first:
            slopes = slopes_of(algorithm.criterion, s, loss)
        else:
            h = sigmoid(s)
            sign = np.where(np.arange(2 * size) < size, 1.0, -1.0)
            centre = np.where(sign > 0, a, b)
            slopes = (2.0 * (h - centre) - 2.0 * alpha * sign) / size * h * (1.0 - h)
        gradient, back = [], slopes[:, None]
        for k in range(len(flat) - 2, -1, -2):
            gradient = [x[k // 2].T @ back, back.sum(axis=0), *gradient]
            back = (back @ flat[k].T) * (x[k // 2] > 0.0)
        if t < first:
            if not owns_decay:
                gradient = [g + decay * v for g, v in zip(gradient, flat, strict=True)]
            updates, memory = optimiser.update(gradient, memory, flat)
            flat = [np.asarray(v + u, np.float64) for v, u in zip(flat, updates, strict=True)]
            continue
        stage = min((t - first) // length, 2)
        eta = algorithm.pesg_step / 10.0**stage
        high, low = h[:size].mean(), h[size:].mean()
        ascent = 2.0 * (algorithm.margin + low - high) - 2.0 * alpha
        point = [*flat, np.array(a), np.array(b)]
        gradient += [-2.0 * (high - a), -2.0 * (low - b)]
        if reference is None:
            reference, total = point, [np.zeros_like(v) for v in point]
        point = [
            v - eta * (g + algorithm.pull * (v - ref) + decay * v)
            for v, g, ref in zip(point, gradient, reference, strict=True)
        ]
        total = [sum_ + v for sum_, v in zip(total, point, strict=True)]
        if (t - first + 1) % length == 0 and stage < 2:
            reference, total = [sum_ / length for sum_ in total], [np.zeros_like(v) for v in point]
        *flat, a, b = point
        alpha = max(0.0, alpha + eta * ascent)
    return flat


def scores(flat):
    x = X / math.sqrt(np.mean(X**2))
    for k in range(0, len(flat) - 2, 2):
        x = np.maximum(x @ flat[k] + flat[k + 1], 0.0)
    return (x @ flat[-2] + flat[-1])[:, 0]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_gradients_over_all_pairs_are_those_of_brute_force(loss):
    size, function = 8, _network.pair_mean(loss)
    mean = jax.jit(jax.grad(lambda s: function(s[:size], s[size:])))
    for seed in range(8):
        s = np.random.default_rng(seed).normal(size=2 * size, scale=1.0 + seed % 4).astype(np.float32)
        expected = pair_slopes(s, size, loss)
        np.testing.assert_allclose(mean(s), expected, rtol=1e-4, atol=1e-5 * (1.0 + np.abs(expected).max()))


CASES = {
    "sgd": (Mlp(optimiser="sgd", learning_rate=0.1, weight_decay=0.01, layers=1), LOGISTIC),
    "deep": (Mlp(optimiser="sgd", learning_rate=0.1, layers=3, weight_decay=0.0), LOGISTIC),
    "adamw": (Mlp(optimiser="adamw", weight_decay=0.1), BUILT_IN[0]),
    "rmsprop": (Mlp(optimiser="rmsprop", weight_decay=0.1, width=7), LOGISTIC),
    "any of optax": (Mlp(optimiser="adagrad"), LOGISTIC),
    "on the host": (Mlp(optimiser="sgd", learning_rate=0.02, width=9), Integer()),
    "cross entropy": (Mlp(criterion="cross_entropy", optimiser="sgd", learning_rate=0.1), None),
    "balanced": (Mlp(criterion="balanced_cross_entropy", optimiser="sgd", learning_rate=0.1), None),
    "pesg": (Mlp(criterion="min_max_margin", pesg_step=0.3, pull=0.5, weight_decay=0.01, margin=0.8), None),
    "pesg alone": (Mlp(criterion="min_max_margin", pretrain=0.0, pesg_step=0.5), None),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_training_is_backpropagation_written_out(name):
    algorithm, loss = CASES[name]
    rows = rows_of(algorithm, 40)[:, :: algorithm.batch // 16]  # batches of 16
    actual = algorithm.score(train(algorithm, rows, loss=loss or LOGISTIC), X)
    expected, start = (scores(by_hand(algorithm, some, loss or LOGISTIC)) for some in (rows, rows[:0]))
    assert difference(expected, start) > 0.1
    assert difference(actual - actual.mean(), expected - expected.mean()) < 1e-3  # pairs give no intercept


@pytest.mark.slow
def test_cosine_ends_at_a_learning_rate_of_zero_and_dropout_trains_other_networks():
    fields = {"optimiser": "sgd", "learning_rate": 0.1, "weight_decay": 0.0}
    rows, ends = rows_of(Mlp(), 60), []
    for more in ({}, {"schedule": "cosine"}, {"dropout": 0.5}):
        algorithm = Mlp(**fields, **more)
        state = train(algorithm, rows)
        after = algorithm.step(state, Batch(X, Y, rows[:1], Access.balanced))
        ends.append(algorithm.score(state, X))
        assert (difference(algorithm.score(after, X), ends[-1]) < 1e-5) == ("schedule" in more)
    assert difference(ends[2], ends[0]) > 1e-3


def test_the_model_is_a_file_from_which_numpy_scores():
    algorithm = Mlp(layers=2)
    state = train(algorithm, rows_of(algorithm, 20))
    with np.load(io.BytesIO(algorithm.model(state))) as file:
        h = np.maximum(X @ file["w0"] + file["b0"], 0.0)
        h = np.maximum(h @ file["w1"] + file["b1"], 0.0)
        np.testing.assert_allclose((h @ file["w2"] + file["b2"])[:, 0], algorithm.score(state, X), rtol=1e-4)


BAD = [("batch", 31), ("dropout", 1.0)]
BAD += [("optimiser", name) for name in ("lbfgs", "adem", "chain", "scale_by_adam")]


def test_bad_fields_and_plans_without_a_number_of_iterations_are_refused_in_a_sentence():
    for field, value in BAD:
        with pytest.raises(ParameterError, match=f"mlp: {field}"):
            Mlp(**{field: value})
    for planned in (Mlp(criterion="min_max_margin"), Mlp(schedule="cosine")):
        with pytest.raises(ParameterError, match="iterations"):
            planned.init(Problem(X, Y, None, LOGISTIC), np.random.default_rng(0))


@pytest.mark.parametrize(("value", "recorded"), [("1", 1), ("3", 3), ("", 0), ("many", 0)])
def test_device_and_threads_are_recorded(value, recorded, monkeypatch, tmp_path):
    monkeypatch.setenv("PJRT_NPROC", value)
    overrides = ("algo=mlp", "budget.iterations=3", "isolation=none", f"store.path={tmp_path}")
    result = aucbench.run(*overrides).cells[0].record.result
    assert (result.threads, result.device) == (recorded, "cpu")


def test_keys_name_the_device_of_jax_also_without_a_word_of_the_method(monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    for method, device in ((Mlp(), "gpu"), (Unsaid(), "gpu"), (Psam(), "cpu")):
        assert bound(method).device == device
