"""Which cells share a board, and how the rows of a board are told apart."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

CONTEXT = ("dataset", "scaling", "protocol", "order", "dtype")  # equal on a board
METHOD = ("algorithm", "loss", "features", "tuning", "max_train_rows")  # tell its rows apart


def board_of(described: Mapping[str, Any]) -> str:
    """Identity of a board: data, preparation, protocol, budget, order, and whether anything was tuned.

    The number of checkpoints changes no result. Feature maps, losses, hyper-parameters and limits of the
    training rows belong to the method.
    """
    budget = {name: value for name, value in described["budget"].items() if name != "checkpoints"}
    shared = {name: described[name] for name in CONTEXT}
    return _text(shared | {"budget": budget, "tuned": is_tuned(described)})


def method_of(described: Mapping[str, Any]) -> str:
    """Identity of a method on a board."""
    return _text({name: described[name] for name in METHOD} | {"source": described.get("source")})


def is_tuned(described: Mapping[str, Any]) -> bool:
    """Whether hyper-parameters were chosen by a tuning."""
    return described["tuning"]["name"] != "none"


def labels(methods: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """A short name for each method of a board: its own, and in brackets what it differs in from namesakes."""
    by_name: dict[str, list[str]] = {}
    for identity, described in methods.items():
        by_name.setdefault(described["algorithm"]["name"], []).append(identity)
    found = {}
    for name, identities in by_name.items():
        fields = {identity: _fields(methods[identity]) for identity in identities}
        for identity in identities:
            others = [fields[other] for other in identities if other != identity]
            different = {
                key: value
                for key, value in fields[identity].items()
                if any(other.get(key) != value for other in others)
            }
            found[identity] = f"{name} ({joined(different) or 'other code'})" if others else name
    return _distinct(found)


def parameters_text(described: Mapping[str, Any]) -> str:
    """All that belongs to the method, in one line."""
    return joined(_fields(described))


def setting_text(described: Mapping[str, Any]) -> str:
    """What the board has in common, in one line."""
    budget = {k: v for k, v in described["budget"].items() if k != "checkpoints" and v is not None}
    protocol = described["protocol"]
    parts = [
        joined(described["dataset"]["parameters"] | {"part": described["dataset"]["part"]}),
        f"{protocol['name']} {joined(protocol['parameters'])}".strip(),
        f"scaling {described['scaling']}",
        joined(budget) or "default budget",
        f"order {described['order']}",
        described["dtype"],
        "tuned" if is_tuned(described) else "not tuned",
    ]
    return "; ".join(part for part in parts if part)


def joined(fields: Mapping[str, Any]) -> str:
    """Fields as ``name=value`` words."""
    return " ".join(f"{key}={_short(value)}" for key, value in fields.items())


def _fields(described: Mapping[str, Any]) -> dict[str, Any]:
    fields = dict(described["algorithm"]["parameters"])
    for group in ("loss", "features"):
        chosen = described[group]
        if chosen and chosen["name"] != "identity":
            fields[group] = chosen["name"]
            fields |= {f"{group}.{key}": value for key, value in chosen["parameters"].items()}
    tuning = described["tuning"]
    if tuning["name"] != "none":
        fields["tuning"] = tuning["name"]
        fields |= {f"tuning.{key}": value for key, value in tuning["parameters"].items()}
        fields |= {key: f"tuned over {len(values)}" for key, values in tuning["space"].items()}
    if described["max_train_rows"] is not None:
        fields["max_train_rows"] = described["max_train_rows"]
    return fields


def _distinct(found: dict[str, str]) -> dict[str, str]:
    """Equal labels get numbers."""
    seen: dict[str, int] = {}
    for identity, label in found.items():
        seen[label] = seen.get(label, 0) + 1
        if seen[label] > 1:
            found[identity] = f"{label} #{seen[label]}"
    return found


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _text(content: Any) -> str:
    return json.dumps(content, sort_keys=True, default=str)


def methods_of(cells: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The methods among some described cells, by identity, in order of appearance."""
    found: dict[str, Mapping[str, Any]] = {}
    for described in cells:
        found.setdefault(method_of(described), described)
    return found


def letters_of(groups: Iterable[Iterable[Any]]) -> dict[str, str]:
    """Methods to the letters of the groups they are in."""
    found: dict[str, str] = {}
    for number, members in enumerate(groups):
        letter = chr(ord("a") + number) if number < 26 else f"({number + 1})"
        for method in members:
            found[str(method)] = found.get(str(method), "") + letter
    return found
