"""Rulesets compose, are recorded with each entry, and change no cell."""

import pytest

from aucbench import api
from aucbench.errors import ParameterError
from tests.helpers.studies import study_of

pytestmark = pytest.mark.slow  # whole studies


def entry_of(*overrides):
    (entry,) = study_of(*overrides, "tracking=none").entries
    return entry


def test_trials_give_every_method_the_same_number_of_random_settings():
    choices = [entry_of("ruleset=trials", f"algo={n}").tuning.choice for n in ("psam", "solam", "log_reg")]
    assert len({choice.trials for choice in choices}) == 1
    assert {choice.name for choice in choices} == {"random"}
    assert not entry_of("ruleset=trials", "algo=sklearn").tuning.chooses


def test_departures_from_a_ruleset_are_recorded_with_the_entry_and_it_changes_no_key():
    entry = entry_of("ruleset=trials", "tuning.trials=5", "algo.gamma=0.5", "budget.epochs=2")
    assert entry.ruleset.departures == ("algo.gamma=0.5", "tuning.trials=5", "budget.epochs=2.0")
    assert entry_of("ruleset=defaults", "tuning=grid").ruleset.departures[-1] == "tuning=grid"
    with pytest.raises(ParameterError, match=r"tuning\.trials: grid has no field 'trials'"):
        entry_of("ruleset=trials", "tuning=grid")
    plain, ruled = entry_of("dataset=wine"), entry_of("dataset=wine", "ruleset=defaults")
    assert plain.ruleset is None
    assert plain.cell_keys(("data",)) == ruled.cell_keys(("data",))


def test_a_ruleset_of_ones_own_is_found_in_a_folder(tmp_path):
    (tmp_path / "ruleset").mkdir()
    content = "ruleset: {title: short, version: 3, date: '2026-01-02'}\nbudget: {epochs: 2}\n"
    (tmp_path / "ruleset" / "short.yaml").write_text(f"# @package _global_\n{content}")
    (entry,) = study_of("ruleset=short", "tracking=none", "--config-dir", str(tmp_path)).entries
    assert str(entry.ruleset) == "ruleset short, version 3 of 2026-01-02"
    assert entry.budget.epochs == 2
    assert entry.ruleset.departures == ()


def test_rope_and_reference_of_a_study_are_fixed_by_its_plan(tmp_path):
    overrides = ["-m", "algo=psam,solam,log_reg", "dataset=wine", f"store.path={tmp_path}", "tracking=none"]
    overrides += ["study=fair", "ruleset=defaults", "budget.checkpoints=2"]
    for changes, reference, rope in [((), "log_reg", 0.005), (("rope=0.2", "reference=psam"), "psam", 0.2)]:
        api.run_study([*overrides, *changes])
        report = api.leaderboard(tmp_path)
        assert (report.references, report.rope) == ({"defaults": reference}, rope)
        (text,) = report.data_sets["setting_text"]
        assert "ruleset=defaults, version 2 of " in text
        assert all((f"{name}=" in text) == bool(changes) for name in ("rope", "reference"))
        assert not any("was chosen when" in note for note in report.notes)
        board = api.leaderboard(tmp_path, rope=0.1, reference="solam")
        assert (board.references, board.rope) == ({"defaults": "solam"}, 0.1)
        assert any("0.1 was chosen when" in note and f"planned with {rope:g}" in note for note in board.notes)
