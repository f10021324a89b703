"""Formulas of a claimed cost per iteration, such as "nnz", "n d min(n, d)" or "nnz + n log n"."""

import math
import re
from collections.abc import Mapping
from typing import Any

LOGARITHM = re.compile(r"\blog\s+(\w+)")  # a logarithm without brackets
PRODUCT = re.compile(r"(?<=[\w)])\s+(?=[\w(])")  # a space between factors
FUNCTIONS: Mapping[str, Any] = {"min": min, "max": max, "log": math.log, "sqrt": math.sqrt}


class _Names(dict[str, Any]):
    def __missing__(self, name: str) -> float:
        return 1.0


def evaluate(text: str, values: Mapping[str, float]) -> float:
    """The value of a formula such as "n d min(n, d)"; a ValueError if the text is not a formula.

    A name without a value counts as 1; a space between factors multiplies.
    """
    python = PRODUCT.sub(" * ", LOGARITHM.sub(r"log(\1)", text.strip())).replace("^", "**")
    try:  # the text is a plugin's, whose code runs in this process
        return float(eval(python, {"__builtins__": {}}, _Names({**FUNCTIONS, **values})))
    except Exception as error:
        raise ValueError(f"{text!r} is not a formula") from error
