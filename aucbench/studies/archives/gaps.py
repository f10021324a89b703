"""Gaps of an archive for a public board: cells, settings of rulesets, entries of the reference study."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from aucbench.errors import ParameterError
from aucbench.humanize import counted
from aucbench.studies.archives.archive import Archive
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.record import EntryDescription, EntryPlan, Seeds
from aucbench.studies.rerun_command import words

# Settings without effect on results.
IDLE = ("budget.checkpoints", "tuning.report")
# Settings that a ruleset leaves to the study.
FREE = ("dataset", "protocol", "max_train_rows", "seed", "runs", "split_seed", "order_seed")

EntryOf = Callable[[Sequence[str]], Entry]  # composes an entry from overrides and installed plugins


def gaps_of(archive: Archive, entry_of: EntryOf) -> list[str]:
    """Sentences on missing cells, missing rulesets, and departures from the installed rulesets.

    Data sets on which a method has the same gap share a sentence.
    Recorded departures are not trusted: the settings of an entry are compared with those of its method under
    the ruleset.
    """

    @cache
    def ruled(method: str, title: str) -> Entry:
        return entry_of([f"algo={method}", f"ruleset={title}"])

    data_sets: dict[tuple[str, str], list[str]] = {}
    for entry in (entry for plan in archive.studies for entry in plan.entries):
        for gap in _gaps(archive, entry, ruled):
            data_sets.setdefault((entry.algorithm, gap), []).append(entry.dataset)
    return [f"{method} on {', '.join(names)}: {gap}" for (method, gap), names in data_sets.items()]


def lacking(archive: Archive, wanted: Iterable[Entry]) -> list[str]:
    """Sentences on wanted entries that are missing or have other settings or runs, and on extra entries.

    Extra entries are reported for wanted methods only.
    """
    planned = [entry for plan in archive.studies for entry in plan.entries]
    by_name = {(each.algorithm, each.dataset, _title(each)): each for each in reversed(planned)}
    missing: dict[str, list[str]] = {}
    found, known, methods = [], [], set()
    for each in wanted:
        title = _title(each)
        name = each.algorithm.name, each.dataset.title, title
        own = by_name.get(name)
        known.append(own)
        methods.add(each.algorithm.name)
        if own is None:
            missing.setdefault(f"{name[0]} under ruleset={title}", []).append(name[1])
        elif difference := _difference(
            _words(own.described, [*own.cells.values()]), _words(each.describe(), each.cells())
        ):
            found.append(f"{each}, ruleset={title}: not as in the reference study: {difference}")
        elif sorted(own.cells.values()) != sorted(each.cells()):
            found.append(f"{each}, ruleset={title}: other runs than those of the reference study")
    others = [own for own in planned if own.algorithm in methods and all(own is not each for each in known)]
    return [
        *(f"{name} is missing on {', '.join(titles)}" for name, titles in missing.items()),
        *found,
        *(
            f"{own.algorithm} on {own.dataset}: an entry that the reference study does not have"
            for own in others
        ),
    ]


def _title(entry: EntryPlan | Entry) -> str | None:
    return entry.ruleset.title if entry.ruleset else None


def _gaps(archive: Archive, entry: EntryPlan, ruled: Callable[[str, str], Entry]) -> Iterator[str]:
    if len(set(entry.cells.values())) < len(entry.cells):
        yield "has cells of the same run"
    left = [key for key in entry.cells if archive.get(key) is None]
    failures = [failure for key in left if (failure := archive.failure(key)) is not None]
    if failures:
        reasons = ", ".join(sorted({str(failure.reason) for failure in failures}))
        yield f"{counted(len(failures), 'cell')} of {len(entry.cells)} failed ({reasons})"
    if len(left) > len(failures):
        yield f"{len(left) - len(failures)} of {counted(len(entry.cells), 'cell')} missing"
    if not entry.ruleset:
        yield "no ruleset; run it with ruleset=defaults or ruleset=trials"
        return
    try:
        rules = ruled(entry.algorithm, entry.ruleset.title)
    except ParameterError as error:
        yield f"{entry.ruleset} cannot be compared with what is installed here: {error}"
        return
    here = rules.ruleset
    if here and (here.version, here.date) != (entry.ruleset.version, entry.ruleset.date):
        yield f"{entry.ruleset}, and here it has version {here.version} of {here.date}"
    seeds = [*entry.cells.values()]
    own, expected = (_words(each, seeds, FREE) for each in (entry.described, rules.describe()))
    departures = [_difference(own, expected)] if own != expected else [*entry.ruleset.departures]
    if departures:
        yield f"departs from {entry.ruleset}: {' '.join(departures)}"


def _words(described: EntryDescription, seeds: Sequence[Seeds], free: Sequence[str] = ()) -> list[str]:
    """The overrides that differ from defaults, without idle and free settings."""
    names = (*IDLE, *free)
    return [
        word
        for word in words(described, seeds)
        if not any(word.startswith((f"{name}=", f"{name}.")) for name in names)
    ]


def _difference(own: Sequence[str], expected: Sequence[str]) -> str:
    """Overrides that are not expected, then expected overrides that are missing; empty if all are equal."""
    more = [word for word in own if word not in expected]
    names = [word.partition("=")[0] for word in more]
    less = [word for word in expected if word not in own and word.partition("=")[0] not in names]
    return " ".join([*more, *(f"(without {word})" for word in less)])
