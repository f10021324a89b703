"""The published archives, and one of each format, are read and written again byte for byte."""

import zipfile
from pathlib import Path

import pytest

from aucbench.studies.archives import archive_file
from aucbench.studies.archives.archive_file import MANIFEST, read, write

ROOT = Path(__file__).resolve().parents[3]
SMALL = 1_500_000  # bytes; such archives are read and written within a second
FILES = sorted([*ROOT.glob("docs/results/*.zip"), *ROOT.glob("tests/studies/kept/*.zip")])


def entries(file):
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist() if name != MANIFEST}


@pytest.mark.parametrize(
    "file",
    [pytest.param(file, marks=[pytest.mark.docs] * (file.stat().st_size > SMALL)) for file in FILES],
    ids=lambda file: file.stem,
)
def test_an_archive_is_read_and_written_again_byte_for_byte(file, tmp_path, monkeypatch):
    monkeypatch.setattr(archive_file, "ZIP_LZMA", zipfile.ZIP_STORED)  # entries are compared unpacked
    manifest, archive = read(file)
    assert manifest.cells == len(archive.cells) > 0
    write(archive, tmp_path / "again.zip")
    assert entries(tmp_path / "again.zip") == entries(file)
