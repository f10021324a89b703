"""Training on a stream, against the method's own steps over the same rows, NumPy and river's checks."""

import contextlib
import doctest
import pickle
import re
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from river import checks
from scipy import sparse

from aucbench import Batch, Problem
from aucbench.contracts.random_streams import RandomStream, generator
from aucbench.contracts.validation import Family
from aucbench.errors import DataError, ParameterError
from aucbench.evaluation import exact_auc
from aucbench.registry import accepted_loss, catalog
from aucbench.river import AUCClassifier
from aucbench.river import classifier as classifier_module
from aucbench.runner.trainer import finalize
from tests.helpers.fake_plugins import Exploding, Perceptron, Weightless, two_clouds

N, D, WARMUP = 1500, 7, 64
X, Y = two_clouds(n=N, d=D, seed=5)
X = X * 0.3
X[np.random.default_rng(0).random(X.shape) < 0.3] = 0.0
NAMES = [f"f{j}" for j in range(D)]
ROWS = [dict(zip(NAMES, row, strict=True)) for row in X.tolist()]
LABELS = (Y > 0).tolist()


METHODS = catalog().plugins[Family.algorithms]
# A saddle point, d x d moments, low-rank moments, a plan, rounds, and a rule with an intercept.
SEVERAL = ("solam", "opauc", "opauc_r", "fsauc", "sauc", "sgd_log")


def classifier(algo, **keywords):
    """A classifier with the number of rows where the method needs it."""
    plans = getattr(METHODS[algo].cls, "plans", False)
    return AUCClassifier(algo, iterations=N if plans else None, **keywords)


def learnt(model, rows=ROWS, labels=LABELS):
    for x, y in zip(rows, labels, strict=True):
        model.learn_one(x, y)
    return model


def weights_of(model, names=NAMES):
    weights = model.weights
    return np.array([weights[name] for name in names])


@pytest.mark.parametrize("algo", SEVERAL)
def test_the_model_is_that_of_the_methods_own_steps(algo):
    model = learnt(classifier(algo, rescale=False, warmup=WARMUP))
    method = model._stream.algorithm
    name = accepted_loss(catalog(), method, None)
    rows = sparse.csr_array(X)
    first = Problem(rows[:WARMUP], Y[:WARMUP], model.iterations, name and catalog().loss(name)())
    state = method.init(first, generator(0, RandomStream.method))
    state = method.step(state, Batch(rows, Y, np.arange(N)))
    expected = method.weights(finalize(method, state))
    np.testing.assert_allclose(weights_of(model), expected, rtol=1e-7, atol=1e-10)
    assert exact_auc(X @ weights_of(model), Y) > 0.8


def test_features_that_first_come_after_the_warm_up_are_warned_of_once_and_ignored():
    late, never = AUCClassifier(warmup=32), AUCClassifier(warmup=32)
    cut = [{name: x[name] for name in NAMES[:4]} for x in ROWS]
    with pytest.warns(UserWarning, match="'f4'.* n_features") as caught:
        learnt(late, cut[:200] + ROWS[200:])
    assert len(caught) == 1
    learnt(never, cut)
    assert late.weights == never.weights
    assert late.score_one(ROWS[0]) == pytest.approx(never.score_one(cut[0]))
    frames = AUCClassifier(warmup=32)
    frames.learn_many(pd.DataFrame(cut[:200]), LABELS[:200])
    with pytest.warns(UserWarning, match="'f4'"):
        frames.learn_many(pd.DataFrame(ROWS[200:]), LABELS[200:])
    np.testing.assert_allclose(weights_of(frames, NAMES[:4]), weights_of(never, NAMES[:4]), rtol=1e-9)
    assert late.predict_many(pd.DataFrame(ROWS)).tolist() == [late.predict_one(x) for x in ROWS]


