"""Downloads that break off, that are large, that are in an archive, that fill the disk."""

import bz2
import resource
import zipfile

import pytest

from aucbench import DataError, FetchError, File
from aucbench.data import fetch, load, loader, missing_bytes
from aucbench.data.files import download
from tests.data.conftest import TINY, Declared
from tests.data.test_fetching import files_of
from tests.data.web import content, resumable

BODY = TINY.encode()


def test_a_broken_download_goes_on_where_it_stopped(web, monkeypatch):
    monkeypatch.setattr(download, "CHUNK_BYTES", 4)  # what is less than a chunk is lost
    web.serve("/binary/tiny", resumable(BODY, stop=20), resumable(BODY, stop=20), resumable(BODY))
    assert fetch(Declared())[0].read_bytes() == BODY
    assert web.ranges == [None, "bytes=20-", "bytes=40-"]


def test_attempts_that_bring_something_do_not_count_as_failures(web, monkeypatch):
    monkeypatch.setattr(download, "CHUNK_BYTES", 4)  # what is less than a chunk is lost
    web.serve("/binary/tiny", resumable(BODY, stop=12))
    assert fetch(Declared())[0].read_bytes() == BODY
    assert web.requests["/binary/tiny"] == -(-len(BODY) // 12) > download.ATTEMPTS


def test_a_file_that_changed_meanwhile_begins_anew(web, monkeypatch):
    monkeypatch.setattr(download, "CHUNK_BYTES", 4)  # what is less than a chunk is lost
    other = BODY.replace(b"7", b"8")
    web.serve("/binary/tiny", resumable(BODY, stop=30), resumable(other, version='"v2"'))
    assert fetch(Declared())[0].read_bytes() == other


def test_a_server_that_cannot_resume_is_asked_from_the_beginning(web):
    web.serve("/binary/tiny", content(BODY[:20], length=len(BODY)), content(BODY))
    assert fetch(Declared())[0].read_bytes() == BODY
    assert web.ranges == [None, None]


def test_a_large_download_is_refused_in_a_run_and_names_the_command(web, cache, monkeypatch):
    web.serve("/binary/tiny", content(BODY, length=250_000_000))
    with pytest.raises(FetchError, match=r"tiny is a download of 250 MB; .* aucbench fetch tiny --yes first"):
        load(Declared())
    assert web.requests["/binary/tiny"] == 1
    assert files_of(cache) == []


def test_files_of_one_data_set_are_counted_together(web, monkeypatch):
    monkeypatch.setattr(loader, "Allowance", lambda: download.Allowance(100))
    web.serve("/binary/tiny", content(BODY))
    web.serve("/binary/tiny.t", content(BODY))
    assert len(BODY) < 100 < 2 * len(BODY)
    data = Declared((File("binary/tiny"), File("binary/tiny.t", part="test")))
    with pytest.raises(FetchError, match=r"binary/tiny\.t is a download of 0 MB"):
        load(data, "all")


def test_the_whole_size_is_told_before_a_large_download_and_asked_for(web):
    data = Declared((File("binary/tiny"), File("binary/tiny.t", part="test")))
    web.sizes |= {"/binary/tiny": 90_000_000, "/binary/tiny.t.bz2": 70_000_000}
    assert missing_bytes(data) == 160_000_000
    with pytest.raises(FetchError, match=r"tiny: 160 MB to download; .* aucbench fetch tiny --yes"):
        fetch(data)
    assert not web.requests
    web.serve("/binary/tiny", content(BODY))
    web.serve("/binary/tiny.t.bz2", content(bz2.compress(BODY)))
    assert [path.name for path in fetch(data, large=True)] == ["tiny", "tiny.t.bz2"]
    assert missing_bytes(data) == 0


def test_a_file_in_a_zip_archive_is_taken_out(web, cache, tmp_path):
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.writestr("folder/data.txt", BODY)
        archive.writestr("other.txt", b"1 1:1\n")
    web.serve("/a.zip", content((tmp_path / "archive.zip").read_bytes()))
    file = File("uci/data.txt", urls=(f"{web.address}/a.zip#data.txt",))
    assert fetch(Declared((file,)))[0].read_bytes() == BODY
    assert files_of(cache) == ["data.txt"]
    missing = File("uci/none.txt", urls=(f"{web.address}/a.zip#none.txt",))
    with pytest.raises(FetchError, match=r"the archive has no file none\.txt"):
        fetch(Declared((missing,)))
    web.serve("/b.zip", content((tmp_path / "archive.zip").read_bytes()[:60]))
    with pytest.raises(FetchError, match=r"a damaged zip archive"):
        fetch(Declared((File("uci/b", urls=(f"{web.address}/b.zip#data.txt",)),)))


def test_a_disk_that_fills_while_downloading_is_one_sentence_and_leaves_nothing(web, cache):
    web.serve("/binary/tiny", content(BODY * 5000))
    _, hard = before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))  # a write beyond fails, as on a full disk
    try:
        with pytest.raises(DataError, match=r"cannot be written .*AUCBENCH_CACHE"):
            fetch(Declared())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert files_of(cache) == []
    assert len(fetch(Declared())[0].read_bytes()) == 5000 * len(BODY)
