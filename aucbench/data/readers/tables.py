"""Tables as numeric rows, in blocks of constant memory, by a schema learned from the training part.

A column is numeric when all its training values are numbers (or missing), else its texts are categories and
become one column of zeros and ones each, in alphabetic order. A category that only the test part has is zero
in all of them.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
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
from aucbench.humanize import counted

MOST_REFUSED = 8  # columns whose refusal is explained


Batches = Iterator[tuple[Path, list[Any], list[NDArray[np.float64]]]]  # path, columns, numbers


class Learned:
    """Numbers and labels of the training rows, kept while columns are learned so that files are read once."""

    def __init__(self, features: Sequence[Feature], target: int, file: Path, has_numbers: bool):
        self._has_numbers = has_numbers  # of wide tables they are kept only if medians are asked for
        self.file = file  # (n, features) numbers, NaN in the place of texts
        self.places, self._target = [feature.place for feature in features], target
        self._labels: set[Any] = set()
        self._batches: dict[Path, list[tuple[slice, Coded]]] = {}  # rows and labels of each batch of a file

    def write(self, batches: Batches) -> None:
        """Keep the labels of each batch and the numbers of all features."""
        row = 0
        with NpyWriter(self.file, np.float64, len(self.places)) as writer:
            for path, batch, numbers in batches:
                distinct, codes = _coded_labels(path, batch[self._target])
                self._labels.update(distinct)
                if len(self._labels) > MAX_LABELS:
                    raise DataError(
                        f"{path}: more than {MAX_LABELS} distinct labels, expected classes; name the column "
                        "of labels with dataset.target=COLUMN."
                    )
                small = codes.astype(np.min_scalar_type(-len(distinct) - 1))  # a byte for each of most labels
                rows = slice(row, row + len(codes))
                self._batches.setdefault(path, []).append((rows, Coded(distinct, small)))
                row += len(codes)
                if self._has_numbers:
                    writer.write(np.stack(numbers, axis=1))

    def replace(self, features: Sequence[Feature], batches: Batches) -> None:
        """Write the numbers of features that were learned anew."""
        row = 0
        for _, _, numbers in batches:
            for feature, values in zip(features, numbers, strict=True) if self._has_numbers else ():
                self.column(feature)[row : row + len(values)] = values
            row += len(numbers[0])

    @cached_property
    def _numbers(self) -> NDArray[np.float64]:
        return open_npy(self.file, shared=True)

    def column(self, feature: Feature) -> NDArray[np.float64]:
        """(n,) the numbers of a feature; what is written to them is written to the file."""
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

    The folder `aside` receives what was read, which `encode` reads.
    """
    path, table = files[0][1], files[0][0].table
    opened = [open_columns(*each) for each in files]
    names = opened[0].names
    opened = [columns.arranged(names) for columns in opened]
    target, features, kept, columns = _chosen(path, opened, table)
    if not features:
        raise DataError(f"{path}: there are no columns but the label, expected features.")
    has_numbers = len(features) <= DENSE_COLUMNS or table.missing == "median"
    learned = Learned([*features, *kept], target, aside / "learned.npy", has_numbers)
    refused: dict[int, DataError] = {}
    learned.write(_learn(opened, [*features, *kept], refused))
    while again := [each for each in (*features, *kept) if _tried(refused, each, each.begins_again, opened)]:
        learned.replace(again, _learn(opened, again, refused))
    for feature in list(features):
        _tried(refused, feature, feature.check_type, opened)
        if feature.numbers_the_rows:
            columns[feature.place] = feature.left_out("numbers the rows")
            features.remove(feature)
    if refused:
        raise _refusal(path, [refused[place] for place in sorted(refused)])
    if not features:
        raise DataError(f"{path}: there are no columns but the label, expected features.")
    _check_missing(path, features, table)
    if table.missing == "median":
        _find_medians(features, learned)
    for feature in features:
        feature.indicates = table.add_indicator and bool(feature.missing) and not feature.hashed
    columns |= {feature.place: feature.describe() for feature in (*features, *kept)}
    described = [columns[place] for place in range(len(names))]
    return Schema(names, target, features, table, described, kept, learned)


def _chosen(
    path: Path, opened: list[Columns], table: Table
) -> tuple[int, list[Feature], list[Feature], dict[int, ColumnRecord]]:
    """The place of the label, the features, the kept columns, and the columns that are none of these."""
    names = opened[0].names
    stated = {name: kind for columns in reversed(opened) for name, kind in columns.types.items()}
    unnamed = index_places(names)
    indices = unnamed + [place for place, name in enumerate(names) if stated.get(name) == INDEX]
    last = max(set(range(len(names))) - set(indices), default=-1)
    target = _number_of(path, names, last if table.target == -1 else table.target, "target")
    dropped = {_number_of(path, names, column, "drop"): "dropped" for column in table.drop}
    if target in dropped:
        raise DataError(f"{path}: column {names[target]!r} is the label, it cannot be in dataset.drop too.")
    types = {_number_of(path, names, column, "types"): kind for column, kind in table.types}
    columns = {
        place: ColumnRecord(names[place], kind) for place, kind in (dropped | {target: "label"}).items()
    }
    wanted = dict.fromkeys(_number_of(path, names, column, "", "protocol") for column in table.kept)
    if target in wanted:
        raise DataError(f"{path}: column {names[target]!r} is the label, by which no split can be made.")
    kept = [Feature(names[place], place, types.get(place), kept=True) for place in wanted]
    features = []
    for place in [place for place in range(len(names)) if place not in (*columns, *wanted)]:
        feature = Feature(
            names[place], place, types.get(place), stated.get(names[place]), table.missing_words
        )
        if place in indices and not feature.declared:
            reason = "has no name, as an index is written" if place in unnamed else "is the index of pandas"
            columns[place] = feature.left_out(reason)
        else:
            features.append(feature)
    return target, features, kept, columns


