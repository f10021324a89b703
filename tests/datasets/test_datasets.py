"""The built-in data sets."""

import json
import subprocess
import sys

import numpy as np
import pytest
from sklearn import datasets as of_sklearn
from sklearn.metrics import roc_auc_score

from aucbench import File, ParameterError
from aucbench.data import fetch, has_test_part, load
from aucbench_datasets.generated import Gaussian, HardMargin, LabelNoise, SparseText
from aucbench_datasets.scikit_learn import BreastCancer, Digits
from aucbench_datasets.user_files import Libsvm
from tests.data.conftest import TINY


@pytest.mark.parametrize(
    ("ours", "theirs", "positive"),
    [(BreastCancer, of_sklearn.load_breast_cancer, [0]), (Digits, of_sklearn.load_digits, range(5, 10))],
)
def test_bundled_data_are_those_of_scikit_learn(ours, theirs, positive):
    loaded = load(ours())
    X, target = theirs(return_X_y=True)
    np.testing.assert_array_equal(loaded.X, X)
    np.testing.assert_array_equal(loaded.y == 1, np.isin(target, list(positive)))
    assert fetch(ours()) == []
    assert not has_test_part(ours())


@pytest.mark.usefixtures("process")
def test_loading_bundled_data_does_not_import_scikit_learn():
    code = """
import json, sys
import aucbench.data
from aucbench_datasets.scikit_learn import Digits
aucbench.data.load(Digits())
heavy = {"sklearn", "numba", "requests", "pandas", "mlflow"}
print(json.dumps(sorted(heavy & set(sys.modules))))
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert json.loads(out) == []


def test_gaussian_data_depend_on_the_seed_alone():
    assert load(Gaussian(n=50)).sha256 == load(Gaussian(n=50)).sha256 != load(Gaussian(n=50, seed=1)).sha256
    assert load(Gaussian(n=2, positive_rate=0.001)).y.sum() == 0


def test_an_own_file_is_loaded_by_path_relative_or_absolute(tmp_path, monkeypatch):
    (tmp_path / "my.txt").write_text(TINY)
    monkeypatch.chdir(tmp_path)
    assert load(Libsvm(path="my.txt")).X.shape == (5, 3)
    assert load(Libsvm(path=str(tmp_path / "my.txt"), features=10)).X.shape == (5, 10)
    data = Libsvm(path="my.txt", test_path="my.txt", positive=-1)
    assert has_test_part(data)
    assert load(data, "test").y.tolist() == [1, -1, 1, -1, 1]


@pytest.mark.parametrize("positive", [[], [1, [2]], {"a": 1}])
def test_positive_that_is_no_label_is_refused(positive):
    with pytest.raises(ParameterError, match=r"positive must be a label or a list of labels"):
        Libsvm(path="x", positive=positive)


def test_own_data_sets_declared_alike_are_equal_and_hashable(tmp_path):
    path = str(tmp_path / "own")
    assert Libsvm(path=path).files == (File(path, zero_based=None),)
    assert Libsvm(path=path, zero_based=False).files == (File(path),)
    assert hash(Libsvm(path="x", positive=[1, 2])) == hash(Libsvm(path="x", positive=(1.0, 2.0)))


@pytest.mark.parametrize(
    "data",
    [
        Gaussian(n=200_000, d=4, positive_rate=0.3, separation=1.2, condition=1e4, seed=2),
        LabelNoise(n=200_000, d=4, positive_rate=0.2, separation=2.0, noise=0.25, seed=3),
        HardMargin(n=20_000, d=4, seed=4),
    ],
    ids=lambda data: data.name,
)
def test_the_stated_best_auc_is_that_of_the_optimal_score_on_many_rows(data):
    loaded = load(data)
    if data.name != "label_noise":
        assert np.count_nonzero(loaded.y == 1) == round(data.n * data.positive_rate)
    if data.name == "hard_margin":
        score = loaded.X @ np.linalg.lstsq(loaded.X, loaded.y.astype(float), rcond=None)[0]
        assert 0.98 < roc_auc_score(loaded.y, score) <= data.bayes_auc == 1.0
        return
    means = [loaded.X[loaded.y == sign].mean(axis=0) for sign in (1, -1)]
    within = np.diag(loaded.X[loaded.y == 1].var(axis=0)) if data.name == "gaussian" else np.eye(4)
    if data.name == "gaussian":
        assert [within[0, 0], within.max() / within[within > 0].min()] == pytest.approx([1.0, 1e4], rel=0.05)
    score = loaded.X @ np.linalg.solve(within, means[0] - means[1])  # Fisher's discriminant
    assert roc_auc_score(loaded.y, score) == pytest.approx(data.bayes_auc, abs=0.004)


def test_hard_margin_rows_keep_the_margin_from_a_plane():
    data = HardMargin(n=3000, d=3, margin=0.5, seed=5)
    loaded = load(data)
    rng = np.random.default_rng(5)
    rng.permutation(3000)
    direction = rng.standard_normal(3)
    distance = loaded.y * (loaded.X @ direction) / np.linalg.norm(direction)
    assert distance.min() >= 0.5 - 1e-12
    assert distance.min() < 0.51


def test_sparse_text_has_unit_rows_zipf_words_and_the_declared_rate():
    loaded = load(SparseText(n=4000, d=5000, nonzeros=50, positive_rate=0.2, seed=1))
    X = loaded.X
    assert X.shape == (4000, 5000)
    assert np.count_nonzero(loaded.y == 1) == 800
    np.testing.assert_allclose(np.asarray(X.multiply(X).sum(axis=1)).ravel(), 1.0)
    assert np.diff(X.indptr).max() <= 50
    used = np.sort(np.asarray((X > 0).sum(axis=0)).ravel())[::-1]
    assert used[0] > 0.9 * 4000  # the most frequent word is in almost every row
    assert used[99] / used[999] == pytest.approx(10, rel=0.4)  # frequency falls like 1 / rank
    with pytest.raises(ParameterError, match=r"sparse_text: nonzeros must be at most d, got 9 of 5"):
        SparseText(d=5, nonzeros=9)