def test_features_that_come_during_the_warm_up_are_worth_what_they_would_be_as_zeros():
    cut = [x if number >= 20 else {name: x[name] for name in NAMES[:4]} for number, x in enumerate(ROWS)]
    late, padded = AUCClassifier(warmup=32), AUCClassifier(warmup=32)
    for number, (x, label) in enumerate(zip(cut, LABELS, strict=True)):
        late.learn_one(x, label)
        if number % 5 == 0:
            assert np.isfinite(late.score_one(ROWS[number]))
    learnt(padded, [dict.fromkeys(NAMES, 0.0) | x for x in cut])
    np.testing.assert_allclose(weights_of(late), weights_of(padded), rtol=1e-7, atol=1e-10)


def test_rescaling_multiplies_rows_by_a_power_of_two_that_brings_their_mean_square_near_one():
    model = learnt(AUCClassifier(Perceptron(eta=0.05), warmup=WARMUP))
    size = np.mean(np.sum(X[:WARMUP] ** 2, axis=1))
    factor = 2.0 ** round(-0.5 * np.log2(size))
    assert 0.5 < factor**2 * size < 2.0
    scaled = [{name: factor * value for name, value in x.items()} for x in ROWS]
    reference = learnt(AUCClassifier(Perceptron(eta=0.05), rescale=False, warmup=WARMUP), scaled)
    np.testing.assert_allclose(weights_of(model), factor * weights_of(reference), rtol=1e-12)


@pytest.mark.parametrize("algo", SEVERAL)
def test_predictions_frames_and_copies_in_between_change_nothing(algo):
    plain, queried, framed = (classifier(algo) for _ in range(3))
    learnt(plain)
    for number, (x, y) in enumerate(zip(ROWS, LABELS, strict=True)):
        queried.learn_one(x, y)
        if number % 37 == 0:
            queried.predict_proba_one(x)
        if number in (50, 700):
            queried = pickle.loads(pickle.dumps(queried))
    frame, labels = pd.DataFrame(ROWS), pd.Series(LABELS)
    for start in range(0, N, 333):
        framed.learn_many(frame[start : start + 333], labels[start : start + 333])
    probs = plain.predict_proba_many(frame.set_axis(range(7, N + 7)))
    assert list(probs.index) == list(range(7, N + 7))
    np.testing.assert_allclose(
        probs[True], [plain.predict_proba_one(x)[True] for x in ROWS], rtol=1e-9, atol=1e-12
    )
    for model in (queried, framed):
        np.testing.assert_allclose(weights_of(model), weights_of(plain), rtol=1e-7, atol=1e-10)
        assert model.predict_proba_one(ROWS[0]) == pytest.approx(plain.predict_proba_one(ROWS[0]), rel=1e-6)


@pytest.mark.parametrize("algo", ["solam", "opauc_r", "sgd_log"])
def test_a_wide_row_is_scored_by_its_own_columns_as_by_all(algo):
    model = classifier(algo, n_features=4096)
    for x, y in zip(ROWS[:300], LABELS, strict=False):
        model.learn_one(x, y)
        by_columns = model.score_one(x)
    assert model._stream._by_columns
    assert model.score_one(x) == pytest.approx(by_columns, rel=1e-9)
    all_weights, columns = model.weights, [model._stream.columns.known(name) for name in NAMES]
    assert by_columns == pytest.approx(
        sum(all_weights[c] * x[n] for c, n in zip(columns, NAMES, strict=True))
    )
    assert by_columns != 0.0


def test_a_chunk_delays_predictions_and_nothing_else():
    fresh, delayed = AUCClassifier(), AUCClassifier(chunk=8)
    score = 0.0
    for number, (x, y) in enumerate(zip(ROWS[:700], LABELS, strict=False)):
        fresh.learn_one(x, y)
        delayed.learn_one(x, y)
        if (number + 1) % 8 == 0 or number + 1 in (1, 2, 4):
            score = fresh.score_one(ROWS[0])
        assert delayed.score_one(ROWS[0]) == pytest.approx(score, rel=1e-9)
    assert fresh.score_one(ROWS[0]) != delayed.score_one(ROWS[0])


