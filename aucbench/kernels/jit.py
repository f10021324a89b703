"""Compilation of kernels, and the cache of compiled code between processes."""

import hashlib
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, wraps
from pathlib import Path
from threading import RLock, get_ident
from typing import Any

import numba
from numba import types
from numba.core import caching, cgutils, event
from numba.extending import intrinsic, overload, register_jitable

from aucbench.contracts.cache_folder import cache_folder
from aucbench.contracts.code_digest import folder_digest, module_digest

# Never nnan or ninf: they compile NaN checks away.
FAST = {"reassoc", "contract", "arcp", "nsz"}

# A function that only compiled code calls needs no wrapper for the interpreter. The wrapper unpacks arrays
# and NamedTuples, and takes a sixth of the compile time. By default numba adds another wrapper for C.
NO_ENTRY: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
UNREADABLE = (pickle.UnpicklingError, EOFError, ImportError, AttributeError, IndexError, ValueError)
_CACHE_SET = RLock()  # numba has one cache setting for the whole process


@cache
def source_hash() -> str:
    """Hash of all code of `aucbench.kernels`, since a kernel may inline any of this code.

    Returns
    -------
    str
        16 hexadecimal digits.
    """
    return folder_digest(Path(__file__).parent)[:16]


def _kernel_folder(code: str = "") -> Path:
    """``<cache>/kernels/<hash of kernels, other code, numba and Python>``."""
    versions = f"{source_hash()} {code} {numba.__version__} {sys.version_info[:3]}"
    return cache_folder() / "kernels" / hashlib.sha256(versions.encode()).hexdigest()[:16]


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function over arrays and scalars, cached on disk, to run without the interpreter lock.

    Division by zero gives inf or NaN as in NumPy. Operations on dense rows use `FAST` arithmetic; everything
    else uses strict arithmetic.

    Parameters
    ----------
    function : callable
        A module-level function. Functions that it calls must be in its package or in `aucbench.kernels`;
        changes elsewhere would not invalidate the cache.

    Returns
    -------
    callable
        Compiled on first call, once for each combination of types.
    """
    return cached(numba.njit, function, nogil=True)


def fast_kernel(function: Callable[..., Any]) -> Any:
    """As `kernel`, but sums may be reordered; for loops over dense vectors."""
    return cached(numba.njit, function, nogil=True, fastmath=FAST)


def helper(function: Callable[..., Any]) -> Any:
    """Compile a function that only kernels call; called from Python it is interpreted.

    A helper is compiled with the arithmetic of `kernel`, in about 15 % less time, and cached on disk in the
    kernels that call it by name. A helper cannot be an argument of a kernel, be chosen by a condition between
    two functions, or call itself. A rule calls functions made by `scalar` instead.

    Parameters
    ----------
    function : callable
        As for `kernel`.

    Returns
    -------
    callable
        The function itself.
    """
    return register_jitable(error_model="numpy", **NO_ENTRY)(function)


def fast_helper(function: Callable[..., Any]) -> Any:
    """As `helper`, but sums may be reordered, as in a `fast_kernel`."""
    return register_jitable(error_model="numpy", fastmath=FAST, **NO_ENTRY)(function)


def scalar(function: Callable[..., Any]) -> Any:
    """Compile a function of scalars for use in rules; inlined, so no scalar passes through memory.

    No array references are counted, since this would cost as much as a short row; arrays cannot be made.

    Parameters
    ----------
    function : callable
        A module-level function; its arguments are numbers or NamedTuples of numbers.

    Returns
    -------
    callable
        Callable from rules and from other functions made by `kernels.scalar`.
    """
    return inlined(function, no_cfunc_wrapper=True)


def inlined(function: Callable[..., Any], **options: Any) -> Any:
    """Compile as `scalar`, with other options; with `NO_ENTRY`, a call from Python ends the program."""
    return numba.njit(forceinline=True, error_model="numpy", _nrt=False, **options)(function)


def only_compiled(function: Callable[..., Any]) -> Any:
    """A placeholder with the signature and docstring of a function, to be called in compiled code only."""

    @wraps(function)
    def refuse(*args: Any, **kwargs: Any) -> Any:
        name = f"{function.__module__}.{function.__name__}"
        raise NotImplementedError(f"{name} can only be called inside compiled code.")

    return refuse


def overloaded(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Make a function of compiled code, with a version for each combination of argument types.

    Parameters
    ----------
    **options : Any
        Numba's options for the compilation of the versions.

    Returns
    -------
    callable
        A decorator of a function that takes the numba types of the arguments. It returns the version for
        these types, a function with the same argument names, or None if there is no version.
    """

    def register(choose: Callable[..., Any]) -> Any:
        function = only_compiled(choose)
        overload(function, jit_options=NO_ENTRY | options, strict=False)(choose)  # versions lack annotations
        return function

    return register


