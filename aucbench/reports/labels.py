"""Groups of cells that belong together, and labels that distinguish methods, data sets and settings."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import asdict

from aucbench.reports.report import Report
from aucbench.studies.codec import canonical, grouped, subset
from aucbench.studies.plugin_metadata import plugin, toml_beside
from aucbench.studies.record import EntryDescription

if TYPE_CHECKING:
    import pandas as pd

    from aucbench.reports.cells import BoardCell

TITLES = "titles.toml"
SELF_REPORTED = "self-reported"  # results without a replication on another machine


class _Named(NamedTuple):
    identity: str
    name: str
    fields: Mapping[str, Any]


def is_tuned(described: EntryDescription) -> bool:
    """Whether hyperparameters were tuned."""
    return described.tuning.name != "none"


def dataset_of(described: EntryDescription) -> str:
    """Identity of the data, regardless of the version of the plugin."""
    dataset = described.dataset
    return canonical([dataset.distribution, dataset.name, dataset.parameters, dataset.part])


def setting_of(described: EntryDescription) -> str:
    """Identity of the setting, which boards must share to be ranked together.

    The setting is preparation, protocol, budget, order, and whether anything was tuned. The number of
    checkpoints changes no result. Feature maps, losses, hyperparameters and row limits belong to the method.
    """
    return canonical([_setting(described), is_tuned(described)])


def method_of(described: EntryDescription, one_study: bool = False) -> str:
    """Identity of a method on a board, regardless of its version; in one study with its setting."""
    return canonical([described.algorithm.name, _fields(described, one_study)])


def labels(boards: Iterable[Sequence[EntryDescription]], one_study: bool = False) -> dict[str, str]:
    """From identities of methods to short labels: the name, and in brackets the distinguishing fields.

    A field distinguishes methods if it differs within some board; differences between boards do not count.
    In one study the setting belongs to the method.
    """
    return _distinct(
        [_Named(method_of(item, one_study), item.algorithm.name, _fields(item, one_study)) for item in board]
        for board in boards
    )


def title_of(name: str) -> str:
    """The name of a method in papers, from ``titles.toml`` beside its module, or else the plugin's name."""
    cls = plugin("algo", name)
    return str(toml_beside(cls, TITLES).get(name, name)) if cls else name


def with_titles(report: Report) -> Report:
    """The report with the methods' names in papers, if plugins declare them: PSAM, not psam."""
    plugins = dict(zip(report.methods["method"], report.methods["algorithm"], strict=True))
    names = {label: title_of(name) + label.removeprefix(name) for label, name in plugins.items()}
    if len(set(names.values())) < len(names):
        return report

    def named(frame: "pd.DataFrame") -> "pd.DataFrame":
        columns = [column for column in ("method", "reference") if column in frame]
        return frame.assign(**{column: frame[column].replace(names) for column in columns})

    references = {setting: names.get(label, label) for setting, label in report.references.items()}
    return report.changed(named, references=references)


def sweep_names(
    entries: Sequence[EntryDescription], extras: Sequence[Mapping[str, Any]]
) -> list[tuple[str, str]]:
    """Labels of method and data set of each entry of a sweep, with distinguishing fields in brackets.

    `extras` are further fields of each entry that may differ, such as seeds.
    """
    methods: list[_Named] = []
    boards: dict[str, list[_Named]] = {}  # by data set
    for entry, extra in zip(entries, extras, strict=True):
        fields = _fields(entry, one_study=True) | dict(extra)
        fields |= {"features": "identity", "tuning": "none"} | fields
        methods.append(_Named(canonical([entry.algorithm.name, fields]), entry.algorithm.name, fields))
        boards.setdefault(dataset_of(entry), []).append(methods[-1])
    names = _distinct(boards.values())
    return list(zip((names[method.identity] for method in methods), dataset_names(entries), strict=True))


def dataset_names(entries: Sequence[EntryDescription]) -> list[str]:
    """Titles of the data sets of entries, with fields in brackets that distinguish equal titles."""
    datasets = []
    for entry in entries:
        facts = {name: getattr(entry.dataset, name) for name in ("part", "name", "distribution")}
        fields = {f"dataset.{key}" if key in facts else key: x for key, x in entry.dataset.parameters.items()}
        datasets.append(_Named(dataset_of(entry), entry.dataset.title, fields | facts))
    named = _distinct([datasets])
    return [named[dataset.identity] for dataset in datasets]


def parameters_text(described: EntryDescription) -> str:
    """All fields of the method, in one line."""
    fields = _fields(described, one_study=False)
    fields.pop("distribution")
    return joined(fields)