def test_probabilities_are_the_sigmoid_of_two_normal_classes():
    sigmoid, block = (type(AUCClassifier()._stream.sigmoid)() for _ in range(2))
    rng = np.random.default_rng(2)
    y = np.where(rng.random(40_000) < 0.2, 1, -1).astype(np.int8)
    scores = rng.normal(0.0, 2.0, len(y)) + 3.0 * (y > 0)
    block.add(scores[:500], y[:500])  # one block: means and variances of its rows
    n, p = (scores[:500][y[:500] == sign] for sign in (-1, 1))
    slope = (p.mean() - n.mean()) / ((len(n) * n.var() + len(p) * p.var()) / 500)
    logit = slope * (1.7 - 0.5 * (p.mean() + n.mean())) + np.log(len(p) / len(n))
    assert block.one(1.7) == pytest.approx(1.0 / (1.0 + np.exp(-logit)), rel=1e-9)
    before = block.one(1.7)
    block.add(np.array([np.inf, np.nan, np.inf]), np.array([1, -1, -1], np.int8))
    assert block.one(1.7) == pytest.approx(before, abs=0.01)  # only the numbers of rows have changed
    sigmoid.add(scores[:1], y[:1])
    assert sigmoid.one(1.5) == pytest.approx(1.0 / (1.0 + np.exp(-1.5)))  # no statistics with one class
    for start in range(1, len(y), 1000):
        sigmoid.add(scores[start : start + 1000], y[start : start + 1000])
    s = np.linspace(-5.0, 8.0, 27)
    densities = [share * np.exp(-((s - m) ** 2) / 8.0) for share, m in ((0.8, 0.0), (0.2, 3.0))]
    np.testing.assert_allclose(sigmoid.many(s), densities[1] / sum(densities), atol=0.03)
    assert [sigmoid.one(float(score)) for score in s] == pytest.approx(sigmoid.many(s).tolist())
    for start in range(0, len(y), 4000):  # older rows are forgotten
        sigmoid.add(scores[start : start + 4000] + 50.0, y[start : start + 4000])
    assert sigmoid.one(53.0) == pytest.approx(1.0 / (1.0 + 4.0 * np.exp(-0.75 * 1.5)), abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        *(AUCClassifier(**parameters) for parameters in AUCClassifier._unit_test_params()),
        AUCClassifier("sgd_log", rescale=False, warmup=1, n_features=2),
    ],
    ids=str,
)
def test_it_does_what_river_expects_of_a_classifier(model):
    checks.check_estimator(model)
    assert model._unit_test_skips() == set()


def test_a_planning_method_refuses_more_rows_than_planned():
    model = learnt(AUCClassifier("fsauc", iterations=100), ROWS[:100], LABELS[:100])
    with pytest.raises(ParameterError, match=r"fsauc planned 100 .* 1 more"):
        model.learn_one(ROWS[0], True)
    with pytest.raises(ParameterError, match=r"fsauc planned 100 .* 5 more"):
        model.learn_many(pd.DataFrame(ROWS[:5]), LABELS[:5])


def test_a_diverged_model_says_what_to_change():
    model = learnt(AUCClassifier(Exploding(at=150)), ROWS[:140], LABELS[:140])
    learnt(model, ROWS[:20], LABELS[:20])
    with pytest.raises(ParameterError, match="exploding diverged within 160 rows"):
        model.predict_proba_one(ROWS[0])


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({"algo": "psam"}, "psam .* learn_one"),
        ({"algo": "spam"}, "spam .*resumable"),
        ({"algo": "fsauc"}, "fsauc .* iterations"),
        ({"algo": Weightless()}, "not linear"),
        ({"algo": "slam"}, "slam"),
        ({"algo_params": {"radius": -1.0}}, r"solam.* radius .*-1\.0"),
        ({"loss": "hinge"}, "solam .*hinge"),
        ({"n_features": 100}, "n_features .* 100"),
        ({"warmup": 0}, "warmup .* 0"),
        ({"rescale": "yes"}, "rescale .* 'yes'"),
        ({"seed": -1}, "seed .* -1"),
        ({"iterations": 0}, "iterations must be an integer from 1 on, got 0"),
        ({"chunk": None}, "chunk .* None"),
    ],
    ids=str,
)
def test_settings_that_cannot_be_used_are_refused_at_once(parameters, named):
    with pytest.raises(ParameterError, match=named):
        AUCClassifier(**parameters)


