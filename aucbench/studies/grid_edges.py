"""The settings that tunings chose: in words, on which edge of a grid they lie, and what lies beyond it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from aucbench.contracts.hyperparameters import coerced_field
from aucbench.studies.record import CellRecord, TuningRecord


def edges(space: Mapping[str, Sequence[Any]], chosen: Mapping[str, Any]) -> dict[str, str]:
    """The fields whose chosen value is the smallest ("lower") or largest ("upper") number that was tried.

    Parameters
    ----------
    space : mapping
        Field to the values tried; a field with fewer than two different numbers has no edge.
    chosen : mapping
        Field to value; text, booleans and None lie on no edge.
    """
    found = {}
    for field, values in space.items():
        known, value = _numbers(values), chosen.get(field)
        if len(known) > 1 and _is_number(value) and value in (known[0], known[-1]):
            found[field] = "lower" if value == known[0] else "upper"
    return found


def beyond(algorithm: Any, field: str, values: Sequence[Any], side: str) -> Any:
    """The value that continues a grid beyond its lower or upper edge; None where the field has no such value.

    Evenly spaced values (at least three) go on by their difference, positive ones otherwise by the ratio of
    the two outermost. No grid of values >= 0 goes on below 0.

    Parameters
    ----------
    algorithm : Algorithm
        An instance, whose class says which values the field may have.
    field : str
        Its name.
    values : sequence
        The values tried, at least two different numbers among them.
    side : {"lower", "upper"}
        The edge.
    """
    known = _numbers(values)
    outermost, inner = (known[0], known[1]) if side == "lower" else (known[-1], known[-2])
    evenly = len(known) > 2 and np.allclose(np.diff(known), known[1] - known[0], rtol=1e-6, atol=0.0)
    if min(outermost, inner) > 0 and not evenly:
        number = outermost * (outermost / inner)
    else:
        number = outermost + (outermost - inner)
    if known[0] >= 0 > number:
        return None
    try:
        number = round(number) if all(isinstance(each, int) for each in known) else float(f"{number:.15g}")
        value = getattr(replace(algorithm, **{field: coerced_field(algorithm, field, number)}), field)
    except Exception:  # out of the field's range, or refused by the method
        return None
    return value if value < known[0] or value > known[-1] else None


def in_words(records: Iterable[CellRecord]) -> str:
    """The settings chosen in some runs, the most frequent first; how often each, where they differ."""
    counts = Counter(_setting(record.tuned.parameters) for record in records if record.tuned)
    if len(counts) < 2:
        return "".join(counts)
    return "; ".join(f"{setting} ({count})" for setting, count in counts.most_common())


def at_edges(records: Iterable[CellRecord]) -> list[tuple[str, str]]:
    """Methods, and sentences that say which of their fields were chosen on an edge of the values tried."""
    found: dict[str, Counter[tuple[str, str]]] = {}
    runs: Counter[str] = Counter()
    advice = {}
    for record in records:
        if record.tuned:
            name = record.algorithm.name
            runs[name] += 1
            advice[name] = _advice(record.tuning)
            found.setdefault(name, Counter()).update((record.tuned.edges or {}).items())
    return [
        (name, f"{field} at the {side} edge of its grid{_often(count, runs[name])}: {advice[name]}")
        for name, counts in found.items()
        for (field, side), count in counts.most_common()
    ]


def _often(count: int, runs: int) -> str:
    return "" if runs == 1 else f" in {count} of {runs} runs"


def _advice(tuning: TuningRecord) -> str:
    if tuning.name != "grid":
        return "a wider tuning.grid goes on beyond it"
    if tuning.parameters.get("extend"):
        return "tuning.extend=true ended there"
    return "tuning.extend=true goes on beyond it"


def _setting(parameters: Mapping[str, Any]) -> str:
    return " ".join(
        f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}"
        for key, value in parameters.items()
    )


def _numbers(values: Iterable[Any]) -> list[Any]:
    """The different numbers among some values, ascending."""
    return sorted({value for value in values if _is_number(value)})


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
