"""The reference of the gains, and the sentence where it was not run."""

import pytest

from aucbench import ParameterError
from aucbench.reports.build import build
from aucbench.reports.cells import of_results
from tests.helpers.board_cells import (
    PLUGIN,
    altered,
    finished,
    parameters,
    result,
    several,
    tuning,
    unfinished,
)

FEATURES = PLUGIN | {"name": "nystroem", "parameters": {"landmarks": 10}}


def variant(auc, eta, datasets=("data",), **what):
    """Three runs of a variant of alpha on each data set."""
    return of_results(
        altered(
            result(auc, seed=seed, dataset=name, **what),
            algorithm=parameters(eta=eta),
            key=f"{eta} {what} {seed} {name}",
        )
        for name in datasets
        for seed in range(3)
    )


def references(cells, reference=None):
    return build(cells, "t", reference=reference).references


def test_of_several_variants_that_without_feature_map_is_taken_then_that_on_most_data_sets_then_the_first():
    mapped = variant(0.7, 0.1, ("data", "other", "third"), features=FEATURES)
    plain = [*variant(0.9, 0.2), *variant(0.8, 0.3)]
    (found,) = references([*plain, *mapped], "alpha").values()
    assert "eta=0.2" in found
    assert "nystroem" not in found
    more = variant(0.8, 0.4, ("data", "other"))
    (found,) = references([*plain, *mapped, *more], "alpha").values()
    assert "eta=0.4" in found


def test_a_variant_is_taken_that_is_named_in_full():
    report = build([*variant(0.9, 0.2), *variant(0.8, 0.3)], "t", reference="alpha (eta=0.3)")
    gains = dict(zip(report.gains["method"], report.gains["gain"], strict=True))
    assert gains == {"alpha (eta=0.2)": pytest.approx(0.1)}


def test_each_setting_has_a_reference_of_its_own_or_none():
    tuned = [finished(0.9, seed=seed, algorithm="beta", tuning=tuning()) for seed in range(3)]
    assert references([*several(), *tuned], "alpha") == {"defaults": "alpha", "tuned": ""}


@pytest.mark.parametrize("status", ["diverged", "failed"])
def test_over_a_reference_without_any_result_there_are_no_gains(status):
    lost = {
        "diverged": lambda seed: finished(None, seed=seed),
        "failed": lambda seed: unfinished("failed", seed),
    }
    cells = several(("beta",)) + [lost[status](seed=seed) for seed in range(3)]
    report = build(cells, "t", reference="alpha")
    assert report.references == {"defaults": "alpha"}
    assert not len(report.gains)
    assert report.results.set_index("method").loc["alpha", "gaps"] == f"{status} in 3 of 3 runs"


def test_an_unknown_reference_is_refused_with_the_nearest_name():
    with pytest.raises(ParameterError, match=r"'alpho'.*alpha"):
        references(several(), "alpho")
    assert references(several(), "ls_svm") == {"defaults": ""}


@pytest.mark.parametrize("was_run", [True, False])
@pytest.mark.parametrize("tuned", [True, False])
def test_tuned_methods_compare_with_log_reg_cv_where_it_was_run(tuned, was_run):
    how = {"tuning": tuning()} if tuned else {}
    cells = several(())
    for name in ("log_reg", "psam", "log_reg_cv")[: 3 if was_run else 2]:
        cells += [finished(0.8, seed=seed, algorithm=name, **how) for seed in range(3)]
    assert list(references(cells).values()) == ["log_reg_cv" if tuned and was_run else "log_reg"]
