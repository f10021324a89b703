"""Which source files decide what a plugin computes."""

import ast
import hashlib
import importlib.util
import inspect
from functools import cache
from pathlib import Path


@cache
def source_digest(cls: type) -> str:
    """Digest of the file that defines a plugin class and of the files of its own package that it imports.

    A class typed in at a prompt has no file; its qualified name stands for it.
    """
    file = source_file(cls)
    if file is None:
        return hashlib.sha256(cls.__qualname__.encode()).hexdigest()
    digest = hashlib.sha256()
    for path in sorted(_with_imports(cls.__module__, Path(file))):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def source_file(cls: type) -> str | None:
    """The file that defines a class, None when there is none."""
    try:
        return inspect.getsourcefile(cls)
    except (TypeError, OSError):
        return None


def _with_imports(module: str, file: Path) -> set[Path]:
    """The file, and what it imports from the modules of its own package, directly or not."""
    found: set[Path] = set()
    waiting = [(module, file)]
    while waiting:
        name, path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        waiting.extend(_own_imports(name, path))
    return found


def _own_imports(module: str, file: Path) -> list[tuple[str, Path]]:
    package = module.partition(".")[0]
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(module, node)
            names.add(base)
            names.update(f"{base}.{alias.name}" for alias in node.names)
    # The package itself gathers all its plugins: counting it would tie every plugin to every other.
    inside = [name for name in names if name.startswith(f"{package}.")]
    return [(name, path) for name in inside if (path := _file_of(name)) is not None]


def _absolute(module: str, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parents = module.split(".")[: -node.level]
    return ".".join([*parents, node.module] if node.module else parents)


def _file_of(name: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):  # a name imported from a module is no module
        return None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    return Path(spec.origin)
