"""A loss over all pairs as the objective of any model: one function, and adapters to four libraries.

`pair_loss` returns the mean over all pairs of a positive and a negative, its gradient by the scores and the
diagonal of its Hessian. The adapters pass these to LightGBM, XGBoost, JAX and PyTorch, which are imported
only when their adapter is called. Boosters add a loss up over rows and compare the sums with constants, such
as LightGBM's `min_sum_hessian_in_leaf`. Their adapters therefore give derivatives of the mean times the
number of rows.
"""

from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from aucbench.booster_derivatives import booster_derivatives
from aucbench.contracts import LossFacts
from aucbench.errors import ParameterError
from aucbench.evaluation.auc import positive_rows, real_numbers
from aucbench.kernels.compiled_loss import compile_loss
from aucbench.kernels.loss_pieces import kinks, pieces
from aucbench.kernels.pair_loss import class_shares, pair_mean
from aucbench.kernels.translated_loss import translated
from aucbench.registry import catalog

__all__ = [
    "PairLoss",
    "jax_pair_loss",
    "lightgbm_objective",
    "pair_loss",
    "torch_pair_loss",
    "xgboost_objective",
]

_MOST_ROWS_IN_JAX = 512  # all pairs of these rows are computed

_Objective = Callable[[Any, Any], tuple[np.ndarray, np.ndarray]]


class PairLoss(NamedTuple):
    """The mean of a loss over all pairs, and its derivatives by the scores of n rows."""

    value: float  # the mean
    gradient: np.ndarray  # (n,) derivatives; at a kink a subderivative
    curvature: np.ndarray  # (n,) diagonal of the Hessian; 0 for a piecewise linear loss
    curvature_bound: np.ndarray  # (n,) diagonal matrix above the Hessian at any scores; inf without a bound


def pair_loss(loss: Any, scores: ArrayLike, y: ArrayLike, weights: ArrayLike | None = None) -> PairLoss:
    """The mean of a loss over all pairs of a positive and a negative, and its derivatives by the scores.

    With weights w of the rows, W+ and W- their sums over both classes:

        value = sum over positives i and negatives j of w_i w_j loss(s_i - s_j) / (W+ W-)

    Parameters
    ----------
    loss : str or Loss
        The name of a loss, such as "logistic", or an instance of a loss plugin.
    scores : (n,) array
        Finite decision values.
    y : (n,) array
        Labels, 0 and 1 or -1 and 1, of both classes.
    weights : (n,) array, optional
        Weights >= 0 of the rows, with a positive sum in each class; 1 by default.

    Returns
    -------
    PairLoss
        With `value`, `gradient`, `curvature` and `curvature_bound`. The bound of a row is
        2 smoothness w / W, with the W of its class; a step of -gradient / curvature_bound never raises the
        mean.

    Raises
    ------
    ParameterError
        An argument is not as described, or the loss is neither smooth nor made of pieces and there are too
        many pairs, or the loss changes within margins that are too narrow for sums over many pairs.

    Examples
    --------
    >>> import aucbench
    >>> result = aucbench.pair_loss("squared_hinge", [2.0, 0.5, 0.0], [1, 1, 0])
    >>> result.value
    0.125
    >>> result.gradient.tolist()
    [0.0, -0.5, 0.5]
    """
    instance = _loss(loss)
    s, labels, row_weights = _rows(scores, y, weights)
    mean, smoothness = pair_mean(instance, s, labels, row_weights), _smoothness(instance)
    with np.errstate(over="ignore", invalid="ignore"):
        curvature = mean.curvature.diagonal
        bound = np.full(s.size, np.inf)
        if smoothness < np.inf:
            bound = 2.0 * smoothness * class_shares(labels, row_weights)
        return PairLoss(mean.value, mean.slopes, curvature, bound)


def _loss(loss: Any) -> Any:
    """An instance of a loss plugin."""
    if isinstance(loss, str):
        return catalog().loss(loss)()
    try:
        if not is_dataclass(loss) or isinstance(loss, type):
            raise TypeError
        if pieces(loss) is None:
            compile_loss(loss)
    except Exception as error:  # errors of Numba, or of missing attributes
        raise ParameterError(
            "A loss over pairs is the name or an instance of a loss plugin, whose static functions "
            "`value(m, theta)` and `derivative(m, theta)` of the margin m can be compiled by Numba; "
            f"got {loss!r:.60} ({type(error).__name__})."
        ) from error
    return loss


