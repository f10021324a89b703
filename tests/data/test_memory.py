"""Memory that is available, and rows beyond it: spilled to files, mapped, trained over without a copy."""

import os
import resource
import subprocess
import sys
import tracemalloc

import numpy as np
import psutil
import pytest
from scipy import sparse

import aucbench
from aucbench import DataError, ParameterError, require_memory
from aucbench.data import memory
from aucbench.data.files.npy import NpyWriter, open_npy
from aucbench.data.loader import Loaded, Part
from aucbench.data.preprocess import prepare
from aucbench.data.scaler import Scaling, fit_scaling, gather
from aucbench.data.splits.protocols import Holdout, Side, Split
from aucbench.runner.cell import Task, run_cell
from aucbench.runner.task import Order
from aucbench_features import Fourier, Identity, Projection


@pytest.fixture
def no_memory(monkeypatch):
    """Nothing fits, and blocks are a few rows."""
    monkeypatch.setattr(memory, "available", lambda: 0)
    monkeypatch.setattr("aucbench.data.scaler.available", lambda: 10**12)
    monkeypatch.setattr(memory, "BLOCK_BYTES", 300)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((101, 7)) * (rng.random((101, 7)) < 0.6)
    return X, np.sort(rng.permutation(101)[:80])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", Scaling)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_rows_that_are_spilled_have_the_bits_of_rows_in_memory(rows, kind, name, dtype, no_memory, request):
    X, chosen = rows
    X = kind(X)
    scaler = fit_scaling(name, X, chosen)
    spilled = gather(X, chosen, scaler, dtype)
    request.getfixturevalue("monkeypatch").setattr(memory, "available", lambda: 10**12)
    in_memory = gather(X, chosen, scaler, dtype)
    assert type(spilled) is type(in_memory)
    assert spilled.dtype == in_memory.dtype
    if sparse.issparse(in_memory):
        np.testing.assert_array_equal(spilled.indptr, in_memory.indptr)
        np.testing.assert_array_equal(spilled.indices, in_memory.indices)
        np.testing.assert_array_equal(spilled.data, in_memory.data)
        assert spilled.indptr.dtype == spilled.indices.dtype == np.int32
        return
    np.testing.assert_array_equal(spilled, in_memory)
    assert spilled.flags.c_contiguous
    assert spilled.flags.writeable


def test_what_needs_no_change_is_not_copied_and_nothing_stays_in_the_scratch_folder(rows, no_memory, cache):
    for X in (rows[0], sparse.csr_matrix(rows[0])):
        assert gather(X, None, fit_scaling("none", X)) is X
        assert gather(X, None, fit_scaling("none", X), np.float32) is not X
        assert gather(X, None, fit_scaling("unit", X)) is not X
    X = gather(rows[0], rows[1], fit_scaling("maxabs", rows[0]))
    assert list((cache / "scratch").iterdir()) == []
    X[0, 0] = 5.0  # still there
    assert X[0, 0] == 5.0


@pytest.mark.usefixtures("process")
def test_what_a_killed_process_left_in_the_scratch_folder_is_removed(rows, no_memory, cache):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    for name in (f"{dead.pid}-x", f"{os.getpid()}-x"):
        (cache / "scratch" / name).mkdir(parents=True)
    gather(rows[0], rows[1], fit_scaling("maxabs", rows[0]))
    assert [folder.name for folder in (cache / "scratch").iterdir()] == [f"{os.getpid()}-x"]


def test_a_scratch_folder_that_cannot_be_written_is_one_clear_sentence(rows, no_memory, cache):
    cache.mkdir()
    (cache / "scratch").write_text("in the way")
    with pytest.raises(DataError, match=r"rows do not fit into memory, and .*scratch cannot be written"):
        gather(rows[0], rows[1], fit_scaling("maxabs", rows[0]))


@pytest.mark.parametrize("rescale", [False, True])
@pytest.mark.parametrize("features", [Identity(), Fourier(30, 2.0), Projection(9)], ids=lambda f: f.name)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_features_that_are_spilled_are_those_computed_in_memory(
    rows, kind, features, rescale, no_memory, monkeypatch
):
    X, chosen = rows
    y = np.where(np.arange(101) % 2, 1, -1).astype(np.int8)
    test_rows = np.setdiff1d(np.arange(101), chosen)
    split = Split(Side(kind(X), y[chosen], chosen), Side(kind(X), y[test_rows], test_rows))
    spilled = prepare(split, Scaling.maxabs, features, "float64", 3, rescale)
    monkeypatch.setattr(memory, "available", lambda: 10**12)
    in_memory = prepare(split, Scaling.maxabs, features, "float64", 3, rescale)
    assert (spilled.rescaling is not None) == rescale
    for ours, theirs in ((spilled.X, in_memory.X), (spilled.X_test, in_memory.X_test)):
        assert ours.shape == theirs.shape
        dense = [matrix.toarray() if sparse.issparse(matrix) else matrix for matrix in (ours, theirs)]
        np.testing.assert_allclose(*dense, rtol=1e-13, atol=1e-13)


