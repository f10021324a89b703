"""Docstrings for Sphinx: plain mathematics must not be read as substitutions and links."""

import inspect
import re
from typing import Any

from numpydoc.docscrape import NumpyDocString

CODE = re.compile(r"(``[^`]+``|:\w+:`[^`]+`|`[^`]+`_?)")
MARK = re.compile(r"\||(?<=\w)_(?=\W|$)")


def escape(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Escape the lines of a docstring, except code and directives."""
    literal: int | None = None  # indentation of the line before a literal block
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if literal is not None and (not line.strip() or indent > literal):
            continue
        literal = indent if line.rstrip().endswith("::") else None
        if line.lstrip().startswith((".. ", ">>>", "...")):
            continue
        lines[number] = "".join(
            part if CODE.fullmatch(part) else MARK.sub(lambda match: "\\" + match[0], part)
            for part in CODE.split(line)
        )


def parameters(cls: type) -> dict[str, tuple[str, str]]:
    """Type and description of each parameter of a class, by default those of its base class."""
    descriptions: dict[str, tuple[str, str]] = {}
    for base in reversed(cls.__mro__):
        for parameter in NumpyDocString(inspect.cleandoc(base.__doc__ or ""))["Parameters"]:
            text = " ".join(parameter.desc)
            if not text.startswith("As for"):  # described by the base class
                descriptions |= dict.fromkeys(parameter.name.split(", "), (parameter.type, text))
    return descriptions
