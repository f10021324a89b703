"""The code blocks of a Markdown page: Python, commands, and what is said about running them."""

import re
from dataclasses import dataclass
from pathlib import Path

MARK = re.compile(r"^\s*<!--\s*(dry-run|not run:.*?)\s*-->\s*$")
FENCE = re.compile(r"^(\s*)```\s*(\S*).*$")
COMMENT = re.compile(r"\s+#.*$|^#.*$")
SHELL = {"bash", "sh", "console", "shell"}


@dataclass(frozen=True)
class Block:
    """A block of a page.

    Parameters
    ----------
    line : int
        Where it begins, from 1.
    language : str
        Of its fence; `indented` for a block without one.
    text : str
        Its lines, without indentation.
    mark : str
        What the comment above says: `dry-run`, `not run: ...` or nothing.
    """

    line: int
    language: str
    text: str
    mark: str = ""

    @property
    def is_python(self):
        return self.language == "python"

    @property
    def is_commands(self):
        return self.language in SHELL | {"indented"}

    @property
    def reason(self):
        """Why it is not run; empty for a block that is."""
        return self.mark.partition(":")[2].strip()

    def commands(self):
        """Its lines, continued ones joined and comments cut."""
        lines = (COMMENT.sub("", line) for line in self.text.replace("\\\n", " ").splitlines())
        return [line.strip() for line in lines if line.strip()]


def blocks(page: Path) -> list[Block]:
    """All blocks of a page, in order."""
    found: list[Block] = []
    lines = page.read_text(encoding="utf-8").splitlines()
    mark, number, in_list = "", 0, False
    while number < len(lines):
        line = lines[number]
        if match := MARK.match(line):
            mark = match[1]
        elif match := FENCE.match(line):
            end = next(i for i in range(number + 1, len(lines)) if lines[i].strip() == "```")
            found.append(Block(number + 1, match[2], _cut(lines[number + 1 : end]), mark))
            mark, number = "", end
        elif (
            line.strip()
            and len(line) - len(line.lstrip()) >= (7 if in_list else 4)
            and _after_blank(lines, number)
        ):
            end = number
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            found.append(Block(number + 1, "indented", _cut(lines[number:end]), mark))
            mark, number = "", end - 1
        elif line.strip():
            if not line.startswith(" "):
                in_list = bool(re.match(r"\d+\. |- ", line))
            mark = ""
        number += 1
    return found


def _after_blank(lines: list[str], number: int) -> bool:
    return number == 0 or not lines[number - 1].strip() or bool(MARK.match(lines[number - 1]))


def _cut(lines: list[str]) -> str:
    depth = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[depth:].rstrip() for line in lines).strip("\n")
