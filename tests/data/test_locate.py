"""Finding files: mirrors, names, public addresses, offline, files that no source has."""

import bz2
import hashlib
import os
import subprocess
import sys
import time

import pytest

from aucbench import DataError, FetchError, File, ParameterError
from aucbench.data import fetch, load
from aucbench.data.files import locate
from aucbench_datasets.user_files import Libsvm
from tests.data.conftest import TINY, Declared, files_of
from tests.helpers.http_server import content

BODY = TINY.encode()


def test_files_of_a_mirror_folder_are_used_in_place_in_any_compression(mirror, cache):
    assert fetch(Declared()) == [mirror / "binary" / "tiny"]
    (mirror / "binary" / "tiny").rename(mirror / "binary" / "tiny.bz2")
    (mirror / "binary" / "tiny.bz2").write_bytes(bz2.compress(BODY))
    assert fetch(Declared()) == fetch(Declared((File("binary/tiny.gz"),))) == [mirror / "binary" / "tiny.bz2"]
    assert files_of(cache) == []
    assert locate.names("binary/a9a.t") == ["a9a.t", "a9a.t.bz2", "a9a.t.xz", "a9a.t.gz"]
    assert locate.names("x/usps.bz2") == ["usps.bz2", "usps", "usps.xz", "usps.gz"]


def test_the_published_hash_is_checked_at_public_addresses_only(web, cache, monkeypatch):
    right = hashlib.sha256(BODY).hexdigest()
    web.serve("/public/tiny", content(BODY + b"1 1:1\n"))
    web.serve("/binary/tiny", content(BODY + b"-1 2:1\n"))
    wrong = File("binary/tiny", sha256=right, urls=(f"{web.address}/public/tiny",))
    assert fetch(Declared((wrong,)))[0].read_bytes().endswith(b"-1 2:1\n")  # the mirror's content
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


def test_offline_the_network_is_left_alone_and_a_file_downloaded_before_is_used(web, monkeypatch):
    monkeypatch.setenv("AUCBENCH_OFFLINE", "1")
    web.serve("/binary/tiny", content(BODY))
    with pytest.raises(FetchError, match=r"unset AUCBENCH_OFFLINE"):
        fetch(Declared())
    assert not web.requests
    monkeypatch.delenv("AUCBENCH_OFFLINE")
    before = fetch(Declared())
    monkeypatch.setenv("AUCBENCH_OFFLINE", "1")
    assert fetch(Declared()) == before


def test_a_mirror_file_whose_content_is_refused_is_left_alone(mirror):
    (mirror / "binary" / "tiny").write_text("1 1:1\n-1 0:1\n")
    with pytest.raises(DataError, match=r"line 2: got '0:1'"):
        load(Declared())
    assert (mirror / "binary" / "tiny").exists()


def test_a_cache_folder_that_cannot_be_written_is_one_clear_sentence(web, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AUCBENCH_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(DataError, match=r"cannot be written .*AUCBENCH_CACHE"):
        fetch(Declared())


SCRIPT = """
from aucbench.data import load
from aucbench.data.readers import libsvm
from tests.data.conftest import Declared
parsed = []
read = libsvm.read_blocks
libsvm.read_blocks = lambda path, **options: parsed.append(path) or read(path, **options)
result = load(Declared()).sha256
print(len(parsed), result)
"""


@pytest.mark.usefixtures("process")
def test_two_processes_at_once_download_and_parse_once_and_agree(web, cache):
    def slow(handler):
        time.sleep(1.0)
        content(BODY)(handler)

    web.serve("/binary/tiny", slow)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", SCRIPT]
    jobs = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for _ in range(2)]
    answers = [process.communicate(timeout=120)[0].split() for process in jobs]
    assert sorted(parses for parses, _ in answers) == ["0", "1"]
    assert len({sha256 for _, sha256 in answers}) == 1
    assert web.requests["/binary/tiny"] == 1
    assert len(list((cache / "data" / "tiny").glob("*/meta.json"))) == 1


WRONG = "ftp://host/m file:///m"


@pytest.mark.parametrize("address", WRONG.split())
def test_a_mirror_that_is_none_is_one_sentence(monkeypatch, address):
    monkeypatch.setenv("AUCBENCH_MIRROR", address)
    for action in (fetch, load):
        with pytest.raises(ParameterError, match=r"^AUCBENCH_MIRROR is '.*'.*\.$") as caught:
            action(Declared())
        assert "\n" not in str(caught.value)


def test_homes_of_nobody_are_refused():
    with pytest.raises(DataError, match=r"libsvm: the file .*~nouser_/x does not exist"):
        load(Libsvm("~nouser_/x"))


def test_a_download_that_cannot_be_parsed_is_named_by_its_address_and_removed(web, cache):
    web.serve("/first/tiny", content(b"Sorry we moved.\n"))
    first, second = f"{web.address}/first/tiny", f"{web.address}/second/tiny"
    with pytest.raises(DataError, match=rf"'Sorry'.* \(downloaded from {first}\)\.$"):
        load(Declared((File("own/tiny", urls=(first, second)),)))
    assert files_of(cache) == []
    web.serve("/second/tiny", content(BODY))
    loaded = load(Declared((File("own/tiny", urls=(f"{web.address}/none", second)),)))
    assert (loaded.X.shape, loaded.source) == ((5, 3), second)
    assert locate.find("tiny", File("own/tiny")).source == second  # also later


def test_what_a_killed_download_left_behind_is_removed(web, cache):
    leftover = cache / "raw" / "binary" / ".tiny.download-dead"
    leftover.mkdir(parents=True)
    web.serve("/binary/tiny", content(BODY))
    fetch(Declared())
    assert not leftover.exists()
