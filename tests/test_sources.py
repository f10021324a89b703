import importlib
import sys

import pytest

from aucbench.sources import source_digest
from tests.fakes import Perceptron

FILES = {
    "__init__.py": "from other_package.method import Method\nfrom other_package.sibling import Sibling\n",
    "method.py": "from other_package.helper import SIZE\nclass Method:\n    size = SIZE\n",
    "helper.py": "from . import deep\nSIZE = 1\n",
    "deep.py": "DEPTH = 1\n",
    "sibling.py": "class Sibling:\n    pass\n",
}


@pytest.fixture
def digest(tmp_path, monkeypatch):
    """Digest of Method after some files were changed."""
    folder = tmp_path / "other_package"
    folder.mkdir()
    monkeypatch.syspath_prepend(tmp_path)

    def digest(**changes):
        for name, text in (FILES | {f"{key}.py": value for key, value in changes.items()}).items():
            (folder / name).write_text(text)
        for name in [name for name in sys.modules if name.startswith("other_package")]:
            del sys.modules[name]
        importlib.invalidate_caches()
        return source_digest(importlib.import_module("other_package").Method)

    return digest


def test_a_change_of_the_plugins_own_file_changes_the_digest(digest):
    assert digest() != digest(method=FILES["method.py"] + "# edited\n")


def test_a_change_of_a_helper_however_deep_changes_the_digest(digest):
    assert digest() != digest(helper=FILES["helper.py"] + "# edited\n")
    assert digest() != digest(deep="DEPTH = 2\n")


def test_a_change_of_another_plugin_of_the_package_does_not(digest):
    assert digest() == digest(sibling="class Sibling:\n    other = True\n")


def test_the_same_files_give_the_same_digest_and_a_class_without_file_has_one(digest):
    assert digest() == digest()
    namespace = {}
    exec("class Typed: pass", {"__name__": "__main__"}, namespace)
    assert len(source_digest(namespace["Typed"])) == len(source_digest(Perceptron)) == 64
