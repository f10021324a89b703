"""The speed of a machine is measured once, kept, and turns seconds into units that machines share."""

import numpy as np
import pytest

from aucbench import api
from aucbench.studies import calibration


@pytest.fixture
def quick(monkeypatch, tmp_path):
    """Short measurements, in an empty cache folder."""
    monkeypatch.setattr(calibration, "SECONDS", 0.01)
    monkeypatch.setattr(calibration, "cache_folder", lambda: tmp_path)
    calibration.calibration.cache_clear()
    yield tmp_path
    calibration.calibration.cache_clear()


def test_the_bare_kernels_are_a_product_with_the_weights_and_a_step_along_the_row():
    X = np.array([[1.0, 2.0, 0.0], [0.0, 3.0, 4.0]])
    expected = np.zeros(3)
    for x in X:
        expected += calibration.STEP * (1.0 - x @ expected) * x
    dense, sparse = np.zeros(3), np.zeros(3)
    calibration._dense_pass(X, dense)
    indices = np.array([0, 1, 1, 2], np.int32)
    calibration._csr_pass(np.array([1.0, 2.0, 3.0, 4.0]), indices, np.array([0, 2, 4]), sparse)
    np.testing.assert_allclose(dense, expected, rtol=1e-12)
    np.testing.assert_allclose(sparse, expected, rtol=1e-12)


def test_it_is_measured_once_for_a_machine_and_again_when_a_version_changes_or_its_file_is_damaged(
    quick, monkeypatch
):
    def found():
        calibration.calibration.cache_clear()
        return calibration.calibration()

    first = found()
    assert found() == first
    monkeypatch.setattr(calibration, "VERSION", 99)
    assert found().version == 99
    (file,) = quick.glob("calibration-*.json")
    file.write_text("{")
    assert found() is None or found().version == 99


@pytest.mark.parametrize(
    ("algo", "rows"),
    [("solam", 1), ("psam", 2), ("ls_svm", 455)],  # stream, pairs, full
)
def test_a_record_has_the_machine_its_speed_and_the_nonzeros_of_an_iteration(algo, rows):
    record = api.run(f"algo={algo}", "dataset=breast_cancer", "budget.iterations=3").record
    assert record["data"]["train_rows"] == 455
    assert record["result"]["nonzeros_per_iteration"] == rows * 30
    assert len(record["environment"]["machine"]) == 32
    assert record["environment"]["calibration"]["dense_cached"] > 0
