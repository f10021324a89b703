"""Gaps of an archive are found whatever the archive claims."""

from dataclasses import replace as dataclass_replace

import pytest
from msgspec.structs import replace

from aucbench import analysis
from aucbench.analysis import entry_of
from aucbench.api import study_of
from aucbench.config.words import Request
from aucbench.studies.archives.archive import Archive, from_store
from aucbench.studies.archives.gaps import gaps_of, lacking
from aucbench.studies.archives.replications import replication_of
from aucbench.studies.codec import subset
from aucbench.studies.record import DESCRIPTION, SEEDS, CellStatus, FailureRecord
from tests.helpers.archives import altered
from tests.studies.conftest import run_in

BASE = (
    "dataset=label_noise", "dataset.n=300", "runs=2", "budget.checkpoints=4", "tracking=none", "study=pair",
)  # fmt: skip
TUNING = "tuning=random tuning.trials=2 tuning.folds=2"


@pytest.fixture(scope="module")
def archive(store):
    return from_store(store, "pair")


def relabelled(archive, **ruleset):
    """The archive with a ruleset under which its entries were not run."""
    ruled = replace(entry_of(["algo=psam", "ruleset=defaults"]).ruleset, **ruleset)
    return altered(archive, entry=lambda entry: replace(entry, ruleset=ruled))


@pytest.mark.slow
def test_gaps_of_an_archive_are_its_missing_and_failed_cells_and_departures_from_the_ruleset(archive):
    assert gaps_of(archive, entry_of) == []
    (plan,) = archive.studies
    entry = plan.entries[0]
    missing, failing = entry.cells
    failure = FailureRecord(
        **subset(archive.cells[failing].record, (*DESCRIPTION, *SEEDS, "key")),
        reason=CellStatus.timeout,
        message="late",
    )
    entry = replace(entry, ruleset=replace(entry.ruleset, departures=("budget.epochs=1.0",)))
    second = replace(plan.entries[1], ruleset=None)
    cells = {key: cell for key, cell in archive.cells.items() if key not in (missing, failing)}
    reduced = Archive("less", cells, (replace(plan, entries=(entry, second)),), {failing: failure})
    gaps = "\n".join(gaps_of(reduced, entry_of))
    for part in ("1 cell of 2 failed (timeout)", "1 of 2 cells missing", "budget.epochs=1.0"):
        assert part in gaps
    assert f"{second.algorithm} on {second.dataset}: no ruleset" in gaps


@pytest.mark.slow
@pytest.mark.parametrize("overrides", ["budget.epochs=50", "features=fourier features.dimension=10", TUNING])
def test_settings_are_compared_with_the_ruleset_and_what_an_entry_says_of_itself_is_not(overrides, archive):
    (planned,) = study_of(Request(("algo=psam", *BASE, "store.path=null", *overrides.split()))).entries
    (plan,) = archive.studies
    entry = replace(plan.entries[0], algorithm="psam", described=planned.describe())
    variant = dataclass_replace(archive, studies=(replace(plan, entries=(entry,)),))
    (gap,) = gaps_of(relabelled(variant), entry_of)
    assert gap.startswith("psam on label_noise")
    assert "departs from ruleset defaults" in gap
    assert overrides.split()[0] in gap


def test_rulesets_that_are_others_or_not_installed_and_trials_that_were_not_made_are_gaps(archive):
    for ruleset, reason in (
        ({"title": "mine"}, "cannot be compared"),
        ({"version": 77}, "here it has version 2"),
        ({"title": "trials", "version": 3}, "(without tuning=random)"),
    ):
        gaps = gaps_of(relabelled(archive, **ruleset), entry_of)
        assert [reason in gap for gap in gaps] == [True, True]


def wanted_of(*overrides):
    return study_of(Request(("algo=psam", *BASE, "ruleset=defaults", "store.path=null", *overrides))).entries


def test_wanted_entries_must_be_there_with_all_settings_and_runs(archive):
    counts = {"runs=2": 0, "runs=1": 1, "max_train_rows=100": 1, "algo=solam": 0, "ruleset=trials": 2}
    assert {override: len(lacking(archive, wanted_of(override))) for override in counts} == counts


@pytest.mark.slow
def test_chosen_and_repeated_runs_and_extra_entries_are_found(tmp_path):
    overrides = ("-m", *BASE, "algo=psam", "dataset=label_noise,gaussian", "ruleset=defaults", "runs=3")
    archive = from_store(run_in(tmp_path / "store", overrides), "pair")
    (extra,) = lacking(archive, wanted_of("runs=3"))
    assert extra == "psam on gaussian: an entry that the reference study does not have"
    entry = next(entry for entry in archive.studies[0].entries if entry.dataset == "label_noise")
    (_, middle, _), (first, *_) = entry.cells, entry.cells.values()
    ends = altered(archive, keep=lambda key: key != middle)
    assert "other runs than those of the reference study" in lacking(ends, wanted_of("runs=3"))[0]
    same = altered(archive, entry=lambda entry: replace(entry, cells=dict.fromkeys(entry.cells, first)))
    assert any("cells of the same run" in gap for gap in gaps_of(same, entry_of))


@pytest.mark.slow
def test_a_contribution_needs_the_reference_study_of_its_method_and_no_replications(archive):
    key, cell = next(iter(archive.cells.items()))
    replications = {key: (replication_of(cell.record),)}
    gaps = analysis.check(Archive("", archive.cells, archive.studies, others=replications), "psam")
    names = [gap.partition(" is missing on ")[0] for gap in gaps if " is missing on a9a, " in gap]
    assert names == ["psam under ruleset=defaults", "psam under ruleset=trials"]
    assert any(gap.startswith("1 cell with replications") for gap in gaps)
