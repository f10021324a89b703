"""Downloads that are cut, that are large, that are in an archive, that fill the disk or are no data."""

import bz2
import threading
import zipfile

import pytest

from aucbench import FetchError, File
from aucbench.data import fetch, load, missing_bytes
from aucbench.data.files import download, locate
from tests.data.conftest import TINY, Declared, files_of
from tests.helpers.http_server import content, failure

BODY = TINY.encode()


def redirection(location):
    def respond(handler):
        handler.send_response(302)
        handler.send_header("Location", location.encode("utf-8").decode("latin-1"))
        handler.end_headers()

    return respond


def test_a_good_file_is_downloaded_once_after_passing_errors(web, cache):
    web.serve("/binary/tiny", failure(503), content(BODY[:20], len(BODY)), content(BODY))
    (path,) = fetch(Declared())
    assert path == cache / "raw" / "binary" / "tiny"
    assert path.read_bytes() == BODY
    assert fetch(Declared()) == [path]
    assert web.requests["/binary/tiny"] == 3


BAD = [
    (failure(503), "HTTP status 503"),
    (content(BODY, length=len(BODY) + 10), "cut"),  # truncated, or a wrong length
    (redirection("/binary/tiny"), "TooManyRedirects"),
    *(
        (redirection(location), "no source has the file binary/tiny")
        for location in ("http://[bad", "http://ünï..code/", "nowhere://x", "http://")
    ),
]


@pytest.mark.parametrize(("response", "reason"), BAD)
def test_what_is_not_the_file_is_refused_with_its_address_and_nothing_stays(web, cache, response, reason):
    web.serve("/binary/tiny", response)
    with pytest.raises(FetchError, match=rf"{web.address}/binary/tiny.*{reason}|{reason}.*{web.address}"):
        fetch(Declared())
    assert files_of(cache) == []
    if reason in ("HTTP status 503", "cut"):
        assert web.requests["/binary/tiny"] == 3


def test_a_server_that_stalls_is_given_up(web, cache, monkeypatch):
    monkeypatch.setattr(download, "PATIENCE", (1, 0.2))
    release = threading.Event()

    def stall(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", "100")
        handler.end_headers()
        handler.wfile.write(b"1 1:1\n")
        release.wait()  # as a client without a timeout would wait

    web.serve("/binary/tiny", stall)
    try:
        with pytest.raises(FetchError, match=r"tiny: no source has the file binary/tiny"):
            fetch(Declared())
    finally:
        release.set()
    assert files_of(cache) == []


@pytest.mark.parametrize("has_length", [True, False])
def test_a_large_download_is_refused_in_a_run_and_names_the_command(web, cache, monkeypatch, has_length):
    monkeypatch.setattr(locate.find, "__defaults__", (3_000_000,))

    def without_length(handler):
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(BODY * (10_000_000 // len(BODY)))

    web.serve("/binary/tiny", content(BODY, length=250_000_000) if has_length else without_length)
    size = "250 MB" if has_length else r"more than 3\.\d+ MB"
    with pytest.raises(FetchError, match=rf"tiny.* {size}.* aucbench fetch tiny --yes"):
        load(Declared())
    assert web.requests["/binary/tiny"] == 1
    assert files_of(cache) == []


def test_the_whole_size_is_told_before_a_large_download_and_asked_for(web):
    data = Declared((File("binary/tiny"), File("binary/tiny.t", part="test")))
    web.sizes |= {"/binary/tiny": 90_000_000, "/binary/tiny.t": 70_000_000}
    assert missing_bytes(data) == 160_000_000
    with pytest.raises(FetchError, match=r"tiny: 160 MB to download; .* aucbench fetch tiny --yes"):
        fetch(data)
    assert not web.requests
    web.serve("/binary/tiny", content(BODY))
    web.serve("/binary/tiny.t", content(bz2.compress(BODY)))
    assert [path.name for path in fetch(data, large=True)] == ["tiny", "tiny.t"]
    assert len(load(data, "test").y) == 5
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
