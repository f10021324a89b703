"""Docstrings hold plain mathematics, of which reStructuredText would make substitutions and links."""

import inspect
import re
from typing import Any

from numpydoc.docscrape import NumpyDocString

CODE = re.compile(r"(``[^`]+``|:\w+:`[^`]+`|`[^`]+`_?)")
MARK = re.compile(r"\||(?<=\w)_(?=\W|$)")


def escape(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Escape the lines of a docstring, but for code and directives."""
    literal: int | None = None  # indentation of the line that began a literal block
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if literal is not None and (not line.strip() or indent > literal):
            continue
        literal = indent if line.rstrip().endswith("::") else None
        if line.lstrip().startswith((".. ", ">>>", "...")):
            continue
        lines[number] = "".join(
            part if CODE.fullmatch(part) else MARK.sub(lambda found: "\\" + found[0], part)
            for part in CODE.split(line)
        )


def parameters(cls: type) -> dict[str, tuple[str, str]]:
    """Type and description of each parameter of a class; what a class leaves out, its base describes."""
    found: dict[str, tuple[str, str]] = {}
    for base in reversed(cls.__mro__):
        for each in NumpyDocString(inspect.cleandoc(base.__doc__ or ""))["Parameters"]:
            text = " ".join(each.desc)
            if not text.startswith("As for"):  # its base says it
                found |= dict.fromkeys(each.name.split(", "), (each.type, text))
    return found