@pytest.mark.parametrize(
    ("x", "y", "named"),
    [
        ({"a": "red"}, True, "'a' .* 'red'"),
        ({"a": 1.0, "b": float("nan")}, True, "'b' .* nan"),
        ({"a": 1.0}, "spam", "'spam'"),
        ({"a": 1.0}, 2, "2"),
        ({"a": 1.0, "b": float("inf")}, False, "'b' .* inf"),
        ({"a": 1.0, "b": 10**400, "c": -(10**400)}, True, r"'b' .*\(int\)"),
        ({"a": Decimal("sNaN")}, True, "'a' .* Decimal"),
        ({"a": 1.0, "b": pd.NA}, True, "'b' .* <NA>"),
        ({"a": 1.0}, pd.NA, "<NA>"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_rows_that_cannot_be_used_are_refused_and_leave_the_model_as_it_is(x, y, named):
    model, control = (learnt(AUCClassifier(), ROWS[:200], LABELS[:200]) for _ in range(2))
    frame = pd.DataFrame([x] * 2, dtype=object if any(isinstance(v, int) for v in x.values()) else None)
    with pytest.raises(DataError, match=named):
        model.learn_one(x, y)
    with pytest.raises(DataError, match=named):
        model.learn_many(frame, pd.Series([y] * 2))
    if y is True:
        row = {NAMES["abc".index(name)]: value for name, value in x.items()}
        for predict in (model.score_one, model.predict_proba_one, model.predict_one):
            with pytest.raises(DataError, match=named.replace("'a'", "'f0'").replace("'b'", "'f1'")):
                predict(row)
        with pytest.raises(DataError, match=named):
            model.predict_many(frame)
    learnt(model, ROWS[200:300], LABELS[200:300])
    learnt(control, ROWS[200:300], LABELS[200:300])
    assert model.weights == control.weights


@pytest.mark.parametrize("x", [None, [1.0, 2.0], "text"], ids=repr)
def test_a_row_that_is_no_mapping_is_refused(x):
    model = learnt(AUCClassifier(), ROWS[:20], LABELS[:20])
    for call in (lambda: model.learn_one(x, True), lambda: model.score_one(x), lambda: model.predict_one(x)):
        with pytest.raises(DataError, match=f"dict .* {type(x).__name__}"):
            call()


FRAME = pd.DataFrame({"a": [1.0, 2.0]})


@pytest.mark.parametrize(
    ("frame", "y", "named"),
    [
        (FRAME, pd.Series([None, True], dtype="boolean"), "True or False, got <NA>"),
        (FRAME, pd.DataFrame({"y": [True, False]}), r"series .* \(2, 1\)"),
        (FRAME, [[True], [True, False]], r"True or False, got \[True\]"),
        (FRAME, [True], "2 rows and 1 labels"),
        (pd.DataFrame([[1.0, 2.0, 3.0]], columns=["a", "b", "b"]), [True], "one column .* 'b'"),
        (np.ones((2, 2)), [True, False], "data frame.* ndarray"),
        (None, [True, False], "data frame.* NoneType"),
    ],
)
def test_frames_and_labels_that_cannot_be_used_are_refused(frame, y, named):
    model = learnt(AUCClassifier(), ROWS[:200], LABELS[:200])
    before = model.weights
    with pytest.raises(DataError, match=named):
        model.learn_many(frame, y)
    if "data frame" in named or "column" in named:
        for predict in (model.predict_many, model.predict_proba_many):
            with pytest.raises(DataError, match=named):
                predict(frame)
    assert model.weights == before


@pytest.mark.parametrize(
    "changed",
    [
        MappingProxyType,
        lambda x: dict(reversed(x.items())),
        lambda x: {name: Fraction(v) if name == "f3" else Decimal(v) for name, v in x.items()},
        lambda x: {name: np.float64(value) for name, value in x.items()},
    ],
    ids=["proxy", "reversed", "Fraction and Decimal", "float64"],
)
@pytest.mark.parametrize("n_features", [None, 4, 4096])
def test_mappings_and_numbers_of_other_types_say_what_dicts_of_floats_say(changed, n_features):
    plain = learnt(AUCClassifier(n_features=n_features), ROWS[:300], LABELS[:300])
    rows = [changed(x) for x in ROWS[:300]]
    model = learnt(AUCClassifier(n_features=n_features), rows, LABELS[:300])
    expected = [plain.score_one(x) for x in ROWS[:5]]
    scores = [model.score_one(x) for x in rows[:5]]
    assert scores == pytest.approx(expected, rel=1e-9)
    assert {type(score) for score in scores} == {float}
    framed = AUCClassifier(n_features=n_features)
    framed.learn_many(pd.DataFrame([dict(x) for x in rows]), LABELS[:300])
    assert framed.score_one(rows[0]) == pytest.approx(expected[0], rel=1e-9)


def test_hashed_columns_are_the_same_in_each_process_and_share_values():
    columns = AUCClassifier(n_features=2**18)._stream.columns
    assert [columns.known(name) for name in ("", "price", "größe", 7, ("a", 1))] == HASHED
    hashed = learnt(AUCClassifier(Perceptron(), n_features=1, rescale=False))
    sums = learnt(AUCClassifier(Perceptron(), rescale=False), [{"sum": sum(x.values())} for x in ROWS])
    assert hashed.weights[0] == pytest.approx(sums.weights["sum"], rel=1e-9)
    frames = AUCClassifier(Perceptron(), n_features=1, rescale=False)
    frames.learn_many(pd.DataFrame(ROWS), pd.Series(LABELS))
    assert frames.weights[0] == pytest.approx(hashed.weights[0], rel=1e-9)


# blake2b with digests of 8 bytes, little-endian, modulo 2**18
HASHED = [42724, 110530, 129268, 217319, 32666]


def test_the_example_of_the_docstring_runs():
    assert doctest.testmod(classifier_module).failed == 0


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.dictionaries(
                st.sampled_from("abcd"),
                st.one_of(st.floats(-3, 3), st.sampled_from([1e308, -1e308, 1e200, 0.0])),
                max_size=4,
            ),
            st.booleans(),
            st.booleans(),
        ),
        min_size=1,
        max_size=40,
    ),
    st.sampled_from([1, 2, 8]),
    st.booleans(),
)
@example([({"a": 1e308, "b": -1e308}, True, False), ({"a": -1e308, "b": 1e308}, False, True)] * 2, 2, False)
def test_any_stream_is_learnt_or_every_call_says_what_ended_the_training(rows, warmup, rescale):
    model, message = AUCClassifier("solam", warmup=warmup, chunk=1, rescale=rescale), None
    for row, label, as_frame in rows:
        frame = pd.DataFrame([{name: row.get(name, 0.0) for name in "abcd"}] * 3)
        calls = [
            lambda row=row, label=label: model.learn_one(row, label),
            lambda row=row: model.predict_proba_one(row),
        ]
        if as_frame:
            calls[0] = lambda frame=frame, label=label: model.learn_many(frame, pd.Series([label] * 3))
        for call in calls:
            if message is not None:
                with pytest.raises(ParameterError, match=re.escape(message)):
                    call()
                continue
            with contextlib.suppress(ParameterError), np.errstate(all="ignore"):
                call()
            message = model._stream._failure and str(model._stream._failure)
