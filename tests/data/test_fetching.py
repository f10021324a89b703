"""Finding and downloading files, against a web server on this machine."""

import bz2
import hashlib
import os
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from aucbench import DataError, FetchError, File
from aucbench.data import fetch, load
from aucbench.data.files import download, locate
from tests.data.conftest import TINY, Declared
from tests.data.web import content, failure

BODY = TINY.encode()


def files_of(folder):
    """Names of the visible files below a folder, locks and notes apart."""
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))


def test_files_of_a_mirror_folder_are_used_in_place(mirror, cache):
    assert fetch(Declared()) == [mirror / "binary" / "tiny"]
    assert files_of(cache) == []


def test_a_mirror_folder_may_hold_another_compression(mirror):
    (mirror / "binary" / "tiny").unlink()
    (mirror / "binary" / "tiny.bz2").write_bytes(bz2.compress(BODY))
    assert fetch(Declared()) == [mirror / "binary" / "tiny.bz2"]
    assert fetch(Declared((File("binary/tiny.gz"),))) == [mirror / "binary" / "tiny.bz2"]


def test_the_names_tried_are_as_declared_then_plain_then_each_compression():
    assert locate.names("binary/a9a.t") == ["a9a.t", "a9a.t.bz2", "a9a.t.xz", "a9a.t.gz"]
    assert locate.names("x/usps.bz2") == ["usps.bz2", "usps", "usps.xz", "usps.gz"]


def test_a_good_file_is_downloaded_once(web, cache):
    web.serve("/binary/tiny", content(BODY))
    (path,) = fetch(Declared())
    assert path == cache / "raw" / "binary" / "tiny"
    assert path.read_bytes() == BODY
    assert fetch(Declared()) == [path]
    assert web.requests["/binary/tiny"] == 1


def test_the_source_of_downloaded_data_is_the_address_also_later(web):
    web.serve("/binary/tiny", content(BODY))
    assert load(Declared()).source == f"{web.address}/binary/tiny"
    assert locate.find("tiny", File("binary/tiny")).source == f"{web.address}/binary/tiny"


def test_a_missing_name_falls_back_to_the_compressed_one(web, cache):
    web.serve("/binary/tiny.bz2", content(bz2.compress(BODY)))
    assert load(Declared()).X.shape == (5, 3)
    assert files_of(cache / "raw") == ["tiny.bz2"]
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


def test_the_published_hash_is_checked_at_public_addresses_only(web, cache, monkeypatch):
    right = hashlib.sha256(BODY).hexdigest()
    web.serve("/public/tiny", content(BODY + b"1 1:1\n"))
    web.serve("/binary/tiny", content(BODY + b"-1 2:1\n"))
    wrong = File("binary/tiny", sha256=right, urls=(f"{web.address}/public/tiny",))
    assert fetch(Declared((wrong,)))[0].read_bytes().endswith(b"-1 2:1\n")  # the mirror's own
    monkeypatch.setenv("AUCBENCH_CACHE", str(cache / "other"))
    monkeypatch.delenv("AUCBENCH_MIRROR")
    with pytest.raises(FetchError, match=f"expected sha256 {right}, got "):
        fetch(Declared((wrong,)))
    assert files_of(cache / "other") == []
    web.serve("/good/tiny", content(BODY))
    good = File("binary/tiny", sha256=right, urls=(f"{web.address}/public/tiny", f"{web.address}/good/tiny"))
    assert fetch(Declared((good,)))[0].read_bytes() == BODY


def test_with_no_source_one_sentence_names_the_addresses_and_the_ways_out(mirror):
    with pytest.raises(FetchError) as caught:
        fetch(Declared((File("binary/nowhere.bz2"),)))
    text = str(caught.value)
    assert str(mirror / "binary" / "nowhere.bz2") in text
    assert f"{locate.PUBLIC_SITE}/binary/nowhere.bz2: no connection" in text
    assert "set AUCBENCH_MIRROR to a folder or an address that has it, or connect to the network." in text
    assert "\n" not in text


