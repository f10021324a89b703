"""What every built-in method and loss declares about itself."""

import re
from pathlib import Path

import pytest

import aucbench
import aucbench_algorithms
from aucbench import Claims
from aucbench.contracts import field_types

CATALOG = aucbench.catalog()
KEYS = set(
    re.findall(
        r"^@\w+\{(\w+),", (Path(aucbench_algorithms.__file__).parent / "references.bib").read_text(), re.M
    )
)
OWN = [plugin for plugin in CATALOG.plugins["algorithms"].values() if plugin.distribution == "aucbench"]
each_method = pytest.mark.parametrize("cls", [plugin.cls for plugin in OWN], ids=lambda cls: cls.name)

NAMES = [
    "solam",
    "solam_l1",
    "regsolam",
    "fsauc",
    "spam",
    "opauc",
    "opauc_r",
    "adaoam",
    "spdam",
    "sauc",
    "oam_seq",
    "oam_gra",
    "cbr",
    "cbr_diag",
    "psam",
    "asam",
    "roc_sgd",
    "uni_exp",
    "uni_log",
    "uni_square",
    "log_reg",
    "ls_svm",
    "svm_or",
    "bam",
    "mba",
    "sgd_hinge",
    "sgd_log",
    "toppush",
    "tau_fpl",
    "aum",
    "sklearn",
]
BLOCKS = {"pair_batch", "pesg", "sopa", "sopa_s", "soap", "sht_auc"}


def test_every_method_of_the_five_papers_is_there():
    assert set(NAMES) <= set(CATALOG.plugins["algorithms"])


def test_every_method_on_blocks_is_there():
    assert set(CATALOG.plugins["algorithms"]) >= BLOCKS


def test_every_loss_and_feature_map_is_there():
    losses = {"square", "hinge", "squared_hinge", "smooth_hinge", "logistic", "exponential"}
    features = {"identity", "nystroem", "fourier", "projection", "pca", "subset"}
    assert losses <= set(CATALOG.plugins["losses"])
    assert features <= set(CATALOG.plugins["features"])


@each_method
def test_a_method_declares_grid_claims_citation_and_deviations(cls):
    assert isinstance(cls.claims, Claims)
    assert cls.citation in KEYS
    assert all(isinstance(sentence, str) and sentence.endswith(".") for sentence in cls.deviations)
    assert set(cls.grid) <= set(field_types(cls))
    assert cls.grid or not field_types(cls) or cls.name.startswith(("sgd", "sklearn"))


@pytest.mark.parametrize("cls", [p.cls for p in CATALOG.plugins["losses"].values()], ids=lambda cls: cls.name)
def test_a_loss_names_the_source_of_its_facts(cls):
    assert cls.source in KEYS
    assert isinstance(cls.convex, bool)
    assert isinstance(cls.consistent, bool)
