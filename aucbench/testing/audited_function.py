"""A function of scores and labels that claims to be an AUC loss, called with NumPy, JAX or PyTorch arrays."""

import inspect
import math
import sys
import warnings
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
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
        self.library, self._label_type, self.codings = self._working()
        self.negative = self.codings[0]  # label of a negative row
        values = [self.value(*probe) for probe in _probes()]
        # A function that computes in single precision, or keeps a, b and alpha in it, is held to that.
        kept = [str(getattr(getattr(function, name, None), "dtype", "")) for name in AUXILIARIES]
        self.single = all(value == float(np.float32(value)) for value in values) or any(
            each.endswith(("float32", "float16")) for each in kept
        )

    def __call__(self, scores: np.ndarray, positive: np.ndarray) -> Outcome:
        """Value and gradient at scores (n,), float64 or float32, with a mask (n,) of the positive rows."""
        labels = np.where(positive, 1, self.negative)
        return self._evaluate(self.library, self._label_type, scores.copy(), labels, slopes=True)

    def value(self, scores: np.ndarray, positive: np.ndarray) -> float:
        """The value alone, without differentiation."""
        labels = np.where(positive, 1, self.negative)
        return self._evaluate(self.library, self._label_type, scores.copy(), labels).value

    def _working(self) -> tuple[str, Any, list[int]]:
        """The library and the type of labels with which the function returns numbers, and its codings."""
        errors: list[Exception] = []
        for library in ("numpy", "jax", "torch"):
            if library != "numpy" and library not in sys.modules:
                continue
            if library in _used(self._function):
                errors.clear()  # those of other libraries do not explain anything
            for label_type in (np.int64, None):  # None: that of the scores
                codings = [each for each in NEGATIVES if self._works(library, label_type, each, errors)]
                if codings:
                    return library, label_type, codings
        told = next((error for error in errors if isinstance(error, ParameterError)), errors[0])
        if isinstance(told, ParameterError):
            raise told
        raise ParameterError(
            f"{self.name}: f(scores, labels) with 12 scores and labels in {{0, 1}} or {{-1, 1}} raised "
            f"{type(told).__name__}{f': {told}'.splitlines()[0].rstrip('.')}."
        )

    def _works(self, library: str, label_type: Any, negative: int, errors: list[Exception]) -> bool:
        """Whether the function returns numbers that change with the scores; notes the error otherwise."""
        try:
            values = [
                self._evaluate(library, label_type, scores, np.where(positive, 1, negative)).value
                for scores, positive in _probes()
            ]
        except Exception as error:
            errors.append(error)
            return False
        works = bool(np.isfinite(values).all()) and len(set(values)) > 1
        if not works:
            text = f"{self.name} returned {values[0]:g} for every batch of 12 scores."
            errors.append(ParameterError(text))
        return works

    def _evaluate(
        self, library: str, label_type: Any, scores: np.ndarray, labels: np.ndarray, slopes: bool = False
    ) -> Outcome:
        labels = labels.astype(label_type or scores.dtype)
        if not self._auxiliaries:
            return self._raw(library, scores, labels, slopes=slopes)
        means = [scores[labels == 1], scores[labels != 1]]
        a, b = (float(each.mean()) if each.size else 0.0 for each in means)
        at = [self._raw(library, scores, labels, a, b, alpha).value for alpha in (0.0, 1.0, 2.0)]
        curvature = at[0] - 2.0 * at[1] + at[2]
        best = max(0.0, 1.0 - (at[2] - at[0]) / (2.0 * curvature)) if curvature < 0.0 else 0.0
        return self._raw(library, scores, labels, a, b, best, slopes=slopes)

    def _raw(
        self,
        library: str,
        scores: np.ndarray,
        labels: np.ndarray,
        *auxiliaries: float,
        slopes: bool = False,
    ) -> Outcome:
        function = self._function
        if auxiliaries:
            given = dict(zip(AUXILIARIES, auxiliaries, strict=True))
            if self._auxiliaries == "attributes":
                _set(function, given)
            else:
                function = partial(function, **given)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                outcome: Outcome = getattr(self, f"_by_{library}")(function, scores, labels, slopes)
            except SystemExit as end:
                raise RuntimeError("the function ends the program") from end
        return outcome

    def _by_numpy(
        self, function: Callable[..., Any], scores: np.ndarray, labels: np.ndarray, slopes: bool
    ) -> Outcome:
        value, gradient = _parts(function(scores, labels))
        library = type(value).__module__.partition(".")[0].removesuffix("lib")
        if library in ("jax", "torch"):
            raise TypeError(f"an array of {library} was returned for one of numpy")
        return self._outcome(value, gradient, scores.size)

    def _by_jax(
        self, function: Callable[..., Any], scores: np.ndarray, labels: np.ndarray, slopes: bool
    ) -> Outcome:
        import jax

        with jax.enable_x64(scores.dtype == np.float64):
            given = jax.numpy.asarray(scores), jax.numpy.asarray(labels)
            value, gradient = _parts(function(*given))
            if slopes and gradient is None and getattr(value, "size", 1) == 1:
                try:
                    gradient = jax.grad(lambda s: _parts(function(s, given[1]))[0].reshape(()))(given[0])
                except jax.errors.JAXTypeError:  # the function leaves JAX, and has no gradient
                    gradient = None
            return self._outcome(value, gradient, scores.size)

    def _by_torch(
        self, function: Callable[..., Any], scores: np.ndarray, labels: np.ndarray, slopes: bool
    ) -> Outcome:
        import torch

        given = torch.from_numpy(scores).requires_grad_(slopes)
        value, gradient = _parts(function(given, torch.from_numpy(labels)))
        if slopes and gradient is None and getattr(value, "requires_grad", False) and value.numel() == 1:
            (gradient,) = torch.autograd.grad(value.sum(), given, allow_unused=True)
        value, gradient = (each.detach() if hasattr(each, "detach") else each for each in (value, gradient))
        return self._outcome(value, gradient, scores.size)

    def _outcome(self, value: Any, gradient: Any, size: int) -> Outcome:
        try:
            number = np.asarray(value, np.float64)
            if value is None or isinstance(value, str):  # NumPy takes them for NaN, and for a number
                raise TypeError
        except (TypeError, ValueError):
            raise ParameterError(
                f"{self.name} returned {type(value).__name__}; it must return a number, or a number and its "
                "gradient by the scores."
            ) from None
        if number.size != 1:
            raise ParameterError(
                f"{self.name} returned an array of shape {number.shape}; it must return one number for the "
                "batch (a sum or a mean), or a number and its gradient by the scores."
            )
        if gradient is None:
            return Outcome(float(number.reshape(())), None)
        slopes = np.asarray(gradient, np.float64)
        if slopes.size != size:
            raise ParameterError(
                f"{self.name} returned a gradient of shape {slopes.shape} for {size} scores; it must have "
                "one entry per score."
            )
        return Outcome(float(number.reshape(())), slopes.reshape(size))


def load(path: str) -> AuditedFunction:
    """Import MODULE:NAME, also from the current folder.

    A class, or a function without arguments, is called to make the loss.

    Raises
    ------
    ParameterError
        The path cannot be imported, or what it names is no function f(scores, labels).
    """
    module_name, colon, name = path.partition(":")
    if not (module_name and colon and name):
        raise ParameterError(f"Expected MODULE:NAME, such as my_losses:auc_loss, got '{path}'.")
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        found: Any = import_module(module_name)
    except (Exception, SystemExit) as error:
        raise ParameterError(
            f"The module '{module_name}' cannot be imported: {type(error).__name__}: {error}."
        ) from error
    for part in name.split("."):
        if not hasattr(found, part):
            public = [each for each in vars(found) if not each.startswith("_")]
            raise ParameterError(f"'{module_name}' has no '{part}'. {suggest(part, public)}")
        found = getattr(found, part)
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
