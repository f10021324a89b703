"""Output of the code of a page, which is run when the site is built.

A fenced block ``{printed}`` is replaced by what was printed since the one before it. All Python blocks of
such a page are run, in order and as one module; of the commands those that stand right above a ``{printed}``.
A block that would stay empty ends the build.
"""

import contextlib
import io
import os
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from matplotlib import pyplot
from threadpoolctl import threadpool_limits

from aucbench.cli.main import main

HERE = "```{printed}\n```\n"
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = re.compile(r"((?:^    .+\n)+)\s*\Z", re.MULTILINE)
PROGRAM = re.compile(r"(?:python -m )?aucbench(?: |$)")
_texts: dict[str, list[str]] = {}


def run(docs: Path, folder: Path) -> None:
    """Run the pages that show what they print, each in a folder of its own, which keeps what it writes."""
    for page in sorted(docs.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        name = page.relative_to(docs).with_suffix("").as_posix()
        if HERE in text and not name.startswith(("_", "generated", "auto_examples")):
            _texts[name] = texts(text, page, folder / page.stem)


def texts(text: str, page: Path, folder: Path) -> list[str]:
    """What the parts of a page print, one text for each block ``{printed}``."""
    module = ModuleType(f"page_{page.stem}")
    sys.modules[module.__name__] = module  # dataclasses and pickle look there
    found, line, before = [], 1, Path.cwd()
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    try:
        for part in text.split(HERE)[:-1]:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed), threadpool_limits(1):
                for block in PYTHON.finditer(part):
                    above = line + part[: block.start(1)].count("\n") - 1
                    exec(compile("\n" * above + block[1], str(page), "exec"), module.__dict__)
                if commands := COMMANDS.search(part):
                    _type(commands[1], page)
            found.append("\n".join(shown.rstrip() for shown in printed.getvalue().splitlines()))
            if not found[-1].strip():
                where = f"{page}, line {line + part.count(chr(10))}"
                raise RuntimeError(f"{where}: nothing is printed; put a command right above the block.")
            line += (part + HERE).count("\n")
    finally:
        os.chdir(before)
        pyplot.close("all")  # else the gallery shows them as those of an example
        del sys.modules[module.__name__]
    return found


def _type(commands: str, page: Path) -> None:
    for command in commands.splitlines():
        words, complaint = command.strip(), io.StringIO()
        if not PROGRAM.match(words):
            raise RuntimeError(f"{page}: `{words}` is no command of aucbench, and is not run.")
        with contextlib.redirect_stderr(complaint):  # progress, or why it failed
            status = main(PROGRAM.sub("", words, count=1).split())
        if status:
            raise RuntimeError(f"{page}: `{words}` ended with {status}:\n{complaint.getvalue()}")


def insert(app: Any, name: str, source: list[str]) -> None:
    """Put the texts where the page has its blocks; called by Sphinx with the source of every page."""
    for text in _texts.get(name, []):
        source[0] = source[0].replace(HERE, f"```text\n{text.rstrip()}\n```\n", 1)
    if app and not app.config.aucbench_runs:
        source[0] = source[0].replace(HERE, "")


def outdated(app: Any, env: Any, added: Any, changed: Any, removed: Any) -> list[str]:
    """These pages are read anew in every build."""
    return list(_texts)
