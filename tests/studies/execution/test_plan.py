"""The cells of a study that the store already has."""

import sys
from dataclasses import replace

import pytest

from aucbench.contracts.code_digest import code_digest
from aucbench.evaluation.measures import AveragePrecision
from aucbench.studies.default_settings import Limits
from aucbench.studies.entry_and_keys import Entry
from aucbench.studies.store import Store
from aucbench.studies.tuners import Grid
from aucbench_losses import Hinge
from tests.helpers.studies import bound, entry, plan_of, run_entries
from tests.helpers.study_methods import Clouds, Gentle, Other


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def states(subject, store):
    return [str(cell.status) for cell in plan_of([subject], store).cells()]


@pytest.mark.parametrize("edited", [Gentle, Hinge])
def test_an_edited_method_or_loss_or_helper_of_one_is_not_answered_from_the_store(edited, store, monkeypatch):
    with_loss = replace(entry(Gentle()), loss=bound(Hinge()))
    run_entries([with_loss], store)
    assert states(with_loss, store) == ["finished"]
    # The digest of a plugin covers its helpers.
    module = sys.modules[Entry.__module__]
    monkeypatch.setattr(module, "code_digest", lambda cls: code_digest(cls) + "x" * (cls is edited))
    assert states(replace(entry(Gentle()), loss=bound(Hinge())), store) == ["missing"]


def test_what_decides_the_numbers_is_part_of_the_key_and_nothing_else_is(store):
    run_entries([entry(Gentle(), runs=2)], store)
    for changed in (
        entry(Gentle(eta=0.2)), entry(Gentle(), Clouds(seed=1)), entry(Gentle(), seed=2),
        entry(Gentle(), tuning=Grid()), entry(Gentle(), order_seed=5), entry(Other()),
    ):  # fmt: skip
        assert states(changed, store) == ["missing"]
    extended = entry(Gentle(), runs=3, limits=Limits(seconds=9.0), study="other")
    assert states(extended, store) == ["finished", "finished", "missing"]


def test_a_shared_cell_gets_the_measures_of_all_entries_and_data_that_fail_refuse_their_entry_alone(store):
    run_entries([entry(Gentle())], store)
    extended = replace(entry(Gentle(), runs=2), measures=(AveragePrecision(),))
    outcome = run_entries([entry(Gentle()), entry(Other(), Clouds(n=1)), extended], store)
    assert [refusal.entry for refusal in outcome.refused] == ["fake_other on fake_clouds"]
    assert outcome.finished == 2
    assert [set(cell.record.measures) for cell in store] == [{"ap"}] * 2
    plan = plan_of([entry(Other(), Clouds(n=1))], store, skip_missing_data=True)
    assert (len(plan.refused), plan.unavailable) == (1, ())  # available data are not skipped


def test_a_study_run_in_parts_keeps_its_parts_and_the_last_word_on_each(store):
    def planned(subject):
        store.put_plan(plan_of([subject], store, name="mine").describe(""))
        (plan,) = store.plans()
        return [(item.algorithm, len(item.cells)) for item in plan.entries]

    assert planned(entry(Gentle(), runs=2)) == [("fake_gentle", 2)]
    assert planned(entry(Other())) == [("fake_gentle", 2), ("fake_other", 1)]
    assert planned(entry(Gentle(), runs=3)) == [("fake_other", 1), ("fake_gentle", 3)]
