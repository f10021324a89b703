"""The compared cells, the reference, names of methods, and the version of the code that is shown."""

from dataclasses import replace as dataclass_replace
from functools import partial
from itertools import product

import pytest
from msgspec.structs import replace

from aucbench import ParameterError
from aucbench.reports.build import build
from aucbench.reports.cell_frame import cell_frame, default_reference
from aucbench.reports.cells import of_results
from aucbench.studies.record import RulesetRecord
from tests.helpers import board_cells
from tests.helpers.board_cells import PLUGIN, altered, budget, finished, parameters, result, several, tuning


def boards_of(cells, one_study=False):
    """The data sets of all settings, each with its methods."""
    groups = cell_frame(cells, one_study).groupby(["setting", "data_set"], sort=False)["method"].unique()
    return [(data_set, sorted(methods)) for (_, data_set), methods in groups.items()]


def settings_of(cells, one_study=False):
    return list(cell_frame(cells, one_study)["setting"].unique())


def row_of(cells, one_study=False):
    """The only row of the results."""
    (row,) = build(cells, "a title", one_study).results.to_dict("records")
    return row


def test_chosen_settings_and_edges_of_a_tuning_are_counted_over_its_runs():
    cost = {"settings": 2, "trainings": 2, "passes": 2.0, "train_seconds": 0.1}
    chosen = [{"parameters": {"lam": 0.1}, "edges": {"lam": "lower"}, "cost": cost}] * 2
    chosen.append({"parameters": {"lam": 1.0}, "edges": {}, "cost": cost})
    row = row_of([finished(0.9, seed=k, tuning=tuning(), tuned=choice) for k, choice in enumerate(chosen)])
    assert row["chosen"] == "lam=0.1 (2); lam=1 (1)"
    assert row["edges"].startswith("lam at the lower edge of its grid in 2 of 3 runs")


SETTINGS = (
    {"budget": budget(epochs=5.0)},
    {"scaling": "unit"},
    {"protocol": {"name": "holdout", "parameters": {"test_fraction": 0.5}}},
    {"order": "stored"},
    {"dtype": "float32"},
)


def test_another_setting_is_another_board_but_in_one_study_a_row_unless_it_is_a_tuning():
    names = [f"defaults {k}" for k in range(2, 2 + len(SETTINGS))]
    assert settings_of([finished(0.9), *(finished(0.8, **item) for item in SETTINGS)]) == ["defaults", *names]
    for change in SETTINGS:
        ((_, rows),) = boards_of([finished(0.9), finished(0.8, **change)], one_study=True)
        assert len(set(rows)) == 2
        assert all(row.startswith("alpha") for row in rows)
    cells = [*(finished(0.9, algorithm=name) for name in ("alpha", "beta")), finished(0.8, tuning=tuning())]
    for one_study in (False, True):
        assert settings_of(cells, one_study) == ["defaults", "tuned"]


def test_departures_from_a_ruleset_and_its_absence_stand_at_the_method():
    fair = RulesetRecord(title="fair", version=1, date="2026-01-01")
    rules = {"alpha": fair, "beta": replace(fair, departures=("algo.lam=0.5",)), "gamma": None}
    cells = [dataclass_replace(finished(0.9, algorithm=name), ruleset=rule) for name, rule in rules.items()]
    texts = build(cells, "t", True, reference="alpha").results.set_index("method")["own_setting"]
    assert "fair" in texts["alpha"]
    assert texts["beta"].endswith("departures=algo.lam=0.5")
    assert "fair" not in texts["gamma"]


def nystroem(landmarks):
    return {"features": PLUGIN | {"name": "nystroem", "parameters": {"landmarks": landmarks, "p": 2}}}


