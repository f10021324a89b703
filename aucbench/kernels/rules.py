"""Methods with one weight vector as rules: the scalars of one step, from which all loops are made.

A rule is a pure function of scalars at the level of a module,

    rule(row, scalars, params) -> Move(step, keep, before, after), scalars

that reads like the algorithm of a paper. From a `Row` (its score s = w.x and so on), the `scalars` that
change from step to step and the constant `params`, it returns how the weights move,

    w <- keep w + step x,  then projected on |w| <= params.radius (with a ball)

and with which weights the points before and after the move enter the average that is the model. If no point
enters, the model is w itself. The loops over dense and CSR rows or pairs, of one setting and of many in
lockstep, belong to the framework: w is kept as in `aucbench.kernels.weights`, so a step costs the non-zeros
of its row.
"""

import hashlib
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numba
import numpy as np

from aucbench.errors import ParameterError
from aucbench.kernels.jit import NO_ENTRY, cached, inlined

DATA = (bool, int, float, complex, str, bytes, tuple, np.generic, np.ndarray)  # constants of compiled code


class Row(NamedTuple):
    """The row of a step as a rule receives it; for a pair, x is the positive minus the negative row."""

    t: int  # number of the step, from 1
    positive: bool  # the label is 1; always true for a pair
    positives: int  # positive rows so far, this one included
    s: float  # w.x
    square: float  # |x|^2
    size: float  # |w|^2; valid with the l2 ball only
    fixed: tuple[float, ...]  # products of w with the fixed vectors of the method, if it has any
    loss: int | None  # address of the derivative of the loss, for `kernels.call`; None without a loss
    weight: float = 1.0  # weight of the row; 1 for pairs and without weights


class Move(NamedTuple):
    """The change that a rule makes to the weights."""

    step: float  # w becomes keep w + step x
    keep: float
    before: float  # weight of w in the average
    after: float  # weight of the new w, projected, in the average


class Ball(StrEnum):
    """The ball on which the weights are projected after each step."""

    none = "none"
    l2 = "l2"
    l1 = "l1"


class Rule:
    """A rule, made from a `function` and a `ball` by `kernels.rule`, with its compiled loops."""

    def __init__(self, function: Callable[..., Any], ball: Ball):
        self.function, self.ball = function, ball
        self._inlined = inlined(function, **NO_ENTRY)
        self._loops: dict[Any, Any] = {}

    def loop(self, template: Callable[..., Any], **names: Any) -> Any:
        """Copy a template of a loop with this rule as its global RULE, so that the compiler inlines the rule.

        Parameters
        ----------
        template : callable
            A function whose globals RULE and BALL, and those in `names`, are set in the copy.
        **names : int or callable
            Constants, and templates that are copied in the same way and inlined; each may use earlier names.

        Returns
        -------
        callable
            The loop, compiled when it is first called. It is cached on disk with the other code compiled from
            the module of the rule, and compiled anew when the code of that module, or of its imports from its
            package, has changed.
        """
        key = (template, *names.values())
        if key not in self._loops:
            constants = {"RULE": self._inlined, "BALL": self.ball is Ball.l2}
            for name, value in names.items():
                is_part = callable(value)
                constants[name] = inlined(self._copy(value, constants), **NO_ENTRY) if is_part else value
            copy = self._copy(template, constants)
            copy.__qualname__ += "".join(f".{getattr(value, '__name__', value)}" for value in names.values())
            self._loops[key] = cached(numba.njit, copy, nogil=True)
        return self._loops[key]

    def _copy(self, template: Callable[..., Any], constants: dict[str, Any]) -> FunctionType:
        """The template with other globals, and with the file and line of the rule.

        Both must be those of the rule: numba parses the source at this line, and a line inside a string
        is not Python code.
        """
        origin = self.function.__code__
        code = template.__code__.replace(co_filename=origin.co_filename, co_firstlineno=origin.co_firstlineno)
        copy = FunctionType(code, {**template.__globals__, **constants}, template.__name__)
        source = f"{template.__module__.rpartition('.')[2]}.{template.__name__}"
        copy.__qualname__ = f"{self.function.__qualname__}_{_digest(self.function)}.{self.ball}.{source}"
        copy.__module__ = self.function.__module__
        return copy


def rule(function: Callable[..., Any] | None = None, *, ball: str = "none") -> Any:
    """Turn a function of scalars into a rule.

    Parameters
    ----------
    function : callable
        ``rule(row, scalars, params)`` with a `Row` and two NamedTuples of numbers, at the level of a module,
        in the part of Python that numba compiles. It returns a `Move` and the new `scalars`, of the same
        types; whole numbers in `scalars` are exact up to 2^53. It may call only functions made by
        `kernels.scalar`, `kernels.call` and functions of `math` and NumPy, and depend only on its arguments
        and on constants of its module.
    ball : none, l2 or l1
        The norm of the ball |w| <= params.radius on which w is projected after each step.

    Returns
    -------
    Rule
        Value of the class variable `rule` of a `RuleMethod`.

    Raises
    ------
    ParameterError
        The ball is unknown.
    """
    if ball not in list(Ball):
        raise ParameterError(f"kernels.rule: ball must be one of {', '.join(Ball)}, got {ball!r}.")
    if function is None:
        return partial(rule, ball=ball)
    return Rule(function, Ball(ball))


def _digest(function: Any) -> str:
    """A digest that distinguishes rules of the same name, such as the closures that one function makes.

    Numba looks up compiled code by the name and code of a function, and the code is that of the template.
    """
    return hashlib.sha256(repr(_identity(function)).encode()).hexdigest()[:8]


def _identity(value: Any, outer: tuple[FunctionType, ...] = ()) -> Any:
    """The code of a function with all constants and functions that it reads; the content of other values."""
    plain = getattr(value, "py_func", value)
    if isinstance(plain, FunctionType):
        if plain in outer:
            return "recursive"
        code, scope = plain.__code__, plain.__globals__
        modules = [vars(module) for module in map(scope.get, code.co_names) if isinstance(module, ModuleType)]
        objects = [namespace.get(name) for namespace in (scope, *modules) for name in code.co_names]
        bound = [cell.cell_contents for cell in plain.__closure__ or ()]
        values = [item for item in objects if hasattr(item, "py_func") or isinstance(item, DATA)]
        inner = [_identity(item, (*outer, plain)) for item in (*values, *bound, *(plain.__defaults__ or ()))]
        return code.co_code, repr(code.co_consts), code.co_names, code.co_firstlineno, inner
    return (str(value.dtype), value.shape, value.tobytes()) if isinstance(value, np.ndarray) else repr(value)
