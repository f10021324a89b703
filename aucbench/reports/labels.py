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
SELF_REPORTED = "self-reported"  # results that no other machine has replicated


class _Named(NamedTuple):
    identity: str
    name: str
    fields: Mapping[str, Any]


def is_tuned(described: EntryDescription) -> bool:
    """Whether hyperparameters were chosen by a tuning."""
    return described.tuning.name != "none"


def dataset_of(described: EntryDescription) -> str:
    """Identity of the data, whatever the version of the plugin that declares it."""
    dataset = described.dataset
    return canonical([dataset.distribution, dataset.name, dataset.parameters, dataset.part])


def setting_of(described: EntryDescription) -> str:
    """Identity of what boards that are ranked together share.

    Preparation, protocol, budget, order, and whether anything was tuned. The number of checkpoints changes no
    result. Feature maps, losses, hyperparameters and limits of the training rows belong to the method.
    """
    return canonical([_setting(described), is_tuned(described)])


def method_of(described: EntryDescription, one_study: bool = False) -> str:
    """Identity of a method on a board, whatever the version of its code; in a study with its setting."""
    return canonical([described.algorithm.name, _fields(described, one_study)])


def labels(boards: Iterable[Sequence[EntryDescription]], one_study: bool = False) -> dict[str, str]:
    """Identities of methods to short names: the method's own, and in brackets what tells it from namesakes.

    A field tells methods apart where it differs on some board; what differs from one board to the next does
    not. In one study the setting belongs to the method.
    """
    return _told_apart(
        [_Named(method_of(each, one_study), each.algorithm.name, _fields(each, one_study)) for each in board]
        for board in boards
    )


def title_of(name: str) -> str:
    """The name of a method in papers: that in ``titles.toml`` beside its module, else that of the plugin."""
    cls = plugin("algo", name)
    return str(toml_beside(cls, TITLES).get(name, name)) if cls else name


def with_titles(report: Report) -> Report:
    """The report with methods named as papers name them, where plugins say how: PSAM, not psam."""
    own = dict(zip(report.methods["method"], report.methods["algorithm"], strict=True))
    names = {label: title_of(name) + label.removeprefix(name) for label, name in own.items()}
    if len(set(names.values())) < len(names):
        return report

    def named(frame: "pd.DataFrame") -> "pd.DataFrame":
        own = [each for each in ("method", "reference") if each in frame]
        return frame.assign(**{each: frame[each].replace(names) for each in own})

    references = {setting: names.get(label, label) for setting, label in report.references.items()}
    return report.changed(named, references=references)


def sweep_names(
    entries: Sequence[EntryDescription], extras: Sequence[Mapping[str, Any]]
) -> list[tuple[str, str]]:
    """Names of method and data set of each entry of a sweep, in brackets what differs from namesakes.

    `extras` are more fields of each entry that may differ, such as seeds.
    """
    methods: list[_Named] = []
    boards: dict[str, list[_Named]] = {}  # boards by data set
    for each, extra in zip(entries, extras, strict=True):
        fields = _fields(each, one_study=True) | dict(extra)
        fields |= {"features": "identity", "tuning": "none"} | fields
        methods.append(_Named(canonical([each.algorithm.name, fields]), each.algorithm.name, fields))
        boards.setdefault(dataset_of(each), []).append(methods[-1])
    names = _told_apart(boards.values())
    return list(zip((names[each.identity] for each in methods), dataset_names(entries), strict=True))


def dataset_names(entries: Sequence[EntryDescription]) -> list[str]:
    """Titles of the data sets of entries, in brackets what tells one from others of that title."""
    datasets = []
    for each in entries:
        own = {name: getattr(each.dataset, name) for name in ("part", "name", "distribution")}
        fields = {f"dataset.{key}" if key in own else key: x for key, x in each.dataset.parameters.items()}
        datasets.append(_Named(dataset_of(each), each.dataset.title, fields | own))
    named = _told_apart([datasets])
    return [named[each.identity] for each in datasets]


def parameters_text(described: EntryDescription) -> str:
    """All that belongs to the method, in one line."""
    fields = _fields(described, one_study=False)
    fields.pop("distribution")
    return joined(fields)


