"""The file and line of a plugin's definition, or of its error."""

import inspect
import linecache
import traceback
from pathlib import Path
from types import FrameType
from typing import Any


def package_of(cls: type) -> str:
    """The outermost package of the module that defines a class."""
    return cls.__module__.partition(".")[0]


def source_file(cls: type) -> str | None:
    """The file that defines a class, None when there is none."""
    if (described := getattr(cls, "_described", None)) is not None:  # a stand-in
        return str(described.file) if described.file else None
    try:
        return inspect.getsourcefile(cls)
    except (TypeError, OSError):
        return None


def place_of(definition: Any) -> str:
    """``file:line: text`` of the definition of a class or function; empty where there is no file."""
    try:
        file, (lines, number) = inspect.getsourcefile(definition), inspect.getsourcelines(definition)
    except (TypeError, OSError):
        return ""
    # Decorators come before the line that names it.
    before = next((k for k, line in enumerate(lines) if line.lstrip().startswith(("def ", "class "))), 0)
    return f"{file}:{number + before}: {lines[before].strip()}"


def place_in(error: BaseException, package: str) -> str:
    """``file:line: text`` of the innermost line of a package that an exception passed through, or empty."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}: {(error.text or '').strip()}"
    own = own_frames(error, package)
    if not own:
        return ""
    frame, number = own[-1]
    file = frame.f_code.co_filename
    return f"{file}:{number}: {linecache.getline(file, number).strip()}"


def line_of(cls: type, name: str) -> str:
    """`` (file, line 12, in name)``: where a class defines a function; empty where there is no file."""
    try:
        function = getattr(cls, name)
        file, number = inspect.getsourcefile(function), inspect.getsourcelines(function)[1]
    except (AttributeError, TypeError, OSError):
        return ""
    return f" ({Path(file or '').name}, line {number}, in {name})"


def line_in(error: BaseException, package: str) -> str:
    """`` (file, line 12, in step)``: the innermost line of a package that an exception passed through."""
    own = own_frames(error, package)
    if not own:
        return ""
    frame, number = own[-1]
    return f" ({Path(frame.f_code.co_filename).name}, line {number}, in {frame.f_code.co_name})"


def own_frames(error: BaseException, package: str) -> list[tuple[FrameType, int]]:
    """The frames, outermost first, and line numbers of a package that an exception passed through."""
    return [
        (frame, number)
        for frame, number in traceback.walk_tb(error.__traceback__)
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] == package
        and not frame.f_code.co_filename.startswith("<")  # what dataclass generates
    ]
