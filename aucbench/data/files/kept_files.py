"""Rows from standard input or from arrays, stored in files of the cache that are named by their digest."""

import hashlib
import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy import sparse

from aucbench.contracts.cache_folder import cache_folder
from aucbench.data.files.cache import refuse_unwritable
from aucbench.errors import DataError

STDIN, ARRAYS = "stdin", "arrays"
LABELS = "y"  # column of labels added to a data frame


def kept_files() -> list[Path]:
    """All kept files."""
    return [path for kind in (STDIN, ARRAYS) for path in sorted((cache_folder() / kind).glob(f"{kind}-*"))]


def keep(kind: str, write: Callable[[IO[bytes]], Any], ending: str = "") -> str:
    """Keep a file with the content that `write` writes, and return its path."""
    folder = cache_folder() / kind
    with refuse_unwritable(f"The cache {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as aside, open(Path(aside) / kind, "wb+") as file:
            write(file)
            file.seek(0)
            target = folder / f"{kind}-{hashlib.file_digest(file, 'sha256').hexdigest()[:16]}{ending}"
            if not target.exists():  # the key of the parsed rows includes the time of the last change
                os.replace(file.name, target)
    return str(target)


def array_words(X: Any, y: Any) -> list[str]:
    """Keep rows and labels, and return the overrides that read them.

    Raises DataError if X is not an (n, d) array, matrix or data frame, or y does not have n labels.
    """
    try:
        is_table = hasattr(X, "to_parquet")
        rows: Any = X if is_table else sparse.csr_matrix(X) if sparse.issparse(X) else np.asarray(X)
        if isinstance(rows, np.ndarray):
            rows = np.ascontiguousarray(rows, None if rows.dtype.kind in "fiub" else np.float64)
        labels = np.asarray(y)
        labels = labels if labels.dtype.kind in "fiubUS" else labels.astype(str)
        if rows.ndim != 2 or labels.shape != rows.shape[:1]:
            raise DataError(f"X must be (n, d) and y (n,), got {rows.shape} and {labels.shape}.")
        if is_table:
            table = rows.set_axis(rows.columns.map(str), axis=1).reset_index(drop=True)
            name = LABELS
            while name in table:
                name += "_"
            write = partial(table.assign(**{name: labels}).to_parquet, index=False)
            path = keep(ARRAYS, write, ".parquet")
            return ["dataset=parquet", f"dataset.path={path}", f"dataset.target={name}"]
        arrays: dict[str, Any] = {"X": rows}
        if sparse.issparse(rows):
            arrays = {name: getattr(rows, name) for name in ("data", "indices", "indptr", "shape")}
        path = keep(ARRAYS, partial(np.savez, y=labels, **arrays), ".npz")
        return ["dataset=npz", f"dataset.path={path}"]
    except (TypeError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"X must be (n, d) numbers or a data frame ({error}).") from None
