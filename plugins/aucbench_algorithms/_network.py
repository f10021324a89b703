"""A multilayer perceptron in JAX: training on balanced batches as one compiled loop, and losses of margins.

JAX is imported when a network is trained, not with this module. Every run of a shape is one compiled program:
a loop over a block of batches of which the first `count` are visited, so that neither the number of steps nor
a hyperparameter compiles anew, and how a run is cut into chunks changes no bit.
"""

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import pairwise
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from aucbench import ParameterError, kernels
from aucbench.kernels import loss_pieces

STAGES, STAGE_DECAY = 3, 10.0  # of PESG, as in `pesg`
# Margins at which a traced loss is compared with its scalar functions; none is a likely kink.
TRIED = np.linspace(-30.03, 30.01, 157)
CLOSE = 1e-4  # tolerated there, relative to 1 + |value|: float32

Params = tuple[tuple[Any, Any], ...]  # (inputs, outputs) weights and (outputs,) biases of every layer


class Saddle(NamedTuple):
    """The variables of the min-max margin loss beside the network, and the reference point of PESG."""

    a: Any
    b: Any
    alpha: Any
    reference: Any  # the form of (params, a, b)
    total: Any  # the sum of (params, a, b) over this stage


class Trained(NamedTuple):
    """All that training changes."""

    params: Params
    optimiser: Any  # state of the optax optimiser
    saddle: Saddle | None  # only with the min-max margin loss


class Numbers(NamedTuple):
    """Hyperparameters and facts of a run, which compiled code receives as numbers."""

    learning_rate: float
    weight_decay: float
    dropout: float
    scale: float  # factor of the rows
    share: float  # weight of the positives in cross entropy
    planned: float  # iterations, for the cosine schedule
    margin: float
    pull: float
    pesg_step: float
    first: int  # iteration of the first step of PESG
    length: int  # of its stages


class Kind(NamedTuple):
    """What a compiled program is made for, beside the shapes of its arrays."""

    optimiser: str
    loss: Any  # of all pairs, if JAX can trace it; None for cross entropy
    takes_slopes: bool  # whether the derivatives of the loss by the scores are passed in
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
        drawn = random.normal(keys[k], (inputs, outputs), numpy.float32) * math.sqrt(gain / inputs)
        layers.append((drawn, numpy.zeros(outputs, numpy.float32)))
    params, saddle = tuple(layers), None
    if kind.has_saddle:
        zero = numpy.zeros((), numpy.float32)
        zeros = jax.tree.map(numpy.zeros_like, (params, zero, zero))
        saddle = Saddle(zero, zero, zero, zeros, zeros)
    return Trained(params, optimiser_named(kind.optimiser, 1.0, 0.0).init(params), saddle)


def optimiser_named(name: str, learning_rate: Any, weight_decay: Any) -> Any:
    """An optax optimiser; the decay is the optimiser's own where it has one, else a gradient."""
    import inspect

    import optax

    make = getattr(optax, name, None) if name.isidentifier() and not name.startswith("_") else None
    known = inspect.signature(make).parameters if inspect.isfunction(make) else {}
    needed = [each for each, it in known.items() if it.default is inspect.Parameter.empty]
    if "learning_rate" not in known or not set(needed) <= {"learning_rate"} or name == "lbfgs":
        raise ParameterError(
            f"mlp: optimiser must be the name of an optimiser of optax that needs a learning rate alone, "
            f"such as adam, adamw, sgd or rmsprop, got {name!r}."
        )
    assert make is not None
    if "weight_decay" in known:
        return make(learning_rate=learning_rate, weight_decay=weight_decay)
    return optax.chain(optax.add_decayed_weights(weight_decay), make(learning_rate=learning_rate))


