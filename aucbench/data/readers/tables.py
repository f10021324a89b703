"""Tables as numeric rows, in blocks of constant memory, by a schema learned from the training part.

A column is numeric when all its training values are numbers (or missing), else its texts are categories and
become one column of zeros and ones each, in alphabetic order. A category that occurs only in the test part is
zero in all these columns.
"""

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from numpy.typing import NDArray
from scipy import sparse

from aucbench.contracts import File, Table
from aucbench.data.files.npy import NpyWriter, open_npy
from aucbench.data.labels import MAX_LABELS, Label
from aucbench.data.readers.blocks import DENSE_COLUMNS, Block, Coded, ColumnRecord
from aucbench.data.readers.cells import LABEL_GAPS, coded, plain_texts
from aucbench.data.readers.feature_columns import HASHED_COLUMNS, Feature
from aucbench.data.readers.table_files import INDEX, Columns, arrow_errors, open_columns
from aucbench.errors import DataError

MOST_REFUSED = 8  # refused columns named in the error message
_UNNAMED = re.compile(r"(Unnamed: [0-9]+(\.[0-9]+)*)?")  # name of an index of pandas or R in CSV
_INDEX = re.compile(r"__index_level_[0-9]+__")  # name of an index of pandas in Parquet


class TableReader:
    """The columns of a table, learned from the files of the training part, and the rows of its files.

    The folder `aside` receives the cells of the training part, so that its files are read once. A column
    whose later rows do not fit the type of its first rows is learned in a further pass.
    """

    def __init__(self, files: Sequence[tuple[File, Path]], aside: Path):
        path, table = files[0][1], files[0][0].table
        distinct = {pair[1]: pair for pair in files}.values()  # a file may be listed twice
        opened = [open_columns(*pair) for pair in distinct]
        self._names, self._table = opened[0].names, table
        opened = [source.arranged(self._names) for source in opened]
        self._target, features, columns = _chosen(path, opened, table)
        if all(feature.kept for feature in features):
            raise DataError(f"{path}: there are no columns but the label, expected features.")
        self._file = aside / "learned.npy"  # (n, columns) numbers or codes of texts
        while True:
            # Rows and labels of each batch of a file.
            self._batches: dict[Path, list[tuple[slice, Coded]]] = {source.path: [] for source in opened}
            self._learn(opened, features)
            for feature in features:
                feature.finish()
            if not any(feature.again and not feature.problem for feature in features):
                break
            features = [feature.before_again() for feature in features]
        _refuse(path, features)
        for feature in features:
            if feature.numbers_the_rows and not feature.kept:
                columns[feature.place] = feature.left_out("numbers the rows")
        # Features come before the kept columns.
        self._learned_columns = [k for k, feature in enumerate(features) if feature.place not in columns]
        self._all_features = [features[k] for k in self._learned_columns]
        self._features = [feature for feature in self._all_features if not feature.kept]
        if not self._features:
            raise DataError(f"{path}: the only columns but the label number the rows, expected features.")
        _check_missing(path, self._features, table)
        for k, feature in zip(self._learned_columns, self._features, strict=False):
            if table.missing == "median" and feature.numeric:
                # A column without gaps may have gaps in the test part; a column without values has median 0.
                values = self._numbers[:, k]
                feature.median = 0.0 if np.isnan(values).all() else float(np.nanmedian(values))
            feature.indicates = table.add_indicator and bool(feature.missing) and not feature.hashed
        columns |= {feature.place: feature.describe() for feature in self._all_features}
        self.columns = [columns[position] for position in range(len(self._names))]
        self._is_plain = all(feature.is_plain for feature in self._features)

    def _learn(self, opened: list[Columns], features: Sequence[Feature]) -> None:
        """Let the features learn from all cells, columns in parallel."""
        labels: set[Any] = set()
        row = 0
        with (
            ThreadPoolExecutor(pyarrow.cpu_count()) as pool,
            NpyWriter(self._file, np.float64, len(features)) as writer,
        ):
            for source in opened:
                for batch in source.batches():
                    cells = [*pool.map(Feature.learn, features, [batch[column.place] for column in features])]
                    batch_labels = _coded_labels(source.path, batch[self._target])
                    labels.update(batch_labels.distinct)
                    if len(labels) > MAX_LABELS:
                        raise DataError(
                            f"{source.path}: more than {MAX_LABELS} distinct labels, expected classes; name "
                            "the column of labels with dataset.target=COLUMN."
                        )
                    rows = slice(row, row + len(batch_labels.codes))
                    dtype = np.min_scalar_type(-len(batch_labels.distinct) - 1)  # mostly one byte a label
                    compact = batch_labels._replace(codes=batch_labels.codes.astype(dtype))
                    self._batches[source.path].append((rows, compact))
                    row = rows.stop
                    writer.write(np.stack(cells, axis=1))

    @cached_property
    def _numbers(self) -> NDArray[np.float64]:
        return open_npy(self._file, shared=True)

    @cached_property
    def _width(self) -> int:
        """Number of columns of the encoded rows; columns of hashed texts come last."""
        hashed = any(feature.hashed for feature in self._features)
        return sum(feature.width for feature in self._features) + (HASHED_COLUMNS if hashed else 0)

    def blocks(self, file: File, path: Path) -> Iterator[Block]:
        """The encoded rows of a file, block by block."""
        row, fills, n_features = 0, self._table.missing == "median", len(self._features)
        for cells, raw in self._cells(file, path):
            labels = _labels(path, self._names[self._target], raw, row)
            gaps: dict[int, NDArray[np.bool_]] = {}
            for k in np.flatnonzero(~np.isfinite(cells).all(axis=0)).tolist():
                feature = self._all_features[k]
                gaps[k] = feature.gaps(path, cells[:, k], fills and not feature.kept, row)
                if feature.is_plain:
                    cells[gaps[k], k] = feature.median
            kept_values = cells[:, n_features:] if len(self._all_features) > n_features else None
            yield Block(labels, self._encoded(cells, gaps), kept_values)
            row += len(cells)

    def _cells(self, file: File, path: Path) -> Iterator[tuple[NDArray[np.float64], Coded]]:
        """The cells (n, columns) of each batch of a file, features before kept columns, and the labels."""
        if path in self._batches:
            is_whole = len(self._learned_columns) == self._numbers.shape[1] and all(
                feature.table is None for feature in self._all_features
            )
            for rows, labels in self._batches[path]:
                cells = self._numbers[rows]  # gaps are filled in place
                if not is_whole:
                    pairs = zip(self._all_features, self._learned_columns, strict=True)
                    cells = np.stack([feature.placed(cells[:, k]) for feature, k in pairs], axis=1)
                yield cells, labels
            return
        used = {self._target, *(feature.place for feature in self._all_features)}
        for batch in open_columns(file, path).arranged(self._names, used).batches():
            with arrow_errors(path):
                columns = [feature.cells(path, batch[feature.place]) for feature in self._all_features]
            yield np.stack(columns, axis=1), _coded_labels(path, batch[self._target])

    def _encoded(self, cells: NDArray[np.float64], gaps: dict[int, NDArray[np.bool_]]) -> Any:
        """The encoded rows, dense or CSR; `gaps` has the mask of missing cells of a column."""
        if self._is_plain:
            X = cells[:, : len(self._features)]
            return X if self._width <= DENSE_COLUMNS else sparse.csr_matrix(X)
        widths = [feature.width for feature in self._features]
        offsets = np.cumsum([0, *widths[:-1]])
        offsets[[feature.hashed for feature in self._features]] = sum(widths)
        parts, none = [], np.zeros(len(cells), np.bool_)
        for k, (feature, first) in enumerate(zip(self._features, offsets, strict=True)):
            rows, columns, values = feature.encoded(cells[:, k], gaps.get(k, none))
            parts.append((rows, first + columns, values))
        if self._width <= DENSE_COLUMNS:
            X = np.zeros((len(cells), self._width))
            for rows, columns, values in parts:
                X[rows, columns] = values
            return X
        rows, columns, values = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return sparse.coo_matrix((values, (rows, columns)), (len(cells), self._width)).tocsr()


