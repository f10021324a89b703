"""A function of scores and labels that claims to be an AUC loss, called with NumPy, JAX or PyTorch arrays."""

import inspect
import math
import re
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import product
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NamedTuple, Self

import numpy as np

from aucbench.errors import ParameterError
from aucbench.suggestions import suggest

NEGATIVES = (0, -1)  # labels of a negative row, by the coding
AUXILIARIES = ("a", "b", "alpha")  # of the min-max margin loss


class Outcome(NamedTuple):
    """The value and gradient that a function returned for a batch."""

    value: float
    gradient: np.ndarray | None  # (n,) float64, None if the function has none

    def apart(self, expected: Self) -> float:
        """The largest relative difference of value and gradient; NaN counts as infinite."""
        differences = [abs(self.value - expected.value) / max(abs(expected.value), 1e-3)]
        if (self.gradient is None) != (expected.gradient is None):
            return math.inf
        if self.gradient is not None and expected.gradient is not None:
            size = max(float(np.abs(expected.gradient).max()), 1e-6)
            differences.append(float(np.abs(self.gradient - expected.gradient).max()) / size)
        return max(math.inf if math.isnan(each) else each for each in differences)

    def fault(self, exact: float, tolerance: float) -> str:
        """What is wrong with the outcome at finite scores, or nothing; an exact value of NaN is unknown."""
        told = "" if math.isnan(exact) else f"; {exact:.4g} is exact"
        if not math.isfinite(self.value):
            return f"the value is {self.value}{told}".replace("nan", "NaN")
        if abs(self.value - exact) > tolerance * max(1.0, abs(exact)):
            return f"the value is {self.value:.6g}{told}"
        if self.gradient is not None and not np.isfinite(self.gradient).all():
            bad = np.count_nonzero(~np.isfinite(self.gradient))
            return f"the gradient has {bad} entries of NaN or infinity"
        return ""


