"""Groups of cells that belong together, and labels that distinguish methods, data sets and settings."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import asdict

from aucbench.reports.report import OF_METHODS, Report
from aucbench.studies.codec import canonical, subset
from aucbench.studies.plugin_metadata import plugin, toml_beside
from aucbench.studies.record import EntryDescription

if TYPE_CHECKING:
    import pandas as pd

TITLES = "titles.toml"
# With data set and budget: equal on a board.
CONTEXT = ("scaling", "rescale", "regularisation", "protocol", "order", "dtype")
PARENTS = ("features", "loss", "tuning", "protocol")  # their fields are compared where the parent is equal


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
    shared = subset(described, CONTEXT)
    return canonical(shared | {"budget": _budget(described), "tuned": is_tuned(described)})


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

    references = {setting: names.get(label, label) for setting, label in report.references.items()}
    whole: dict[str, pd.DataFrame] = {name: getattr(report, name) for name in OF_METHODS}
    changed: dict[str, Any] = {
        name: frame.assign(
            **{each: frame[each].replace(names) for each in ("method", "reference") if each in frame}
        )
        for name, frame in whole.items()
    }
    return replace(report, references=references, **changed)


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


def setting_texts(by_method: Mapping[str, Iterable[EntryDescription]]) -> tuple[str, dict[str, str]]:
    """What all methods of a board share, in one line, and what is a method's own: "" for none."""
    parts = {name: [_setting(each) for each in own] for name, own in by_method.items()}
    every = [each for own in parts.values() for each in own]
    shared = {name: text for name, text in every[0].items() if all(each[name] == text for each in every)}
    texts = [text for text in shared.values() if text]
    if others := [name for name in every[0] if name not in shared]:
        texts.append(f"not shared by all methods: {', '.join(others)}")
    rest = {
        method: "; ".join(
            " or ".join(dict.fromkeys(each[name] or f"no {name}" for each in own)) for name in others
        )
        for method, own in parts.items()
    }
    return "; ".join(texts), rest


def _setting(described: EntryDescription) -> dict[str, str]:
    """What decides a result besides method and rows, each part in words."""
    budget = {key: value for key, value in _budget(described).items() if value is not None}
    protocol, dataset = described.protocol, described.dataset
    return {
        "data": joined(dataset.parameters | {"part": dataset.part}),
        "protocol": f"{protocol.name} {joined(protocol.parameters)}".strip(),
        "scaling": f"scaling {described.scaling}" + (", rescaled" if described.rescale else ""),
        "regularisation": "regularisation of rescaled rows" if described.regularisation == "rows" else "",
        "budget": joined(budget) or "default budget",
        "order": f"order {described.order}",
        "type": described.dtype,
        "tuning": "tuned" if is_tuned(described) else "not tuned",
    }


def joined(fields: Mapping[str, Any]) -> str:
    """Fields as ``name=value`` words."""
    return " ".join(f"{key}={short(value)}" for key, value in fields.items())


def short(value: Any) -> str:
    """A value of a field, numbers with four significant digits."""
    if isinstance(value, tuple):
        return f"tuned over {len(value)}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _budget(described: EntryDescription) -> dict[str, Any]:
    return {name: value for name, value in asdict(described.budget).items() if name != "checkpoints"}


def _fields(described: EntryDescription, one_study: bool) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for key, value in described.algorithm.parameters.items():
        inner = value if isinstance(value, Mapping) else {}
        fields |= {f"{key}.{name}": each for name, each in inner.items()} or {key: value}
    for group, chosen in (("loss", described.loss), ("features", described.features)):
        if chosen and chosen.name != "identity":
            fields |= _grouped(group, chosen)
    if is_tuned(described):
        fields |= _grouped("tuning", described.tuning)
        fields |= {key: tuple(values) for key, values in described.tuning.space.items()}
    if described.max_train_rows is not None:
        fields["max_train_rows"] = described.max_train_rows
    if one_study:
        fields |= subset(described, ("scaling", "rescale", "regularisation", "order", "dtype"))
        fields |= _grouped("protocol", described.protocol)
        fields |= {name: value for name, value in _budget(described).items() if value is not None}
    fields["distribution"] = described.algorithm.distribution
    return fields


def _grouped(group: str, chosen: Any) -> dict[str, Any]:
    """The name that is chosen from a group, and its parameters."""
    return {group: chosen.name} | {f"{group}.{key}": value for key, value in chosen.parameters.items()}


def _told_apart(groups: Iterable[Sequence[_Named]]) -> dict[str, str]:
    """Identities to names, and in brackets the fields that differ between namesakes of some group.

    Values of a field are written briefly, unless that hides a difference.
    """
    known: dict[str, _Named] = {}
    telling: dict[str, dict[str, None]] = {}  # by name, in order
    for group in groups:
        rivals: dict[str, dict[str, Mapping[str, Any]]] = {}
        for each in group:
            known.setdefault(each.identity, each)
            rivals.setdefault(each.name, {})[each.identity] = each.fields
        for name, namesakes in rivals.items():
            telling.setdefault(name, {}).update(dict.fromkeys(_differing(list(namesakes.values()))))
    words: dict[str, list[str]] = {identity: [] for identity in known}
    for name, key in ((name, key) for name, keys in telling.items() for key in keys):
        own = {at: each.fields[key] for at, each in known.items() if each.name == name and key in each.fields}
        exact, brief = ({write(value) for value in own.values()} for write in (canonical, short))
        write = short if len(brief) == len(exact) else canonical
        for identity, value in own.items():
            words[identity].append(f"{key}={write(value)}")
    return {at: f"{each.name} ({' '.join(words[at])})" if words[at] else each.name
            for at, each in known.items()}  # fmt: skip


def _differing(rivals: Sequence[Mapping[str, Any]]) -> list[str]:
    """Fields that differ; those of a loss, say, only where the loss is the same."""
    names = list(dict.fromkeys(key for fields in rivals for key in fields))
    found = []
    for name in names:
        parent = name.partition(".")[0]
        values: dict[str, set[str]] = {}
        for fields in rivals:
            context = canonical(fields.get(parent)) if parent != name and parent in PARENTS else ""
            values.setdefault(context, set()).add(canonical(fields.get(name)))
        if any(len(own) > 1 for own in values.values()):
            found.append(name)
    return found
