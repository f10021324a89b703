"""What the entries of a sweep are called in the lines it prints."""

from collections.abc import Sequence
from typing import Any

from aucbench.studies.entry import Entry
from aucbench.studies.record import DESCRIPTION, FailureRecord, canonical, subset


class Names:
    """Names of entries: method and data set, and whatever differs between those of the same name.

    Parameters
    ----------
    entries : sequence of Entry
        All of the sweep.
    """

    def __init__(self, entries: Sequence[Entry]):
        from aucbench.boards.labelling import sweep_names

        described = [entry.describe() for entry in entries]
        names = sweep_names(described, [_extra(entry) for entry in entries])
        self._known = {id(entry): name for entry, name in zip(entries, names, strict=True)}
        self._described = list(zip(map(canonical, described), entries, names, strict=True))

    def of(self, entry: Entry) -> str:
        """The name of an entry."""
        return " on ".join(self.pair(entry))

    def pair(self, entry: Entry) -> tuple[str, str]:
        """The names of its method and of its data set."""
        return self._known.get(id(entry)) or (entry.algorithm.name, entry.dataset.title)

    def of_failure(self, failure: FailureRecord) -> str:
        """The name of the entry whose cell failed, given what the store keeps of it."""
        of_entry = canonical(subset(failure, DESCRIPTION))
        for described, entry, name in self._described:
            s = entry.settings
            if s.seed <= failure.seed < s.seed + s.runs and described == of_entry:
                return " on ".join(name)
        return f"{failure.algorithm.name} on {failure.dataset.title}"


def _extra(entry: Entry) -> dict[str, Any]:
    """Fields that tell no methods apart on a board, and entries of a sweep."""
    s = entry.settings
    told = {name: getattr(s, name) for name in ("seed", "runs", "split_seed", "order_seed")}
    return {name: value for name, value in told.items() if value is not None} | {
        "checkpoints": entry.budget.checkpoints
    }
