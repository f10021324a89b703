"""A multilayer perceptron on class-balanced batches: any loss over all pairs, cross entropy, or PESG.

A network with `layers` hidden layers of `width` rectified linear units has the scores s(x). On batches of B
positives and B negatives it minimises

    pairs                   mean over the B^2 pairs of l(s+ - s-), for any loss l
    cross_entropy           p mean+ log(1 + e^-s) + (1 - p) mean- log(1 + e^s), p the share of positives
    balanced_cross_entropy  the same with p = 1/2
    min_max_margin          mean+ (h - a)^2 + mean- (h - b)^2
                            + 2 alpha (margin + mean- h - mean+ h) - alpha^2,   h = 1 / (1 + e^-s),
                            minimal in the network, a and b, maximal in alpha >= 0

All criteria use the same batches. Cross entropy weights the two halves of a batch by the shares of the
classes. Its expected gradient is then that of uniform batches, so both minimise the same function.

The first three are minimised by an optimiser of optax. The last starts with balanced cross entropy for a
share `pretrain` of the iterations; PESG follows, from a = b = alpha = 0. With v the network, a and b,

    v = v - eta (dv + pull (v - ref) + weight_decay v),   alpha = max(0, alpha + eta dalpha)

where ref is v at the first step of PESG; after each stage, ref is the mean of v over that stage. In the three
equal stages, eta is `pesg_step`, a tenth of it, and a hundredth of it.

The rows are multiplied by one number, so that the mean square of their entries is 1: the start does not
depend on `rescale`. Training uses float32, scoring float64. Sparse rows are made dense batch by batch.
Batches are cut from the rows in memory or on disk and passed to JAX's device 32 at a time. On a CPU, JAX
chooses the number of threads; PJRT_NPROC=1 in the environment sets one thread.

Cost of an iteration: O(B width (d + layers width) + B^2).

Source: Yuan, Zhu, Qiu, Li, Wang, Yang, LibAUC: a deep learning library for X-risk optimization, KDD 2023;
Yuan, Yan, Sonka, Yang, Large-scale robust deep AUC maximization, ICCV 2021.
"""

import importlib.util
import io
import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy import sparse

from aucbench import (
    Access,
    Batch,
    Claims,
    Count,
    Interval,
    Method,
    ModelClass,
    NonNegative,
    ParameterError,
    Positive,
    Problem,
    check_fields,
)
from aucbench_algorithms import _network as network
from aucbench_algorithms._linear_method import planned_iterations

AT_ONCE = 32  # most batches passed to the device at a time
ENTRIES = 1 << 22  # most entries of the rows passed at a time
SCORED = 1 << 22  # entries of rows, or of a layer's outputs, scored at a time
COMMON = ("adam", "adamw", "sgd", "rmsprop")  # known without importing optax

Share = Annotated[float, Interval(low=0.0, high=1.0, open_high=True)]
Rows = Annotated[int, Interval(low=2)]
Criterion = StrEnum("Criterion", "pairs cross_entropy balanced_cross_entropy min_max_margin")
Schedule = StrEnum("Schedule", "constant cosine")


class State(NamedTuple):
    """The network, and the constants of training."""

    trained: network.Trained
    t: int  # iterations done
    key: np.ndarray  # (2,) key of JAX's random numbers
    numbers: network.Numbers
    kind: network.Kind