def _rows(scores: Any, y: Any, weights: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Scores, labels in {-1, 1} and weights, checked."""
    s, y = _numbers(scores, "scores"), np.asarray(y)
    _check_shapes(s, y)
    finite = np.isfinite(s)
    if not finite.all():
        row = int(np.argmin(finite))
        raise ParameterError(f"pair_loss: scores must be finite, got {s[row]} in row {row}.")
    positive = positive_rows(s.size, y, "pair_loss", ParameterError)
    labels = 2 * positive.astype(np.int8) - np.int8(1)
    if weights is None:
        return s, labels, None
    row_weights = _numbers(weights, "weights")
    if row_weights.shape != s.shape or not np.all((row_weights >= 0.0) & (row_weights < np.inf)):
        raise ParameterError(f"pair_loss: weights must be {s.size} finite numbers >= 0, one for each row.")
    if not row_weights[positive].any() or not row_weights[~positive].any():
        raise ParameterError("pair_loss: each class must have a row of positive weight.")
    largest = row_weights.max()  # sums and products of extreme weights would overflow
    return s, labels, row_weights if 1e-60 < largest < 1e60 else row_weights / largest


def _check_shapes(scores: Any, y: Any) -> None:
    if scores.ndim != 1 or y.shape != scores.shape:
        raise ParameterError(
            f"pair_loss: scores and y must be vectors of one length, got shapes {scores.shape} and {y.shape}."
        )


def _numbers(values: Any, name: str) -> np.ndarray:
    return np.ascontiguousarray(real_numbers(name, values, "pair_loss", ParameterError), np.float64)


def _smoothness(loss: Any) -> float:
    """The largest second derivative of a loss; inf if it does not exist or is not declared."""
    parts = pieces(loss)
    if parts is not None:
        return np.inf if kinks(loss) else max(abs(2.0 * part.c2) for part in parts)
    declared = LossFacts(loss).smoothness
    return np.inf if declared is None else float(declared)


def lightgbm_objective(loss: Any) -> _Objective:
    """The objective of LightGBM or XGBoost for a loss over all pairs.

    Pass it as `params["objective"]` to `lightgbm.train` or, as `xgboost_objective`, as `obj` to
    `xgboost.train`. The derivatives are n times those of the mean over all pairs, so they add up over rows as
    boosters expect. They are float32, as boosters store them, with an error of at most 1e-8 of the mean
    slope. The Hessian is the diagonal of the mean's Hessian, at least 0.001 times the row's share of its
    class, so no leaf has an infinite value; for a piecewise linear loss it is the share. The weights of the
    data set are row weights. Start at a score of 0: LightGBM's `boost_from_average` does not apply; pass
    `base_score=0` to XGBoost.

    Parameters
    ----------
    loss : str or Loss
        The name of a loss, such as "logistic", or an instance of a loss plugin.

    Returns
    -------
    callable
        Function of (scores, lightgbm.Dataset or xgboost.DMatrix) that returns gradient and Hessian, (n,)
        each.
    """
    derivatives = booster_derivatives(_loss(loss))

    def objective(scores: Any, data: Any) -> tuple[np.ndarray, np.ndarray]:
        y, weights = data.get_label(), data.get_weight()
        row_weights = None if weights is None or len(weights) == 0 else weights
        return derivatives(*_rows(np.asarray(scores).ravel(), y, row_weights))

    return objective


xgboost_objective = lightgbm_objective  # data sets and matrices have the same methods for labels and weights


def jax_pair_loss(loss: Any) -> Callable[..., Any]:
    """A loss over all pairs as a function that JAX differentiates once by the scores, also in `jax.jit`.

    Up to 512 rows, a loss whose source can be translated to JAX is computed pair by pair, on JAX's device.
    Otherwise value and gradient are computed in NumPy on the host, in float64. The result has the type of the
    scores, and is NaN when a score is not finite. Within `jax.jit`, a batch of one class or
    of other labels gives NaN or JAX's error.

    Parameters
    ----------
    loss : str or Loss
        The name of a loss, such as "logistic", or an instance of a loss plugin.

    Returns
    -------
    callable
        Function of (scores, y) or (scores, y, weights), as in `pair_loss`, that returns the mean over all
        pairs.

    Raises
    ------
    ParameterError
        The loss is not as described or, in a call, the rows are not.
    """
    import jax
    import jax.numpy as jnp

    instance = _loss(loss)
    functions = translated(instance, jnp)

    def by_pairs(scores: Any, y: Any, weights: Any) -> Any:
        assert functions is not None
        high, low = weights * (y == 1), weights * (y != 1)
        total = jnp.sum(high) * jnp.sum(low)
        margins = scores[:, None] - scores
        shares = high[:, None] * low / total
        value, slopes = (jnp.where(shares > 0.0, shares * function(margins), 0.0) for function in functions)
        is_pair = (total > 0.0) & (jnp.all(abs(y) == 1) | jnp.all((y == 0) | (y == 1)))
        nothing = jnp.where(is_pair, 0.0, jnp.nan)  # NaN unless the labels are 0 and 1, both present
        return jnp.sum(value) + nothing, jnp.sum(slopes, 1) - jnp.sum(slopes, 0) + nothing

    def on_host(scores: Any, y: Any, weights: Any) -> Any:
        struct: Any = jax.ShapeDtypeStruct
        shapes = struct((), scores.dtype), struct(scores.shape, scores.dtype)

        def compute(*rows: Any) -> Any:
            value, gradient = _or_nan(instance, *map(np.asarray, rows))
            return np.asarray(value, scores.dtype), gradient.astype(scores.dtype)

        return jax.pure_callback(compute, shapes, scores, y, weights, vmap_method="sequential")

    def value_and_gradient(scores: Any, y: Any, weights: Any) -> Any:
        is_small = functions is not None and scores.size <= _MOST_ROWS_IN_JAX
        return (by_pairs if is_small else on_host)(scores, y, weights)

    @jax.custom_vjp
    def mean(scores: Any, y: Any, weights: Any) -> Any:
        return value_and_gradient(scores, y, weights)[0]

    def backward(gradient: Any, above: Any) -> Any:
        return above * gradient, None, None

    mean.defvjp(value_and_gradient, backward)

    def jax_loss(scores: Any, y: Any, weights: Any = None) -> Any:
        scores, y = jnp.asarray(scores), jnp.asarray(y)
        if not jnp.issubdtype(scores.dtype, jnp.floating):
            raise ParameterError(f"jax_pair_loss: scores must be floating-point numbers, got {scores.dtype}.")
        y = y.astype(jnp.int8) if y.dtype == bool else y
        row_weights = jnp.ones_like(scores) if weights is None else jnp.asarray(weights, scores.dtype)
        if isinstance(y, jax.core.Tracer) or isinstance(row_weights, jax.core.Tracer):
            _check_shapes(scores, y)
        else:
            _rows(np.zeros(scores.shape), y, row_weights)
        return mean(scores, y, row_weights)

    return jax_loss


def torch_pair_loss(loss: Any) -> Callable[..., Any]:
    """A loss over all pairs as a function that PyTorch differentiates once by the scores.

    Value and gradient are computed in NumPy on the CPU, in float64, and have type and device of the scores.
    They are NaN when a score is not finite.

    Parameters
    ----------
    loss : str or Loss
        The name of a loss, such as "logistic", or an instance of a loss plugin.

    Returns
    -------
    callable
        Function of (scores, y) or (scores, y, weights), as in `pair_loss`, that returns the mean over all
        pairs.

    Raises
    ------
    ParameterError
        The loss is not as described or, in a call, the rows are not.
    """
    import torch

    instance = _loss(loss)

    class Mean(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, scores: Any, y: Any, weights: Any) -> Any:
            tensors = (scores, y, weights)  # NumPy lacks types such as bfloat16
            rows = (None if tensor is None else tensor.detach().double().cpu().numpy() for tensor in tensors)
            value, gradient = _or_nan(instance, *rows)
            ctx.save_for_backward(scores.new_tensor(gradient))
            return scores.new_tensor(value)

        @staticmethod
        def backward(ctx: Any, above: Any) -> Any:
            (gradient,) = ctx.saved_tensors
            return above * gradient, None, None

    def torch_loss(scores: Any, y: Any, weights: Any = None) -> Any:
        if not (torch.is_tensor(scores) and torch.is_floating_point(scores)):
            raise ParameterError("torch_pair_loss: scores must be a tensor of floating-point numbers.")
        tensors = (None if values is None else torch.as_tensor(values) for values in (y, weights))
        apply: Any = Mean.apply
        return apply(scores, *tensors)

    return torch_loss


def _or_nan(loss: Any, scores: Any, y: Any, weights: Any) -> tuple[float, np.ndarray]:
    """Value and gradient, NaN when a score is not finite, as in a network whose training diverges."""
    if not np.all(np.isfinite(scores)):
        return np.nan, np.full(scores.shape, np.nan)
    mean = pair_mean(loss, *_rows(scores, y, weights))
    return mean.value, mean.slopes
