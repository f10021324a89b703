"""The verdict on a method: rank and differences by the report's tests, speed, and what to look at next."""

import pytest

from aucbench.reports import build
from aucbench.reports.render.braille_plot import board_series
from aucbench.reports.verdict import next_steps, verdict
from tests.helpers.board_cells import finished, tuning
from tests.helpers.small_study import report


def reported(aucs, seconds=None, **changes):
    """A report on data whose methods have these AUCs, one a run; None for a run that diverged."""
    seconds = seconds or {}
    cells = [
        finished(auc, seed=seed, algorithm=name, seconds=seconds.get(name, 1e-3), **changes)
        for name, own in aucs.items()
        for seed, auc in enumerate(own)
    ]
    return build.build(cells, "a study", one_study=True)


def judged(found, method="mine", **options):
    return " ".join([*verdict(found, method), *next_steps(found, method, 5.0, **options)])


def test_differences_are_those_of_the_tests_of_the_board():
    found = report(methods=6, boards=2, runs=5, gaps=False, tuned=False)
    for board, sentence in zip(found.boards, verdict(found, "method2"), strict=False):
        (row,) = [row for row in board.rows if row.method == "method2"]
        parts = sentence.split("; ")
        named = {side: next((part for part in parts if part.startswith(side)), "") for side in
                 ("significantly above", "significantly below", "not significantly different")}  # fmt: skip
        assert sum(f"method{k}" in named["significantly above"] for k in range(6)) == row.wins > 0
        assert sum(f"method{k}" in named["significantly below"] for k in range(6)) == row.losses > 0
        assert sum(f"method{k}" in named["not significantly different"] for k in range(6)) == row.ties
        assert f"ranked {row.rank:g} of 6" in parts[0]
        assert parts[-1].startswith(f"the best, {board.rows[0].method}")


def test_a_large_difference_that_may_be_chance_is_not_called_significant():
    found = reported({"mine": [0.95, 0.40, 0.70], "psam": [0.90, 0.91, 0.92]})
    assert "not significantly different from psam" in verdict(found, "mine")[0]


def test_of_a_single_run_nothing_is_significant():
    text = verdict(reported({"mine": [0.8], "psam": [0.7]}), "mine")[0]
    assert "AUC 0.8000 of one run, ranked 1 of 2" in text
    assert "significant" not in text


def test_a_method_that_is_not_on_the_boards_has_no_sentence():
    assert verdict(reported({"psam": [0.8]}), "mine") == []


@pytest.mark.parametrize(("seconds", "said"), [(50.0, "50 times psam's"), (0.5, "1/2 of psam's")])
def test_speed_is_told_as_a_multiple_and_a_slow_loop_is_to_be_compiled(seconds, said):
    text = judged(reported({"mine": [0.9], "psam": [0.9]}, {"mine": seconds, "psam": 1.0}))
    assert said in text
    assert ("aucbench.kernels.kernel" in text) == (seconds > 20.0)


def test_a_run_that_diverged_is_counted_and_its_advice_comes_next():
    found = reported({"mine": [None, 0.8], "psam": [0.9, 0.9]}, advice="lower algo.eta, now 9")
    assert verdict(found, "mine")[0].startswith("data: diverged in 1 of 2 runs")
    assert "lower algo.eta, now 9" in judged(found)


def test_a_tuning_that_gains_and_ends_at_an_edge_is_said():
    chosen = {
        "parameters": {"eta": 9.0}, "edges": {"eta": "upper"}, "trials": [],
        "cost": {"settings": 2, "trainings": 4, "train_seconds": 1.0, "passes": 4.0},
    }  # fmt: skip
    cells = [
        finished(auc, seed=seed, algorithm="mine", **what)
        for auc, what in ((0.8, {}), (0.9, {"tuning": tuning(), "tuned": chosen}))
        for seed in range(2)
    ]
    text = judged(build.build(cells, "a study", one_study=True))
    assert "data, tuned: test AUC 0.9000" in text
    assert "eta at the upper edge in 2 of 2 runs" in text
    assert "0.100" in text


def test_what_is_suggested_names_a_method_once():
    for method in ("psam", "mine"):
        (step,) = next_steps(reported({method: [0.9], "solam": [0.9]}), method, None)
        words = next(word for word in step.split() if word.startswith("algo="))
        names = words.removeprefix("algo=").split(",")
        assert names[0] == method
        assert len(names) == len(set(names)) > 2


def test_a_failure_comes_first():
    assert next_steps(reported({"mine": [0.9]}), "mine", 5.0, failed=True)[0].startswith(
        "aucbench check mine"
    )


def test_curves_begin_with_the_method_and_a_batch_method_is_a_level():
    found = report(methods=3, boards=1, gaps=False, tuned=False)
    (board,) = found.boards
    series = board_series(board, "method2")
    assert [each.label for each in series] == ["method2", "method0", "method1"]
    assert len({each.mark for each in series}) == 3
    facts = {"train_rows": 1, "test_rows": 1}  # each first checkpoint is a pass
    passes = [finished(auc, algorithm=name, data=facts) for name, auc in (("exact", 0.97), ("mine", 0.9))]
    (board,) = build.build(passes, "a study", one_study=True).boards
    own, level = board_series(board, "mine")
    assert (own.label, len(own.x)) == ("mine", 4)
    assert (level.label, len(level.x), *level.y) == ("exact", 0, 0.97)
