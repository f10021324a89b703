"""Built-in plugins come in by the same door as anybody's: they import public names and need nothing else."""

import re
from pathlib import Path

import pytest

import aucbench_algorithms
from aucbench.studies.store import Store
from tests.helpers.studies import finished, process_environment, results, write_metadata

BUILT_IN = Path(aucbench_algorithms.__file__).parent
STRANGER = "stranger_methods"


def files_of(name):
    """The file of a built-in method, and the helpers of its package that it imports, directly or not."""
    text = (BUILT_IN / f"{name}.py").read_text(encoding="utf-8")
    found = {name: text}
    for helper in re.findall(r"^from aucbench_algorithms(?: import |\.)(_\w+)", text, re.MULTILINE):
        found |= files_of(helper)
    return found


def install(folder, method, cls):
    """A package of a third party with a built-in method under other names, as an installer leaves it."""
    package = folder / STRANGER
    package.mkdir()
    for name, text in files_of(method).items():
        text = text.replace("aucbench_algorithms", STRANGER)
        if name == method:
            text = re.sub(rf"\b{cls}\b", "Stranger", text)
            text = text.replace(f'name = "{method}"', 'name = "stranger"')
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    (package / "__init__.py").write_text(
        f"import aucbench\nfrom {STRANGER}.{method} import Stranger\n\n\n"
        "@aucbench.hookimpl\ndef aucbench_algorithms():\n    return (Stranger,)\n"
    )
    write_metadata(folder, STRANGER, STRANGER)
    return set(files_of(method)) - {method}


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize(
    ("method", "cls", "helpers"),
    [("psam", "Psam", set()), ("sauc", "Sauc", {"_choices", "_linear_method", "_sauc_rounds"})],
)
def test_a_built_in_method_gives_the_same_numbers_from_a_package_of_a_third_party(
    method, cls, helpers, tmp_path
):
    site = tmp_path / "site"
    site.mkdir()
    assert install(site, method, cls) == helpers
    words = [
        "-m", f"algo={method},stranger", "dataset=sparse_text", "dataset.n=600", "runs=2", "tracking=none",
        "budget.epochs=2", "budget.checkpoints=4",
    ]  # fmt: skip
    status, _, err = finished(words, tmp_path, process_environment(site))
    assert status == 0, err
    store = Store(next(tmp_path.rglob("cells")).parent)
    assert {cell.record.algorithm.distribution for cell in store} == {"aucbench", STRANGER}
    found = results(store)
    assert len(found) == 4
    for seed in range(2):
        auc, weights = found[method, seed, 0]
        assert weights is not None
        assert found["stranger", seed, 0] == (auc, weights)  # to the last bit
