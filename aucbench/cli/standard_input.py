"""A file that comes by standard input: it is kept in the cache under its digest, and read from there."""

import hashlib
import os
import sys
import tempfile
from collections.abc import Sequence

from aucbench.data import cache_folder
from aucbench.data.files.cache import refuse_unwritable
from aucbench.errors import ParameterError

WORD = "dataset.path=-"
BLOCK = 1 << 20


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
    folder, digest = cache_folder() / "stdin", hashlib.sha256()
    with refuse_unwritable(f"The cache {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            while block := sys.stdin.buffer.read(BLOCK):
                digest.update(block)
                file.write(block)
        target = folder / f"stdin-{digest.hexdigest()[:16]}"
        if target.exists():  # its time of change is part of the key of the parsed rows
            os.unlink(file.name)
        else:
            os.replace(file.name, target)
    return str(target)
