"""Docstrings and tables as Markdown."""

import inspect
import re
from collections.abc import Iterable, Mapping, Sequence

SPECIAL = re.compile(r"([\\*_<>\[\]$|~#])")
CODE = re.compile(r"(``[^`]+``|`[^`]+`)")
URL = re.compile(r"(https?://[^\s;,]+[^\s;,.])")


def escaped(text: str, links: Mapping[str, str] | None = None) -> str:
    """Plain text as Markdown: text between backticks stays code, and a linked name becomes a link."""
    pieces = []
    for part in CODE.split(text):
        if not CODE.fullmatch(part):
            texts = URL.split(part)
            pieces += [f"<{t}>" if URL.fullmatch(t) else SPECIAL.sub(r"\\\1", t) for t in texts]
            continue
        name = part.strip("`")
        target = (links or {}).get(name)
        pieces.append(f"[`{name}`]({target})" if target else f"`{name}`")
    return "".join(pieces)


def prose(docstring: str, links: Mapping[str, str] | None = None) -> str:
    """A docstring of paragraphs and indented formulas as Markdown."""
    blocks: list[tuple[bool, list[str]]] = []
    for line in inspect.cleandoc(docstring).splitlines():
        formula = line.startswith("    ") or (not line and bool(blocks) and blocks[-1][0])
        if not blocks or blocks[-1][0] != formula:
            blocks.append((formula, []))
        blocks[-1][1].append(line)
    texts = []
    for formula, lines in blocks:
        text = "\n".join(lines)
        if not formula:
            texts += [escaped(paragraph, links) for paragraph in text.split("\n\n")]
        elif text.strip():
            texts.append("```text\n" + inspect.cleandoc("\n" + text).rstrip() + "\n```")
    return "\n\n".join(text.strip("\n") for text in texts)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose cells are Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(" ".join(cell.split()) for cell in line) + " |" for line in lines)


def code(value: object) -> str:
    """A value as code; an empty text for None."""
    return "" if value is None else f"`{value}`"
