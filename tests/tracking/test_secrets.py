"""Passwords in addresses: nowhere in what a run keeps, prints or sends."""

import sqlite3
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucbench.errors import TrackingError
from aucbench.humanize import without_secrets
from aucbench.studies.default_settings import MlflowTracking
from aucbench.tracking import check_address

PASSWORD = "s3cr/t@w0rd!"


@given(
    st.sampled_from(["http", "https", "postgresql", "mysql+pymysql", "foo"]),
    st.text("abc@./", max_size=6).filter(lambda user: user != "@"),
    st.text("abcXYZ019/@:!.-_%", min_size=1, max_size=12),
    st.sampled_from(["host", "host:5000", "localhost/db"]),
)
def test_a_password_of_any_signs_is_masked_and_the_rest_stays(scheme, user, password, host):
    text = without_secrets(f"aucbench tracking.uri={scheme}://{user}:{password}@{host} runs=2")
    assert text == f"aucbench tracking.uri={scheme}://{user}:***@{host} runs=2"
    assert without_secrets(text) == text


def test_addresses_without_a_password_are_left_alone():
    for text in ("sqlite:///a@b.db", "http://host:5000/a", "see user@host: 3 runs", "http://host/@a"):
        assert without_secrets(text) == text
    assert without_secrets("http://h/?token=abc&x=1") == "http://h/?token=***&x=1"


@pytest.mark.parametrize(
    "before", ["http://", "http://h/?access_token=", "a://h?x=1&client_secret=", "a://h#token="]
)
def test_a_token_in_an_address_is_masked(before):
    end = "@host" if before.endswith("/") else " x=1"
    assert without_secrets(f"tracking.uri={before}{PASSWORD[:4]}{end}") == f"tracking.uri={before}***{end}"


@pytest.mark.parametrize("sign", [" ", "'", '"', "\t"])
def test_a_password_with_a_blank_or_a_quote_is_refused_without_showing_it(sign):
    with pytest.raises(TrackingError, match="%20") as caught:
        check_address(f"http://bob:s3cr{sign}t@host")
    assert "s3cr" not in str(caught.value)


def test_a_password_stands_in_no_file_of_a_run(tmp_path):
    uri = f"http://bob:{PASSWORD}@127.0.0.1:9"
    words = ["-m", "algo=ls_svm", "study=kept", "protocol.test_fraction=0.5", f"tracking.uri='{uri}'"]
    done = subprocess.run(
        [sys.executable, "-m", "aucbench", *words], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert PASSWORD not in done.stdout + done.stderr
    assert ":s3cr" not in done.stdout + done.stderr
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert any(file.suffix == ".npz" for file in files)
    for file in files:
        content = file.read_bytes()
        assert PASSWORD.encode() not in content
        assert b"s3cr" not in content


@pytest.mark.parametrize("given", [None, "sqlite:///own.db"])
def test_the_address_is_that_of_mlflow_where_none_is_given(tmp_path, monkeypatch, given):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/theirs.db")
    monkeypatch.chdir(tmp_path)
    assert MlflowTracking(given).address == (given or f"sqlite:///{tmp_path}/theirs.db")
    import aucbench

    words = [
        "algo=ls_svm",
        "store.path=null",
        "tracking=mlflow",
        *([f"tracking.uri={given}"] if given else []),
    ]
    aucbench.run(*words)
    file = "own.db" if given else "theirs.db"
    with sqlite3.connect(tmp_path / file) as database:
        assert database.execute("select count(*) from runs").fetchone() == (1,)
    monkeypatch.delenv("MLFLOW_TRACKING_URI")
    assert MlflowTracking().address == "sqlite:///mlflow.db"
