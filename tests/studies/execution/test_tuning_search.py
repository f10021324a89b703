"""The choice of a tuning, against its definition."""

from hypothesis import given
from hypothesis import strategies as st

from aucbench.studies.execution.tuning_search import choose
from aucbench.studies.record import Trial

AUCS = st.lists(st.lists(st.sampled_from((None, 0.0, 0.25, 0.5, 1.0)), min_size=2, max_size=3), max_size=5)


@given(AUCS, st.randoms(use_true_random=False))
def test_the_largest_mean_over_folds_of_those_that_ended_everywhere_wins_and_the_first_of_equals(
    settings, random
):
    trials = [
        Trial(number=number, fold=fold, parameters={}, auc=auc, stop_reason="budget")
        for number, folds in enumerate(settings)
        for fold, auc in enumerate(folds)
    ]
    random.shuffle(trials)
    means = {number: sum(folds) / len(folds) for number, folds in enumerate(settings) if None not in folds}
    chosen = choose(trials)
    if not means:
        assert chosen is None
    else:
        best = next(number for number in means if means[number] == max(means.values()))
        assert [(trial.number, trial.fold) for trial in chosen or ()] == [
            (best, fold) for fold in range(len(settings[best]))
        ]