@dataclass(frozen=True, kw_only=True)
class Mlp(Method):
    """A neural network trained by any loss over all pairs, by cross entropy, or by PESG.

    Parameters
    ----------
    criterion : pairs, cross_entropy, balanced_cross_entropy or min_max_margin
        What training minimises; only `pairs` uses the surrogate loss.
    layers : int >= 1
        Number of hidden layers.
    width : int >= 1
        Number of units in each hidden layer.
    dropout : float in [0, 1)
        Probability with which an output of a hidden layer is left out of an iteration.
    batch : int >= 2
        Number of rows in a batch, an even number: half of the rows are positive.
    optimiser : str
        Name of an optimiser of optax: adam, adamw, sgd, rmsprop, ...
    learning_rate : float > 0
        Learning rate of the optimiser.
    schedule : constant or cosine
        Whether the learning rate is constant or falls over the planned iterations.
    weight_decay : float >= 0
        Weight decay of the optimiser; if it has none, the weight of |w|^2 / 2 in what is minimised.
    margin : float > 0
        Margin of min_max_margin, for h between 0 and 1.
    pretrain : float in [0, 1)
        Share of the iterations that minimise cross entropy before PESG begins.
    pesg_step : float > 0
        Step size of the first stage of PESG.
    pull : float >= 0
        Strength of the pull of PESG to the reference point.
    """

    name = "mlp"
    access = Access.balanced
    losses = ("logistic", "*")
    grid = {"learning_rate": (3e-4, 1e-3, 3e-3, 1e-2, 3e-2), "weight_decay": (0.0, 1e-4, 1e-2)}
    step_size = "learning_rate"
    claims = Claims(rate="none", cost="d")
    citation = "yuan2023libauc"
    deviations = (
        "Cross entropy too draws as many positives as negatives; LibAUC draws uniform batches for it.",
        "PESG starts after balanced cross entropy, with the trained network as reference point, and without "
        "momentum or clipped gradients; its three stages are of equal length.",
        "The step of alpha is that of the gradient at the old point; LibAUC takes a and b after their step.",
    )
    class_of_model = ModelClass.network
    packages = ("jax", "optax")
    extra = "aucbench[nn]"
    threads = 0  # JAX decides

    criterion: Criterion = Criterion.pairs
    layers: Count = 2
    width: Count = 64
    dropout: Share = 0.0
    batch: Rows = 64
    optimiser: str = "adam"
    learning_rate: Positive = 3e-3
    schedule: Schedule = Schedule.constant
    weight_decay: NonNegative = 1e-4
    margin: Positive = 1.0
    pretrain: Share = 0.5
    pesg_step: Positive = 0.1
    pull: NonNegative = 2e-3

    def __post_init__(self) -> None:
        check_fields(self)
        if self.batch % 2:
            raise ParameterError(f"mlp: batch must be even, half of its rows are positive, got {self.batch}.")
        missing = [package for package in self.packages if importlib.util.find_spec(package) is None]
        if missing:
            raise ParameterError(
                f"mlp needs {' and '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not "
                f"installed: pip install '{self.extra}'."
            )
        if self.optimiser not in COMMON:
            network.optimiser_named(self.optimiser, 1.0, 0.0)

    def batch_size(self, n_samples: int) -> int:
        return self.batch

    def ignored(self) -> frozenset[str]:
        if self.criterion is Criterion.min_max_margin:
            return frozenset()
        return frozenset({"margin", "pretrain", "pesg_step", "pull"})

    def init(self, problem: Problem, rng: np.random.Generator) -> State:
        """Random weights, from a key that the generator draws."""
        is_saddle, is_cosine = self.criterion is Criterion.min_max_margin, self.schedule is Schedule.cosine
        planned = planned_iterations(self.name, problem) if is_saddle or is_cosine else 1
        first = round(self.pretrain * planned)
        numbers = network.Numbers(
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            dropout=self.dropout,
            scale=_scale(problem.X),
            share=problem.p if self.criterion is Criterion.cross_entropy else 0.5,
            planned=float(planned),
            margin=self.margin,
            pull=self.pull,
            pesg_step=self.pesg_step,
            first=first,
            length=max(1, math.ceil((planned - first) / network.STAGES)),
        )
        kind = network.Kind(
            optimiser=self.optimiser,
            loss=problem.loss if self.criterion is Criterion.pairs else None,
            has_dropout=self.dropout > 0.0,
            is_cosine=is_cosine,
            has_saddle=is_saddle,
        )
        first_key, key = rng.integers(1 << 32, size=(2, 2), dtype=np.uint32)
        sizes = [problem.n_features, *[self.width] * self.layers, 1]
        trained = network.first_trained(kind, sizes, first_key)
        return State(trained, 0, key, numbers, kind)

    def step(self, state: State, batch: Batch) -> State:
        """One step of the optimiser, or of PESG, for each batch."""
        trained, t = state.trained, state.t
        size, d = batch.rows.shape[-1], batch.X.shape[1]
        run = network.program(state.kind)
        length = min(AT_ONCE, max(1, ENTRIES // (size * d)))
        for start in range(0, len(batch.rows), length):
            rows = batch.rows[start : start + length]
            blocks = np.empty((length, size, d), np.float32)  # new: JAX may read it later
            chosen = batch.X[rows.ravel()]
            chosen = chosen.toarray() if sparse.issparse(chosen) else chosen
            blocks[: len(rows)] = chosen.reshape(len(rows), size, d)
            trained = run(trained, blocks, np.int32(len(rows)), np.int32(t), state.key, state.numbers)
            t += len(rows)
        return state._replace(trained=trained, t=t)

    def finalize(self, state: State) -> State:
        """The network alone, as NumPy arrays, which any format of files can store."""
        params = tuple((np.asarray(w), np.asarray(b)) for w, b in state.trained.params)
        return state._replace(trained=state.trained._replace(params=params, optimiser=None, saddle=None))

    def wait(self, state: State) -> None:
        """Wait until JAX has computed the network."""
        import jax

        jax.block_until_ready(state.trained)  # type: ignore[no-untyped-call]  # JAX has no type for it

    def score(self, state: State, X: Any) -> np.ndarray:
        """(n,) outputs of the network, before any sigmoid."""
        layers = _layers(state)
        size = max(1, SCORED // max(self.width, 1 if sparse.issparse(X) else X.shape[1]))
        parts = [_outputs(layers, X[start : start + size]) for start in range(0, X.shape[0], size)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def model(self, state: State) -> bytes:
        """The layers as an npz file: arrays w0, b0, w1, ...; the input is rows of the data."""
        file = io.BytesIO()
        arrays = {
            f"{name}{k}": array.astype(np.float32)
            for k, layer in enumerate(_layers(state))
            for name, array in zip("wb", layer, strict=True)
        }
        np.savez(file, **arrays)  # type: ignore[arg-type]  # NumPy's stub takes the names for allow_pickle
        return file.getvalue()

    def device(self) -> str:
        """The platform on which JAX computes: cpu, gpu or tpu."""
        import jax

        platform: str = jax.default_backend()
        return platform


def _scale(X: Any) -> float:
    """The factor that makes the mean square of all entries 1."""
    values = X.data if sparse.issparse(X) else np.ravel(X)
    total = sum(
        float(np.square(values[start : start + SCORED], dtype=np.float64).sum())
        for start in range(0, len(values), SCORED)
    )
    return 1.0 / math.sqrt(total / (X.shape[0] * X.shape[1])) if total > 0.0 else 1.0


def _layers(state: State) -> list[tuple[np.ndarray, np.ndarray]]:
    """Weights and biases of every layer for unscaled rows, in float64."""
    layers = [(np.asarray(w, np.float64), np.asarray(b, np.float64)) for w, b in state.trained.params]
    (w, b), *others = layers
    return [(w * state.numbers.scale, b), *others]


def _outputs(layers: list[tuple[np.ndarray, np.ndarray]], X: Any) -> np.ndarray:
    x = X
    for w, b in layers[:-1]:
        x = np.maximum(np.asarray(x @ w) + b, 0.0)
    w, b = layers[-1]
    return np.asarray((x @ w)[:, 0] + b[0], np.float64)