def _learn(opened: list[Columns], features: list[Feature], refused: dict[int, DataError]) -> Batches:
    """Learn from all cells, columns in parallel; gives the batches while no column is refused.

    `refused` receives the reasons against columns, by place.
    """
    with ThreadPoolExecutor(pyarrow.cpu_count()) as threads:
        for columns in opened:
            for batch in columns.batches():
                learn = (feature.learn for feature in features)
                arrays = (batch[feature.place] for feature in features)
                found = threads.map(_tried, repeat(refused), features, learn, repeat(columns.path), arrays)
                if (numbers := list(found)) and not refused:
                    yield columns.path, batch, numbers


def _tried(refused: dict[int, DataError], feature: Feature, action: Callable[..., Any], *given: Any) -> Any:
    """The result of an action, None if the column is refused: then the others are looked at, too."""
    if feature.place not in refused:
        try:
            return action(*given)
        except DataError as error:
            refused[feature.place] = error
    return None


def _refusal(path: Path, refused: list[DataError]) -> DataError:
    """The reasons against several columns in one error."""
    first, *others = [str(error) for error in refused[:MOST_REFUSED]]
    if (more := len(refused) - MOST_REFUSED) > 0:
        others.append(f"{counted(more, 'other column')} cannot be used either.")
    return DataError(" ".join([first, *(text.removeprefix(f"{path}: ") for text in others)]))


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
    features = schema.features
    places = [each.place for each in (*features, *schema.kept)]
    columns = open_columns(file, path).arranged(schema.names, {schema.target, *places})
    for batch in columns.batches():
        with arrow_errors(path):
            found = [feature.cells(path, batch[feature.place]) for feature in (*features, *schema.kept)]
        labels = _coded_labels(path, batch[schema.target])
        yield found[: len(features)], labels, found[len(features) :]


def _number_of(
    path: Path, names: list[str], column: str | int, field_name: str, group: str = "dataset"
) -> int:
    if isinstance(column, str) and column in names:
        return names.index(column)
    if isinstance(column, int) and 0 <= column < len(names):
        _refuse_ambiguous(path, names, column, field_name)
    if isinstance(column, int) and -len(names) <= column < len(names):
        return column % len(names)
    shown = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
    where = f"{group}.{field_name}" if field_name else group
    raise DataError(f"{path} has no column {column!r} ({where}); its columns are {shown}.")


def _refuse_ambiguous(path: Path, names: list[str], number: int, field_name: str) -> None:
    if str(number) in names and names[number] != str(number):
        raise DataError(
            f"{path}: column number {number} is named {names[number]!r}, and another one is named "
            f"'{number}'; write \"dataset.{field_name}='{number}'\" for the name, or {number - len(names)} "
            "for the number."
        )


def _check_missing(path: Path, features: list[Feature], table: Table) -> None:
    bad = {feature.name: feature for feature in features if feature.missing}
    if bad and table.missing != "median":
        shown = ", ".join(f"{name!r} ({each.missing_in_words})" for name, each in list(bad.items())[:5])
        more = f" and {len(bad) - 5} more columns" if len(bad) > 5 else ""
        raise DataError(
            f"{path}: {sum(each.missing for each in bad.values())} values are missing, in column "
            f"{shown}{more}; dataset.missing=median fills them in."
        )


def _find_medians(features: list[Feature], learned: Learned) -> None:
    """Medians of all columns of numbers: what has no gap here may have one in the test part."""
    for feature in features:
        if feature.numeric:
            values = learned.column(feature)
            # A column without any value tells nothing, whatever it is filled with.
            feature.median = 0.0 if np.isnan(values).all() else float(np.nanmedian(values))


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
    dense = np.zeros((n, schema.width)) if schema.width <= DENSE_COLUMNS else None
    parts: list[tuple[Any, Any, Any]] = []
    for feature, first, own in zip(schema.features, offsets, cells, strict=True):
        if dense is not None and feature.is_plain:
            dense[:, first] = feature.filled(path, own, fills, row)
            continue
        rows, places, values = feature.encoded(path, own, fills, row)
        if dense is not None:
            dense[rows, first + places] = values
        else:
            parts.append((rows, first + places, np.broadcast_to(values, len(rows))))
    if dense is not None:
        return Block(labels, dense)
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
