"""The functions of a loss as functions of arrays, of NumPy or JAX, translated from their source.

A loss consists of two scalar functions for Numba, with branches, which arrays do not have. Their source is
translated: branches become `where`; functions of `math`, `min`, `max` and `abs` become array functions.
"""

import ast
import inspect
import math
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aucbench.kernels.compiled_loss import theta

OF_TWO = {"max": "maximum", "min": "minimum"}
SAMPLE = (*np.linspace(-30.0, 30.0, 61), 0.3, -0.7, 1e3, -1e3)  # margins at which a translation is compared


def translated(loss: Any, library: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any]] | None:
    """Value and derivative of a loss as functions of an array of margins; None if translation fails.

    `library` is `numpy` or `jax.numpy`. A translation whose values differ from the loss is rejected.
    """
    functions = []
    for function in (loss.value, loss.derivative):
        try:
            code = _code(getattr(function, "py_func", function))
            with np.errstate(all="ignore"):
                numbers = eval(code, {"library": np})(np.array(SAMPLE), theta(loss))
            expected = [function(m, theta(loss)) for m in SAMPLE]
        except (OSError, TypeError, ValueError, SyntaxError, AttributeError, ArithmeticError, _UnknownError):
            return None
        if not np.allclose(numbers, expected, rtol=1e-9, atol=1e-15):
            return None
        functions.append(eval(code, {"library": library}))
    value, derivative = functions
    return lambda m: value(m, theta(loss)), lambda m: derivative(m, theta(loss))


class _UnknownError(Exception):
    """The source has a construct that cannot be translated."""


def _code(function: Callable[..., Any]) -> Any:
    """A compiled expression: a function of arrays, whose library is a global name."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    if not isinstance(definition, ast.FunctionDef):
        raise _UnknownError
    names = [argument.arg for argument in definition.args.args]
    body = _Arrays(set(names)).visit(_expression(definition.body))
    arguments = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    expression = ast.Expression(ast.Lambda(arguments, body))
    return compile(ast.fix_missing_locations(expression), function.__module__, "eval")


def _expression(statements: Sequence[ast.stmt]) -> ast.expr:
    """The value that statements return, as one expression."""
    if not statements:
        raise _UnknownError
    first, rest = statements[0], statements[1:]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):  # a docstring
        return _expression(rest)
    if isinstance(first, ast.Return) and first.value is not None:
        return first.value
    if isinstance(first, ast.If):
        return ast.IfExp(first.test, _expression(first.body), _expression([*first.orelse, *rest]))
    if isinstance(first, ast.Assign) and isinstance(first.targets[0], ast.Name) and len(first.targets) == 1:
        name, value = first.targets[0].id, first.value
        inner = ast.Lambda(ast.arguments([], [ast.arg(name)], None, [], [], None, []), _expression(rest))
        return ast.Call(inner, [value], [])
    raise _UnknownError


class _Arrays(ast.NodeTransformer):
    """Translates scalar expressions into array expressions."""

    def __init__(self, names: set[str]):
        self._names = names

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        return _call("where", *(self.visit(part) for part in (node.test, node.body, node.orelse)))

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self._names:
            raise _UnknownError
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        text = ast.unparse(node)
        if not text.startswith("math.") or not isinstance(getattr(math, node.attr, None), float):
            raise _UnknownError
        return ast.Constant(getattr(math, node.attr))

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        inner = _Arrays(self._names | {argument.arg for argument in node.args.args})
        return ast.Lambda(node.args, inner.visit(node.body))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if isinstance(node.func, ast.Lambda):  # an assignment
            return ast.Call(self.visit(node.func), [self.visit(argument) for argument in node.args], [])
        name, arguments = ast.unparse(node.func), [self.visit(argument) for argument in node.args]
        if name in OF_TWO and len(arguments) == 2:
            return _call(OF_TWO[name], *arguments)
        if name == "abs" or name.startswith("math."):
            return _call(name.removeprefix("math."), *arguments)
        raise _UnknownError


def _call(name: str, *arguments: ast.expr) -> ast.expr:
    function = ast.Attribute(ast.Name("library", ast.Load()), name, ast.Load())
    return ast.Call(function, list(arguments), [])