def test_offline_the_network_is_left_alone(web, monkeypatch):
    monkeypatch.setenv("AUCBENCH_OFFLINE", "1")
    web.serve("/binary/tiny", content(BODY))
    with pytest.raises(FetchError, match=r"not tried, AUCBENCH_OFFLINE is set.*or unset AUCBENCH_OFFLINE\."):
        fetch(Declared())
    assert not web.requests


def test_offline_a_file_downloaded_before_is_used(web, monkeypatch):
    web.serve("/binary/tiny", content(BODY))
    before = fetch(Declared())
    monkeypatch.setenv("AUCBENCH_OFFLINE", "1")
    assert fetch(Declared()) == before


def test_a_download_whose_content_is_refused_is_fetched_anew_the_next_time(web, cache):
    web.serve("/binary/tiny", content(b"1 1:1\n-1 0:1\n"), content(BODY))
    with pytest.raises(DataError, match=r"tiny, line 2: index 0"):
        load(Declared())
    assert files_of(cache) == []
    assert load(Declared()).X.shape == (5, 3)


def test_a_length_that_is_too_small_cuts_the_file_which_the_published_facts_reveal(web, cache):
    web.serve("/binary/tiny", content(BODY, length=len(BODY) - 8))
    with pytest.raises(DataError, match=r"tiny: expected 5 rows, got 4"):
        load(Declared((File("binary/tiny", rows=5),)))
    assert files_of(cache) == []


def test_a_length_that_the_client_library_does_not_enforce_is_checked(tmp_path, monkeypatch):
    class Careless:  # as urllib3 was before version 2
        def __init__(self, hooks, **_):
            self.keep = hooks["response"]

        def __call__(self, url, path, _):
            self.keep(SimpleNamespace(headers={"Content-Length": "10"}))
            path.write(b"1 1:1\n")

    monkeypatch.setattr("pooch.HTTPDownloader", Careless)
    with pytest.raises(download.RefusedError, match=r"expected 10 bytes, got 6"):
        download.download("http://127.0.0.1/", tmp_path / "file")
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_download_left_behind_is_removed(web, cache):
    rest = cache / "raw" / "binary" / ".tiny.bz2.download-dead"
    rest.mkdir(parents=True)
    web.serve("/binary/tiny", content(BODY))
    fetch(Declared())
    assert not rest.exists()


def test_a_mirror_file_whose_content_is_refused_is_left_alone(mirror):
    (mirror / "binary" / "tiny").write_text("1 1:1\n-1 0:1\n")
    with pytest.raises(DataError, match=r"line 2: index 0"):
        load(Declared())
    assert (mirror / "binary" / "tiny").exists()


def test_a_cache_folder_that_cannot_be_written_is_one_clear_sentence(web, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AUCBENCH_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(DataError, match=r"cannot be written .*AUCBENCH_CACHE"):
        fetch(Declared())


TWO = """
import sys
from aucbench.data import fetch, load
from aucbench.data.readers import libsvm
from tests.data.conftest import Declared
parsed = []
read = libsvm.read_blocks
libsvm.read_blocks = lambda path: parsed.append(path) or read(path)
result = load(Declared()).sha256 if sys.argv[1] == "load" else fetch(Declared())
print(len(parsed), result)
"""


@pytest.mark.parametrize("work", ["load", "fetch"])
def test_two_processes_at_once_download_and_parse_once_and_agree(web, cache, work):
    def slow(handler):
        time.sleep(1.0)
        content(BODY)(handler)

    web.serve("/binary/tiny", slow)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    both = [
        subprocess.Popen(
            [sys.executable, "-c", TWO, work], stdout=subprocess.PIPE, text=True, env=environment
        )
        for _ in range(2)
    ]
    answers = [process.communicate(timeout=120)[0].split(maxsplit=1) for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert answers[0][1] == answers[1][1]
    assert sorted(parses for parses, _ in answers) == (["0", "1"] if work == "load" else ["0", "0"])
    assert web.requests["/binary/tiny"] == 1
    assert len(list((cache / "data" / "tiny").glob("*/meta.json"))) == (1 if work == "load" else 0)
