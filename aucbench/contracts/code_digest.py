"""Digests of source files that see the code and not the prose.

What is hashed is the syntax tree without docstrings, comments and positions, in a form of our own: `ast.dump`
promises no equal text on different versions of Python. An edited comment therefore makes no result stale,
and an edited statement, default or annotation does.

A tree takes milliseconds, so that digests are remembered in the cache folder by the hash of a file's bytes.
"""

import ast
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from aucbench.contracts.cache_folder import cache_folder
from aucbench.contracts.source_location import source_file

FORM = 1  # of the normal form and of what is remembered; a new number makes all digests anew
LEFT_OUT = {"ctx", "kind", "type_comment"}  # fields of a node that say nothing about what it does


class Import(NamedTuple):
    """An import statement: ``from ..module import names`` has level 2; ``import module`` has no names."""

    level: int
    module: str
    names: tuple[str, ...]


class Source(NamedTuple):
    """What a source file does, and what it imports."""

    digest: str
    imports: tuple[Import, ...]


@cache
def code_digest(cls: type) -> str:
    """Digest of the file that defines a class and of the files of its own package that it imports.

    A class typed in at a prompt, or in an archive, has no file; its qualified name stands for it.
    """
    if (described := getattr(cls, "_described", None)) is not None:  # a stand-in
        return str(described.code)
    file = source_file(cls)
    if file is None or not Path(file).is_file():
        return hashlib.sha256(cls.__qualname__.encode()).hexdigest()
    return module_digest(cls.__module__, Path(file))


def module_digest(module: str, file: Path) -> str:
    """Digest of a module's file and of those of its own package that it imports, directly or not."""
    sources = _with_imports(module, file)
    return _combined((name, source.digest) for name, source in sorted(sources.items()))


def folder_digest(folder: Path) -> str:
    """Digest of all modules in a folder."""
    return _combined((path.name, read_source(path).digest) for path in sorted(folder.glob("*.py")))


def read_source(path: Path) -> Source:
    """Digest and imports of a file, as it is now."""
    state = path.stat()
    return _read(path, state.st_mtime_ns, state.st_size)


def _combined(parts: Iterable[tuple[str, str]]) -> str:
    return hashlib.sha256(json.dumps(list(parts)).encode()).hexdigest()


@lru_cache(maxsize=1024)  # by the time of change, so that an edit within this process is seen
def _read(path: Path, changed: int, size: int) -> Source:
    content = path.read_bytes()
    name = hashlib.sha256(f"{FORM}:".encode() + content).hexdigest()
    remembered = cache_folder() / "code" / f"{name}.json"
    try:
        digest, imports = json.loads(remembered.read_bytes())
        return Source(digest, tuple(Import(level, module, tuple(names)) for level, module, names in imports))
    except (OSError, ValueError, TypeError):  # not there, or damaged
        pass
    try:
        tree = ast.parse(content)
        source = Source(hashlib.sha256(normal_form(tree).encode()).hexdigest(), tuple(_imports(tree)))
    except (SyntaxError, ValueError, RecursionError):  # for another version of Python, or deeply nested
        return Source(hashlib.sha256(content).hexdigest(), ())
    _remember(remembered, source)
    return source


def _remember(path: Path, source: Source) -> None:
    """Write it at once or not at all; a cache that cannot be written costs time and nothing else."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
            json.dump(source, file)
        os.replace(file.name, path)
    except OSError:
        pass


def normal_form(tree: ast.AST) -> str:
    """A text that is equal for trees of equal code, on Python 3.11 to 3.13.

    Texts that stand alone, such as docstrings, are left out, and so are empty fields and empty pieces of
    f-strings, because versions differ in which they have.
    """
    pieces: list[str] = []
    _append(tree, pieces.append)
    return "".join(pieces)


def _append(node: Any, write: Callable[[str], None]) -> None:
    if isinstance(node, ast.AST):
        write(f"({type(node).__name__}")
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, list):
                value = [each for each in value if not _says_nothing(node, each)]
            if value is None or value == [] or field in LEFT_OUT:
                continue
            write(f" {field}=")
            _append(value, write)
        write(")")
    elif isinstance(node, list):
        write("[")
        for each in node:
            _append(each, write)
            write(",")
        write("]")
    elif isinstance(node, int) and not isinstance(node, bool):
        write(hex(node))  # Python refuses to write very long numbers in decimals
    else:
        write(ascii(node))  # which characters `repr` shows depends on the version


def _says_nothing(parent: ast.AST, node: Any) -> bool:
    if isinstance(parent, ast.JoinedStr):
        return isinstance(node, ast.Constant) and node.value == ""
    constant = node.value if isinstance(node, ast.Expr) else None
    return isinstance(constant, ast.Constant) and isinstance(constant.value, str)


def _imports(tree: ast.AST) -> Iterator[Import]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (Import(0, alias.name, ()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield Import(node.level, node.module or "", tuple(alias.name for alias in node.names))


def _with_imports(module: str, file: Path) -> dict[str, Source]:
    """The sources of a module, and of the modules of its own package that it imports, directly or not."""
    package = module.partition(".")[0]
    found: dict[str, Source] = {}
    waiting = [(module, file)]
    while waiting:
        name, path = waiting.pop()
        if name in found:
            continue
        found[name] = source = read_source(path)
        parent = name if path.name == "__init__.py" else name.rpartition(".")[0]
        for each in source.imports:
            waiting += _own_modules(package, parent, each)
    return found


def _own_modules(package: str, parent: str, statement: Import) -> Iterator[tuple[str, Path]]:
    """The modules of a package that an import statement in one of its modules takes from."""
    base = statement.module
    if statement.level:
        above = parent.split(".")[: len(parent.split(".")) - statement.level + 1]
        base = ".".join([*above, base] if base else above)
    if base.partition(".")[0] != package:
        return
    taken_whole = not statement.names
    for name in statement.names:
        if (path := _file_of(f"{base}.{name}")) is not None:
            yield f"{base}.{name}", path
        else:
            taken_whole = True  # a name that the base itself defines
    # A package that only gathers its modules is left out: it would tie each plugin to all others.
    if taken_whole and (path := _file_of(base)) is not None:
        yield base, path


def _file_of(module: str) -> Path | None:
    """The file of a module whose package is imported; found without importing anything."""
    package, *names = module.split(".")
    for folder in getattr(sys.modules.get(package), "__path__", ()):
        path = os.path.join(folder, *names)  # pathlib is slow, and each import asks
        for file in (os.path.join(path, "__init__.py"), f"{path}.py"):
            if os.path.isfile(file):
                return Path(file)
    return None
