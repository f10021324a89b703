"""``aucbench suggest``: its output and exit statuses."""

import shlex
import shutil

import pytest

from aucbench.studies.archives import archive_file
from tests.studies.conftest import tuned_file, tuned_store  # noqa: F401  (fixtures)

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tuned_file, tmp_path):  # noqa: F811
    """A folder with an archive of tuned methods."""
    shutil.copy(tuned_file, tmp_path / "tuned.zip")
    return tmp_path


def test_methods_come_with_the_data_sets_that_they_rest_on(run):
    status, out, err = run("suggest", "wine", "--with", "tuned.zip", "--count", "2")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("wine: 142 training rows, 13 features")
    assert [line.split()[0] for line in lines if "algo=" in line and line[0].isdigit()] == ["1.", "2."]
    assert sum("wine" in line and "distance 0.00" in line for line in lines) == 2
    args = shlex.split(lines[-1].removeprefix("next: aucbench"))
    assert run(*args, "--dry-run", "tracking=none")[0] == 0  # the suggestion can be run


def test_a_file_of_ones_own_is_read_as_by_run(run, folder):
    rows = "\n".join(f"{i % 7},{i % 5},{'ill' if i % 3 == 0 else 'well'}" for i in range(200))
    (folder / "rows.csv").write_text(f"a,b,state\n{rows}\n")
    status, out, _ = run("suggest", "rows.csv", "dataset.target=state", "--with", "tuned.zip")
    assert out.startswith("rows.csv: 160 training rows, 2 features")
    assert status in (0, 1)


def test_an_installation_without_an_archive_says_so(refused, monkeypatch):
    monkeypatch.setattr(archive_file, "shipped", lambda: None)
    assert "--with FILE" in refused("suggest", "wine")
