"""A multilayer perceptron in JAX: training on balanced batches as one compiled loop.

JAX is imported when a network is trained, not with this module. All runs of one shape use one compiled
program: a loop that visits the first `count` batches of a block. Another number of steps or other
hyperparameters therefore need no compilation, and the way a run is cut into chunks changes no bit.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from aucbench import ParameterError
from aucbench.kernels.translated_loss import translated
from aucbench.objectives import jax_pair_loss

STAGES, STAGE_DECAY = 3, 10.0  # number of PESG's stages and the decay of its step, as in `pesg`

Params = tuple[tuple[Any, Any], ...]  # (inputs, outputs) weights and (outputs,) biases of every layer


class Saddle(NamedTuple):
    """The variables of the min-max margin loss beside the network, and the reference point of PESG."""

    a: Any
    b: Any
    alpha: Any
    reference: Any  # the form of (params, a, b)
    total: Any  # the sum of (params, a, b) over this stage


class Trained(NamedTuple):
    """The state of training."""

    params: Params
    optimiser: Any  # state of the optax optimiser
    saddle: Saddle | None  # None without the min-max margin loss


class Numbers(NamedTuple):
    """Hyperparameters and facts of a run, which compiled code receives as numbers."""

    learning_rate: float
    weight_decay: float
    dropout: float
    scale: float  # factor of the rows
    share: float  # weight of the positives in cross entropy
    planned: float  # planned iterations, for the cosine schedule
    margin: float
    pull: float
    pesg_step: float
    first: int  # iteration of PESG's first step
    length: int  # iterations of a stage of PESG


class Kind(NamedTuple):
    """The choices that a compiled program depends on, besides the shapes of its arrays."""

    optimiser: str
    loss: Any  # surrogate loss over all pairs; None for cross entropy
    has_dropout: bool
    is_cosine: bool
    has_saddle: bool


def first_trained(kind: Kind, sizes: list[int], key: np.ndarray) -> Trained:
    """Weights drawn from N(0, 2 / inputs), of the last layer from N(0, 1 / inputs); biases are zero."""
    import jax
    from jax import numpy, random

    keys = random.split(random.wrap_key_data(numpy.asarray(key)), len(sizes) - 1)
    layers = []
    for k, (inputs, outputs) in enumerate(pairwise(sizes)):
        gain = 2.0 if k < len(sizes) - 2 else 1.0
        weights = random.normal(keys[k], (inputs, outputs), numpy.float32) * math.sqrt(gain / inputs)
        layers.append((weights, numpy.zeros(outputs, numpy.float32)))
    params, saddle = tuple(layers), None
    if kind.has_saddle:
        zero = numpy.zeros((), numpy.float32)
        zeros = jax.tree.map(numpy.zeros_like, (params, zero, zero))
        saddle = Saddle(zero, zero, zero, zeros, zeros)
    return Trained(params, optimiser_named(kind.optimiser, 1.0, 0.0).init(params), saddle)


def optimiser_named(name: str, learning_rate: Any, weight_decay: Any) -> Any:
    """An optax optimiser; the weight decay is its parameter if it has one, else part of the gradient."""
    import inspect

    import optax

    make = getattr(optax, name, None) if name.isidentifier() and not name.startswith("_") else None
    parameters = inspect.signature(make).parameters if inspect.isfunction(make) else {}
    needed = [key for key, parameter in parameters.items() if parameter.default is inspect.Parameter.empty]
    if "learning_rate" not in parameters or not set(needed) <= {"learning_rate"} or name == "lbfgs":
        raise ParameterError(
            f"mlp: optimiser must be the name of an optimiser of optax that needs a learning rate alone, "
            f"such as adam, adamw, sgd or rmsprop, got {name!r}."
        )
    assert make is not None
    if "weight_decay" in parameters:
        return make(learning_rate=learning_rate, weight_decay=weight_decay)
    return optax.chain(optax.add_decayed_weights(weight_decay), make(learning_rate=learning_rate))


@lru_cache(64)
def program(kind: Kind) -> Callable[..., Trained]:
    """The compiled ``run(trained, blocks, count, start, key, numbers)``.

    `blocks` (L, m, d) are the rows of L batches, positives first; the first `count` batches are visited, as
    the iterations from `start` on.
    """
    import jax
    import jax.numpy as jnp
    import optax
    from jax import lax, nn, random

    map_tree = jax.tree.map
    mean_over_pairs = None if kind.loss is None else pair_mean(kind.loss)

    def scores(params: Params, x: Any, key: Any, rate: Any) -> Any:
        for layer, (weights, biases) in enumerate(params[:-1]):
            x = nn.relu(x @ weights + biases)
            if kind.has_dropout:
                mask = random.bernoulli(random.fold_in(key, layer), 1.0 - rate, x.shape)
                x = jnp.where(mask, x / (1.0 - rate), 0.0)
        weights, biases = params[-1]
        return (x @ weights)[:, 0] + biases[0]

    def value(params: Params, x: Any, key: Any, numbers: Numbers) -> Any:
        outputs = scores(params, x, key, numbers.dropout)
        high, low = jnp.split(outputs, 2)
        if mean_over_pairs is not None:
            return mean_over_pairs(high, low)
        high_loss, low_loss = jnp.mean(nn.softplus(-high)), jnp.mean(nn.softplus(low))
        return numbers.share * high_loss + (1.0 - numbers.share) * low_loss

    def descend(trained: Trained, x: Any, t: Any, key: Any, numbers: Numbers) -> Trained:
        rate: Any = numbers.learning_rate
        if kind.is_cosine:
            rate = rate * 0.5 * (1.0 + jnp.cos(jnp.pi * jnp.minimum(t / numbers.planned, 1.0)))
        optimiser = optimiser_named(kind.optimiser, rate, numbers.weight_decay)
        gradient = jax.grad(value)(trained.params, x, key, numbers)
        updates, state = optimiser.update(gradient, trained.optimiser, trained.params)
        return Trained(optax.apply_updates(trained.params, updates), state, trained.saddle)

    def pesg(trained: Trained, x: Any, t: Any, key: Any, numbers: Numbers) -> Trained:
        old = trained.saddle
        assert old is not None
        alpha = old.alpha

        def saddle_value(point: Any) -> tuple[Any, Any]:
            params, a, b = point
            high, low = jnp.split(nn.sigmoid(scores(params, x, key, numbers.dropout)), 2)
            gap = numbers.margin + jnp.mean(low) - jnp.mean(high)
            spread = jnp.mean((high - a) ** 2) + jnp.mean((low - b) ** 2)
            return spread + 2.0 * alpha * gap, 2.0 * (gap - alpha)

        steps = t - numbers.first + 1  # steps of PESG, including this one
        stage = jnp.minimum((steps - 1) // numbers.length, STAGES - 1)
        eta = numbers.pesg_step / STAGE_DECAY**stage
        point = (trained.params, old.a, old.b)
        reference = map_tree(lambda v, ref: jnp.where(steps == 1, v, ref), point, old.reference)
        gradient, ascent = jax.grad(saddle_value, has_aux=True)(point)
        point = map_tree(
            lambda v, g, ref: v - eta * (g + numbers.pull * (v - ref) + numbers.weight_decay * v),
            point,
            gradient,
            reference,
        )
        total = map_tree(jnp.add, old.total, point)
        ends = (steps % numbers.length == 0) & (steps < STAGES * numbers.length)
        reference = map_tree(lambda ref, sum_: jnp.where(ends, sum_ / numbers.length, ref), reference, total)
        total = map_tree(lambda sum_: jnp.where(ends, 0.0, sum_), total)
        params, a, b = point
        alpha = jnp.maximum(0.0, alpha + eta * ascent)
        return Trained(params, trained.optimiser, Saddle(a, b, alpha, reference, total))

    def run(trained: Trained, blocks: Any, count: Any, start: Any, key: Any, numbers: Numbers) -> Trained:
        key = random.wrap_key_data(key)

        def step(i: Any, trained: Trained) -> Trained:
            t = start + i
            args = (trained, blocks[i] * numbers.scale, t, random.fold_in(key, t), numbers)
            if not kind.has_saddle:
                return descend(*args)
            chosen: Trained = lax.cond(t < numbers.first, descend, pesg, *args)
            return chosen

        result: Trained = lax.fori_loop(0, count, step, trained)
        return result

    return jax.jit(run)


def pair_mean(loss: Any) -> Callable[[Any, Any], Any]:
    """The mean of a loss over all pairs of scores of positives and negatives, which JAX differentiates.

    Computed on the host where the source of the loss cannot be translated to JAX.
    """
    import jax
    import jax.numpy as jnp

    functions = translated(loss, jnp)
    if functions is None:
        on_host = jax_pair_loss(loss)
        return lambda high, low: on_host(jnp.concatenate([high, low]), np.repeat([1, -1], len(high)))
    value, derivative = functions

    @jax.custom_vjp
    def mean(high: Any, low: Any) -> Any:
        return jnp.mean(value(high[:, None] - low))

    def forward(high: Any, low: Any) -> Any:
        slopes = derivative(high[:, None] - low)
        return mean(high, low), (jnp.sum(slopes, 1) / slopes.size, -jnp.sum(slopes, 0) / slopes.size)

    mean.defvjp(forward, lambda gradients, cotangent: tuple(cotangent * gradient for gradient in gradients))
    return mean
