"""Data sets that are declared in TOML tables, one file for each collection.

    title = "Data sets of my group"

    [defaults]
    urls = ["https://example.org/{file}.zip#{file}.csv"]
    kind = "csv"
    path = "mine/{file}.csv"

    [my_valves]
    summary = "Valves that leak (positive): 1,000 rows, 12 features, 3% positive."
    file = "valves"
    rows = 1000
    labels = { tight = 970, leaks = 30 }
    positive = "leaks"
    licence = "CC BY 4.0"

Each table declares one data set by its name. The keys are those of `aucbench.File`, of `aucbench.Table` and
of the data set itself; `_Entry` and `_FileEntry` list them. Names in braces in the texts of ``[defaults]``
stand for keys of the data set, and ``like`` copies the keys of another data set of the file.
"""

import sys
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import msgspec

from aucbench import File, Grouping, ParameterError, PluginError, Table
from aucbench_datasets._labels import SeveralClasses, checked_positive

Column = int | str
Label = int | float | str


class _FileEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys of one file."""

    path: str = ""
    part: Literal["train", "test"] = "train"
    rows: int | None = None
    labels: dict[str, int] = {}
    label_counts: list[int] = []  # replaces `labels` if the labels are consecutive whole numbers
    first_label: int = 1
    sha256: str | None = None
    urls: list[str] = []
    kind: str = "libsvm"
    by_hand: str = ""
    zero_based: bool = False
    target: Column = -1
    drop: list[Column] = []
    header: bool | None = None
    delimiter: str | None = None
    missing: Literal["refuse", "median"] = "refuse"
    categories: list[Column] = []  # columns whose cells are categories, also where they look like numbers

    def file(self) -> File:
        """The declaration as the framework reads it."""
        return File(
            self.path,
            part=self.part,
            rows=self.rows,
            labels={_label(text): count for text, count in self.labels.items()}
            or {float(self.first_label + i): count for i, count in enumerate(self.label_counts)},
            sha256=self.sha256,
            urls=tuple(self.urls),
            kind=self.kind,
            table=Table(
                self.target,
                tuple(self.drop),
                header=self.header,
                delimiter=self.delimiter,
                missing=self.missing,
                types=tuple((column, "categories") for column in self.categories),
            ),
            zero_based=self.zero_based,
            by_hand=self.by_hand,
        )


class _Entry(_FileEntry, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys of one data set, with those of its file if it has one file only."""

    summary: str = ""
    files: list[_FileEntry] = []
    features: int | None = None
    positive: Label | list[Label] | None = None
    grouping: Literal["halves", "rarest"] | None = None  # of several classes, unless `positive` is declared
    topics: bool = False  # rows have any number of labels; one label is chosen
    scaled: bool = False
    large: bool = False
    family: str | None = None  # of data sets with a common origin
    citation: str = ""
    licence: str = "not stated"
    file_name: str = msgspec.field(default="", name="file")  # this and `folder` are for braces in [defaults]
    folder: str = ""


@dataclass(frozen=True)
class _Declared:
    """A data set of two classes."""


@dataclass(frozen=True)
class _Halves(SeveralClasses):
    """A data set of several classes, a random half of which is positive."""


@dataclass(frozen=True)
class _Rarest(SeveralClasses):
    """A data set of several classes, the rarest of which is positive."""

    grouping: Grouping = Grouping.rarest


@dataclass(frozen=True)
class _ByTopic:
    """A data set whose rows have any number of labels.

    Parameters
    ----------
    topic : number, optional
        The label whose rows are positive; by default the label with most training rows.
    """

    name = "declared"
    _declared: ClassVar[tuple[File, ...]] = ()
    topic: Any = None

    def __post_init__(self) -> None:
        if isinstance(self.topic, bool) or not isinstance(self.topic, int | float | None):
            raise ParameterError(f"{self.name}: topic must be the number of a label, got {self.topic!r}.")

    @property
    def files(self) -> tuple[File, ...]:
        """The declared files, with the topic."""
        topic = "largest" if self.topic is None else float(self.topic)
        return tuple(replace(file, topic=topic) for file in self._declared)


_OF_FILE = set(_FileEntry.__struct_encode_fields__)
_GROUPED: dict[str, type] = {"halves": _Halves, "rarest": _Rarest}