def setting_texts(cells: Mapping[Any, "BoardCell"]) -> tuple[list[str], list[str]]:
    """Texts of the conditions shared by all methods, for each data set, and of the others, for each place.

    A place is (setting, data set, method); the places of a data set are consecutive.
    """
    fields = {place: _conditions(cell) for place, cell in cells.items()}
    boards: dict[Any, list[dict[str, Any]]] = {}
    for place, conditions in fields.items():
        boards.setdefault(place[:2], []).append(conditions)
    shared = {
        board: {key: value for key, value in rows[0].items() if all(row.get(key) == value for row in rows)}
        for board, rows in boards.items()
    }
    extras = [{key: row[key] for key in row if key not in shared[place[:2]]} for place, row in fields.items()]
    return list(map(joined, shared.values())), list(map(joined, extras))


def _conditions(cell: "BoardCell") -> dict[str, Any]:
    """Conditions of a result other than method and rows, and the ruleset of its plan."""
    described, ruleset = cell.described, cell.ruleset
    fields = {f"dataset.{key}": value for key, value in described.dataset.parameters.items()}
    fields |= {"dataset.part": described.dataset.part, "tuned": is_tuned(described)} | _setting(described)
    fields |= {} if _budget(described) else {"budget": "default"}
    if ruleset:
        fields["ruleset"] = str(ruleset).removeprefix("ruleset ")
        fields |= {"departures": " ".join(ruleset.departures)} if ruleset.departures else {}
    return fields


def joined(fields: Mapping[str, Any]) -> str:
    """Fields as ``name=value``, separated by blanks."""
    return " ".join(f"{key}={short(value)}" for key, value in fields.items())


def short(value: Any) -> str:
    """A value of a field, numbers with four significant digits."""
    if isinstance(value, tuple):
        return f"tuned over {len(value)}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _setting(described: EntryDescription) -> dict[str, Any]:
    """Conditions of a result other than method and rows, by the names of overrides."""
    fields = subset(described, ("scaling", "rescale", "regularisation", "order", "dtype"))
    return fields | grouped("protocol", described.protocol) | _budget(described)


def _budget(described: EntryDescription) -> dict[str, Any]:
    budget = asdict(described.budget)
    return {key: budget[key] for key in budget if key != "checkpoints" and budget[key] is not None}


def _fields(described: EntryDescription, one_study: bool) -> dict[str, Any]:
    """Fields of the method, by the names of overrides; in one study also the setting."""
    fields: dict[str, Any] = {}
    for key, value in described.algorithm.parameters.items():
        inner = value if isinstance(value, Mapping) else {}
        fields |= {f"{key}.{name}": item for name, item in inner.items()} or {key: value}
    for group, chosen in (("loss", described.loss), ("features", described.features)):
        if chosen and chosen.name != "identity":
            fields |= grouped(group, chosen)
    if is_tuned(described):
        fields |= grouped("tuning", described.tuning)
        fields |= {key: tuple(values) for key, values in described.tuning.space.items()}
    if described.max_train_rows is not None:
        fields["max_train_rows"] = described.max_train_rows
    return fields | (_setting(described) if one_study else {}) | subset(described.algorithm, ["distribution"])


def _distinct(groups: Iterable[Sequence[_Named]]) -> dict[str, str]:
    """From identities to labels: the name, and in brackets fields that differ between equal names of a group.

    Values of a field are written briefly, unless a difference would be lost.
    """
    all_members: dict[str, _Named] = {}
    differences: dict[str, dict[str, None]] = {}  # by name, in order
    for group in groups:
        members = {member.identity: member for member in group}
        all_members = members | all_members
        rivals: dict[str, list[Mapping[str, Any]]] = {}
        for member in members.values():
            rivals.setdefault(member.name, []).append(member.fields)
        for name, namesakes in rivals.items():
            differences.setdefault(name, {}).update(dict.fromkeys(_differing(namesakes)))
    details: dict[str, list[str]] = {identity: [] for identity in all_members}
    for name, key in ((name, key) for name, keys in differences.items() for key in keys):
        by_identity = {at: member.fields for at, member in all_members.items() if member.name == name}
        values = {at: fields[key] for at, fields in by_identity.items() if key in fields}
        exact, brief = ({write(value) for value in values.values()} for write in (canonical, short))
        write = short if len(brief) == len(exact) else canonical
        for identity, value in values.items():
            details[identity].append(f"{key}={write(value)}")
    return {at: f"{member.name} ({' '.join(details[at])})" if details[at] else member.name
            for at, member in all_members.items()}  # fmt: skip


def _differing(rivals: Sequence[Mapping[str, Any]]) -> list[str]:
    """Fields that differ; fields of a group, such as the loss, are compared only if the group agrees."""
    names = []
    for name in dict.fromkeys(key for fields in rivals for key in fields):
        context = name.partition(".")[0] if "." in name else ""
        values = {(canonical(fields.get(context)), canonical(fields.get(name))) for fields in rivals}
        if len(values) > len({group for group, _ in values}):
            names.append(name)
    return names