@intrinsic
def rarely(typingctx, condition):
    """A condition that rarely holds, as a branch: the processor does not wait for the numbers it changes."""

    def generate(context, builder, signature, args):
        kind = args[0].type
        pair = cgutils.ir.FunctionType(kind, [kind, kind])
        function = builder.module.declare_intrinsic("llvm.expect", [kind], pair)
        return builder.call(function, [args[0], kind(0)])

    return types.boolean(types.boolean), generate


def cached(compiler: Callable[..., Any], function: Callable[..., Any], **options: Any) -> Any:
    """Apply a numba compiler and cache the result on disk, unless the function was typed at a prompt."""
    options |= {"error_model": "numpy", "no_cfunc_wrapper": True}
    try:
        with _cache_of(function):
            return compiler(cache=True, **options)(function)
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        return compiler(**options)(function)  # without a source file there is no cache


class _Index(caching.IndexDataCacheFile):  # type: ignore[misc]  # numba declares no types
    """Numba's index of the compiled versions of a kernel, with each key pickled separately.

    A key holds the argument types. The class of a NamedTuple may belong to a plugin that this process cannot
    import: such a key stays pickled, and other versions can still be loaded. A damaged file is a cache miss.
    """

    def _load_index(self) -> Any:
        try:
            overloads = super()._load_index()
        except UNREADABLE:
            return {}
        return {_unpickled(key): name for key, name in overloads.items()}

    def _save_index(self, overloads: Any) -> None:
        keys = (key if isinstance(key, bytes) else self._dump(key) for key in overloads)
        super()._save_index(dict(zip(keys, overloads.values(), strict=True)))

    def load(self, key: Any) -> Any:
        try:
            return super().load(key)
        except UNREADABLE:
            return None

    def save(self, key: Any, data: Any) -> None:
        with suppress(OSError):  # on a full disk the next process compiles again
            super().save(key, data)


def _unpickled(key: bytes) -> Any:
    try:
        return pickle.loads(key)
    except Exception:  # importing a plugin may raise anything
        return key


@contextmanager
def _cache_of(function: Callable[..., Any]) -> Iterator[None]:
    """Numba's cache in a folder named by the code of the function's module and of its imports.

    Numba itself checks the function's file only, and would load a kernel with an outdated helper.
    """
    file = Path(function.__code__.co_filename)
    is_ours = file.parent == Path(__file__).parent
    with _CACHE_SET:
        before = numba.config.CACHE_DIR, caching.IndexDataCacheFile
        caching.IndexDataCacheFile = _Index
        if file.is_file() and not is_ours:
            numba.config.CACHE_DIR = str(_kernel_folder(module_digest(function.__module__, file)))
        try:
            yield
        finally:
            numba.config.CACHE_DIR, caching.IndexDataCacheFile = before


class NotCompiledError(Exception):
    """A kernel is neither compiled nor on disk."""


class _Refusal(event.Listener):  # type: ignore[misc]  # numba declares no types
    def __init__(self) -> None:
        self._thread = get_ident()

    def on_start(self, event: Any) -> None:
        if get_ident() == self._thread:
            raise NotCompiledError

    def on_end(self, event: Any) -> None:
        pass


@contextmanager
def no_compilation() -> Iterator[None]:
    """Raise `NotCompiledError` if this thread calls a kernel that is neither compiled nor on disk."""
    with event.install_listener("numba:compile", _Refusal()):
        yield


# Third-party numba code may inline these kernels, so its cache also depends on their hash.
numba.config.CACHE_DIR = str(_kernel_folder())
