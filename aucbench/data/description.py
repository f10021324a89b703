"""Description of the training part of a data set, made before anything is trained."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from aucbench.contracts import DatasetFacts
from aucbench.data import labels
from aucbench.data.equal_rows import equal_rows
from aucbench.data.files import cache
from aucbench.data.files.build_cache import cached_part
from aucbench.data.leaks import with_leaks
from aucbench.data.loader import Part, has_test_part, load, resolved_files
from aucbench.data.readers.blocks import ColumnRecord
from aucbench.errors import AucbenchError


class DataDescription(NamedTuple):
    """Facts about the training part of a data set."""

    rows: int
    features: int  # columns of X
    nonzeros: int
    labels: dict[str, int]  # rows per label
    columns: list[ColumnRecord]  # columns of a table; empty for other files
    repeated: int  # rows that equal an earlier row
    test_rows: int  # rows of the test file; 0 without one
    test_repeated: int  # test rows that equal a row of the training part


def describe(dataset: Any) -> DataDescription:
    """Describe the training files of a data set; the number of classes is not checked."""
    files, features = resolved_files(dataset), DatasetFacts(dataset).features
    parts = (Part.train, Part.test) if has_test_part(dataset) else (Part.train,)
    cached = [cached_part(dataset.name, files, features, part) for part in parts]
    counts: Counter[str] = Counter()
    for file in cached[0].record.files:
        counts.update({labels.shown(label): count for label, count in file.labels})
    rows, test = equal_rows(cached[0].X), equal_rows(cached[1].X) if cached[1:] else np.empty(0, np.int64)
    return DataDescription(
        cached[0].record.rows,
        cached[0].record.features,
        cached[0].record.nonzeros,
        counts,
        columns_of(dataset),
        len(rows) - len(np.unique(rows)),
        len(test),
        int(np.isin(test, rows).sum()),
    )


def columns_of(dataset: Any, kept: Sequence[str | int] = ()) -> list[ColumnRecord]:
    """The columns of a user's table, with columns `kept` as in `load`; empty for all other data.

    Notes report columns that were read by an automatic choice, and columns that may leak the label.
    """
    if DatasetFacts(dataset).load is not None:
        return []
    features = DatasetFacts(dataset).features
    files = resolved_files(dataset, kept)
    if all(file.kind not in cache.TABLE_KINDS or file.rows is not None for file in files):
        return []
    X = cached_part(dataset.name, files, features, Part.train).X
    columns = cache.read_columns(cache.part_folder(dataset.name, files, features, Part.train))
    try:
        y = load(dataset, Part.train, kept).y
    except AucbenchError:  # the positive class is not chosen yet
        return columns
    return with_leaks(X, y, columns)
