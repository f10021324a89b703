"""The study of claims as a command, and its stored findings on the installed methods."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import aucbench
from aucbench.cli.commands import claims as shown
from aucbench.cli.main import main as aucbench_main
from studies.claims import __main__ as claims
from studies.claims.__main__ import main
from studies.claims.rates import can_be_measured

FILE = Path(__file__).parents[2] / "docs" / "results" / "claims.json"
FINDINGS = json.loads(FILE.read_text())


@pytest.mark.parametrize("argument", ["psamm", "budget.epochs=3"])
def test_wrong_words_are_refused_before_anything_is_measured(argument, capsys):
    with pytest.raises(SystemExit) as refused:
        main(["psam", argument])
    assert refused.value.code == 2
    assert argument.partition("=")[0] in capsys.readouterr().err


@pytest.mark.slow
def test_findings_are_written_beside_those_of_other_methods_and_shown(tmp_path, capsys, monkeypatch):
    file = tmp_path / "claims.json"
    file.write_text('{"spam": {}}')
    monkeypatch.setattr(claims, "ProcessPoolExecutor", lambda *_: ThreadPoolExecutor(1))
    # A method without the field is refused, and the other one is measured.
    assert main(["ls_svm", "sklearn", "algo.lam=0.01", "--quick", "--output", str(file)]) == 2
    assert "lam" in capsys.readouterr().err
    findings = json.loads(file.read_text())
    assert list(findings) == ["ls_svm", "spam"]
    assert findings["ls_svm"]["settings"] == "algo.lam=0.01"
    assert findings["ls_svm"]["rate"]["verdict"] == "holds"
    assert findings["ls_svm"]["cost"]["measured"].startswith("n ")
    monkeypatch.setattr(shown, "shipped", lambda name: file)
    assert aucbench_main(["claims", "ls_svm"]) == 0
    lines = capsys.readouterr().out
    assert findings["ls_svm"]["rate"]["measured"] in lines
    assert findings["ls_svm"]["date"] in lines


def test_a_method_without_findings_says_how_to_measure_it(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(shown, "shipped", lambda name: None)
    assert aucbench_main(["claims", "psam"]) == 0
    assert "python -m studies.claims psam" in capsys.readouterr().out


def test_what_was_measured_is_what_most_methods_claim_and_a_deviation_has_a_likely_reason():
    installed = aucbench.catalog().plugins["algorithms"]
    claiming = {name for name, plugin in installed.items() if hasattr(plugin.cls, "claims")}
    assert set(FINDINGS) <= claiming
    assert len(FINDINGS) > 0.75 * len(claiming)
    for name, finding in FINDINGS.items():
        cls = aucbench.catalog().algorithm(name)
        for kind in ("rate", "cost"):
            assert finding[kind]["claimed"] == getattr(cls.claims, kind)
            assert finding[kind]["why"] or finding[kind]["verdict"] not in ("slower", "faster")
        assert can_be_measured(cls) == (finding["rate"]["verdict"] not in ("none claimed", "no objective"))
