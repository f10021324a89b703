"""Downloads that break off, that are large, that are in an archive, that fill the disk or are no data."""

import bz2
import gzip
import resource
import threading
import zipfile

import pytest

from aucbench import DataError, FetchError, File
from aucbench.data import fetch, load, missing_bytes
from aucbench.data.files import build_cache, download
from tests.data.conftest import TINY, Declared, files_of
from tests.helpers.http_server import content, failure, resumable

BODY = TINY.encode()


def redirection(place):
    def answer(handler):
        handler.send_response(302)
        handler.send_header("Location", place.encode("utf-8").decode("latin-1"))
        handler.end_headers()

    return answer


def partly(range_sent, body):
    """An answer to a request for a range, with whatever range."""

    def answer(handler):
        handler.send_response(206)
        handler.send_header("Content-Range", range_sent)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def test_a_good_file_is_downloaded_once_after_passing_errors(web, cache):
    web.serve("/binary/tiny", failure(503), failure(429), content(BODY))
    (path,) = fetch(Declared())
    assert path == cache / "raw" / "binary" / "tiny"
    assert path.read_bytes() == BODY
    assert fetch(Declared()) == [path]
    assert web.requests["/binary/tiny"] == 3


PAGES = (
    b"\n <!DOCTYPE html><p>Log in",
    b"<HTML>",
    b"<!-- sorry --><html>",
    b"\n <head></head>",
    b"\xef\xbb\xbf<!DOCTYPE html>",
)
BAD = [
    (failure(503), "HTTP status 503"),
    (content(b""), "an empty file"),
    *((content(page), "a web page instead of data") for page in PAGES),
    (content(b'{"error": "no such file"}'), "a message in JSON instead"),
    (content(BODY, length=len(BODY) + 10), "cut"),  # truncated, or the length is a lie
    (redirection("/binary/tiny"), "redirections lead to no file"),
    *(
        (redirection(place), "no source has the file binary/tiny")
        for place in ("http://[bad", "http://ünï..code/", "nowhere://x", "http://")
    ),
]


@pytest.mark.parametrize(("answer", "reason"), BAD)
def test_what_is_not_the_file_is_refused_with_its_address_and_nothing_stays(web, cache, answer, reason):
    web.serve("/binary/tiny", answer)
    with pytest.raises(FetchError, match=rf"{web.address}/binary/tiny.*{reason}|{reason}.*{web.address}"):
        fetch(Declared())
    assert files_of(cache) == []
    if reason == "HTTP status 503":
        assert web.requests["/binary/tiny"] == 3
    web.serve("/binary/tiny.bz2", content(b"hello"))
    with pytest.raises(FetchError, match="not a bz2 archive"):
        fetch(Declared((File("binary/tiny.bz2"),)))


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
    assert files_of(cache / "raw") == files_of(cache / "data") == []


CHANGED = BODY.replace(b"7", b"8")
BROKEN = {
    "it goes on": ([resumable(BODY, 20), resumable(BODY, 20), resumable(BODY)], ["20-", "40-"]),
    "the server cannot go on": ([content(BODY[:20], len(BODY)), content(BODY)], [None]),
    "it refuses to": ([resumable(BODY, 20), failure(416), content(BODY)], ["20-", None]),
    "the file has changed": ([resumable(BODY, 28), resumable(CHANGED, version='"v2"')], ["28-"]),
} | {
    f"it sends {sent!r}": ([resumable(BODY, 20), partly(sent, BODY[4:-16]), content(BODY)], ["20-", None])
    for sent in (f"bytes 4-{len(BODY) - 1}/{len(BODY)}", "", "nonsense")
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_download_goes_on_where_it_stopped_or_begins_anew(web, monkeypatch, case):
    monkeypatch.setattr(download, "CHUNK_BYTES", 4)  # what is less than a chunk is lost
    answers, ranges = BROKEN[case]
    web.serve("/binary/tiny", *answers)
    assert fetch(Declared())[0].read_bytes() == (CHANGED if "changed" in case else BODY)
    assert web.ranges == [None, *(asked and f"bytes={asked}" for asked in ranges)]


def test_attempts_that_bring_something_do_not_count_as_failures(web, monkeypatch):
    monkeypatch.setattr(download, "CHUNK_BYTES", 4)  # what is less than a chunk is lost
    web.serve("/binary/tiny", resumable(BODY, stop=12))
    assert fetch(Declared())[0].read_bytes() == BODY
    assert web.requests["/binary/tiny"] == -(-len(BODY) // 12) > download.ATTEMPTS


def test_a_large_download_is_refused_in_a_run_and_names_the_command(web, cache, monkeypatch):
    web.serve("/binary/tiny", content(BODY, length=250_000_000))
    with pytest.raises(FetchError, match=r"tiny .*250 MB.* aucbench fetch tiny --yes"):
        load(Declared())
    assert web.requests["/binary/tiny"] == 1
    assert files_of(cache) == []


def compressed_without_length(body):
    """An answer that does not tell its length, or tells that of what it sends, which is compressed."""

    def answer(handler):
        handler.send_response(200)
        sent = gzip.compress(body) if "gzip" in handler.path else body
        if "gzip" in handler.path:
            handler.send_header("Content-Encoding", "gzip")
            handler.send_header("Content-Length", str(len(sent)))
        handler.end_headers()
        handler.wfile.write(sent)

    return answer


@pytest.mark.parametrize("name", ["binary/plain", "binary/gzip"])
def test_a_large_download_of_untold_size_is_refused_while_it_arrives(web, cache, monkeypatch, name):
    monkeypatch.setattr(build_cache, "Allowance", lambda name: download.Allowance(name, 3_000_000))
    web.serve(f"/{name}", compressed_without_length(BODY * (10_000_000 // len(BODY))))
    with pytest.raises(FetchError, match=r"more than 3\.\d+ MB.* aucbench fetch tiny --yes"):
        load(Declared((File(name),)))
    assert files_of(cache) == []


def test_files_of_one_data_set_are_counted_together(web, monkeypatch):
    monkeypatch.setattr(build_cache, "Allowance", lambda name: download.Allowance(name, 100))
    web.serve("/binary/tiny", content(BODY))
    web.serve("/binary/tiny.t", content(BODY))
    assert len(BODY) < 100 < 2 * len(BODY)
    data = Declared((File("binary/tiny"), File("binary/tiny.t", part="test")))
    with pytest.raises(FetchError, match=r"binary/tiny\.t is a download of \d+ B"):
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
    with pytest.raises(FetchError, match=r"a damaged or encrypted zip archive"):
        fetch(Declared((File("uci/b", urls=(f"{web.address}/b.zip#data.txt",)),)))
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.txt", b"1" * 10_000_000)
    web.serve("/c.zip", content((tmp_path / "bomb.zip").read_bytes()))
    with pytest.raises(FetchError, match=r"data\.txt would have 10 MB"):
        fetch(Declared((File("uci/c", urls=(f"{web.address}/c.zip#data.txt",)),)))


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
    monkeypatch.setattr(download, "CHUNK_BYTES", 4)
    longer = partly(f"bytes 20-{len(BODY) + 9}/{len(BODY) + 10}", BODY[20:])
    web.serve("/binary/tiny", resumable(BODY, stop=20), longer, failure(404))
    web.serve("/binary/tiny.bz2", content(bz2.compress(BODY)))
    assert fetch(Declared())[0].name == "tiny.bz2"
