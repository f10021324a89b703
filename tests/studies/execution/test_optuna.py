import numpy as np
import pytest
from msgspec.structs import replace

from aucbench.studies.execution.optuna_proposals import Watch, propose
from aucbench.studies.record import Trial
from aucbench.studies.tuners import Optuna
from aucbench_algorithms.spam import Spam
from tests.helpers.study_methods import Gentle

SPACE = {"eta": (0.001, 10.0), "rounds": (1, 50), "kind": ("a", "b"), "flag": (True, False)}
CHOICE = Optuna(trials=14)
ANY = Gentle()  # a method that ignores nothing


def auc_of(point, fold):
    return 1.0 - 0.1 * abs(np.log10(point["eta"])) - 0.01 * (point["kind"] == "b") - 0.003 * fold


def tried(number, point, folds=2):
    aucs = [auc_of(point, fold) for fold in range(folds)]
    common = {"number": number, "parameters": point, "stop_reason": "budget"}
    return [Trial(fold=fold, auc=auc, seen=(auc - 0.1, auc), **common) for fold, auc in enumerate(aucs)]


def search(history, choice=CHOICE, seed=3):
    """Go on from some trials to the end of the search."""
    history = list(history)
    start = 1 + max((trial.number for trial in history), default=-1)
    for number in range(start, choice.trials):
        point = propose(choice, SPACE, history, number, seed, ANY).point
        history += tried(number, point)
    return history


@pytest.fixture(scope="module")
def undisturbed():
    return search([])


def test_proposals_learn_from_the_history_and_depend_on_the_seed(undisturbed):
    history = [trial for trial in undisturbed if trial.number < 12]
    mirrored = [replace(trial, auc=1.0 - trial.auc) for trial in history]
    first, *others = (
        propose(CHOICE, SPACE, trials, 12, seed, ANY).point
        for trials, seed in ((history, 3), (mirrored, 3), (history, 4))
    )
    assert first not in others


def test_proposals_are_values_that_their_fields_may_have(undisturbed):
    for trial in undisturbed:
        point = trial.parameters
        assert 0.001 <= point["eta"] <= 10.0
        assert type(point["rounds"]) is int
        assert 1 <= point["rounds"] <= 50
        assert point["kind"] in ("a", "b")
        assert point["flag"] in (True, False)


def test_a_trial_below_the_median_of_the_earlier_ones_is_pruned_and_a_better_one_is_not(undisturbed):
    history = [trial for trial in undisturbed if trial.number < 8]
    for auc, ends in ((0.01, True), (0.999, False)):
        proposal = propose(CHOICE, SPACE, history, 8, 3, ANY)
        watch = Watch(proposal, 0, [])
        assert watch(0, [auc]) is ends
        assert watch.seen == [auc]
    watch = Watch(proposal, 2, [0.5, 0.7])  # on the third fold it is the mean over the folds so far
    watch(0, [0.9])
    assert watch.seen == [pytest.approx(0.7)]
    proposal = propose(Optuna(trials=14, pruner="none"), SPACE, history, 8, 3, ANY)
    assert Watch(proposal, 0, [])(0, [0.01]) is False


def test_settings_that_failed_do_not_stop_the_search():
    lost = Trial(number=0, fold=0, parameters={}, auc=None, stop_reason="timeout", error="x")
    point = propose(CHOICE, SPACE, [lost], 1, 3, ANY).point
    diverged = [replace(trial, auc=None, stop_reason="diverged") for trial in tried(1, point)[:1]]
    assert propose(CHOICE, SPACE, [lost, *diverged], 2, 3, ANY).point.keys() == SPACE.keys()


def test_fields_without_effect_are_not_proposed_and_their_trials_are_learned_from():
    space = {"C": (0.01, 100.0), "penalty": ("l2", "net", "ball"), "nu": (1e-4, 1.0), "radius": (0.1, 10.0)}
    history, seen = [], {}
    for number in range(14):
        point = propose(CHOICE, space, history, number, 3, Spam()).point
        seen.setdefault(point["penalty"], []).append(set(point) - {"C", "penalty"})
        for fold, auc in enumerate((0.6 - 0.01 * abs(np.log10(point["C"])), 0.6)):
            history.append(
                Trial(number=number, fold=fold, parameters=point, auc=auc, stop_reason="budget", seen=(auc,))
            )
    assert {penalty: set.union(*fields) for penalty, fields in seen.items()} == {
        "l2": set(),
        "net": {"nu"},
        "ball": {"radius"},
    }
