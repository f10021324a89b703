"""Passwords in addresses: in no file, output or request of a run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucbench.cli.main import main
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


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        *((text, text) for text in ("sqlite:///a@b.db", "http://host:5000/a", "see user@host: 3 runs")),
        ("http://host/@a", "http://host/@a"),
        ("uri=http://s3cr@host", "uri=http://***@host"),
        ("uri=http://h/?token=s3cr&x=1", "uri=http://h/?token=***&x=1"),
        ("uri=a://h?x=1&client_secret=s3cr x=1", "uri=a://h?x=1&client_secret=*** x=1"),
        ("uri=a://h#token=s3cr", "uri=a://h#token=***"),
    ],
)
def test_tokens_are_masked_and_addresses_without_a_password_left_alone(text, masked):
    assert without_secrets(text) == masked


@pytest.mark.parametrize("sign", [" ", "'", '"', "\t"])
def test_a_password_with_a_blank_or_a_quote_is_refused_without_showing_it(sign):
    with pytest.raises(TrackingError, match="%20") as caught:
        check_address(f"http://bob:s3cr{sign}t@host")
    assert "s3cr" not in str(caught.value)


def test_a_password_stands_in_no_file_of_a_run(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    uri = f"http://bob:{PASSWORD}@127.0.0.1:9"
    overrides = ["-m", "algo=ls_svm", "study=kept", "protocol.test_fraction=0.5", f"tracking.uri='{uri}'"]
    assert main(overrides) == 2
    output = "".join(capfd.readouterr())
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert any(file.suffix == ".npz" for file in files)
    for content in (output.encode(), *(file.read_bytes() for file in files)):
        assert PASSWORD.encode() not in content
        assert b"s3cr" not in content


def test_the_address_is_that_of_mlflow_where_none_is_given(monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://theirs")
    assert MlflowTracking("sqlite:///own.db").address == "sqlite:///own.db"
    assert MlflowTracking().address == "http://theirs"
    monkeypatch.delenv("MLFLOW_TRACKING_URI")
    assert MlflowTracking().address == "sqlite:///mlflow.db"
