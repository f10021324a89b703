"""Folders and addresses that are none, and servers that send something else."""

from types import SimpleNamespace

import pytest

from aucbench import AucbenchError, DataError, FetchError, File, ParameterError
from aucbench.data import fetch, load
from aucbench.data.files import download, locate
from aucbench_datasets.own import Csv, Libsvm
from tests.data.conftest import TINY, Declared
from tests.data.test_fetching import files_of
from tests.data.web import content, failure, resumable

BODY = TINY.encode()


@pytest.mark.parametrize(
    "place",
    [
        "http://[bad",
        "http://",
        "http://ünï..code",
        "http://host:port",
        "ftp://host/m",
        "file://host/m",
        "~nouser_/m",
    ],
)
def test_a_mirror_that_is_none_is_one_sentence(monkeypatch, place):
    monkeypatch.setenv("AUCBENCH_MIRROR", place)
    for action in (fetch, load):
        with pytest.raises(ParameterError, match=r"^AUCBENCH_MIRROR is '.*'.*\.$") as caught:
            action(Declared())
        assert "\n" not in str(caught.value)


def test_a_mirror_may_be_a_file_address(mirror, monkeypatch):
    monkeypatch.setenv("AUCBENCH_MIRROR", f"file://{mirror}/")
    assert fetch(Declared()) == [mirror / "binary" / "tiny"]


def test_homes_of_nobody_are_refused(monkeypatch):
    with pytest.raises(ParameterError, match=r"libsvm: path is '~nouser_/x', but the home of that user"):
        load(Libsvm("~nouser_/x"))
    with pytest.raises(ParameterError, match=r"csv: test_path is '~nouser_/x'"):
        load(Csv("/x", test_path="~nouser_/x"))
    monkeypatch.setenv("AUCBENCH_CACHE", "~nouser_/x")
    with pytest.raises(ParameterError, match=r"AUCBENCH_CACHE is '~nouser_/x', but the home"):
        load(Declared())


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


def test_a_download_that_cannot_be_parsed_is_named_by_its_address_and_the_next_source_is_used(web, cache):
    web.serve("/first/tiny", content(b"Sorry we moved.\n"))
    first, second = f"{web.address}/first/tiny", f"{web.address}/second/tiny"
    alone = Declared((File("own/tiny", urls=(first,)),))
    with pytest.raises(DataError, match=rf"the label 'Sorry' .* \(downloaded from {first}\)\.$"):
        load(alone)
    assert files_of(cache) == []
    web.serve("/second/tiny", content(BODY))
    loaded = load(Declared((File("own/tiny", urls=(first, second)),)))
    assert (loaded.X.shape, loaded.source) == ((5, 3), second)


def test_a_size_beyond_the_disk_is_a_reason_and_the_next_source_is_used(web, monkeypatch):
    web.serve("/binary/tiny", content(BODY, length=10**17))
    web.serve("/public/binary/tiny", content(BODY))
    web.sizes |= {"/binary/tiny": 10**17, "/public/binary/tiny": len(BODY)}
    with pytest.raises(AucbenchError, match=r"100,000,000,000,000,000 bytes to come, and .* are free"):
        fetch(Declared())
    monkeypatch.setattr(locate, "PUBLIC_SITE", f"{web.address}/public")
    assert locate.missing_bytes(File("binary/tiny")) == len(BODY)
    assert fetch(Declared())[0].read_bytes() == BODY


def test_free_space_is_that_of_the_folder_above(tmp_path, monkeypatch):
    monkeypatch.setattr(download.shutil, "disk_usage", lambda folder: SimpleNamespace(free=str(folder)))
    assert download.free_bytes(tmp_path / "a" / "b") == str(tmp_path)