class AuditedFunction:
    """A function of scores and labels, whatever its library and coding of labels.

    A function that takes a, b and alpha as arguments, or has them as attributes, is evaluated at their
    optimum: a and b are the means of the scores of either class, alpha is the best number >= 0.
    """

    def __init__(self, function: Callable[..., Any], name: str):
        self.name, self._function = name, function
        self._auxiliaries = _auxiliaries(function)
        self.codings = self._working()
        self.negative = self.codings[0]  # label of a negative row
        values = [self.value(*probe) for probe in _probes()]
        # A function that computes in single precision, or keeps a, b and alpha in it, is held to that.
        kept = [str(getattr(getattr(function, name, None), "dtype", "")) for name in AUXILIARIES]
        self.single = all(value == float(np.float32(value)) for value in values) or any(
            each.endswith(("float32", "float16")) for each in kept
        )

    def __call__(self, scores: np.ndarray, positive: np.ndarray, slopes: bool = True) -> Outcome:
        """Value and gradient at scores (n,), float64 or float32, with a mask (n,) of the positive rows."""
        labels = np.where(positive, 1, self.negative).astype(self._label_type or scores.dtype)
        if not self._auxiliaries:
            return self._raw(scores, labels, slopes)
        means = [scores[positive], scores[~positive]]
        a, b = (float(each.mean()) if each.size else 0.0 for each in means)
        at = [self._raw(scores, labels, False, a, b, alpha).value for alpha in (0.0, 1.0, 2.0)]
        curvature = at[0] - 2.0 * at[1] + at[2]
        best = max(0.0, 1.0 - (at[2] - at[0]) / (2.0 * curvature)) if curvature < 0.0 else 0.0
        return self._raw(scores, labels, slopes, a, b, best)

    def value(self, scores: np.ndarray, positive: np.ndarray) -> float:
        """The value alone, without differentiation."""
        return self(scores, positive, slopes=False).value

    def _working(self) -> list[int]:
        """Set the library and the type of labels with which the function returns numbers; its codings."""
        errors: list[tuple[bool, bool, Exception]] = []  # with those first that explain more
        for library, label_type in product(CALLS, (np.int64, None)):  # None: that of the scores
            if library not in sys.modules:  # a call may have imported it
                continue
            self.library, self._label_type = library, label_type
            codings = []
            for coding in NEGATIVES:
                self.negative = coding
                try:
                    values = {self.value(*probe) for probe in _probes()}
                    if len(values) == 1 or not np.isfinite([*values]).all():
                        text = f"{self.name} returned {values.pop():g} for every batch of 12 scores."
                        raise ParameterError(text)
                    codings.append(coding)
                except Exception as error:
                    is_used = library in _used(self._function)
                    errors.append((is_used, isinstance(error, ParameterError), error))
            if codings:
                return codings
        _, is_ours, told = max(errors, key=lambda each: each[:2])
        if is_ours:
            raise told
        raise ParameterError(
            f"{self.name}: f(scores, labels) with 12 scores and labels in {{0, 1}} or {{-1, 1}} raised "
            f"{type(told).__name__}{f': {told}'.splitlines()[0].rstrip('.')}."
        )

    def _raw(self, scores: np.ndarray, labels: np.ndarray, slopes: bool, *auxiliaries: float) -> Outcome:
        function, given = self._function, dict(zip(AUXILIARIES, auxiliaries, strict=False))
        if self._auxiliaries == "attributes":
            _set(function, given)
        else:
            function = partial(function, **given)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                value, gradient = CALLS[self.library](function, scores.copy(), labels, slopes)
            except SystemExit as end:
                raise RuntimeError("the function ends the program") from end
        return self._outcome(value, gradient, scores.size)

    def _outcome(self, value: Any, gradient: Any, size: int) -> Outcome:
        got = type(value).__name__
        try:
            if value is None or isinstance(value, str):  # NumPy takes them for NaN, and for a number
                raise TypeError
            number, slopes = (np.asarray(0.0 if each is None else each, float) for each in (value, gradient))
            got = f"an array of shape {number.shape}"
            if number.size == 1 and gradient is None:
                return Outcome(number.item(), None)
            if number.size == 1:
                got = f"a gradient of shape {slopes.shape} for {size} scores"
                return Outcome(number.item(), slopes.reshape(size))
        except (TypeError, ValueError):
            pass
        raise ParameterError(
            f"{self.name} returned {got}; it must return one number for the batch (a sum or a mean), or a "
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
        given = jax.numpy.asarray(scores), jax.numpy.asarray(labels)
        value, gradient = _parts(function(*given))
        if slopes and gradient is None and getattr(value, "size", 1) == 1:
            # A function that leaves JAX has no gradient.
            with suppress(jax.errors.JAXTypeError):
                gradient = jax.grad(lambda s: _parts(function(s, given[1]))[0].reshape(()))(given[0])
        return value, gradient


def _by_torch(function: Callable[..., Any], scores: np.ndarray, labels: np.ndarray, slopes: bool) -> Any:
    import torch

    given = torch.from_numpy(scores).requires_grad_(slopes)
    value, gradient = _parts(function(given, torch.from_numpy(labels)))
    if slopes and gradient is None and getattr(value, "requires_grad", False) and value.numel() == 1:
        (gradient,) = torch.autograd.grad(value.sum(), given, allow_unused=True)
    return (each.detach() if hasattr(each, "detach") else each for each in (value, gradient))


CALLS = {"numpy": _by_numpy, "jax": _by_jax, "torch": _by_torch}  # value and gradient of a call, by library


def load(path: str) -> AuditedFunction:
    """Import MODULE:NAME, also from the current folder; ParameterError if it is no function of two arrays.

    A class, or a function without arguments, is called to make the loss.
    """
    if not re.fullmatch("[^:]+:[^:]+", path):
        raise ParameterError(f"Expected MODULE:NAME, such as my_losses:auc_loss, got '{path}'.")
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        found: Any = resolve_name(path)
    except (Exception, SystemExit) as error:
        near = ""
        if isinstance(error, AttributeError) and error.name:
            near = suggest(error.name, [each for each in dir(error.obj) if not each.startswith("_")])
        raise ParameterError(
            f"'{path}' cannot be imported: {type(error).__name__}: {error}. {near}".rstrip()
        ) from error
    if not callable(found):
        raise ParameterError(f"{path} is no function, but an object of type {type(found).__name__}.")
    if isinstance(found, type) or _arguments(found) == ():
        try:
            found = found()
        except Exception as error:
            raise ParameterError(f"{path}() raised {type(error).__name__}: {error}.") from error
        if not callable(found):
            raise ParameterError(f"{path}() gives an object of type {type(found).__name__}, no function.")
    return AuditedFunction(found, path)


def _arguments(function: Callable[..., Any]) -> tuple[str, ...] | None:
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # compiled functions have no signature
        return None


def _auxiliaries(function: Any) -> str:
    """How a function takes the auxiliary variables: as arguments or attributes, or not at all."""
    if set(AUXILIARIES) <= set(_arguments(function) or ()):
        return "arguments"
    return "attributes" if all(hasattr(function, name) for name in AUXILIARIES) else ""


def _set(function: Any, auxiliaries: dict[str, float]) -> None:
    for name, value in auxiliaries.items():
        old = getattr(function, name)
        if hasattr(old, "detach"):  # a parameter of a PyTorch module keeps its identity and type
            old.detach().fill_(value)
        else:
            setattr(function, name, value)


def _used(function: Any) -> set[str]:
    """The libraries whose modules or objects the module of a function has imported."""
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    known = vars(module).values() if module else ()
    names = (getattr(each, "__module__", None) or getattr(each, "__name__", "") for each in known)
    return {str(name).partition(".")[0] for name in names}


def _parts(result: Any) -> tuple[Any, Any]:
    """Value and gradient of what a function returned."""
    if isinstance(result, tuple | list) and len(result) >= 2:
        return result[0], result[1]
    return result, None


def _probes() -> list[tuple[np.ndarray, np.ndarray]]:
    """Batches of scores in (0, 1), which is inside of the domain of every loss."""
    rng = np.random.default_rng(0)
    return [(rng.uniform(0.1, 0.9, 12), rng.permutation(12) < 3) for _ in range(6)]
