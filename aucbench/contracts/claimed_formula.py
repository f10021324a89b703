"""Formulas of a claimed cost per iteration, such as "nnz", "n d min(n, d)" or "nnz + n log n"."""

import ast
import math
import operator
import re
from collections.abc import Mapping
from typing import Any

LOGARITHM = re.compile(r"\blog\s+(\w+)")  # a logarithm without brackets
PRODUCT = re.compile(r"(?<=[\w)])\s+(?=[\w(])")  # a space between factors
FUNCTIONS: Mapping[str, Any] = {"min": min, "max": max, "log": math.log, "sqrt": math.sqrt}
OPERATORS: Mapping[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


def evaluate(text: str, values: Mapping[str, float]) -> float:
    """The value of a formula such as "n d min(n, d)"; a ValueError if the text is not a formula.

    A name without a value counts as 1; a space between factors multiplies.
    """
    try:
        return float(_value(_parsed(text), values))
    except (TypeError, ZeroDivisionError) as error:
        raise ValueError(f"{text!r} is not a formula") from error


def _value(node: Any, values: Mapping[str, float]) -> float:
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return float(OPERATORS[type(node.op)](_value(node.left, values), _value(node.right, values)))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        arguments = [_value(argument, values) for argument in node.args]
        if node.func.id in FUNCTIONS:
            return float(FUNCTIONS[node.func.id](*arguments))
        if len(arguments) == 1:  # a name before a bracket is a factor, as in O(d)
            return _value(node.func, values) * arguments[0]
    if isinstance(node, ast.Name):
        return float(values.get(node.id, 1.0))
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    raise TypeError(type(node).__name__)


def _parsed(text: str) -> Any:
    python = PRODUCT.sub(" * ", LOGARITHM.sub(r"log(\1)", text.strip())).replace("^", "**")
    try:
        return ast.parse(python, mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"{text!r} is not a formula") from error
