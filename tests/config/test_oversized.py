"""Configurations that would take minutes or all memory are refused at once, in a sentence."""

import sys

import pytest

import aucbench
from aucbench.config.words import parse
from aucbench.errors import ParameterError
from aucbench.studies.study import MOST_CELLS

BASE = ("dataset=gaussian", "tracking=none", "store.path=null")


def refused(overrides, *named, **options):
    with pytest.raises(ParameterError) as caught:
        aucbench.plan_study([*BASE, *overrides], **options)
    assert all(text in str(caught.value) for text in named), caught.value
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    ("overrides", "named"),
    [
        (["-m", "algo=psam,solam", "runs=600000"], "1,200,000"),
        (["-m", "seed=range(0,1000000000)"], "1,000,001"),
        (["-m", "seed=range(0,2000)", "order_seed=range(0,2000)"], "4,000,000"),
        (["budget.checkpoints=1000000000"], "checkpoints"),
        (["algo.radius=" + "1" * 50_000_000], "50,000,012"),
    ],
)
def test_a_study_of_a_mistyped_size_is_refused_with_the_size(overrides, named):
    refused(overrides, named)


def test_a_large_study_runs_where_the_user_confirms_it():
    overrides = ("-m", "algo=psam", "dataset=gaussian", f"runs={MOST_CELLS + 1}", "--yes")
    assert aucbench.api.study_of(parse(overrides)).yes


BOMB = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 30)
)


@pytest.mark.parametrize(
    "content",
    [
        BOMB.encode(), b"[" * 100_000, b"runs: [1, 2", b"\xff\xfe\x00runs", b"x" * 2_000_000, b"<<: [1]",
        b"study: !!timestamp 2001-13-45", b"defaults: 3",
    ],
)  # fmt: skip
def test_damaged_and_exploding_files_of_a_user_are_refused_by_name(content, tmp_path):
    (tmp_path / "mine.yaml").write_bytes(content)
    refused(["--config-dir", str(tmp_path), "--config-name", "mine"], "mine.yaml")


def test_configurations_that_include_each_other_are_refused(tmp_path):
    for name, included in (("one", "two"), ("two", "one")):
        (tmp_path / f"{name}.yaml").write_text(f"defaults:\n  - {included}\n  - config\n  - _self_\n")
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(400)  # each level takes milliseconds
    try:
        refused(["--config-dir", str(tmp_path), "--config-name", "one"], "includes itself")
    finally:
        sys.setrecursionlimit(limit)
