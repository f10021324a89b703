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
        for gap in (*_missing(archive, entry), *_departures(entry, ruled)):
            data_sets.setdefault((entry.algorithm, gap), []).append(entry.dataset)
    return [f"{method} on {', '.join(names)}: {gap}" for (method, gap), names in data_sets.items()]


def lacking(archive: Archive, wanted: Iterable[Entry]) -> list[str]:
    """Sentences on wanted entries that are missing or have other settings or runs, and on extra entries.

    Extra entries are reported for wanted methods only.
    """
    planned: dict[tuple[str, str, str | None], list[EntryPlan]] = {}
    for own in (entry for plan in archive.studies for entry in plan.entries):
        planned.setdefault((own.algorithm, own.dataset, _title(own)), []).append(own)
    missing: dict[str, list[str]] = {}
    found, methods = [], set()
    for each in wanted:
        name = each.algorithm.name, each.dataset.title, _title(each)
        methods.add(name[0])
        if not planned.get(name):
            missing.setdefault(f"{name[0]} under ruleset={name[2]}", []).append(name[1])
            continue
        own = planned[name].pop(0)
        there, here = sorted(own.cells.values()), sorted(each.cells())
        if difference := _difference(_words(own.described, there), _words(each.describe(), here)):
            found.append(f"{each}, ruleset={name[2]}: not as in the reference study: {difference}")
        elif there != here:
            found.append(f"{each}, ruleset={name[2]}: other runs than those of the reference study")
    extra = [own for entries in planned.values() for own in entries if own.algorithm in methods]
    return [
        *(f"{name} is missing on {', '.join(titles)}" for name, titles in missing.items()),
        *found,
        *(f"{e.algorithm} on {e.dataset}: an entry that the reference study does not have" for e in extra),
    ]


def _title(entry: EntryPlan | Entry) -> str | None:
    return entry.ruleset.title if entry.ruleset else None


def _missing(archive: Archive, entry: EntryPlan) -> Iterator[str]:
    if len(set(entry.cells.values())) < len(entry.cells):
        yield "has cells of the same run"
    left = [key for key in entry.cells if archive.get(key) is None]
    failures = [failure for key in left if (failure := archive.failure(key)) is not None]
    if failures:
        reasons = ", ".join(sorted({str(failure.reason) for failure in failures}))
        yield f"{counted(len(failures), 'cell')} of {len(entry.cells)} failed ({reasons})"
    if len(left) > len(failures):
        yield f"{len(left) - len(failures)} of {counted(len(entry.cells), 'cell')} missing"


def _departures(entry: EntryPlan, ruled: Callable[[str, str], Entry]) -> Iterator[str]:
    if not entry.ruleset:
        yield "no ruleset; run it with ruleset=defaults or ruleset=trials"
        return
    try:
        rules = ruled(entry.algorithm, entry.ruleset.title)
    except ParameterError as error:
        yield f"{entry.ruleset} cannot be compared with what is installed here: {error}"
        return
    here, seeds = rules.ruleset, [*entry.cells.values()]
    if here and (here.version, here.date) != (entry.ruleset.version, entry.ruleset.date):
        yield f"{entry.ruleset}, and here it has version {here.version} of {here.date}"
    own, expected = (_words(each, seeds, FREE) for each in (entry.described, rules.describe()))
    if own != expected or entry.ruleset.departures:
        difference = _difference(own, expected) or " ".join(entry.ruleset.departures)
        yield f"departs from {entry.ruleset}: {difference}"


def _words(described: EntryDescription, seeds: Sequence[Seeds], free: Sequence[str] = ()) -> list[str]:
    """The overrides that differ from defaults, without idle and free settings."""
    names = tuple(f"{name}{end}" for name in (*IDLE, *free) for end in "=.")
    return [word for word in words(described, seeds) if not word.startswith(names)]


def _difference(own: Sequence[str], expected: Sequence[str]) -> str:
    """Overrides that are not expected, then expected overrides that are missing; empty if all are equal."""
    more = [word for word in own if word not in expected]
    names = [word.partition("=")[0] for word in more]
    less = [word for word in expected if word not in own and word.partition("=")[0] not in names]
    return " ".join([*more, *(f"(without {word})" for word in less)])