ROWS = {
    "one field": ([{}, {"algorithm": parameters(eta=0.5)}], ["alpha (eta=0.1)", "alpha (eta=0.5)"]),
    "features": ([{}, nystroem(10)], ["alpha", "alpha (features=nystroem)"]),
    "fields of features": (
        [nystroem(10), nystroem(20)],
        ["alpha (features.landmarks=10)", "alpha (features.landmarks=20)"],
    ),
    "loss": (
        [{}, {"loss": PLUGIN | {"name": "logistic", "parameters": {"scale": 2.0}}}],
        ["alpha (loss=hinge)", "alpha (loss=logistic)"],
    ),
    "rows": ([{}, {"max_train_rows": 50}], ["alpha", "alpha (max_train_rows=50)"]),
    "close values": (
        [{"algorithm": parameters(eta=0.123456)}, {"algorithm": parameters(eta=0.123457)}],
        ["alpha (eta=0.123456)", "alpha (eta=0.123457)"],
    ),
    "grids": (
        [{"tuning": tuning(space={"eta": [1, 2]})}, {"tuning": tuning(space={"eta": [1, 2, 3]})}],
        ["alpha (eta=tuned over 2)", "alpha (eta=tuned over 3)"],
    ),
    "grids of one length": (
        [{"tuning": tuning(space={"eta": [1, 2]})}, {"tuning": tuning(space={"eta": [3, 4]})}],
        ["alpha (eta=[1, 2])", "alpha (eta=[3, 4])"],
    ),
    "distribution": (
        [{}, {"algorithm": parameters() | {"distribution": "yours"}}],
        ["alpha (distribution=mine)", "alpha (distribution=yours)"],
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_of_one_method_are_told_apart_by_what_differs_and_nothing_else(name):
    variants, expected = ROWS[name]
    assert boards_of(of_many(variants)) == [("data", sorted(expected))]


def of_many(variants):
    """One cell per variant; a variant replaces parts of the description."""
    results = []
    for k, parts in enumerate(variants):
        base = result(0.9 - k / 100, **{name: value for name, value in parts.items() if name != "algorithm"})
        results.append(altered(base, **parts, key=str(k)))
    return of_results(results)


def test_what_differs_from_one_data_set_to_the_next_alone_does_not_split_a_method():
    cells = [
        finished(0.9, dataset="one", tuning=tuning(space={"eta": [1, 2]})),
        finished(0.8, dataset="two", tuning=tuning(space={"eta": [7, 8, 9]})),
    ]
    assert boards_of(cells) == [("one", ["alpha"]), ("two", ["alpha"])]
    assert settings_of(cells) == ["tuned"]


def test_another_number_of_checkpoints_is_the_same_row():
    cells = [finished(0.9), finished(0.9, budget=budget(checkpoints=9), finished_at="2026-01-02")]
    assert boards_of(cells) == [("data", ["alpha"])]


@pytest.mark.parametrize(("turned", "one_study"), [(False, True), (True, False)])
def test_of_two_versions_of_the_code_the_one_that_finished_last_is_the_row(turned, one_study):
    old = [finished(0.7, seed=seed, source="old", finished_at="2026-01-01T10") for seed in range(3)]
    new = [finished(0.8, seed=seed, source="new", finished_at="2026-01-01T11") for seed in range(2)]
    cells = new + old if turned else old + new
    row = row_of([*cells, board_cells.unfinished(seed=5)], one_study)
    assert row["mean"] == pytest.approx(0.8)
    assert (row["runs"], row["missing"]) == (2, 1)


OF_ONE_TITLE = {
    "parameters": (
        [{"parameters": {"n": 300, "separation": 1.0}}, {"parameters": {"n": 300, "separation": 2.0}}],
        ["data (separation=1)", "data (separation=2)"],
    ),
    "part": ([{}, {"part": "all"}], ["data (part=all)", "data (part=train)"]),
    "name": ([{}, {"name": "twin"}], ["data (name=data)", "data (name=twin)"]),
    "distribution": ([{}, {"distribution": "x"}], ["data (distribution=mine)", "data (distribution=x)"]),
    "parameter of that name": (
        [{"parameters": {"distribution": "normal"}}, {"parameters": {"distribution": "uniform"}}],
        ["data (dataset.distribution=normal)", "data (dataset.distribution=uniform)"],
    ),
}


@pytest.mark.parametrize("name", OF_ONE_TITLE)
def test_data_sets_of_one_title_are_told_apart_by_what_differs_and_nothing_else(name):
    changes, expected = OF_ONE_TITLE[name]
    cells = [altered(finished(0.7), dataset={"name": "data"} | change) for change in changes]
    assert sorted(data_set for data_set, _ in boards_of(cells, one_study=True)) == sorted(expected)


FEATURES = PLUGIN | {"name": "nystroem", "parameters": {"landmarks": 10}}


def variant(auc, eta, datasets=("data",), **changes):
    """Three runs of a variant of alpha on each data set."""
    return of_results(
        altered(
            result(auc, seed=seed, dataset=name, **changes),
            algorithm=parameters(eta=eta),
            key=f"{eta} {changes} {seed} {name}",
        )
        for name in datasets
        for seed in range(3)
    )


def references(cells, reference=None):
    return build(cells, "t", reference=reference).references


def test_of_several_variants_that_without_feature_map_is_taken_then_that_on_most_data_sets_then_the_first():
    mapped = variant(0.7, 0.1, ("data", "other", "third"), features=FEATURES)
    plain = [*variant(0.9, 0.2), *variant(0.8, 0.3)]
    (reference,) = references([*plain, *mapped], "alpha").values()
    assert "eta=0.2" in reference
    assert "nystroem" not in reference
    wider = variant(0.8, 0.4, ("data", "other"))
    (reference,) = references([*plain, *mapped, *wider], "alpha").values()
    assert "eta=0.4" in reference


def test_a_variant_is_taken_that_is_named_in_full():
    report = build([*variant(0.9, 0.2), *variant(0.8, 0.3)], "t", reference="alpha (eta=0.3)")
    gains = dict(zip(report.gains["method"], report.gains["gain"], strict=True))
    assert gains == {"alpha (eta=0.2)": pytest.approx(0.1)}
    part = build([*several(("beta",)), *variant(0.9, 0.2), *variant(0.8, 0.3)], "t", reference="beta")
    assert set(part.only(("alpha",)).gains["method"]) == {"alpha (eta=0.2)", "alpha (eta=0.3)"}


def test_each_setting_has_a_reference_of_its_own_or_none():
    tuned = [finished(0.9, seed=seed, algorithm="beta", tuning=tuning()) for seed in range(3)]
    assert references([*several(), *tuned], "alpha") == {"defaults": "alpha", "tuned": ""}


@pytest.mark.parametrize("status", ["diverged", "failed"])
def test_over_a_reference_without_any_result_there_are_no_gains(status):
    make = {"diverged": partial(finished, None), "failed": partial(board_cells.unfinished, "failed")}[status]
    cells = several(("beta",)) + [make(seed=seed) for seed in range(3)]
    report = build(cells, "t", reference="alpha")
    assert report.references == {"defaults": "alpha"}
    assert not len(report.gains)
    assert report.results.set_index("method").loc["alpha", "gaps"] == f"{status} in 3 of 3 runs"


def test_an_unknown_reference_is_refused_with_the_nearest_name():
    with pytest.raises(ParameterError, match=r"'alpho'.*alpha"):
        references(several(), "alpho")
    assert references(several(), "ls_svm") == {"defaults": ""}


def test_tuned_methods_compare_with_log_reg_cv_where_it_was_run():
    for tuned, was_run in product((True, False), repeat=2):
        how = {"tuning": tuning()} if tuned else {}
        names = ("log_reg", "psam", "log_reg_cv")[: 3 if was_run else 2]
        label = default_reference(cell_frame([finished(0.8, algorithm=name, **how) for name in names], False))
        assert label == ("log_reg_cv" if tuned and was_run else "log_reg")
