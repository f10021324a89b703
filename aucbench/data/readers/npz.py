"""Reading .npz archives of NumPy: an array X of rows, or the parts of a CSR or CSC matrix, and labels y."""

import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts import File
from aucbench.data.readers.blocks import DENSE_COLUMNS, Block, Coded
from aucbench.errors import DataError

MOST_VALUES = 1 << 21  # values of a block of dense rows, 16 MB
ROWS_NAMES = ("X", "x", "data", "features", "x_train", "X_train", "X_test")
LABEL_NAMES = ("y", "target", "labels", "label", "Y", "y_train", "y_test")
_CSR = {"data", "indices", "indptr", "shape"}


def find_medians(files: Sequence[tuple[File, Path]]) -> NDArray[np.float64]:
    """(d,) medians of the columns over the training files, 0 where there is no value; zeros of CSR count."""
    blocks = [block for file, path in files for block in read_npz(file, path, None)]
    X = sparse.vstack([block.matrix for block in blocks]).tocsc()
    columns = (X[:, place].toarray() for place in range(X.shape[1]))
    return np.array([0.0 if np.isnan(column).all() else np.nanmedian(column) for column in columns])


def read_npz(
    file: File, path: Path, width: int | None, medians: NDArray[np.float64] | None = None
) -> Iterator[Block]:
    """The rows of an archive, block by block; `width` is that of the training part, if known.

    Where the table fills in missing values, `medians` (d,) take their place; without these, NaN stays.

    A dense X is read as it comes out of the archive, in constant memory; the parts of a CSR or CSC matrix, as
    SciPy's `save_npz` names them, with an array of labels added, are read as a whole. The target of the
    file's table may name the array of labels.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist()]
            if file.part == "test" and {"X_test", "y_test"} <= set(names):
                names = ["X_test", "y_test"]
            target = _choose(path, names, LABEL_NAMES, file.table.target, "labels")
            labels = _whole(archive, target)
            if set(names) >= _CSR:
                rows = _sparse_rows(path, archive, names)
            else:
                rows = _dense_rows(path, archive, names, target)
            fills = file.table.missing == "median"
            yield from _blocks(path, rows, np.asarray(labels), width, fills, medians)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise DataError(f"{path} is no .npz archive, or cut short ({error}).") from None
    except ValueError as error:  # NumPy's, about pickled objects and damaged headers
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path} cannot be read: {error}.") from None


def _choose(path: Path, names: list[str], usual: tuple[str, ...], target: Any, what: str) -> str:
    if isinstance(target, str):
        usual = (target,)
    found = next((name for name in usual if name in names), None)
    if found is None:
        raise DataError(
            f"{path} has no array of {what} ({' or '.join(usual)}), only {', '.join(names) or 'nothing'}."
        )
    return found


def _whole(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with archive.open(f"{name}.npy") as member:
        return npy.read_array(member, allow_pickle=False)


def _dense_rows(
    path: Path, archive: zipfile.ZipFile, names: list[str], target: str
) -> Iterator[NDArray[np.float64]]:
    others = [name for name in names if name != target]
    name = _choose(path, others, ROWS_NAMES, others[0] if len(others) == 1 else None, "rows")
    with archive.open(f"{name}.npy") as member:
        version = npy.read_magic(member)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran, dtype = read(member)
        if len(shape) != 2 or 0 in shape or dtype.kind not in "fiub":
            raise DataError(f"{path}: {name} must be (n, d) numbers, got {shape} of type {dtype}.")
        whole = _whole(archive, name) if fortran else None
        at_once = max(1, MOST_VALUES // shape[1])
        for start in range(0, shape[0], at_once):
            count = min(at_once, shape[0] - start)
            if whole is None:
                block = np.frombuffer(member.read(count * shape[1] * dtype.itemsize), dtype)
                yield block.reshape(count, shape[1]).astype(np.float64)
            else:
                yield np.array(whole[start : start + count], np.float64, order="C")


def _sparse_rows(path: Path, archive: zipfile.ZipFile, names: list[str]) -> Iterator[Any]:
    stated = str(np.asarray(_whole(archive, "format")).astype(str)) if "format" in names else "csr"
    if stated not in ("csr", "csc"):
        raise DataError(f"{path}: a sparse matrix of format {stated[:20]!r}, expected csr or csc.")
    parts = {name: _whole(archive, name) for name in _CSR}
    for name, array in parts.items():
        if array.ndim != 1 or array.dtype.kind not in ("fiub" if name == "data" else "iu"):
            found = f"{array.shape} of type {array.dtype}"
            raise DataError(f"{path}: {name} of a sparse matrix must be a row of numbers, got {found}.")
    shape = tuple(parts["shape"].tolist())
    if len(shape) != 2 or not all(1 <= size < 2**31 for size in shape):
        raise DataError(f"{path}: shape must be two numbers from 1 to {2**31 - 1}, got {shape}.")
    kind: Any = sparse.csr_matrix if stated == "csr" else sparse.csc_matrix
    try:
        X = kind((parts["data"].astype(np.float64), parts["indices"], parts["indptr"]), shape)
        X.check_format()  # compiled code would follow wild indices out of the arrays
        if X.nnz != len(parts["data"]):
            raise ValueError(f"indptr ends at {X.nnz} of {len(parts['data'])} values")
    except ValueError as error:
        raise DataError(f"{path}: the parts of the sparse matrix do not fit together ({error}).") from None
    X = X.tocsr()
    X.sum_duplicates()
    for start in range(0, X.shape[0], 4096):
        yield X[start : start + 4096]


def _blocks(
    path: Path,
    rows: Iterator[Any],
    labels: NDArray[Any],
    width: int | None,
    fills: bool,
    medians: NDArray[np.float64] | None,
) -> Iterator[Block]:
    if labels.ndim != 1 or labels.dtype.kind not in "fiubUS":
        raise DataError(
            f"{path}: labels must be (n,) numbers or texts, got {labels.shape} of {labels.dtype}."
        )
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise DataError(f"{path}: {np.count_nonzero(~np.isfinite(labels))} labels are missing or infinite.")
    labels = labels.astype(str) if labels.dtype.kind in "US" else labels
    distinct, codes = np.unique(labels, return_inverse=True)
    named: list[Any] = distinct.tolist() if distinct.dtype.kind == "U" else distinct.astype(float).tolist()
    begin = 0
    for X in rows:
        if width is not None and X.shape[1] != width:
            raise DataError(f"{path}: {X.shape[1]} columns, expected the {width} of the training part.")
        values = X.data if sparse.issparse(X) else X
        bad = np.isinf(values) if fills else ~np.isfinite(values)
        if bad.any():
            advice = " (dataset.missing=median fills in missing ones)"
            what = "infinite" if fills else f"missing or infinite{advice}"
            raise DataError(f"{path}: {np.count_nonzero(bad)} values of rows {begin + 1} and on are {what}.")
        if medians is not None and (gaps := np.isnan(values)).any():
            values[gaps] = medians[X.indices[gaps] if sparse.issparse(X) else np.nonzero(gaps)[1]]
        end = begin + X.shape[0]
        coded = Coded(named, codes[begin:end].astype(np.int64))
        if sparse.issparse(X) or X.shape[1] > DENSE_COLUMNS:
            X = sparse.csr_matrix(X)
            X.eliminate_zeros()
            indices = X.indices.astype(np.int32)
            yield Block(coded, np.diff(X.indptr).astype(np.int64), indices, X.data, X.shape[1])
        else:
            yield Block.of_dense(coded, X)
        begin = end
    if begin != len(labels):
        raise DataError(f"{path}: {begin} rows and {len(labels)} labels, expected as many of each.")
