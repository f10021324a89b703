"""The code blocks of a Markdown page: Python, commands, and the marks about running them."""

import re
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

MARK = re.compile(r"^\s*<!--\s*(dry-run|not run:.*?)\s*-->\s*$")
COMMENT = re.compile(r"\s+#.*$|^#.*$")
SHELL = {"bash", "sh", "console", "shell", "indented"}


class Block(NamedTuple):
    line: int  # of its beginning, from 1
    language: str  # of its fence; `indented` for a block without one
    text: str  # its lines, without indentation
    mark: str  # of the comment above: `dry-run`, `not run: ...` or nothing

    @property
    def is_python(self):
        return self.language == "python"

    @property
    def is_commands(self):
        return self.language in SHELL

    def commands(self):
        """Its lines, continued ones joined and comments cut."""
        lines = (COMMENT.sub("", line) for line in self.text.replace("\\\n", " ").splitlines())
        return [line.strip() for line in lines if line.strip()]


def blocks(page: Path) -> list[Block]:
    """All blocks of a page, in order."""
    result, mark = [], ""
    for token in MarkdownIt().parse(page.read_text(encoding="utf-8")):
        if token.type == "html_block":
            match = MARK.match(token.content.strip().splitlines()[-1])
            mark = match[1] if match else ""
        elif token.type in ("fence", "code_block"):
            language = "indented" if token.type == "code_block" else token.info.partition(" ")[0]
            result.append(Block(token.map[0] + 1, language, token.content.strip("\n"), mark))
            mark = ""
        elif token.type.endswith("_open"):
            mark = ""
    return result
