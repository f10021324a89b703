"""The user's own data in LIBSVM, CSV, ARFF, Parquet and NumPy files."""

import os
import zipfile
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from aucbench import Count, File, Index, ParameterError, Table, utf8_path
from aucbench_datasets._labels import Labels
from aucbench_datasets._own_files import own_files

MOST_FEATURES = 2**31 - 1
Missing = StrEnum("Missing", "refuse median")


class ColumnType(StrEnum):
    """The type of the cells of a column."""

    number = "number"
    categories = "categories"
    hashed = "hashed"  # categories that share 2^18 columns
    thousands = "thousands"  # 1,234,567.8
    decimal_comma = "decimal_comma"  # 1.234.567,8
    percent = "percent"  # 12.5%
    date = "date"  # 2024-02-29 or 2024-02-29T12:00:00Z


PARTITIONED = ("csv", "parquet", "arff")
ENDINGS = {  # endings of the files read in a folder, if any file has one
    "libsvm": (".libsvm", ".svm", ".t", ".txt"),
    "csv": (".csv", ".tsv", ".txt"),
    "parquet": (".parquet", ".pq"),
    "arff": (".arff",),
    "npz": (".npz",),
}
LATER = {"later": True}  # marks a field that older results lack: keys leave it out at its default


@dataclass(frozen=True)
class _UserFile(Labels):
    """Fields of all files of the user.

    Parameters
    ----------
    path : str or list of str
        Path of the file, required; or several files: a list, a folder, or a pattern such as ``part-*.csv``.
        Files of a folder or a pattern are read in the order of their names; folders ``NAME=VALUE`` become
        columns of tables.
    test_path : str or list of str, optional
        Path of the test part, written like `path`.
    """

    path: Any = None
    test_path: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("path", "test_path"):
            value = getattr(self, name)
            paths = value if isinstance(value, list | tuple) else [value]
            if not all(isinstance(path, str | None) for path in paths):
                raise ParameterError(f"{self.name}: {name} must be a path or a list of paths, got {value!r}.")
            utf8_paths = tuple(path and utf8_path(path) for path in paths)
            object.__setattr__(self, name, utf8_paths if paths is value else utf8_paths[0])

    @property
    def title(self) -> str:
        """The name of the file, which identifies results."""
        names = [Path(path).name for path in _listed(self.path or self.name)]
        return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"

    @property
    def files(self) -> tuple[File, ...]:
        """The declared files, by absolute paths.

        Raises
        ------
        ParameterError
            No path is given.
        """
        if not self.path:
            raise ParameterError(f"{self.name}: path is missing; name your file with dataset.path=FILE.")
        files = []
        for part, field_name in (("train", "path"), ("test", "test_path")):
            for path in _listed(getattr(self, field_name)) if getattr(self, field_name) else ():
                absolute = os.path.abspath(os.path.expanduser(path))
                for file, partitions in own_files(self.name, absolute, ENDINGS[self.name]):
                    partitions = partitions if self.name in PARTITIONED else ()
                    files.append(File(file, part, kind=self.name, partitions=partitions, **self._reading()))
        return tuple(files)

    def _reading(self) -> dict[str, Any]:
        """Further fields of `File`, which control how a file is read."""
        return {}


@dataclass(frozen=True, kw_only=True)
class Libsvm(_UserFile):
    """Any file in LIBSVM format (plain, .bz2, .xz or .gz): ``dataset=libsvm dataset.path=FILE``.

    Parameters
    ----------
    features : int, optional
        The number of features; by default the largest index.
    zero_based : bool or "auto"
        Whether indices count from 0. With ``auto`` they do if an index in a file is 0, as in scikit-learn.
    """

    name = "libsvm"
    features: Count | None = None
    zero_based: Any = field(default="auto", metadata=LATER)

    def _reading(self) -> dict[str, Any]:
        return {"zero_based": None if self.zero_based == "auto" else self.zero_based}

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.zero_based, bool) and self.zero_based != "auto":
            raise ParameterError(
                f"{self.name}: zero_based must be auto, true or false, got {self.zero_based!r}."
            )
        if self.features is not None and self.features > MOST_FEATURES:
            raise ParameterError(
                f"{self.name}: features must be at most {MOST_FEATURES}, the largest index that is read, got "
                f"{self.features}."
            )


