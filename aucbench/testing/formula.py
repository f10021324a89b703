"""Reading a claimed cost, such as "nnz", "d^2" or "n d min(n, d)"."""

import ast
import math
import operator
import re
from collections.abc import Mapping
from typing import Any

TOKEN = re.compile(r"\s*(\d+\.?\d*|[A-Za-z_]\w*|\*\*|[-+*/^(),])")
FUNCTIONS: Mapping[str, Any] = {"min": min, "max": max, "log": math.log, "sqrt": math.sqrt}
OPERATORS: Mapping[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


def evaluate(text: str, values: Mapping[str, float]) -> float:
    """The value of a formula; a name without a value counts as 1, a space between factors multiplies.

    Raises
    ------
    ValueError
        The text is not a formula.

    Examples
    --------
    >>> evaluate("n d min(n, d)", {"n": 2, "d": 3})
    12.0
    """
    try:
        return float(_value(ast.parse(_python(text), mode="eval").body, values))
    except (SyntaxError, TypeError, ZeroDivisionError) as error:
        raise ValueError(f"{text!r} is not a formula") from error


def _python(text: str) -> str:
    tokens: list[str] = []
    position, text = 0, text.strip()
    while position < len(text):
        match = TOKEN.match(text, position)
        if match is None:
            raise ValueError(f"{text!r} is not a formula")
        token = match.group(1)
        last = tokens[-1] if tokens else ""
        begins = token == "(" or token[0].isalnum()
        if (
            last
            and begins
            and (last == ")" or last[-1].isalnum())
            and not (token == "(" and last in FUNCTIONS)
        ):
            tokens.append("*")
        tokens.append("**" if token == "^" else token)
        position = match.end()
    return " ".join(tokens)


def _value(node: Any, values: Mapping[str, float]) -> float:
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return float(OPERATORS[type(node.op)](_value(node.left, values), _value(node.right, values)))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
        return float(FUNCTIONS[node.func.id](*(_value(argument, values) for argument in node.args)))
    if isinstance(node, ast.Name):
        return float(values.get(node.id, 1.0))
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    raise TypeError(type(node).__name__)
