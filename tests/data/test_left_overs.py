"""What killed downloads left behind, and data sets of which a part is missing."""

import os
import time

import pytest

from aucbench.cli import main
from aucbench.data import fetch
from aucbench.data.files import cache_inventory, locate
from aucbench_datasets.tabular import W8a
from tests.data.conftest import TINY, Declared
from tests.data.web import content


@pytest.fixture
def left(cache):
    """Makes the folder of a download that was killed some seconds ago."""

    def made(name, seconds):
        folder = cache / "raw" / "binary" / f".{name}.download-x7"
        folder.mkdir(parents=True)
        (folder / name).write_bytes(b"x" * 5000)
        for path in (folder / name, folder):
            os.utime(path, (time.time() - seconds,) * 2)
        return folder

    return made


def test_they_are_listed_and_removed_with_everything(left, capsys):
    killed, running = left("a9a", 600), left("w8a", 5)
    assert cache_inventory.left_overs() == {killed: 5000}
    assert main(["data"]) == 0
    assert "unfinished downloads" in capsys.readouterr().out
    assert main(["data", "--remove-all"]) == 0
    assert "unfinished downloads: 5 kB removed" in capsys.readouterr().out
    assert (killed.exists(), running.exists()) == (False, True)


def test_old_ones_of_other_files_are_swept_by_the_next_download(left, web):
    old, recent = left("a9a", locate.OLD_SECONDS + 60), left("w8a", 600)
    web.serve("/binary/tiny", content(TINY.encode()))
    fetch(Declared())
    assert (old.exists(), recent.exists()) == (False, True)


def test_a_part_that_is_there_is_parsed_before_the_missing_one_is_named(web, capsys):
    rows = "".join(f"{label} 1:1 300:{i + 1}\n" for label, n in ((-1, 48270), (1, 1479)) for i in range(n))
    web.serve("/binary/w8a", content(rows.encode()))
    assert main(["fetch", W8a.name]) == 2
    printed = capsys.readouterr()
    assert "w8a: train part, 49,749 rows, 300 features" in printed.out
    assert (
        "The training part is there, the test part is not: w8a: no source has the file binary/w8a.t"
        in printed.err
    )
