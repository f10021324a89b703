"""Tables as numeric rows, in blocks of constant memory, by a schema learned from the training part.

A column is numeric when all its training values are numbers (or missing), else its texts are categories and
become one column of zeros and ones each, in alphabetic order. A category that only the test part has is zero
in all of them.
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

MOST_REFUSED = 8  # columns whose refusal is explained
_UNNAMED = re.compile(r"(Unnamed: [0-9]+(\.[0-9]+)*)?")  # as pandas and R write an index, or pandas names one
_INDEX = re.compile(r"__index_level_[0-9]+__")  # as pandas names one in Parquet


class TableReader:
    """The columns of a table, learned from the files of the training part, and the rows of its files.

    The folder `aside` receives the cells of the training part, so that its files are read once. A column that
    must be read in another way than its first rows told is learned in a further pass.
    """

    def __init__(self, files: Sequence[tuple[File, Path]], aside: Path):
        path, table = files[0][1], files[0][0].table
        once = {each[1]: each for each in files}.values()  # a file may be listed twice
        opened = [open_columns(*each) for each in once]
        self._names, self._table = opened[0].names, table
        opened = [columns.arranged(self._names) for columns in opened]
        self._target, every, columns = _chosen(path, opened, table)
        if all(feature.kept for feature in every):
            raise DataError(f"{path}: there are no columns but the label, expected features.")
        self._file = aside / "learned.npy"  # (n, columns) numbers or codes of texts
        while True:
            # Rows and labels of each batch of a file.
            self._batches: dict[Path, list[tuple[slice, Coded]]] = {each.path: [] for each in opened}
            self._learn(opened, every)
            for feature in every:
                feature.finish()
            if not any(feature.again and not feature.problem for feature in every):
                break
            every = [feature.before_again() for feature in every]
        _refuse(path, every)
        for feature in every:
            if feature.numbers_the_rows and not feature.kept:
                columns[feature.place] = feature.left_out("numbers the rows")
        # Features come before the kept columns.
        self._places = [k for k, each in enumerate(every) if each.place not in columns]
        self._every = [every[k] for k in self._places]
        self._features = [each for each in self._every if not each.kept]
        if not self._features:
            raise DataError(f"{path}: the only columns but the label number the rows, expected features.")
        _check_missing(path, self._features, table)
        for k, feature in zip(self._places, self._features, strict=False):
            if table.missing == "median" and feature.numeric:
                # A column without gaps may have one in the test part; one without values tells nothing.
                values = self._numbers[:, k]
                feature.median = 0.0 if np.isnan(values).all() else float(np.nanmedian(values))
            feature.indicates = table.add_indicator and bool(feature.missing) and not feature.hashed
        columns |= {each.place: each.describe() for each in self._every}
        self.columns = [columns[place] for place in range(len(self._names))]
        self._is_plain = all(feature.is_plain for feature in self._features)

    def _learn(self, opened: list[Columns], every: Sequence[Feature]) -> None:
        """Let the features learn from all cells, columns in parallel."""
        labels: set[Any] = set()
        row = 0
        with (
            ThreadPoolExecutor(pyarrow.cpu_count()) as threads,
            NpyWriter(self._file, np.float64, len(every)) as writer,
        ):
            for columns in opened:
                for batch in columns.batches():
                    cells = [*threads.map(Feature.learn, every, [batch[feature.place] for feature in every])]
                    found = _coded_labels(columns.path, batch[self._target])
                    labels.update(found.distinct)
                    if len(labels) > MAX_LABELS:
                        raise DataError(
                            f"{columns.path}: more than {MAX_LABELS} distinct labels, expected classes; name "
                            "the column of labels with dataset.target=COLUMN."
                        )
                    rows = slice(row, row + len(found.codes))
                    small = np.min_scalar_type(-len(found.distinct) - 1)  # a byte for each of most labels
                    kept = found._replace(codes=found.codes.astype(small))
                    self._batches[columns.path].append((rows, kept))
                    row = rows.stop
                    writer.write(np.stack(cells, axis=1))

    @cached_property
    def _numbers(self) -> NDArray[np.float64]:
        return open_npy(self._file, shared=True)

    @cached_property
    def _width(self) -> int:
        """Number of columns of the encoded rows; those of hashed texts come last."""
        hashed = any(feature.hashed for feature in self._features)
        return sum(feature.width for feature in self._features) + (HASHED_COLUMNS if hashed else 0)

    def blocks(self, file: File, path: Path) -> Iterator[Block]:
        """The encoded rows of a file, block by block."""
        row, fills, n_features = 0, self._table.missing == "median", len(self._features)
        for cells, raw in self._cells(file, path):
            labels = _labels(path, self._names[self._target], raw, row)
            gaps: dict[int, NDArray[np.bool_]] = {}
            for k in np.flatnonzero(~np.isfinite(cells).all(axis=0)).tolist():
                feature = self._every[k]
                gaps[k] = feature.gaps(path, cells[:, k], fills and not feature.kept, row)
                if feature.is_plain:
                    cells[gaps[k], k] = feature.median
            kept = cells[:, n_features:] if len(self._every) > n_features else None
            yield Block(labels, self._encoded(cells, gaps), kept)
            row += len(cells)

    def _cells(self, file: File, path: Path) -> Iterator[tuple[NDArray[np.float64], Coded]]:
        """The cells (n, columns) of each batch of a file, features before kept columns, and its labels."""
        if path in self._batches:
            is_whole = len(self._places) == self._numbers.shape[1] and all(
                each.table is None for each in self._every
            )
            for rows, labels in self._batches[path]:
                cells = self._numbers[rows]  # gaps are filled in place
                if not is_whole:
                    chosen = zip(self._every, self._places, strict=True)
                    cells = np.stack([each.placed(cells[:, k]) for each, k in chosen], axis=1)
                yield cells, labels
            return
        used = {self._target, *(each.place for each in self._every)}
        for batch in open_columns(file, path).arranged(self._names, used).batches():
            with arrow_errors(path):
                found = [each.cells(path, batch[each.place]) for each in self._every]
            yield np.stack(found, axis=1), _coded_labels(path, batch[self._target])

    def _encoded(self, cells: NDArray[np.float64], gaps: dict[int, NDArray[np.bool_]]) -> Any:
        """The encoded rows, dense or CSR, of cells with these masks of missing ones by column."""
        if self._is_plain:
            X = cells[:, : len(self._features)]
            return X if self._width <= DENSE_COLUMNS else sparse.csr_matrix(X)
        widths = [feature.width for feature in self._features]
        offsets = np.cumsum([0, *widths[:-1]])
        offsets[[feature.hashed for feature in self._features]] = sum(widths)
        parts, none = [], np.zeros(len(cells), np.bool_)
        for k, (feature, first) in enumerate(zip(self._features, offsets, strict=True)):
            rows, places, values = feature.encoded(cells[:, k], gaps.get(k, none))
            parts.append((rows, first + places, values))
        if self._width <= DENSE_COLUMNS:
            X = np.zeros((len(cells), self._width))
            for rows, places, values in parts:
                X[rows, places] = values
            return X
        rows, places, values = (np.concatenate(each) for each in zip(*parts, strict=True))
        return sparse.coo_matrix((values, (rows, places)), (len(cells), self._width)).tocsr()


def _chosen(
    path: Path, opened: list[Columns], table: Table
) -> tuple[int, list[Feature], dict[int, ColumnRecord]]:
    """The place of the label, the features and kept columns, and the columns that are none of these."""
    names = opened[0].names
    stated = {name: kind for columns in reversed(opened) for name, kind in columns.types.items()}
    unnamed = _index_places(names)
    indices = unnamed + [place for place, name in enumerate(names) if stated.get(name) == INDEX]
    last = max(set(range(len(names))) - set(indices), default=-1)
    target = _number_of(path, names, last if table.target == -1 else table.target, "dataset.target")
    columns = {}
    for column in table.drop:
        place = _number_of(path, names, column, "dataset.drop")
        columns[place] = ColumnRecord(names[place], "dropped")
    types = {_number_of(path, names, column, "dataset.types"): kind for column, kind in table.types}
    wanted = dict.fromkeys(_number_of(path, names, column, "protocol") for column in table.kept)
    if target in columns or target in wanted:
        where = "dropped" if target in columns else "used for splits"
        raise DataError(f"{path}: column {names[target]!r} is the label, which cannot be {where}.")
    columns[target] = ColumnRecord(names[target], "label")
    features = []
    for place, name in enumerate(names):
        kind = None if stated.get(name) == INDEX else stated.get(name)
        feature = Feature(name, place, types.get(place), kind, table.missing_words)
        if place in wanted or place in columns:
            continue
        if place in indices and not feature.declared:
            reason = "has no name, as an index is written" if place in unnamed else "is the index of pandas"
            columns[place] = feature.left_out(reason)
        else:
            features.append(feature)
    # Their values stand beside the rows in the order in which they are asked for.
    kept = [Feature(names[place], place, types.get(place), kept=True) for place in wanted]
    return target, [*features, *kept], columns


def _index_places(names: Sequence[str]) -> list[int]:
    """The places of the columns that were written as an index: without a name and before the others."""
    before = list(takewhile(lambda place: _UNNAMED.fullmatch(names[place]), range(len(names))))
    return before + [place for place, name in enumerate(names) if _INDEX.fullmatch(name)]


def _refuse(path: Path, features: list[Feature]) -> None:
    """Refuse all columns with problems in one error."""
    refused = [f"column {each.name!r} {each.problem}" for each in features if each.problem]
    if len(refused) > MOST_REFUSED:
        refused[MOST_REFUSED:] = [f"{len(refused) - MOST_REFUSED} other columns cannot be used either."]
    if refused:
        raise DataError(f"{path}: {' '.join(refused)}")


def _number_of(path: Path, names: list[str], column: str | int, field: str) -> int:
    """The place of a column that is given by its name or number."""
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
    shown = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    raise DataError(f"{path} has no column {column!r} ({field}); its columns are {shown}.")


def _check_missing(path: Path, features: list[Feature], table: Table) -> None:
    bad = [feature for feature in features if feature.missing]
    if bad and table.missing != "median":
        shown = ", ".join(f"{each.name!r} ({each.missing_in_words})" for each in bad[:5])
        more = f" and {len(bad) - 5} more columns" if len(bad) > 5 else ""
        raise DataError(
            f"{path}: {sum(each.missing for each in bad)} values are missing, in column "
            f"{shown}{more}; dataset.missing=median fills them in."
        )


def _coded_labels(path: Path, array: Any) -> Coded:
    """The labels of a batch as they are in the file, with code -1 for missing ones."""
    with arrow_errors(path):
        return Coded(*coded(plain_texts(array, LABEL_GAPS)))


def _labels(path: Path, name: str, raw: Coded, row: int) -> Coded:
    """The labels of a batch, from a column of this name; refused if one is missing or infinite."""
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
    """A number where the label is one, however it is written: 1, 1.0 and True are the same label."""
    try:
        return float(value)
    except (TypeError, ValueError):
        text = str(value)
    quoted = len(text) > 2 and text[0] == text[-1] == "'"  # ARFF quotes like this
    return _label(text[1:-1]) if quoted else text
