"""A function of scores and labels that claims to be an AUC loss, called with NumPy, JAX or PyTorch arrays."""

import inspect
import math
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from itertools import starmap
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NamedTuple, Self

import numpy as np

from aucbench.errors import ParameterError
from aucbench.humanize import sentence_of

NEGATIVES = (0, -1)  # labels of a negative row, by the coding
AUXILIARIES = ("a", "b", "alpha")  # auxiliary variables of the min-max margin loss


class Outcome(NamedTuple):
    """The value and gradient that a function returned for a batch."""

    value: float
    gradient: np.ndarray | None  # (n,) float64, None if not available

    def apart(self, expected: Self) -> float:
        """The largest relative difference of value and gradient; NaN counts as infinite."""
        differences = [abs(self.value - expected.value) / max(abs(expected.value), 1e-3)]
        if self.gradient is not None and expected.gradient is not None:
            size = max(float(np.abs(expected.gradient).max()), 1e-6)
            differences.append(float(np.abs(self.gradient - expected.gradient).max()) / size)
        return max(math.inf if math.isnan(difference) else difference for difference in differences)

    def fault(self, exact: float, tolerance: float) -> str:
        """The fault of the outcome at finite scores, or an empty text; an exact value of NaN is unknown."""
        hint = "" if math.isnan(exact) else f"; {exact:.4g} is exact"
        if not math.isfinite(self.value) or abs(self.value - exact) > tolerance * max(1.0, abs(exact)):
            return f"the value is {self.value:.6g}{hint}".replace("nan", "NaN")
        if self.gradient is not None and not np.isfinite(self.gradient).all():
            bad = np.count_nonzero(~np.isfinite(self.gradient))
            return f"the gradient has {bad} entries of NaN or infinity"
        return ""


class AuditedFunction:
    """A function of scores and labels, for any library and coding of labels.

    A function with the attributes a, b and alpha is evaluated at their optimum: a and b are the means of the
    scores of either class, alpha is the best number >= 0.
    """

    def __init__(self, function: Callable[..., Any], name: str):
        self.name, self._function = name, function
        self._has_auxiliaries = all(hasattr(function, attribute) for attribute in AUXILIARIES)
        self.codings = self._working()
        self.negative = self.codings[0]  # label of a negative row
        # A function that computes in single precision is compared with larger tolerances.
        self.single = all(value == float(np.float32(value)) for value in starmap(self.value, _probes()))

    def __call__(self, scores: np.ndarray, positive: np.ndarray, slopes: bool = True) -> Outcome:
        """Value and gradient at scores (n,) with a mask (n,) of the positive rows."""
        labels = np.where(positive, 1, self.negative).astype(scores.dtype)
        if self._has_auxiliaries:
            means = [scores[rows].mean() if rows.any() else 0.0 for rows in (positive, ~positive)]
            values = []
            for alpha in (0.0, 1.0, 2.0):
                _set(self._function, *means, alpha)
                values.append(self._outcome(scores, labels, False).value)
            curvature = values[0] - 2.0 * values[1] + values[2]
            best = 1.0 - (values[2] - values[0]) / (2.0 * curvature) if curvature < 0.0 else 0.0
            _set(self._function, *means, max(0.0, best))
        return self._outcome(scores, labels, slopes)

    def value(self, scores: np.ndarray, positive: np.ndarray) -> float:
        """The value alone, without differentiation."""
        return self(scores, positive, slopes=False).value

    def _working(self) -> list[int]:
        """Set the library with which the function returns numbers; returns its codings of labels."""
        errors: list[Exception] = []
        for library in CALLS:
            if library not in sys.modules:  # a call may have imported the library
                continue
            self.library, codings = library, []
            for coding in NEGATIVES:
                self.negative = coding
                try:
                    values = set(starmap(self.value, _probes()))
                    if len(values) == 1 or not np.isfinite([*values]).all():
                        text = f"{self.name} returned {values.pop():g} for every batch of 12 scores."
                        raise ParameterError(text)
                    codings.append(coding)
                except Exception as error:
                    errors.append(error)
            if codings:
                return codings
        if refusals := [error for error in errors if isinstance(error, ParameterError)]:
            raise refusals[0]
        raise ParameterError(
            f"{self.name}: f(scores, labels) with 12 scores and labels in {{0, 1}} or {{-1, 1}} raised "
            f"{sentence_of(errors[-1]).splitlines()[0].rstrip('.')}."
        )

    def _outcome(self, scores: np.ndarray, labels: np.ndarray, slopes: bool) -> Outcome:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                value, gradient = CALLS[self.library](self._function, scores.copy(), labels, slopes)
            except SystemExit as end:
                raise RuntimeError("the function ends the program") from end
        kind = type(value).__name__
        with suppress(TypeError, ValueError):
            if value is None or isinstance(value, str):  # NumPy converts them to NaN and a number
                raise TypeError
            number = np.asarray(value, float)
            kind = f"an array of shape {number.shape}"
            if number.size == 1:
                kind = f"a gradient of shape {np.shape(gradient)} for {scores.size} scores"
                entries = None if gradient is None else np.asarray(gradient, float).reshape(scores.size)
                return Outcome(number.item(), entries)
        raise ParameterError(
            f"{self.name} returned {kind}; it must return one number for the batch (a sum or a mean), or a "
            "number and its gradient, with one entry per score."
        )


