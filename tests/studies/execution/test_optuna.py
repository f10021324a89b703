"""Proposals of Optuna's search after a history of trials."""

from itertools import product

import numpy as np
import pytest
from msgspec.structs import replace

from aucbench.studies.execution.tuning_search import by_number, propose
from aucbench.studies.record import Trial
from aucbench_algorithms.spam import Spam
from tests.helpers.study_methods import Gentle

SPACE = {"eta": (0.001, 10.0), "rounds": (1, 50), "kind": ("a", "b"), "flag": (True, False)}
TRIALS = 14


def auc_of(point, fold):
    return 1.0 - 0.1 * abs(np.log10(point["eta"])) - 0.01 * (point["kind"] == "b") - 0.003 * fold


def tried(number, point, folds=2):
    aucs = [auc_of(point, fold) for fold in range(folds)]
    common = {"number": number, "parameters": point, "stop_reason": "budget"}
    return [Trial(fold=fold, auc=auc, **common) for fold, auc in enumerate(aucs)]


def next_setting(history, seed=3):
    return propose(SPACE, by_number(history), seed, Gentle())  # Gentle ignores no field


@pytest.fixture(scope="module")
def history():
    """The trials of a search."""
    trials = []
    for number in range(TRIALS):
        trials += tried(number, next_setting(trials))
    return trials


def test_proposals_are_values_of_their_fields_learn_from_the_history_and_depend_on_the_seed(history):
    mirrored = [replace(trial, auc=1.0 - trial.auc) for trial in history]
    first = next_setting(history)
    assert first == next_setting(history)
    assert first not in (next_setting(mirrored), next_setting(history, seed=4))
    for point in (trial.parameters for trial in history):
        assert 0.001 <= point["eta"] <= 10.0
        assert type(point["rounds"]) is int
        assert point["rounds"] in range(1, 51)
        assert (point["kind"], point["flag"]) in product("ab", (True, False))
    # Settings that failed do not stop the search.
    failed = [replace(trial, auc=None, stop_reason="timeout") for trial in tried(0, next_setting([]))]
    assert next_setting(failed).keys() == SPACE.keys()


def test_fields_without_effect_are_not_proposed_and_their_trials_are_learned_from():
    space = {"C": (0.01, 100.0), "penalty": ("l2", "net", "ball"), "nu": (1e-4, 1.0), "radius": (0.1, 10.0)}
    history, by_penalty = [], {}
    for number in range(TRIALS):
        point = propose(space, by_number(history), 3, Spam())
        by_penalty.setdefault(point["penalty"], []).append(set(point) - {"C", "penalty"})
        for fold, auc in enumerate((0.6 - 0.01 * abs(np.log10(point["C"])), 0.6)):
            history.append(Trial(number=number, fold=fold, parameters=point, auc=auc, stop_reason="budget"))
    proposed = {penalty: set.union(*fields) for penalty, fields in by_penalty.items()}
    assert proposed == {"l2": set(), "net": {"nu"}, "ball": {"radius"}}
