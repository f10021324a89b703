"""Output of the code on pages, which is run when the site is built.

A fenced block ``{printed}`` is replaced by the output since the previous such block. All Python blocks of a
page with ``{printed}`` are run in order as one module. Commands are run only right above a ``{printed}``.
A block without output stops the build.
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
    """Run the pages with ``{printed}`` blocks, each in a folder that keeps the files of the page."""
    for page in sorted(docs.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        name = page.relative_to(docs).with_suffix("").as_posix()
        if HERE in text and not name.startswith(("_", "generated", "auto_examples")):
            _texts[name] = texts(text, page, folder / page.stem)


def texts(text: str, page: Path, folder: Path) -> list[str]:
    """Output of the parts of a page, one text for each block ``{printed}``."""
    module = ModuleType(f"page_{page.stem}")
    sys.modules[module.__name__] = module  # looked up by dataclasses and pickle
    outputs, line, previous = [], 1, Path.cwd()
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    try:
        for part in text.split(HERE)[:-1]:
            stdout = io.StringIO()
            with contextlib.redirect_stdout(stdout), threadpool_limits(1):
                for block in PYTHON.finditer(part):
                    offset = line + part[: block.start(1)].count("\n") - 1
                    exec(compile("\n" * offset + block[1], str(page), "exec"), module.__dict__)
                if commands := COMMANDS.search(part):
                    _type(commands[1], page)
            outputs.append("\n".join(row.rstrip() for row in stdout.getvalue().splitlines()))
            if not outputs[-1].strip():
                location = f"{page}, line {line + part.count(chr(10))}"
                raise RuntimeError(f"{location}: nothing is printed; put a command right above the block.")
            line += (part + HERE).count("\n")
    finally:
        os.chdir(previous)
        pyplot.close("all")  # the gallery would show open figures as those of an example
        del sys.modules[module.__name__]
    return outputs


def _type(commands: str, page: Path) -> None:
    for line in commands.splitlines():
        command, stderr = line.strip(), io.StringIO()
        if not PROGRAM.match(command):
            raise RuntimeError(f"{page}: `{command}` is no command of aucbench, and is not run.")
        with contextlib.redirect_stderr(stderr):  # progress, or the reason of a failure
            status = main(PROGRAM.sub("", command, count=1).split())
        if status:
            raise RuntimeError(f"{page}: `{command}` ended with {status}:\n{stderr.getvalue()}")


def insert(app: Any, name: str, source: list[str]) -> None:
    """Replace the blocks of a page by their output; called by Sphinx with the source of every page."""
    for text in _texts.get(name, []):
        source[0] = source[0].replace(HERE, f"```text\n{text.rstrip()}\n```\n", 1)
    if app and not app.config.aucbench_runs:
        source[0] = source[0].replace(HERE, "")


def outdated(app: Any, env: Any, added: Any, changed: Any, removed: Any) -> list[str]:
    """Names of the pages to read again in every build."""
    return list(_texts)
