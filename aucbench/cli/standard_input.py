"""A file that comes by standard input: it is kept in the cache under its digest, and read from there."""

import shutil
import sys
from collections.abc import Sequence
from functools import partial

from aucbench.data.files.kept_files import STDIN, keep
from aucbench.errors import ParameterError

WORD = "dataset.path=-"


def with_standard_input(words: Sequence[str]) -> list[str]:
    """The words of a command with the path of the kept file in the place of ``-``; refused in a sweep."""
    if not any(word in (WORD, f"+{WORD}") for word in words):
        return list(words)
    if {"-m", "--multirun"} & set(words):
        raise ParameterError(
            f"{WORD} gives the rows once, and a sweep needs them again: write them to a file."
        )
    path = keep_standard_input()
    return [word.replace(WORD, f"dataset.path={path}") for word in words]


def keep_standard_input() -> str:
    """Keep the bytes of standard input in the cache; the path of the file."""
    return keep(STDIN, partial(shutil.copyfileobj, sys.stdin.buffer))
