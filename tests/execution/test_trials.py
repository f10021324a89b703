from aucbench.execution.search_progress import choose, cost, failures, missing, undisturbed, worth_keeping
from aucbench.studies.record import Trial, TuningCost


def trial(number, fold, auc, stop_reason="budget", error=None):
    return Trial(
        number=number,
        fold=fold,
        parameters={"eta": float(number)},
        auc=auc,
        stop_reason=stop_reason if auc is not None or stop_reason != "budget" else "diverged",
        error=error,
        passes=2.0,
        train_seconds=0.5,
    )


def test_the_largest_mean_wins_and_of_equals_the_first():
    trials = [trial(n, fold, auc) for n, aucs in enumerate([(0.6, 0.6), (0.9, 0.7), (0.7, 0.9), (0.8, 0.7)])
              for fold, auc in enumerate(aucs)]  # fmt: skip
    chosen = choose(trials, 2)
    assert chosen.parameters == {"eta": 1.0}
    assert chosen.auc == 0.8
    assert choose(trials[::-1], 2) == chosen
    assert choose([*trials, *trials], 2) == chosen


def test_a_setting_that_lacks_a_fold_or_has_no_auc_on_one_is_out():
    good = [trial(0, 0, 0.6), trial(0, 1, 0.6)]
    assert choose([*good, trial(1, 0, 0.9)], 2).parameters == {"eta": 0.0}
    assert choose([*good, trial(1, 0, 0.9), trial(1, 1, None)], 2).parameters == {"eta": 0.0}
    assert choose([trial(1, 0, None), trial(1, 1, 0.9)], 2) is None
    assert choose([], 2) is None


def test_what_is_missing_is_listed_fold_by_fold():
    points = [{"eta": 0.0}, {"eta": 1.0}, {"eta": 2.0}]
    assert missing(points, 2, [trial(1, 0, 0.5)]) == [(0, [0, 2]), (1, [0, 1, 2])]
    assert missing(points, 1, [trial(n, 0, None) for n in range(3)]) == []


def test_the_cost_counts_settings_trainings_passes_and_seconds():
    trials = [trial(0, 0, 0.5), trial(0, 1, 0.5), trial(1, 0, None)]
    assert cost(trials) == TuningCost(settings=2, trainings=3, passes=6.0, train_seconds=1.5)


def test_failures_are_counted_by_reason():
    trials = [trial(0, 0, None), trial(1, 0, None), trial(2, 0, None, "failed", "RuntimeError: x")]
    assert failures(trials) == "2 times diverged; 1 times RuntimeError: x"
    assert failures([]) == "none has run"


def test_what_failed_is_run_again_and_what_diverged_is_not():
    reasons = ["failed", "timeout", "out-of-memory", "diverged", "pruned"]
    trials = [trial(n, 0, None, reason) for n, reason in enumerate(reasons)]
    assert [each.stop_reason for each in worth_keeping([*trials, trial(5, 0, 0.5)])] == [
        "diverged",
        "pruned",
        "budget",
    ]


def test_proposals_go_on_before_the_first_setting_that_was_cut_short():
    whole = [trial(0, 0, 0.5), trial(0, 1, 0.5), trial(1, 0, None), trial(2, 0, 0.5), trial(2, 1, 0.5)]
    assert undisturbed(whole, 2) == whole
    assert undisturbed(whole[:4], 2) == whole[:3]
    assert undisturbed(whole[2:], 2) == []
    assert undisturbed(whole[::-1], 2) == whole
