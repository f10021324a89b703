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
    Recorded departures are not trusted: the settings of an entry are compared with the settings of its method
    under the ruleset.
    """

    @cache
    def ruled(method: str, title: str) -> Entry:
        return entry_of([f"algo={method}", f"ruleset={title}"])

    data_sets: dict[tuple[str, str], list[str]] = {}
    for entry in (entry for plan in archive.studies for entry in plan.entries):
        for gap in (*_missing(archive, entry), *_departures(entry, ruled)):
            data_sets.setdefault((entry.algorithm, gap), []).append(entry.dataset)
    return [f"{method} on {', '.join(names)}: {gap}" for (method, gap), names in data_sets.items()]


def lacking(archive: Archive, reference: Iterable[Entry]) -> list[str]:
    """Sentences on reference entries that are missing or have other settings or runs, and on extra entries.

    Extra entries are reported only for methods of the reference.
    """
    planned: dict[tuple[str, str, str | None], list[EntryPlan]] = {}
    for entry in (entry for plan in archive.studies for entry in plan.entries):
        planned.setdefault((entry.algorithm, entry.dataset, _title(entry)), []).append(entry)
    missing: dict[str, list[str]] = {}
    problems, methods = [], set()
    for target in reference:
        name = target.algorithm.name, target.dataset.title, _title(target)
        methods.add(name[0])
        if not planned.get(name):
            missing.setdefault(f"{name[0]} under ruleset={name[2]}", []).append(name[1])
            continue
        entry = planned[name].pop(0)
        seeds, target_seeds = sorted(entry.cells.values()), sorted(target.cells())
        if difference := _difference(_words(entry.described, seeds), _words(target.describe(), target_seeds)):
            problems.append(f"{target}, ruleset={name[2]}: not as in the reference study: {difference}")
        elif seeds != target_seeds:
            problems.append(f"{target}, ruleset={name[2]}: other runs than those of the reference study")
    extra = [item for entries in planned.values() for item in entries if item.algorithm in methods]
    return [
        *(f"{name} is missing on {', '.join(titles)}" for name, titles in missing.items()),
        *problems,
        *(f"{e.algorithm} on {e.dataset}: an entry that the reference study does not have" for e in extra),
    ]


def _title(entry: EntryPlan | Entry) -> str | None:
    return entry.ruleset.title if entry.ruleset else None


def _missing(archive: Archive, entry: EntryPlan) -> Iterator[str]:
    if len(set(entry.cells.values())) < len(entry.cells):
        yield "has cells of the same run"
    missing = [key for key in entry.cells if archive.get(key) is None]
    failures = [failure for key in missing if (failure := archive.failure(key)) is not None]
    if failures:
        reasons = ", ".join(sorted({str(failure.reason) for failure in failures}))
        yield f"{counted(len(failures), 'cell')} of {len(entry.cells)} failed ({reasons})"
    if len(missing) > len(failures):
        yield f"{len(missing) - len(failures)} of {counted(len(entry.cells), 'cell')} missing"


def _departures(entry: EntryPlan, ruled: Callable[[str, str], Entry]) -> Iterator[str]:
    if not entry.ruleset:
        yield "no ruleset; run it with ruleset=defaults or ruleset=trials"
        return
    try:
        rules = ruled(entry.algorithm, entry.ruleset.title)
    except ParameterError as error:
        yield f"{entry.ruleset} cannot be compared with what is installed here: {error}"
        return
    ruleset, seeds = rules.ruleset, [*entry.cells.values()]
    if ruleset and (ruleset.version, ruleset.date) != (entry.ruleset.version, entry.ruleset.date):
        yield f"{entry.ruleset}, and here it has version {ruleset.version} of {ruleset.date}"
    overrides, expected = (_words(record, seeds, FREE) for record in (entry.described, rules.describe()))
    if overrides != expected or entry.ruleset.departures:
        difference = _difference(overrides, expected) or " ".join(entry.ruleset.departures)
        yield f"departs from {entry.ruleset}: {difference}"


def _words(described: EntryDescription, seeds: Sequence[Seeds], free: Sequence[str] = ()) -> list[str]:
    """The overrides that differ from defaults, without idle and free settings."""
    names = tuple(f"{name}{end}" for name in (*IDLE, *free) for end in "=.")
    return [text for text in words(described, seeds) if not text.startswith(names)]


def _difference(overrides: Sequence[str], expected: Sequence[str]) -> str:
    """Overrides that are not expected, then expected overrides that are missing; empty if all are equal."""
    extra = [text for text in overrides if text not in expected]
    names = [text.partition("=")[0] for text in extra]
    missing = [text for text in expected if text not in overrides and text.partition("=")[0] not in names]
    return " ".join([*extra, *(f"(without {text})" for text in missing)])
