"""Plans of studies that are run in parts."""

from aucbench.execution.plan import make_plan
from aucbench.execution.prepared_data import PreparedData
from aucbench.studies.store import Store
from tests.helpers.studies import entry
from tests.helpers.study_methods import Gentle, Other


def planned(store, *entries):
    store.put_plan(make_plan(entries, store, PreparedData()).describe("mine"))
    (plan,) = store.plans()
    return [(each.algorithm, len(each.cells)) for each in plan.entries]


def test_a_study_run_in_parts_keeps_its_parts_and_the_last_word_on_each(tmp_path):
    store = Store(tmp_path)
    assert planned(store, entry(Gentle(), runs=2)) == [("fake_gentle", 2)]
    assert planned(store, entry(Other())) == [("fake_gentle", 2), ("fake_other", 1)]
    assert planned(store, entry(Gentle(), runs=3)) == [("fake_other", 1), ("fake_gentle", 3)]