def test_training_over_rows_that_do_not_fit_maps_them_and_copies_nothing(no_memory, monkeypatch):
    monkeypatch.setattr(memory, "BLOCK_BYTES", 100_000)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 100))
    y = np.where(X[:, 0] > 0.5, 1, -1).astype(np.int8)
    split = Holdout().split(lambda part: Loaded(X, y, "mine", "here", (1,)), Part.train, 0)
    solam = aucbench.catalog().algorithm("solam")(zeta=1.0, radius=10.0)

    def train(rows):
        sides = [side._replace(rows=side.rows[rows], y=side.y[rows]) for side in (split.train, split.test)]
        prepared = prepare(Split(*sides), "maxabs", Identity(), "float64", 0)
        arrays = prepared.X, prepared.y, prepared.X_test, prepared.y_test
        outcome = run_cell(Task(solam, None, *arrays, epochs=1, checkpoints=3, order=Order.blocks))
        return prepared.X.nbytes, outcome.auc[-1]

    train(slice(500))  # compiles the kernels
    tracemalloc.start()
    size, auc = train(slice(None))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert auc > 0.95
    assert peak < size / 5


def test_an_array_is_refused_as_soon_as_it_does_not_fit(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 8 * 24_000_000)
    require_memory("mine", (2, 3000, 4000), "use less")
    with pytest.raises(ParameterError) as caught:
        require_memory("mine", (2, 3000, 4001), "use less")
    for part in ("mine", "2 x 3000 x 4001", "192 MB", "use less"):
        assert part in str(caught.value)


def test_the_limits_of_the_process_and_of_its_container_count(monkeypatch):
    free = memory.available()
    taken = psutil.Process().memory_info().data
    limits = {resource.RLIMIT_DATA: taken + 100_000_000}
    monkeypatch.setattr(resource, "getrlimit", lambda which: (limits.get(which, resource.RLIM_INFINITY),) * 2)
    assert memory.available() <= 100_000_000 < free
    limits.clear()
    assert memory.available() > 100_000_000
    monkeypatch.setattr(memory, "_room_in_control_groups", lambda: [100_000])
    assert memory.available() == 100_000
    monkeypatch.setattr(memory, "available", lambda: 600_000_000)  # an array leaves room for the rest
    assert [memory.fits(size) for size in (150_000_000, 300_000_000)] == [True, False]


def test_maps_are_no_data_of_a_limited_process(tmp_path, monkeypatch):
    with NpyWriter(tmp_path / "x.npy", np.float64) as writer:
        writer.write(np.arange(3.0))
    array = open_npy(tmp_path / "x.npy")
    array[0] = 5.0  # the file does not change
    monkeypatch.setattr(resource, "getrlimit", lambda which: (10**9, 10**9))
    limited = open_npy(tmp_path / "x.npy")
    assert not limited.flags.writeable
    np.testing.assert_array_equal(limited, np.arange(3.0))


@pytest.mark.parametrize(
    ("cgroup", "files", "room"),
    [
        ("0::/job/step", {"job/memory.max": "900", "job/memory.stat": "anon 300\nfile 70"}, [600]),
        ("0::/job", {"job/memory.max": "max", "job/memory.stat": "anon 300"}, []),
        (
            "8:cpu:/job\n4:cpuacct,memory:/job\n0::/",
            {"memory/job/memory.stat": "rss 1\nhierarchical_memory_limit 900\ntotal_rss 200"},
            [700],
        ),
        ("4:memory:/outside", {"memory/memory.stat": "hierarchical_memory_limit 9\ntotal_rss 2"}, [7]),
        ("no group", {}, []),
    ],
)
def test_control_groups_of_both_versions_are_read(tmp_path, cgroup, files, room):
    for name, text in {
        "proc/self/cgroup": cgroup,
        **{f"sys/fs/cgroup/{k}": v for k, v in files.items()},
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert list(memory._room_in_control_groups(tmp_path)) == room
