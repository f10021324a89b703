"""``aucbench results`` and ``--with``: output, exit statuses, help, completion and bad input."""

import re
import shutil
from dataclasses import replace as dataclass_replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from aucbench.cli.main import main
from aucbench.studies import provenance
from aucbench.studies.archives.archive_file import FORMAT, read, write
from aucbench.studies.entry_and_keys import BoundPlugin, Entry
from tests.helpers.archives import altered, moved, with_record
from tests.studies.conftest import WORDS

pytestmark = pytest.mark.slow  # whole studies

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "tests" / "studies" / "kept"


STUDIES = {
    "pair": WORDS,
    # A method without weights, which keeps its scores.
    "bare": ("-m", "algo=sklearn", "algo.estimator=gaussian_nb", "dataset=label_noise", "dataset.n=300",
             "runs=2", "metrics=[ap]"),
    "tuned": ("-m", "algo=psam", "dataset=wine", "ruleset=trials", "tuning.trials=2", "budget.checkpoints=2",
              "protocol=holdout"),
}  # fmt: skip


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder with a store of three studies, and their archives."""
    folder = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, args in STUDIES.items():
            assert main([*args, f"study={name}", "tracking=none"]) == 0
            assert main(["results", "export", name, f"{name}.zip", *["--compact"] * (name == "tuned")]) == 0
    return folder


@pytest.fixture
def folder(finished, tmp_path):
    """A folder with the archives alone."""
    for name in STUDIES:
        shutil.copy(finished / f"{name}.zip", tmp_path)
    return tmp_path


def forged(file, target, change=lambda cell: cell, rename=str):
    """Write the archive with changed cells and keys, and correct digests."""
    write(altered(read(file)[1], change, key=rename), target)


def test_an_archive_gives_a_board_without_a_store_and_is_imported_and_checked(run, output, tmp_path):
    assert "4 cells done" in output("leaderboard", "--with", "pair.zip", "--study", "pair")
    assert {path.suffix for path in tmp_path.iterdir()} == {".zip"}
    assert "4 cells, 0 replications and 0 failures of pair" in output("results", "import", "pair.zip")
    assert "4 of them stored; 0 trainings to run" in output("run", *WORDS, "--dry-run")
    assert "all" in output("status", "--study", "pair")
    assert "4 cells" in output("results", "check", "pair.zip")
    _, archive = read("pair.zip")
    write(dataclass_replace(archive, cells=dict(list(archive.cells.items())[1:])), "less.zip")
    status, _, err = run("results", "check", "less.zip")
    assert (status, "1 of 2 cells missing" in err) == (1, True)


def of_same_order(cell):
    return dataclass_replace(cell, scores=np.argsort(np.argsort(cell.scores)).astype(np.float32))


def of_trials(cell):
    return with_record(cell, "tuned", trials=tuple(replace(t, auc=0.5) for t in cell.record.tuned.trials))


def of_measures(cell):
    return with_record(cell, "result", measures={"ap": replace(cell.record.measures["ap"], value=0.123)})


def of_curve(cell):
    return dataclass_replace(cell, curve=cell.curve | {"auc": np.full_like(cell.curve["auc"], cell.auc)})


# An archive, the change of its cells, and the message of `verify`; the digests of the archive are right.
FORGED = [
    *((study, moved(), "1 replication: 1 with equal AUC") for study in ("bare", "tuned")),
    ("pair", lambda cell: with_record(cell, "data", test_rows=9), "its .*rows.* are others .1 cell."),
    ("pair", of_curve, "its .*checkpoints.* are others .1 cell."),
    ("tuned", of_trials, "its AUCs of trials are others"),
    ("bare", lambda cell: dataclass_replace(cell, scores=-cell.scores), "its scores are others"),
    ("bare", of_same_order, "its scores are others"),
    ("bare", of_measures, "its measures are others"),
]


@pytest.mark.parametrize(("archive", "change", "message"), FORGED)
def test_verify_runs_cells_again_and_finds_a_forger_whom_digests_do_not(archive, change, message, output):
    forged(f"{archive}.zip", "forged.zip", change)
    if archive == "pair":
        output("results", "check", "forged.zip")
    out = output("results", "verify", "forged.zip", "--cells", "1", status="equal" not in message)
    assert re.search(message, out)
    assert "other code" not in out


def test_verify_runs_cells_of_other_code_and_allows_them_the_tolerance(run, output, monkeypatch):
    forged("pair.zip", "near.zip", moved(auc=-5e-5))
    forged("pair.zip", "far.zip", moved(auc=-5e-3))
    command = ("results", "verify", "near.zip", "--cells", "2")
    assert "2 that disagree" in run(*command)[1]  # made by the installed code: bit for bit
    monkeypatch.setattr(Entry, "digest_sources", lambda self: "1" * 64)
    out = output(*command)
    assert "0 with equal AUC, 2 within the tolerance" in out
    for share, count in (("0.01", 1), ("0.5", 2)):
        assert f"{count} within the tolerance" in output(*command[:3], "--sample", share)
    assert "2 cells made by other code" in out
    output(*command, "--tolerance", "1e-5", status=1)
    status, out, _ = run("results", "verify", "far.zip", "--cells", "2")
    assert (status, out.count("made by other code: AUC")) == (1, 2)


def test_verify_runs_cells_of_another_version_of_a_plugin_but_none_with_other_settings(output, monkeypatch):
    describe = BoundPlugin.description.func

    def described(**changes):
        description = property(lambda self: replace(describe(self), **changes))
        monkeypatch.setattr(BoundPlugin, "description", description)

    described(version="99.0")
    assert "1 cell made by other code" in output("results", "verify", "pair.zip", "--cells", "1")
    described(parameters={"strange": 1})
    out = output("results", "verify", "pair.zip", status=1)
    assert out.count("the settings here are others (2 cells)") == 2


@pytest.mark.parametrize("archive", sorted(KEPT.glob("*.zip")), ids=lambda path: path.stem)
def test_verify_runs_cells_that_earlier_versions_made(run, archive):
    status, out, _ = run("results", "verify", str(archive), "--cells", "2")
    assert status == 0, out
    assert out.startswith("2 replications")
    assert (KEPT / f"format{FORMAT}.zip").exists()  # one of each format is kept


def test_verify_does_not_read_files_that_a_stranger_names(output):
    rows = "\n".join(f"{i % 7},{i % 5},{i % 2}" for i in range(80))
    Path("own.csv").write_text(f"a,b,y\n{rows}\n")
    output(
        "algo=log_reg",
        "dataset=csv",
        "dataset.path=own.csv",
        "dataset.target=y",
        "study=own",
        "tracking=none",
    )
    output("results", "export", "own", "own.zip")
    Path("own.csv").unlink()
    out = output("results", "verify", "own.zip", status=1)
    assert "its data come from a file of its own, which is not read (1 cell)" in out


def test_merge_counts_replications_writes_both_and_lists_disagreements(run, output):
    forged("pair.zip", "there.zip", moved())
    out = output("results", "merge", "pair.zip", "there.zip", "both.zip")
    assert "4 replications: 4 with equal AUC" in out
    assert len(read("both.zip")[1].others) == 4
    forged("pair.zip", "wrong.zip", moved(auc=-0.2))
    out = output("results", "merge", "pair.zip", "wrong.zip", status=1)
    assert out.count("allowed 0\n") == 4
    assert run("results", "merge", "pair.zip", "wrong.zip", "--tolerance", "0.5")[0] == 1  # equal versions


def test_compare_takes_the_parts_of_a_study_from_an_archive(output):
    output("algo=log_reg", "dataset=wine", "study=opauc_table2_more", "tracking=none", "budget.checkpoints=2")
    output("results", "export", "opauc_table2_more", "part.zip")
    shutil.move("aucbench-store", "away")
    assert "0 cells compared" in output("compare", "opauc_table2", "--with", "part.zip", "--out", "made")
    assert "--with part.zip" in Path("made/opauc_table2.md").read_text()


REFUSED = {
    "results check text.zip": "text.zip is no archive of results",
    "results verify pair.zip --method fsauc": "no cell of a method 'fsauc'",
    "results merge pair.zip pair.zip no/such/x.zip": "cannot be written",
    "results prune --store {store}": "--scores, --models or both",
    "results prune --scores --study other --store {store}": "no study 'other'. Known: ",
    "results size --store nowhere": "no store at nowhere",
    "leaderboard --with pair.zip --study other": "no study 'other'. Known: pair",
}


@pytest.mark.parametrize("command", REFUSED)
def test_bad_input_gets_one_sentence(refused, finished, folder, command):
    (folder / "text.zip").write_text("nothing")
    assert REFUSED[command] in refused(*command.format(store=finished / "aucbench-store").split())


def test_verify_finds_keys_that_are_not_those_of_their_settings_and_one_cell_of_other_data(output):
    forged("pair.zip", "forged.zip", rename=lambda key: key[::-1])
    out = output("results", "verify", "forged.zip", "--cells", "1", status=1)
    assert "its key is not that of its settings, data and code" in out
    first, new_key = next(iter(read("pair.zip")[1].cells)), "0" * 64

    def change(cell):
        return with_record(cell, "data", sha256=(new_key,)) if cell.record.key == new_key else cell

    forged("pair.zip", "other.zip", change, lambda key: new_key if key == first else key)
    out = output("results", "verify", "other.zip", "--cells", "4", status=1)
    assert "different here: " in out
    assert "the data here are others (1 cell)" in out
    assert "3 replications: 3 with equal AUC" in out


def test_verify_without_the_plugin_names_its_distribution_and_leaves_the_cells_out(output):
    theirs = {"name": "mlp_auc", "distribution": "mlp-auc", "version": "0.1.0"}

    def of_another(entry):
        described = replace(entry.described, algorithm=replace(entry.described.algorithm, **theirs))
        return replace(entry, algorithm="mlp_auc", described=described)

    archive = altered(read("pair.zip")[1], lambda cell: with_record(cell, "algorithm", **theirs), of_another)
    write(archive, "theirs.zip")
    out = output("results", "verify", "theirs.zip", status=1)
    assert "mlp-auc 0.1.0" in out
    assert "left out: mlp_auc on label_noise" in out
    assert "different here" not in out


def test_verify_tells_other_versions_of_packages_from_a_wrong_result(output, monkeypatch):
    change = moved(-0.2, packages={"lightgbm": "4.5.0"})
    forged("bare.zip", "moved.zip", lambda cell: dataclass_replace(change(cell), scores=None))
    monkeypatch.setattr(provenance, "_version", lambda name: "4.7.0" if name == "lightgbm" else version(name))
    out = output("results", "verify", "moved.zip", "--cells", "1", status=1)
    assert "lightgbm 4.5.0 there and 4.7.0 here" in out
    assert "1 that disagree" in out


def test_the_size_of_a_store_is_told_by_kind_and_pruned(output):
    for study in ("bare", "pair"):
        output("results", "import", f"{study}.zip")

    def sizes(*args):
        kinds = dict(line.split(None, 1) for line in output("results", "size", *args).splitlines())
        assert list(kinds) == ["cells", "records", "weights", "scores", "models"]
        return kinds["cells"], kinds["scores"]

    before = [sizes(), sizes("--study", "bare"), sizes("--study", "pair")]
    assert [cells for cells, _ in before] == ["6", "2", "4"]
    assert before[0][1] == before[1][1] != before[2][1] == "0 B"
    assert "from 0 cells" in output("results", "prune", "--models")
    assert "from 0 cells" in output("results", "prune", "--scores", "--study", "pair")
    assert "from 2 cells" in output("results", "prune", "--scores")
    assert sizes() == ("6", "0 B")
