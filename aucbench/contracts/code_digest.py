"""Digests of source files that depend on the code, not on comments and docstrings.

The digest hashes the syntax tree without docstrings, comments and positions. An edited comment therefore
makes no result stale; an edited statement, default or annotation does. The tree is written by `normal_form`,
because the output of `ast.dump` differs between versions of Python.

Parsing takes milliseconds, so digests are cached on disk by the hash of the file's bytes.
"""

import ast
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from aucbench.contracts.cache_folder import cache_folder, remember
from aucbench.contracts.source_location import source_file

FORM = 1  # version of the normal form and of the cached digests; a new number recomputes all
LEFT_OUT = {"ctx", "kind", "type_comment"}  # fields of a node without effect on its behaviour


class Source(NamedTuple):
    """The digest of a source file, and its imports.

    ``from ..module import names`` is ``[2, "module", names]``, ``import module`` is ``[0, "module", []]``.
    """

    digest: str
    imports: list[Any]


@cache
def code_digest(cls: type) -> str:
    """Digest of the file that defines a class and of the files that it imports from its package.

    A class without a file, such as one typed at a prompt, is hashed by its qualified name.
    """
    if (described := getattr(cls, "_described", None)) is not None:  # stand-in for a class
        return str(described.code)
    file = source_file(cls)
    if file is None or not Path(file).is_file():
        return hashlib.sha256(cls.__qualname__.encode()).hexdigest()
    return module_digest(cls.__module__, Path(file))


def module_digest(module: str, file: Path) -> str:
    """Digest of a module and of the modules of its package that it imports, directly or indirectly."""
    sources: dict[str, Source] = {}
    stack = [(module, file)]
    while stack:
        name, path = stack.pop()
        if name not in sources:
            sources[name] = read_source(path)
            parent = name if path.name == "__init__.py" else name.rpartition(".")[0]
            for statement in sources[name].imports:
                stack += _own_modules(module.partition(".")[0], parent, *statement)
    return _combined((name, source.digest) for name, source in sorted(sources.items()))


def folder_digest(folder: Path) -> str:
    """Digest of all modules in a folder."""
    return _combined((path.name, read_source(path).digest) for path in sorted(folder.glob("*.py")))


def _combined(parts: Iterable[tuple[str, str]]) -> str:
    return hashlib.sha256(json.dumps(list(parts)).encode()).hexdigest()


def read_source(path: Path) -> Source:
    """Digest and imports of the current content of a file."""
    state = path.stat()
    return _read(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=1024)  # keyed by modification time: an edit within this process counts
def _read(path: Path, changed: int, size: int) -> Source:
    content = path.read_bytes()
    name = hashlib.sha256(f"{FORM}:".encode() + content).hexdigest()
    remembered = cache_folder() / "code" / f"{name}.json"
    try:
        return Source(*json.loads(remembered.read_bytes()))
    except (OSError, ValueError, TypeError):  # missing or damaged
        pass
    try:
        tree = ast.parse(content)
        source = Source(hashlib.sha256(normal_form(tree).encode()).hexdigest(), list(_imports(tree)))
    except (SyntaxError, ValueError, RecursionError):  # of another version of Python, or nested deeply
        return Source(hashlib.sha256(content).hexdigest(), [])
    remember(remembered, json.dumps(source).encode())
    return source


def normal_form(tree: ast.AST) -> str:
    """A text that is equal for trees of equal code, on Python 3.11 to 3.13.

    Docstrings and other strings without effect are left out. Empty fields and empty parts of f-strings are
    left out because they differ between versions.
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
                value = [item for item in value if not _has_no_effect(node, item)]
            if value is None or value == [] or field in LEFT_OUT:
                continue
            write(f" {field}=")
            _append(value, write)
        write(")")
    elif isinstance(node, list):
        write("[")
        for item in node:
            _append(item, write)
            write(",")
        write("]")
    elif isinstance(node, int) and not isinstance(node, bool):
        write(hex(node))  # Python refuses to print very long integers in decimal
    else:
        write(ascii(node))  # `repr` escapes other characters in other versions


def _has_no_effect(parent: ast.AST, node: Any) -> bool:
    if isinstance(parent, ast.JoinedStr):
        return isinstance(node, ast.Constant) and node.value == ""
    constant = node.value if isinstance(node, ast.Expr) else None
    return isinstance(constant, ast.Constant) and isinstance(constant.value, str)


def _imports(tree: ast.AST) -> Iterator[list[Any]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ([0, alias.name, []] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield [node.level, node.module or "", [alias.name for alias in node.names]]


def _own_modules(
    package: str, parent: str, level: int, base: str, names: Sequence[str]
) -> Iterator[tuple[str, Path]]:
    """The modules of a package that an import statement inside the package imports from."""
    if level:
        above = parent.split(".")[: len(parent.split(".")) - level + 1]
        base = ".".join([*above, base] if base else above)
    if base.partition(".")[0] != package:
        return
    taken_whole = not names
    for name in names:
        if (path := _file_of(f"{base}.{name}")) is not None:
            yield f"{base}.{name}", path
        else:
            taken_whole = True  # the base module defines this name
    # A package imported only for its modules is left out: it would tie each plugin to all others.
    if taken_whole and (path := _file_of(base)) is not None:
        yield base, path


def _file_of(module: str) -> Path | None:
    """The file of a module whose package is imported already; nothing is imported."""
    package, *names = module.split(".")
    for folder in getattr(sys.modules.get(package), "__path__", ()):
        path = os.path.join(folder, *names)  # pathlib is slow, and this runs for each import
        for file in (os.path.join(path, "__init__.py"), f"{path}.py"):
            if os.path.isfile(file):
                return Path(file)
    return None
