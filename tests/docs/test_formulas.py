"""Formulas of docstrings, typeset."""

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import aucbench
from aucbench.contracts.validation import Family

pytest.importorskip(
    "numpydoc", reason="the documentation's packages are not installed: pip install -e '.[docs]'"
)
EXTENSION = Path(__file__).parents[2] / "docs" / "_ext"


@pytest.fixture(autouse=True)
def path(monkeypatch):
    monkeypatch.syspath_prepend(str(EXTENSION))
    yield
    for name in ("formulas", "prose_formulas", "markdown", "method_pages", "plugin_tables", "docstrings"):
        sys.modules.pop(name, None)


def tree(text, block=False):
    import formulas

    return ElementTree.fromstring((formulas.block if block else formulas.inline)(text))


def shown(element):
    """What a reader sees, with the structure in brackets."""
    inner = [shown(child) for child in element]
    if element.tag == "mfrac":
        return f"[{inner[0]} over {inner[1]}]"
    if element.tag in ("msub", "msup"):
        return f"{inner[0]}{'_' if element.tag == 'msub' else '^'}[{inner[1]}]"
    if element.tag == "msubsup":
        return f"{inner[0]}_[{inner[1]}]^[{inner[2]}]"
    if element.tag == "msqrt":
        return f"root[{''.join(inner)}]"
    return (element.text or "") + "".join(inner)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("eta_t", "η_[t]"),
        ("lam / 2 |w|^2", "[λ over 2]|w|^[2]"),  # a factor after a denominator is beside the fraction
        ("w.z / (l_t |z|^2)", "[w⋅z over l_[t]|z|^[2]]"),  # its brackets go
        ("(a + b) (c + d) / 2", "[(a+b)(c+d) over 2]"),  # those of a product stay
        ("1 / sqrt(t)", "[1 over root[t]]"),
        ("x+ - x-", "x^[+]\u2212x^[\u2212]"),
        ("x+_a", "x_[a]^[+]"),
        ("beta_(k-1)", "β_[k\u22121]"),
        ("alpha^(-3/4)", "\u03b1^[\u22123/4]"),
        ("w0", "w_[0]"),
        ("|w - w*|", "|w\u2212w^[*]|"),
        ("1e-7", "10^[\u22127]"),
        ("Sigma <= Phi", "Σ≤Φ"),
        ("mean over pairs of u / v", "meanoverpairsof[u over v]"),  # words are no numerator
    ],
)
def test_a_formula_has_the_structure_that_its_text_says(text, expected):
    assert shown(tree(text, block=True)).replace(" ", "") == expected.replace(" ", "")


def test_a_division_in_a_line_of_text_stays_a_slash():
    assert not list(tree("1 / sqrt(t)").iter("mfrac"))
    assert len(list(tree("1 / sqrt(t)", block=True).iter("mfrac"))) == 1


def test_lines_of_a_block_are_rows_and_further_indented_ones_go_on():
    rows = list(tree("sopa: u = v\n      w = x\n", block=True).iter("mtr"))
    assert [shown(row) for row in rows] == ["sopa:u=v", "w=x"]
    assert rows[1].find(".//mspace").get("width") == "3.0em"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the step eta / sqrt(t), or eta;", ["eta / sqrt(t)", "eta"]),
        ("a sample x (see w_t), e.g. a w of O(nnz + n log n)", ["x", "w_t", "w", "O(nnz + n log n)"]),
        ("project on |w| <= radius after 10 to 40 steps", ["|w| <= radius"]),
        ("OPAUC's 2 p (1 - p), k-fold and the t-test", ["2 p (1 - p)"]),
        ("LogisticRegression(C=C) and average=False or lam=None", []),
        ("with lam=0 and z = x+ - x- of both", ["lam=0", "z = x+ - x-"]),
        ("I am a reader of 3 papers", []),
    ],
)  # fmt: skip
def test_formulas_are_found_in_sentences_and_words_are_not(text, found):
    import prose_formulas

    pieces = list(prose_formulas.parts(text))
    assert [piece for formula, piece in pieces if formula] == found
    assert "".join(piece for _, piece in pieces) == text  # nothing is lost


def test_every_formula_of_every_method_becomes_well_formed_mathematics():
    import formulas
    import method_pages

    blocks = inlines = 0
    for name, text in method_pages.pages().items():
        for formula in re.findall(r"^```\{math\}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            ElementTree.fromstring(formulas.block(formula))
            blocks += 1
        for formula in re.findall(r"\{math\}`([^`]+)`", text):
            assert "|" not in formula, name  # would begin a cell of a table
            ElementTree.fromstring(formulas.inline(formula))
            inlines += 1
    methods = len(aucbench.catalog().plugins[Family.algorithms])
    assert blocks >= methods - 1  # the classifiers of scikit-learn have none
    assert inlines >= 5 * methods


def test_docstrings_of_the_reference_are_typeset_and_code_is_left_alone():
    import docstrings

    lines = ["The weight of |w|^2 is `lam_`, by w_t::", "", "    w_t = |x|", "", "and u_ stays"]
    docstrings.escape(None, "", "", None, None, lines)
    assert lines == [
        "The weight of :math:`|w|^2` is `lam_`, by :math:`w_t`::", "", "    w_t = |x|", "", r"and u\_ stays",
    ]  # fmt: skip
