"""Reading .npz archives of NumPy: an array X of rows, or the parts of a CSR matrix, and labels y."""

import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts import File
from aucbench.data.readers.blocks import DENSE_COLUMNS, Block, Coded
from aucbench.errors import DataError

MOST_VALUES = 1 << 21  # values of a block of dense rows, 16 MB
SPARSE_ROWS = 4096  # rows of a block
ROWS_NAMES = ("X", "x", "data", "features", "x_train", "X_train", "X_test")
LABEL_NAMES = ("y", "target", "labels", "label", "Y", "y_train", "y_test")
_CSR = {"data", "indices", "indptr", "shape"}


def find_medians(files: Sequence[tuple[File, Path]]) -> NDArray[np.float64]:
    """(d,) medians of the columns over the training files, 0 without values; zeros of CSR count."""
    X = sparse.vstack([sparse.csr_matrix(_read(*pair)[0], dtype=np.float64) for pair in files]).tocsc()
    columns = (X[:, index].toarray() for index in range(X.shape[1]))
    return np.array([0.0 if np.isnan(column).all() else np.nanmedian(column) for column in columns])


def read_npz(
    file: File, path: Path, width: int | None, medians: NDArray[np.float64] | None = None
) -> Iterator[Block]:
    """The rows of an archive, block by block; `width` is that of the training part, if known.

    If the table fills in missing values, `medians` (d,) replace them. The parts of a CSR matrix have the
    names of SciPy's `save_npz`, with an array of labels added. The target of the file's table may name the
    array of labels.
    """
    X, labels = _read(file, path)
    n, d = X.shape
    if width is not None and d != width:
        raise DataError(f"{path}: {d} columns, expected the {width} of the training part.")
    distinct, codes = np.unique(labels, return_inverse=True)
    convert: Any = sparse.csr_matrix if sparse.issparse(X) or d > DENSE_COLUMNS else np.array
    at_once = SPARSE_ROWS if sparse.issparse(X) else max(1, MOST_VALUES // d)
    for begin in range(0, n, at_once):
        part = convert(X[begin : begin + at_once], dtype=np.float64)
        values = part.data if sparse.issparse(part) else part
        if medians is not None and (gaps := np.isnan(values)).any():
            values[gaps] = medians[part.indices[gaps] if sparse.issparse(part) else np.nonzero(gaps)[1]]
        if sparse.issparse(part):
            part.eliminate_zeros()
        yield Block(Coded(distinct.tolist(), codes[begin : begin + at_once]), part)


def _read(file: File, path: Path) -> tuple[Any, NDArray[Any]]:
    """Rows X (n, d), an array of numbers or CSR, and labels (n,)."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            return _checked(path, file, archive)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise DataError(f"{path} is no .npz archive, or cut short ({error}).") from None
    except (ValueError, TypeError, AttributeError) as error:  # pickled objects, damaged headers, other files
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path} is no .npz archive of numbers ({error}).") from None


def _checked(path: Path, file: File, archive: Mapping[str, Any]) -> tuple[Any, NDArray[Any]]:
    names = list(archive)
    if file.part == "test" and {"X_test", "y_test"} <= set(names):
        names = ["X_test", "y_test"]
    target = _choose(path, names, LABEL_NAMES, file.table.target, "labels")
    arrays = [name for name in names if name != target]
    if set(names) >= _CSR:
        X = _sparse_rows(path, archive)
    else:
        X = archive[_choose(path, arrays, ROWS_NAMES, arrays[0] if len(arrays) == 1 else None, "rows")]
    values, labels = X.data if sparse.issparse(X) else X, archive[target]
    if X.ndim != 2 or 0 in X.shape or values.dtype.kind not in "fiub":
        raise DataError(f"{path}: X must be (n, d) numbers, got {X.shape} of type {values.dtype}.")
    if labels.shape != X.shape[:1] or labels.dtype.kind not in "fiubUS":
        raise DataError(
            f"{path}: labels must be ({X.shape[0]},) numbers or texts, got {labels.shape} of {labels.dtype}."
        )
    fills = file.table.missing == "median"
    if bad := np.count_nonzero(np.isinf(values) if fills else ~np.isfinite(values)):
        defect = "infinite" if fills else "missing or infinite (dataset.missing=median fills in missing ones)"
        raise DataError(f"{path}: {bad} values of the rows are {defect}.")
    labels = labels.astype(str if labels.dtype.kind in "US" else np.float64)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise DataError(f"{path}: {np.count_nonzero(~np.isfinite(labels))} labels are missing or infinite.")
    return X, labels


def _choose(path: Path, names: list[str], usual: tuple[str, ...], target: Any, role: str) -> str:
    usual = (target,) if isinstance(target, str) else usual
    choice = next((name for name in usual if name in names), None)
    if choice is None:
        raise DataError(
            f"{path} has no array of {role} ({' or '.join(usual)}), only {', '.join(names) or 'nothing'}."
        )
    return choice


def _sparse_rows(path: Path, archive: Mapping[str, Any]) -> Any:
    stated = str(np.asarray(archive["format"]).astype(str)) if "format" in archive else "csr"
    if stated != "csr":
        raise DataError(f"{path}: a sparse matrix of format {stated[:20]!r}, expected csr.")
    values, indices, indptr, shape = (archive[name] for name in ("data", "indices", "indptr", "shape"))
    try:
        if values.dtype.kind not in "fiub" or indices.dtype.kind not in "iu" or indptr.dtype.kind not in "iu":
            raise TypeError("data must be numbers, indices and indptr whole ones")
        X = sparse.csr_matrix((values.astype(np.float64), indices, indptr), shape.tolist())
        X.check_format()  # compiled code would follow wild indices out of the arrays
        if X.nnz != len(values) or max(X.shape) >= 2**31:
            raise ValueError(f"{X.shape} with {X.nnz} values, of which there are {len(values)}")
    except (ValueError, TypeError) as error:
        raise DataError(f"{path}: the parts of the sparse matrix do not fit together ({error}).") from None
    X.sum_duplicates()
    return X