@lru_cache(64)
def programs(kind: Kind) -> tuple[Callable[..., Trained], Callable[..., Any]]:
    """The compiled ``run(trained, blocks, count, start, key, numbers, slopes)``, and the scores of a batch.

    `blocks` (L, m, d) are the rows of L batches, positives first; `count` of them are visited, as the
    iterations from `start` on. `slopes` (m,) is None, or the derivatives of the loss by the scores of the
    only batch, which ``scores_of(params, x, t, key, numbers)`` gives.
    """
    import jax
    import jax.numpy as jnp
    import optax
    from jax import lax, nn, random

    map_tree = jax.tree.map
    loss = None if kind.loss is None else margin_loss(kind.loss)

    def scores(params: Params, x: Any, key: Any, rate: Any) -> Any:
        for layer, (weights, biases) in enumerate(params[:-1]):
            x = nn.relu(x @ weights + biases)
            if kind.has_dropout:
                kept = random.bernoulli(random.fold_in(key, layer), 1.0 - rate, x.shape)
                x = jnp.where(kept, x / (1.0 - rate), 0.0)
        weights, biases = params[-1]
        return (x @ weights)[:, 0] + biases[0]

    def value(params: Params, x: Any, key: Any, numbers: Numbers, slopes: Any) -> Any:
        found = scores(params, x, key, numbers.dropout)
        if kind.takes_slopes:
            return jnp.dot(slopes, found)
        high, low = jnp.split(found, 2)
        if loss is not None:
            return jnp.mean(loss(high[:, None] - low[None, :]))
        of_high, of_low = jnp.mean(nn.softplus(-high)), jnp.mean(nn.softplus(low))
        return numbers.share * of_high + (1.0 - numbers.share) * of_low

    def descend(now: Trained, x: Any, t: Any, key: Any, numbers: Numbers, slopes: Any) -> Trained:
        rate: Any = numbers.learning_rate
        if kind.is_cosine:
            rate = rate * 0.5 * (1.0 + jnp.cos(jnp.pi * jnp.minimum(t / numbers.planned, 1.0)))
        optimiser = optimiser_named(kind.optimiser, rate, numbers.weight_decay)
        gradient = jax.grad(value)(now.params, x, key, numbers, slopes)
        updates, state = optimiser.update(gradient, now.optimiser, now.params)
        return Trained(optax.apply_updates(now.params, updates), state, now.saddle)

    def pesg(now: Trained, x: Any, t: Any, key: Any, numbers: Numbers, slopes: Any) -> Trained:
        old = now.saddle
        assert old is not None
        alpha = old.alpha

        def saddle_value(point: Any) -> tuple[Any, Any]:
            params, a, b = point
            high, low = jnp.split(nn.sigmoid(scores(params, x, key, numbers.dropout)), 2)
            gap = numbers.margin + jnp.mean(low) - jnp.mean(high)
            spread = jnp.mean((high - a) ** 2) + jnp.mean((low - b) ** 2)
            return spread + 2.0 * alpha * gap, 2.0 * (gap - alpha)

        done = t - numbers.first + 1  # steps of PESG after this one
        stage = jnp.minimum((done - 1) // numbers.length, STAGES - 1)
        eta = numbers.pesg_step / STAGE_DECAY**stage
        point = (now.params, old.a, old.b)
        reference = map_tree(lambda v, ref: jnp.where(done == 1, v, ref), point, old.reference)
        gradient, ascent = jax.grad(saddle_value, has_aux=True)(point)
        point = map_tree(
            lambda v, g, ref: v - eta * (g + numbers.pull * (v - ref) + numbers.weight_decay * v),
            point,
            gradient,
            reference,
        )
        total = map_tree(jnp.add, old.total, point)
        ends = (done % numbers.length == 0) & (done < STAGES * numbers.length)
        reference = map_tree(lambda ref, sum_: jnp.where(ends, sum_ / numbers.length, ref), reference, total)
        total = map_tree(lambda sum_: jnp.where(ends, 0.0, sum_), total)
        params, a, b = point
        alpha = jnp.maximum(0.0, alpha + eta * ascent)
        return Trained(params, now.optimiser, Saddle(a, b, alpha, reference, total))

    def inputs_of(x: Any, t: Any, key: Any, numbers: Numbers) -> tuple[Any, Any]:
        return x * numbers.scale, random.fold_in(random.wrap_key_data(key), t)

    def run(
        now: Trained, blocks: Any, count: Any, start: Any, key: Any, numbers: Numbers, slopes: Any = None
    ) -> Trained:
        def step(i: Any, now: Trained) -> Trained:
            t = start + i
            x, own_key = inputs_of(blocks[i], t, key, numbers)
            given = (now, x, t, own_key, numbers, slopes)
            if not kind.has_saddle:
                return descend(*given)
            chosen: Trained = lax.cond(t < numbers.first, descend, pesg, *given)
            return chosen

        result: Trained = lax.fori_loop(0, count, step, now)
        return result

    def scores_of(params: Params, x: Any, t: Any, key: Any, numbers: Numbers) -> Any:
        return scores(params, *inputs_of(x, t, key, numbers), numbers.dropout)

    return jax.jit(run), jax.jit(scores_of)


@lru_cache(64)
def margin_loss(loss: Any) -> Callable[[Any], Any] | None:
    """A loss plugin as a function of an array of margins, which JAX differentiates; None where JAX cannot.

    A loss that is quadratic by pieces or multiplicative is written in JAX. Of any other, JAX traces `value`
    with its own functions in the place of those of `math` and NumPy, which is compared with the original.
    """
    import jax
    import jax.numpy as jnp

    parts, rate, theta = loss_pieces.pieces(loss), loss_pieces.rate(loss), kernels.theta(loss)
    if parts is not None:

        def by_pieces(m: Any) -> Any:
            *others, last = parts
            found = last.c0 + m * (last.c1 + m * last.c2)
            for part in reversed(others):
                found = jnp.where(m < part.upper, part.c0 + m * (part.c1 + m * part.c2), found)
            return found

        return by_pieces
    if rate is not None:
        return lambda m: jnp.exp(rate * m)
    plain: Any = getattr(loss.value, "py_func", loss.value)
    own: Mapping[str, Any] = {
        name: jnp if it is math or it is np else it for name, it in plain.__globals__.items()
    }
    names = {**own, "max": jnp.maximum, "min": jnp.minimum, "abs": jnp.abs}
    function = FunctionType(plain.__code__, names, plain.__name__, plain.__defaults__, plain.__closure__)
    margins = TRIED.astype(np.float32)
    try:
        found = np.stack(jax.vmap(jax.value_and_grad(lambda m: function(m, theta)))(margins))
    except Exception:  # whatever a third party's code raises where it gets no number
        return None
    exact = np.array([[f(float(m), theta) for m in margins] for f in (loss.value, loss.derivative)])
    is_same = np.all(np.abs(found - exact) <= CLOSE * (1.0 + np.abs(exact)))
    return (lambda m: function(m, theta)) if is_same else None