def datasets_from_toml(path: str | Path, module: str) -> tuple[type, ...]:
    """The data sets of a TOML file as classes, for the hook ``aucbench_datasets``.

    Parameters
    ----------
    path : str or Path
        The file.
    module : str
        ``__name__`` of the calling module, which gets each class as an attribute: `pickle` finds it there.

    Returns
    -------
    tuple of type
        In the order of the file.

    Raises
    ------
    PluginError
        The file is no TOML, or a key is unknown, missing or of another type; names the key.

    Examples
    --------
    In a module that the entry point names, with the file beside it::

        DATASETS = datasets_from_toml(Path(__file__).with_name("mine.toml"), __name__)

        @aucbench.hookimpl
        def aucbench_datasets():
            return DATASETS
    """
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise PluginError(f"{path} cannot be read: {error}.") from None
    title, defaults = content.pop("title", ""), content.pop("defaults", {})
    _checked(f"{path}, [defaults]", defaults)
    classes = []
    for name, entry in content.items():
        where = f"{path}, [{name}]"
        if not isinstance(entry, dict):
            raise PluginError(f"{path}: {name} = {entry!r} stands outside a table; expected title or [NAME].")
        if not name.isidentifier():
            raise PluginError(f"{where}: the name must be a word of letters, digits and underscores.")
        table = _taken_over(where, entry, content)
        _checked(where, table)
        spec = _checked(where, _with_defaults(where, table, defaults))
        if not spec.summary or not all(part.path for part in spec.files or [spec]):
            raise PluginError(f"{where} needs {'a path' if spec.summary else 'a summary'}.")
        classes.append(_data_set(name, spec, title, module))
    for cls in classes:
        setattr(sys.modules[module], cls.__name__, cls)
    return tuple(classes)


def _checked(where: str, entry: dict[str, Any]) -> _Entry:
    """An entry whose keys are known and have values of their types."""
    try:
        return msgspec.convert(entry, _Entry)
    except msgspec.ValidationError as error:
        raise PluginError(f"{where}: {error}.") from None


def _taken_over(where: str, entry: dict[str, Any], tables: dict[str, Any]) -> dict[str, Any]:
    """An entry with the keys that it copies from another entry by ``like``."""
    if "like" not in entry:
        return entry
    base = tables.get(entry["like"])
    if not isinstance(base, dict):
        raise PluginError(f"{where}: there is no data set [{entry['like']}] in this file.")
    return {key: value for key, value in (base | entry).items() if key != "like"}


def _with_defaults(where: str, entry: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """An entry with defaults for its missing keys; defaults of files go into each file."""
    parts = entry.get("files", [entry])
    if "files" in entry and (stray := sorted(_OF_FILE & entry.keys())):
        raise PluginError(f"{where}: {stray[0]} stands beside files; write it into each of these.")
    counts = entry.get("labels", {}).values()
    fields = entry | {"rarest": f"{100 * min(counts) / sum(counts):.2g}%" if counts else ""}
    missing = {
        key for key in defaults if any(key not in part for part in (parts if key in _OF_FILE else [entry]))
    }
    try:
        filled = {key: _filled(defaults[key], fields) for key in defaults if key in missing}
    except (KeyError, ValueError) as error:
        raise PluginError(f"{where}: the braces of a default cannot be filled in ({error}).") from None
    if "files" in entry:
        file_defaults = {key: filled.pop(key) for key in _OF_FILE & filled.keys()}
        entry = entry | {"files": [file_defaults | part for part in parts]}
    return filled | entry


def _filled(value: Any, fields: dict[str, Any]) -> Any:
    if isinstance(value, str):
        return value.format_map(fields)
    return [_filled(item, fields) for item in value] if isinstance(value, list) else value


def _data_set(name: str, entry: _Entry, title: str, module: str) -> type:
    """The class of a data set, a subclass of a dataclass, since subclasses are quick to make."""
    base: type = _Declared
    if entry.topics:
        base = _ByTopic
    elif entry.grouping and entry.positive is None:
        base = _GROUPED[entry.grouping]
    files = tuple(part.file() for part in entry.files or [entry])
    facts: dict[str, Any] = {
        "name": name,
        "_declared" if entry.topics else "files": files,
        "collection": title,
        "family": entry.family or name,
        "citation": entry.citation,
        "licence": entry.licence,
    }
    if entry.features is not None:
        facts["features"] = entry.features
    if entry.positive is not None:
        facts["positive"] = checked_positive(name, entry.positive)
    facts |= {flag: True for flag in ("scaled", "large") if getattr(entry, flag)}
    return type(name, (base,), facts | {"__doc__": entry.summary, "__module__": module})


def _label(text: str) -> Label:
    """The label as a number if the text is a number, else the text."""
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text