@dataclass(frozen=True, kw_only=True)
class Columns(Labels):
    """Fields of data sets of columns.

    Parameters
    ----------
    target : str or int, optional
        The column of labels, by name or by number from 0; by default the last column.
    drop : list of str and int
        Columns that are not used as features.
    missing : Missing
        ``refuse`` missing values, or replace them by the ``median`` of the column in the training part.
    types : dict
        Types of columns whose type is not to be guessed (``number``, ``categories``, ``hashed``,
        ``thousands``, ``decimal_comma``, ``percent`` or ``date``). A sorted column, or one that numbers the
        rows, is a feature only if its type is given as ``number``.
    missing_words : list of str
        Texts or numbers that stand for missing values, in addition to the usual ones.
    add_indicator : bool
        Whether a column of zeros and ones follows each column with missing values in the training part and
        marks these values; not for columns of hashed texts, and only with ``missing=median``.
    """

    target: Any = None
    drop: Any = ()
    missing: Missing = Missing.refuse
    types: Any = field(default=None, metadata=LATER)
    missing_words: Any = field(default=(), metadata=LATER)
    add_indicator: bool = field(default=False, metadata=LATER)

    def __post_init__(self) -> None:
        super().__post_init__()
        texts = self.missing_words if isinstance(self.missing_words, list | tuple) else (self.missing_words,)
        object.__setattr__(self, "missing_words", tuple(map(str, texts)))
        if self.add_indicator and self.missing is not Missing.median:
            raise ParameterError(f"{self.name}: add_indicator=true needs missing=median.")
        drop = self.drop if isinstance(self.drop, list | tuple) else (self.drop,)
        object.__setattr__(self, "drop", tuple(drop))
        object.__setattr__(self, "types", self._checked_types())
        columns = [("target", self.target), *(("drop", name) for name in drop)]
        for which, column in [*columns, *(("types", name) for name, _ in self.types or ())]:
            if isinstance(column, bool) or not isinstance(column, str | int | None):
                raise ParameterError(
                    f"{self.name}: {which} must be a column's name or number, got {column!r}."
                )

    def _checked_types(self) -> tuple[tuple[str | int, str], ...] | None:
        """The types as pairs of column and type, from a mapping or from pairs."""
        if self.types is None:
            return None
        try:
            pairs = dict(self.types)
        except (TypeError, ValueError):
            raise ParameterError(
                f"{self.name}: types must be {{COLUMN: TYPE}}, got {self.types!r}."
            ) from None
        if unknown := sorted({str(kind) for kind in pairs.values()} - set(ColumnType)):
            raise ParameterError(
                f"{self.name}: types must be of {', '.join(ColumnType)}, got {', '.join(unknown)}."
            )
        return tuple((column, str(kind)) for column, kind in pairs.items())

    def _reading(self) -> dict[str, Any]:
        table = Table(
            target_column(self.target),
            self.drop,
            missing=str(self.missing),
            types=self.types or (),
            missing_words=self.missing_words,
            add_indicator=self.add_indicator,
        )
        return {"table": table}


@dataclass(frozen=True, kw_only=True)
class Csv(Columns, _UserFile):
    """Any CSV file (plain, .bz2, .xz or .gz): ``dataset=csv dataset.path=FILE dataset.target=COLUMN``.

    A column with texts becomes one column of zeros and ones for each text of the training part.

    Parameters
    ----------
    header : bool, optional
        Whether the first line holds the names of the columns. By default it does if none of its cells is a
        number, if a text stands above a number, or if its cells are 0, 1, 2 and so on.
    delimiter : str, optional
        Character between cells; ``blanks`` stands for runs of blanks. By default the one of , ; tab | and
        blanks that gives the first lines equally many cells.
    comment : str, optional
        Characters at the beginning of lines to skip.
    skip : int
        Number of lines to skip at the beginning of the file.
    """

    name = "csv"
    header: bool | None = None
    delimiter: str | None = None
    comment: str | None = field(default=None, metadata=LATER)
    skip: Index = field(default=0, metadata=LATER)

    def _reading(self) -> dict[str, Any]:
        layout = {name: getattr(self, name) for name in ("header", "delimiter", "comment", "skip")}
        return {"table": replace(super()._reading()["table"], **layout)}


@dataclass(frozen=True, kw_only=True)
class Parquet(Columns, _UserFile):
    """Any Parquet file: ``dataset=parquet dataset.path=FILE dataset.target=COLUMN``."""

    name = "parquet"


@dataclass(frozen=True, kw_only=True)
class Arff(Columns, _UserFile):
    """Any ARFF file (plain, .bz2, .xz or .gz): ``dataset=arff dataset.path=FILE dataset.target=COLUMN``."""

    name = "arff"


@dataclass(frozen=True, kw_only=True)
class Npz(_UserFile):
    """An archive of NumPy with rows X (or the parts of a CSR matrix) and labels y: ``dataset=npz``.

    Arrays X_test and y_test are the test part.

    Parameters
    ----------
    target : str, optional
        The array of labels; by default y, target or labels.
    missing : Missing
        ``refuse`` missing values, or replace them by the ``median`` of the column in the training part.
    """

    name = "npz"
    target: str | None = None
    missing: Missing = field(default=Missing.refuse, metadata=LATER)

    @property
    def files(self) -> tuple[File, ...]:
        """The declared files; an archive with test rows is the file of both parts."""
        files = super().files
        archives = [] if self.test_path else [file for file in files if _has_test_rows(file.path)]
        return (*files, *(replace(file, part="test") for file in archives))

    def _reading(self) -> dict[str, Any]:
        return {"table": Table(target_column(self.target), missing=str(self.missing))}


def _has_test_rows(path: str) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return {"X_test.npy", "y_test.npy"} <= set(archive.namelist())
    except (OSError, zipfile.BadZipFile):  # the reader reports the error
        return False


def _listed(paths: Any) -> tuple[Any, ...]:
    return paths if isinstance(paths, tuple) else (paths,)


def target_column(target: Any) -> str | int:
    """The column of labels; the last one where none is named."""
    return -1 if target is None else target if isinstance(target, int) else str(target)