def _chosen(
    path: Path, opened: list[Columns], table: Table
) -> tuple[int, list[Feature], dict[int, ColumnRecord]]:
    """The position of the label, the features and kept columns, and records of all other columns."""
    names = opened[0].names
    stated = {name: kind for source in reversed(opened) for name, kind in source.types.items()}
    unnamed = _index_places(names)
    indices = unnamed + [position for position, name in enumerate(names) if stated.get(name) == INDEX]
    last = max(set(range(len(names))) - set(indices), default=-1)
    target = _number_of(path, names, last if table.target == -1 else table.target, "dataset.target")
    columns = {}
    for column in table.drop:
        position = _number_of(path, names, column, "dataset.drop")
        columns[position] = ColumnRecord(names[position], "dropped")
    types = {_number_of(path, names, column, "dataset.types"): kind for column, kind in table.types}
    kept_positions = dict.fromkeys(_number_of(path, names, column, "protocol") for column in table.kept)
    if target in columns or target in kept_positions:
        where = "dropped" if target in columns else "used for splits"
        raise DataError(f"{path}: column {names[target]!r} is the label, which cannot be {where}.")
    columns[target] = ColumnRecord(names[target], "label")
    features = []
    for position, name in enumerate(names):
        kind = None if stated.get(name) == INDEX else stated.get(name)
        feature = Feature(name, position, types.get(position), kind, table.missing_words)
        if position in kept_positions or position in columns:
            continue
        if position in indices and not feature.declared:
            cause = "has no name, as an index is written" if position in unnamed else "is the index of pandas"
            columns[position] = feature.left_out(cause)
        else:
            features.append(feature)
    # Kept columns follow the features, in the order of `table.kept`.
    kept_features = [Feature(names[k], k, types.get(k), kept=True) for k in kept_positions]
    return target, [*features, *kept_features], columns


