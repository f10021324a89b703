"""Tables as numeric rows, in blocks of constant memory, by a schema learned from the training part.

A column is numeric when all its training values are numbers (or missing), else its texts are categories and
become one column of zeros and ones each, in alphabetic order. A category that only the test part has is zero
in all of them.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
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
from aucbench.data.readers.row_numbers import index_places
from aucbench.data.readers.table_files import INDEX, Columns, arrow_errors, open_columns
from aucbench.errors import DataError

MOST_REFUSED = 8  # columns whose refusal is explained


class Learned:
    """Numbers and labels of the training rows, kept while columns are learned so that files are read once."""

    def __init__(self, features: Sequence[Feature], target: int, file: Path):
        self.file = file  # (n, features) numbers, NaN in the place of texts
        self.places, self._target = [feature.place for feature in features], target
        self._batches: dict[Path, list[tuple[slice, Coded]]] = {}  # rows and labels of each batch of a file

    def write(self, opened: list[Columns], features: Sequence[Feature], keeps_numbers: bool) -> None:
        """Let the features learn from all cells, columns in parallel."""
        labels: set[Any] = set()
        row = 0
        with (
            ThreadPoolExecutor(pyarrow.cpu_count()) as threads,
            NpyWriter(self.file, np.float64, len(self.places)) as writer,
        ):
            for columns in opened:
                for batch in columns.batches():
                    numbers = [*threads.map(Feature.learn, features, [batch[place] for place in self.places])]
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
                    self._batches.setdefault(columns.path, []).append((rows, kept))
                    row = rows.stop
                    if keeps_numbers:
                        writer.write(np.stack(numbers, axis=1))

    @cached_property
    def _numbers(self) -> NDArray[np.float64]:
        return open_npy(self.file, shared=True)

    def column(self, feature: Feature) -> NDArray[np.float64]:
        """(n,) the numbers of a feature."""
        return self._numbers[:, self.places.index(feature.place)]

    def has(self, path: Path) -> bool:
        """Whether the rows of a file are here."""
        return path in self._batches

    def blocks(self, path: Path, features: Sequence[Feature]) -> Iterator[tuple[NDArray[np.float64], Coded]]:
        """The numbers of features and the labels in each batch of a file."""
        columns = [self.places.index(feature.place) for feature in features]
        for rows, labels in self._batches[path]:
            numbers = self._numbers[rows]
            yield numbers if len(columns) == numbers.shape[1] else numbers[:, columns], labels


@dataclass(frozen=True)
class Schema:
    """The columns of the training part."""

    names: list[str]
    target: int
    features: list[Feature]
    table: Table
    columns: list[ColumnRecord]  # of all, in the order of the file
    kept: list[Feature]  # beside the features
    learned: Learned

    @cached_property
    def width(self) -> int:
        """Number of columns of the encoded rows; those of hashed texts come last."""
        hashed = any(feature.hashed for feature in self.features)
        return sum(feature.width for feature in self.features) + (HASHED_COLUMNS if hashed else 0)

    @cached_property
    def is_learned(self) -> bool:
        """Whether the encoded rows are the numbers that were learned from."""
        few = len(self.features) <= DENSE_COLUMNS and not self.kept
        return few and all(feature.is_plain for feature in self.features)

    def rows_file(self, paths: Sequence[Path]) -> Path | None:
        """The .npy file that `encode` makes of the rows of all these files, None if there is none."""
        is_whole = self.is_learned and len(self.features) == len(self.learned.places)
        return self.learned.file if is_whole and all(map(self.learned.has, paths)) else None


def fit(files: Sequence[tuple[File, Path]], aside: Path) -> Schema:
    """Learn types, categories and, where they are asked for, medians from the files of the training part.

    The folder `aside` receives what was read, which `encode` reads. A column whose type shows only behind the
    first rows, or whose texts are all of one notation, is learned in a further pass.
    """
    path, table = files[0][1], files[0][0].table
    opened = [open_columns(*each) for each in files]
    names = opened[0].names
    opened = [columns.arranged(names) for columns in opened]
    target, every, columns = _chosen(path, opened, table)
    if all(feature.kept for feature in every):
        raise DataError(f"{path}: there are no columns but the label, expected features.")
    keeps_numbers = len(every) <= DENSE_COLUMNS or table.missing == "median"
    while True:
        learned = Learned(every, target, aside / "learned.npy")
        learned.write(opened, every, keeps_numbers)
        for feature in every:
            feature.check_notation()
        if not any(feature.again and not feature.problem for feature in every):
            break
        every = [feature.renewed() for feature in every]
    features, kept = ([each for each in every if each.kept == is_kept] for is_kept in (False, True))
    for feature in features:
        feature.check_type()
        if feature.numbers_the_rows:
            columns[feature.place] = feature.left_out("numbers the rows")
    _refuse(path, every)
    features = [each for each in features if each.place not in columns]
    if not features:
        raise DataError(f"{path}: the only columns but the label number the rows, expected features.")
    _check_missing(path, features, table)
    for feature in features:
        if (
            table.missing == "median" and feature.numeric
        ):  # what has no gap here may have one in the test part
            values = learned.column(feature)
            # A column without any value tells nothing, whatever it is filled with.
            feature.median = 0.0 if np.isnan(values).all() else float(np.nanmedian(values))
        feature.indicates = table.add_indicator and bool(feature.missing) and not feature.hashed
    columns |= {feature.place: feature.describe() for feature in (*features, *kept)}
    described = [columns[place] for place in range(len(names))]
    return Schema(names, target, features, table, described, kept, learned)


def _chosen(
    path: Path, opened: list[Columns], table: Table
) -> tuple[int, list[Feature], dict[int, ColumnRecord]]:
    """The place of the label, the features and kept columns, and the columns that are none of these."""
    names = opened[0].names
    stated = {name: kind for columns in reversed(opened) for name, kind in columns.types.items()}
    unnamed = index_places(names)
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


def _refuse(path: Path, features: list[Feature]) -> None:
    """Refuse all columns with problems in one error."""
    refused = [f"column {each.name!r} {each.problem}" for each in features if each.problem]
    if len(refused) > MOST_REFUSED:
        refused[MOST_REFUSED:] = [f"{len(refused) - MOST_REFUSED} other columns cannot be used either."]
    if refused:
        raise DataError(f"{path}: {' '.join(refused)}")


def encode(schema: Schema, file: File, path: Path) -> Iterator[Block]:
    """The rows of a file, block by block."""
    row = 0
    for cells, raw_labels, kept in _cells(schema, file, path):
        labels = _labels(path, schema, raw_labels, row)
        pairs = zip(schema.kept, kept, strict=True)
        beside = [column.filled(path, own, fills=False, row=row) for column, own in pairs]
        block = _block(schema, path, cells, labels, row)
        yield block._replace(kept=np.stack(beside, axis=1)) if beside else block
        row += len(labels.codes)


def _cells(schema: Schema, file: File, path: Path) -> Iterator[tuple[Any, Coded, list[Any]]]:
    """The cells of all features in each batch of a file, its labels, and the values that are kept beside."""
    if schema.is_learned and schema.learned.has(path):
        for numbers, labels in schema.learned.blocks(path, schema.features):
            yield numbers, labels, []
        return
    every = (*schema.features, *schema.kept)
    used = {schema.target, *(each.place for each in every)}
    for batch in open_columns(file, path).arranged(schema.names, used).batches():
        with arrow_errors(path):
            found = [feature.cells(path, batch[feature.place]) for feature in every]
        begin = len(schema.features)
        yield found[:begin], _coded_labels(path, batch[schema.target]), found[begin:]


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


def _block(schema: Schema, path: Path, cells: Any, labels: Coded, row: int) -> Block:
    """The encoded rows of a batch; `row` rows precede them.

    Cells are a list of columns, or rows (n, features) that are what they are encoded as but for gaps.
    """
    fills, n = schema.table.missing == "median", len(labels.codes)
    if isinstance(cells, np.ndarray):
        for column in np.flatnonzero(~np.isfinite(cells).all(axis=0)):
            cells[:, column] = schema.features[column].filled(path, cells[:, column], fills, row)
        return Block(labels, cells)
    widths = [feature.width for feature in schema.features]
    offsets = np.cumsum([0, *widths[:-1]])
    offsets[[feature.hashed for feature in schema.features]] = sum(widths)
    parts = []
    for feature, first, own in zip(schema.features, offsets, cells, strict=True):
        rows, places, values = feature.encoded(path, own, fills, row)
        parts.append((rows, first + places, values))
    if schema.width <= DENSE_COLUMNS:
        X = np.zeros((n, schema.width))
        for rows, places, values in parts:
            X[rows, places] = values
        return Block(labels, X)
    rows, places, values = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Block(labels, sparse.coo_matrix((values, (rows, places)), (n, schema.width)).tocsr())


def _coded_labels(path: Path, array: Any) -> Coded:
    """The labels of a batch as they are in the file, with code -1 for missing ones."""
    with arrow_errors(path):
        return Coded(*coded(plain_texts(array, LABEL_GAPS)))


def _labels(path: Path, schema: Schema, raw: Coded, row: int) -> Coded:
    """The labels of a batch; refused if one is missing or infinite."""
    name, missing = schema.names[schema.target], np.flatnonzero(raw.codes < 0)
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
    quoted = len(text) > 2 and text[0] == text[-1] == "'"  # as in ARFF, of which tables are made
    return _label(text[1:-1]) if quoted else text
