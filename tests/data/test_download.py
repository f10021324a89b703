"""Downloads that break off, that are large, that are in an archive, that fill the disk or are no data."""

import bz2
import resource
import threading
import zipfile
from types import SimpleNamespace

import pytest

from aucbench import DataError, FetchError, File
from aucbench.data import fetch, load, missing_bytes
from aucbench.data.files import build_cache, download
from tests.data.conftest import TINY, Declared, files_of
from tests.helpers.http_server import content, failure, resumable

BODY = TINY.encode()


def test_a_good_file_is_downloaded_once(web, cache):
    web.serve("/binary/tiny", content(BODY))
    (path,) = fetch(Declared())
    assert path == cache / "raw" / "binary" / "tiny"
    assert path.read_bytes() == BODY
    assert fetch(Declared()) == [path]
    assert web.requests["/binary/tiny"] == 1


def test_a_passing_error_is_tried_again(web):
    web.serve("/binary/tiny", failure(503), failure(429), content(BODY))
    assert fetch(Declared())[0].read_bytes() == BODY
    assert web.requests["/binary/tiny"] == 3


def test_a_lasting_error_is_given_up_after_three_attempts(web):
    web.serve("/binary/tiny", failure(503))
    with pytest.raises(FetchError, match=r"HTTP status 503"):
        fetch(Declared())
    assert web.requests["/binary/tiny"] == 3


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (content(BODY, length=len(BODY) + 10), "cut"),  # truncated, or the length is a lie
        (content(b""), "an empty file"),
        (content(b"\n <!DOCTYPE html><p>Log in"), "a web page instead of data"),
        (content(b"<HTML>"), "a web page instead of data"),
    ],
)
def test_what_is_not_the_file_is_refused_and_nothing_stays(web, cache, answer, reason):
    web.serve("/binary/tiny", answer)
    with pytest.raises(FetchError, match=reason):
        fetch(Declared())
    assert files_of(cache) == []


def test_a_connection_cut_once_is_mended_by_the_second_attempt(web):
    web.serve("/binary/tiny", content(BODY[:20], length=len(BODY)), content(BODY))
    assert fetch(Declared())[0].read_bytes() == BODY


def test_an_archive_that_is_none_is_refused(web, cache):
    web.serve("/binary/tiny.bz2", content(b"hello"))
    with pytest.raises(FetchError, match=r"not a bz2 archive"):
        fetch(Declared())
    assert files_of(cache) == []


def test_a_server_that_stalls_is_given_up(web, cache, monkeypatch):
    monkeypatch.setattr(download, "STALL_SECONDS", 0.2)
    release = threading.Event()

    def stall(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", "100")
        handler.end_headers()
        handler.wfile.write(b"1 1:1\n")
        release.wait()  # for as long as a client without patience would

    web.serve("/binary/tiny", stall)
    try:
        with pytest.raises(FetchError, match=r"tiny: no source has the file binary/tiny"):
            fetch(Declared())
    finally:
        release.set()
    assert files_of(cache) == []


def test_a_length_that_is_too_small_cuts_the_file_which_the_published_facts_reveal(web, cache):
    web.serve("/binary/tiny", content(BODY, length=len(BODY) - 8))
    with pytest.raises(DataError, match=r"tiny: expected 5 rows, got 4"):
        load(Declared((File("binary/tiny", rows=5),)))
    assert files_of(cache) == []


@pytest.mark.parametrize("place", ["http://[bad", "http://ünï..code/", "nowhere://x", "http://"])
def test_a_redirection_to_a_bad_address_is_a_reason(web, place):
    def answer(handler):
        handler.send_response(302)
        handler.send_header("Location", place.encode("utf-8").decode("latin-1"))
        handler.end_headers()

    web.serve("/binary/tiny", answer)
    with pytest.raises(FetchError, match=r"no source has the file binary/tiny"):
        fetch(Declared())


def test_a_server_that_refuses_to_go_on_is_asked_from_the_beginning(web, monkeypatch):
    monkeypatch.setattr(download, "CHUNK_BYTES", 4)
    web.serve("/binary/tiny", resumable(BODY, stop=20), failure(416), content(BODY))
    assert fetch(Declared())[0].read_bytes() == BODY
    assert web.ranges == [None, "bytes=20-", None]


@pytest.mark.parametrize("told", ["bytes 4-{end}/{size}", "", "nonsense"])
def test_a_server_that_sends_another_range_is_asked_from_the_beginning(web, monkeypatch, told):
    def answer(handler):
        handler.send_response(206)
        handler.send_header("Content-Range", told.format(end=len(BODY) - 1, size=len(BODY)))
        handler.send_header("Content-Length", str(len(BODY) - 20))
        handler.end_headers()
        handler.wfile.write(BODY[4 : len(BODY) - 16])

    monkeypatch.setattr(download, "CHUNK_BYTES", 4)
    web.serve("/binary/tiny", resumable(BODY, stop=20), answer, content(BODY))
    assert fetch(Declared())[0].read_bytes() == BODY
    assert web.ranges == [None, "bytes=20-", None]


@pytest.mark.parametrize(
    "page",
    [
        b"<!-- sorry --><html>",
        b"\xef\xbb\xbf<!DOCTYPE html>",
        b"\n <head></head>",
        b'{"error": "no such file"}',
    ],
)
def test_pages_of_any_beginning_are_refused_with_their_address(web, cache, page):
    web.serve("/binary/tiny", content(page))
    with pytest.raises(
        FetchError, match=rf"{web.address}/binary/tiny.*: a (web page|message in JSON) instead"
    ):
        load(Declared())
    assert files_of(cache) == []


def test_free_space_is_that_of_the_folder_above(tmp_path, monkeypatch):
    monkeypatch.setattr(download.shutil, "disk_usage", lambda folder: SimpleNamespace(free=str(folder)))
    assert download.free_bytes(tmp_path / "a" / "b") == str(tmp_path)


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
    with pytest.raises(FetchError, match=r"tiny .*250 MB.* aucbench fetch tiny --yes"):
        load(Declared())
    assert web.requests["/binary/tiny"] == 1
    assert files_of(cache) == []


def test_files_of_one_data_set_are_counted_together(web, monkeypatch):
    monkeypatch.setattr(build_cache, "Allowance", lambda name: download.Allowance(name, 100))
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


def test_a_resumed_file_of_another_length_than_told_is_refused(web, monkeypatch):
    def answer(handler):
        handler.send_response(206)
        handler.send_header("Content-Range", f"bytes 20-{len(BODY) + 9}/{len(BODY) + 10}")
        handler.send_header("Content-Length", str(len(BODY) - 20))
        handler.end_headers()
        handler.wfile.write(BODY[20:])

    monkeypatch.setattr(download, "CHUNK_BYTES", 4)
    web.serve("/binary/tiny", resumable(BODY, stop=20), answer, failure(404))
    web.serve("/binary/tiny.bz2", content(bz2.compress(BODY)))
    assert fetch(Declared())[0].name == "tiny.bz2"