def _by_numpy(function: Callable[..., Any], scores: np.ndarray, labels: np.ndarray, slopes: bool) -> Any:
    value, gradient = _parts(function(scores, labels))
    library = type(value).__module__.partition(".")[0].removesuffix("lib")
    if library in CALLS and library != "numpy":
        raise TypeError(f"an array of {library} was returned for one of numpy")
    return value, gradient


def _by_jax(function: Callable[..., Any], scores: np.ndarray, labels: np.ndarray, slopes: bool) -> Any:
    import jax

    with jax.enable_x64(scores.dtype == np.float64):
        arrays = jax.numpy.asarray(scores), jax.numpy.asarray(labels)
        value, gradient = _parts(function(*arrays))
        if slopes and gradient is None and getattr(value, "size", 1) == 1:
            # A function that leaves JAX has no gradient.
            with suppress(jax.errors.JAXTypeError):
                gradient = jax.grad(lambda s: _parts(function(s, arrays[1]))[0].reshape(()))(arrays[0])
        return value, gradient


def _by_torch(function: Callable[..., Any], scores: np.ndarray, labels: np.ndarray, slopes: bool) -> Any:
    import torch

    tensor = torch.from_numpy(scores).requires_grad_(slopes)
    value, gradient = _parts(function(tensor, torch.from_numpy(labels)))
    if slopes and gradient is None and getattr(value, "requires_grad", False) and value.numel() == 1:
        (gradient,) = torch.autograd.grad(value.sum(), tensor, allow_unused=True)
    return (part.detach() if hasattr(part, "detach") else part for part in (value, gradient))


CALLS = {"numpy": _by_numpy, "jax": _by_jax, "torch": _by_torch}  # value and gradient of a call, by library


def _parts(result: Any) -> tuple[Any, Any]:
    """Value and gradient in the result of a function."""
    return tuple(result[:2]) if isinstance(result, tuple | list) and len(result) >= 2 else (result, None)


def _set(function: Any, *auxiliaries: float) -> None:
    for name, value in zip(AUXILIARIES, auxiliaries, strict=True):
        old = getattr(function, name)
        if hasattr(old, "detach"):  # a parameter of a PyTorch module keeps its identity and type
            old.detach().fill_(value)
        else:
            setattr(function, name, value)


def _probes() -> list[tuple[np.ndarray, np.ndarray]]:
    """Batches of scores in (0, 1), which is inside the domain of every loss."""
    rng = np.random.default_rng(0)
    return [(rng.uniform(0.1, 0.9, 12), rng.permutation(12) < 3) for _ in range(6)]


def load(path: str) -> AuditedFunction:
    """Import MODULE:NAME, also from the current folder; ParameterError if it is no function of two arrays.

    A class, or a function without arguments, is called to make the loss.
    """
    if path.count(":") != 1:
        raise ParameterError(f"Expected MODULE:NAME, such as my_losses:auc_loss, got '{path}'.")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        function: Any = resolve_name(path)
        if isinstance(function, type) or _takes_nothing(function):
            function = function()
    except (Exception, SystemExit) as error:
        raise ParameterError(f"'{path}' cannot be imported: {sentence_of(error).rstrip('.')}.") from error
    if not callable(function):
        raise ParameterError(f"{path} is no function, but an object of type {type(function).__name__}.")
    return AuditedFunction(function, path)


def _takes_nothing(function: Any) -> bool:
    try:
        return not inspect.signature(function).parameters
    except (TypeError, ValueError):  # compiled functions have no signature
        return False