def _index_places(names: Sequence[str]) -> list[int]:
    """The positions of index columns: columns without a name before all others, and index names of pandas."""
    leading = list(takewhile(lambda position: _UNNAMED.fullmatch(names[position]), range(len(names))))
    return leading + [position for position, name in enumerate(names) if _INDEX.fullmatch(name)]


def _refuse(path: Path, features: list[Feature]) -> None:
    """Refuse all columns with problems in one error."""
    refused = [f"column {feature.name!r} {feature.problem}" for feature in features if feature.problem]
    if len(refused) > MOST_REFUSED:
        refused[MOST_REFUSED:] = [f"{len(refused) - MOST_REFUSED} other columns cannot be used either."]
    if refused:
        raise DataError(f"{path}: {' '.join(refused)}")


def _number_of(path: Path, names: list[str], column: str | int, field: str) -> int:
    """The position of a column, given by name or number."""
    if isinstance(column, str) and column in names:
        return names.index(column)
    if isinstance(column, int) and -len(names) <= column < len(names):
        if str(column) in names and names[column] != str(column):
            raise DataError(
                f"{path}: column number {column} is named {names[column]!r}, and another one is named "
                f"'{column}'; write \"{field}='{column}'\" for the name, or {column - len(names)} for the "
                "number."
            )
        return column % len(names)
    listing = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    raise DataError(f"{path} has no column {column!r} ({field}); its columns are {listing}.")


def _check_missing(path: Path, features: list[Feature], table: Table) -> None:
    bad = [feature for feature in features if feature.missing]
    if bad and table.missing != "median":
        listing = ", ".join(f"{feature.name!r} ({feature.missing_in_words})" for feature in bad[:5])
        more = f" and {len(bad) - 5} more columns" if len(bad) > 5 else ""
        raise DataError(
            f"{path}: {sum(feature.missing for feature in bad)} values are missing, in column "
            f"{listing}{more}; dataset.missing=median fills them in."
        )


def _coded_labels(path: Path, array: Any) -> Coded:
    """The labels of a batch as in the file, with code -1 for missing labels."""
    with arrow_errors(path):
        return Coded(*coded(plain_texts(array, LABEL_GAPS)))


def _labels(path: Path, name: str, raw: Coded, row: int) -> Coded:
    """The labels of a batch from the column `name`; missing and infinite labels are refused."""
    missing = np.flatnonzero(raw.codes < 0)
    if len(missing):
        where = row + int(missing[0]) + 1
        raise DataError(f"{path}: {len(missing)} labels are missing in column {name!r} (row {where}).")
    distinct = [_label(value) for value in raw.distinct]
    bad = [label for label in distinct if isinstance(label, float) and not np.isfinite(label)]
    if bad:
        raise DataError(f"{path}: a label in column {name!r} is {bad[0]}, expected finite numbers or text.")
    return Coded(distinct, raw.codes)


def _label(value: Any) -> Label:
    """The label as a number if it is one in any notation: 1, 1.0 and True are the same label."""
    try:
        return float(value)
    except (TypeError, ValueError):
        text = str(value)
    quoted = len(text) > 2 and text[0] == text[-1] == "'"  # ARFF quotes like this
    return _label(text[1:-1]) if quoted else text