def setting_texts(cells: Mapping[Any, "BoardCell"]) -> tuple[list[str], list[str]]:
    """What all methods of a data set share, a text a data set, and what is a method's own, a text a place.

    The places of the cells are setting, data set and method; those of a data set follow each other.
    """
    fields = {place: _conditions(cell) for place, cell in cells.items()}
    boards: dict[Any, list[dict[str, Any]]] = {}
    for place, own in fields.items():
        boards.setdefault(place[:2], []).append(own)
    shared = {
        board: {key: value for key, value in own[0].items() if all(each.get(key) == value for each in own)}
        for board, own in boards.items()
    }
    rest = [{key: own[key] for key in own if key not in shared[place[:2]]} for place, own in fields.items()]
    return list(map(joined, shared.values())), list(map(joined, rest))


def _conditions(cell: "BoardCell") -> dict[str, Any]:
    """What decides a result besides method and rows, and the ruleset under which it was planned."""
    described, ruleset = cell.described, cell.ruleset
    found = {f"dataset.{key}": value for key, value in described.dataset.parameters.items()}
    found |= {"dataset.part": described.dataset.part, "tuned": is_tuned(described)} | _setting(described)
    found |= {} if _budget(described) else {"budget": "default"}
    if ruleset:
        found["ruleset"] = str(ruleset).removeprefix("ruleset ")
        found |= {"departures": " ".join(ruleset.departures)} if ruleset.departures else {}
    return found


def joined(fields: Mapping[str, Any]) -> str:
    """Fields as ``name=value`` words."""
    return " ".join(f"{key}={short(value)}" for key, value in fields.items())


def short(value: Any) -> str:
    """A value of a field, numbers with four significant digits."""
    if isinstance(value, tuple):
        return f"tuned over {len(value)}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _setting(described: EntryDescription) -> dict[str, Any]:
    """What decides a result besides method and rows, by the names of overrides."""
    fields = subset(described, ("scaling", "rescale", "regularisation", "order", "dtype"))
    return fields | grouped("protocol", described.protocol) | _budget(described)


def _budget(described: EntryDescription) -> dict[str, Any]:
    own = asdict(described.budget)
    return {key: own[key] for key in own if key != "checkpoints" and own[key] is not None}


def _fields(described: EntryDescription, one_study: bool) -> dict[str, Any]:
    """What belongs to the method, by the names of overrides; in one study its setting, too."""
    fields: dict[str, Any] = {}
    for key, value in described.algorithm.parameters.items():
        inner = value if isinstance(value, Mapping) else {}
        fields |= {f"{key}.{name}": each for name, each in inner.items()} or {key: value}
    for group, chosen in (("loss", described.loss), ("features", described.features)):
        if chosen and chosen.name != "identity":
            fields |= grouped(group, chosen)
    if is_tuned(described):
        fields |= grouped("tuning", described.tuning)
        fields |= {key: tuple(values) for key, values in described.tuning.space.items()}
    if described.max_train_rows is not None:
        fields["max_train_rows"] = described.max_train_rows
    return fields | (_setting(described) if one_study else {}) | subset(described.algorithm, ["distribution"])


def _told_apart(groups: Iterable[Sequence[_Named]]) -> dict[str, str]:
    """Identities to names, and in brackets the fields that differ between namesakes of some group.

    Values of a field are written briefly, unless that hides a difference.
    """
    known: dict[str, _Named] = {}
    telling: dict[str, dict[str, None]] = {}  # by name, in order
    for group in groups:
        members = {each.identity: each for each in group}
        known = members | known
        rivals: dict[str, list[Mapping[str, Any]]] = {}
        for each in members.values():
            rivals.setdefault(each.name, []).append(each.fields)
        for name, namesakes in rivals.items():
            telling.setdefault(name, {}).update(dict.fromkeys(_differing(namesakes)))
    words: dict[str, list[str]] = {identity: [] for identity in known}
    for name, key in ((name, key) for name, keys in telling.items() for key in keys):
        own = {at: each.fields for at, each in known.items() if each.name == name}
        values = {at: fields[key] for at, fields in own.items() if key in fields}
        exact, brief = ({write(value) for value in values.values()} for write in (canonical, short))
        write = short if len(brief) == len(exact) else canonical
        for identity, value in values.items():
            words[identity].append(f"{key}={write(value)}")
    return {at: f"{each.name} ({' '.join(words[at])})" if words[at] else each.name
            for at, each in known.items()}  # fmt: skip


def _differing(rivals: Sequence[Mapping[str, Any]]) -> list[str]:
    """Fields that differ; those of a loss, say, only where the loss is the same."""
    found = []
    for name in dict.fromkeys(key for fields in rivals for key in fields):
        context = name.partition(".")[0] if "." in name else ""
        values = {(canonical(fields.get(context)), canonical(fields.get(name))) for fields in rivals}
        if len(values) > len({where for where, _ in values}):
            found.append(name)
    return found
