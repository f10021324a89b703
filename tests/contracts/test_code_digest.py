"""Digests change with the code that decides a result, and with nothing else."""

import ast
import hashlib
import importlib
import json
import sys

import pytest

from aucbench.contracts import code_digest as module
from aucbench.contracts.code_digest import code_digest, normal_form
from tests.helpers.fake_plugins import Perceptron

FILES = {
    "__init__": "from other_package.method import Method\nfrom other_package.sibling import Sibling\n",
    "method": '''"""A method."""

from other_package.helper import SIZE
from other_package.inner import reach


class Method:
    """A class."""

    size = SIZE

    def step(self, w, eta=0.1):
        """One step."""
        return f"{w:>{self.size}}{reach}"
''',
    "helper": "from . import deep\nSIZE = 1\n",
    "deep": "DEPTH = 1\n",
    "sibling": "from other_package.of_sibling import NAME\nclass Sibling:\n    name = NAME\n",
    "of_sibling": "NAME = 'sibling'\n",
    "inner/__init__": "from .reaching import reach\n",
    "inner/reaching": "def reach(): return 1\n",
}


@pytest.fixture
def digest(tmp_path, monkeypatch):
    """Digest of Method after some files were changed, each by replacing a part of it."""
    folder = tmp_path / "other_package"
    (folder / "inner").mkdir(parents=True)
    monkeypatch.syspath_prepend(tmp_path)

    def digest(**changes):
        for name, text in FILES.items():
            old, new = changes.get(name.replace("/", "_"), ("", ""))
            assert old in text
            (folder / f"{name}.py").write_text(text.replace(old, new, 1))
        for name in [name for name in sys.modules if name.startswith("other_package")]:
            del sys.modules[name]
        importlib.invalidate_caches()
        return code_digest(importlib.import_module("other_package").Method)

    return digest


PROSE = [  # and another plugin of the package, and its helper
    ("method", "size = SIZE\n", "size = SIZE  # of it\n"),
    ("method", '"""A class."""', '"""Another sentence."""'),
    ("method", '        """One step."""\n', ""),
    ("method", "\n\nclass Method", "\n\n\n\n\nclass Method"),
    ("method", "w, eta=0.1", "w,\n        eta=(0.1),\n    "),
    ("sibling", "name", "title"),
    ("of_sibling", "'sibling'", "'another'"),
]
CODE = [  # and helpers, however deep
    ("method", "size = SIZE", "size = SIZE + 1"),
    ("method", "eta=0.1", "eta=0.2"),
    ("method", ":>{", ":<{"),
    ("method", "eta=", "*, eta="),
    ("helper", "SIZE = 1", "SIZE = 2"),
    ("deep", "DEPTH = 1", "DEPTH = 2"),
    ("inner_reaching", "return 1", "return 2"),
]


@pytest.mark.parametrize(("name", "old", "new"), PROSE + CODE)
def test_an_edit_of_the_code_changes_the_digest_and_one_of_the_prose_does_not(digest, name, old, new):
    assert (digest() != digest(**{name: (old, new)})) == ((name, old, new) in CODE)


def test_what_the_package_itself_defines_counts_where_it_is_imported(digest):
    uses = ("SIZE\n", "SIZE\nfrom other_package import FACTOR\n")
    defines = [("from other_package.method", f"FACTOR = {n}\nfrom other_package.method") for n in (1, 2)]
    first, second = (digest(method=uses, __init__=text) for text in defines)
    assert first != second


def test_a_class_without_a_file_has_a_digest():
    namespace = {}
    exec("class Typed: pass", {"__name__": "__main__"}, namespace)
    assert len(code_digest(namespace["Typed"])) == len(code_digest(Perceptron)) == 64


# Each line is where versions of Python write the same code as different trees.
SAMPLE = r"""
def first(x, *, y=1 << 70, z: "int" = -0.0) -> None: pass
class Second(dict): values: list[int] = []
text = f"{first:>{10}}" f"" "tail" f"{first!r}{'inner'}" u"old" f"{text=}" f"{first:}"
match text:
    case {"key": [1, *rest], **more} if more: pass
try: raise ValueError("é\U0001fae8") from None
except* ValueError: lambda *args, key=b"\xff": (yield)
async def third(): return [each async for each in first() if each]
"""


def test_the_normal_form_is_the_same_on_all_versions_of_python():
    """The number is equal on 3.11, 3.12 and 3.13, as were the digests of SciPy's and Python's files."""
    assert hashlib.sha256(normal_form(ast.parse(SAMPLE)).encode()).hexdigest()[:16] == "11141250dd82d283"


def test_digests_are_remembered_and_a_damaged_memory_is_made_anew(tmp_path, monkeypatch):
    monkeypatch.setenv("AUCBENCH_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "method.py"
    file.write_text("import math\nSIZE = 1\n")
    module._read.cache_clear()
    first = module.read_source(file)
    (remembered,) = (tmp_path / "cache" / "code").iterdir()
    monkeypatch.setattr(module.ast, "parse", lambda content: pytest.fail("read again"))
    module._read.cache_clear()
    assert module.read_source(file) == first
    assert json.loads(remembered.read_text())[0] == first.digest
    monkeypatch.undo()
    monkeypatch.setenv("AUCBENCH_CACHE", str(tmp_path / "cache"))
    remembered.write_text("[")
    module._read.cache_clear()
    assert module.read_source(file) == first


def test_a_file_of_another_version_of_python_is_hashed_as_it_is(tmp_path):
    file = tmp_path / "method.py"
    file.write_text("print 'old'\n")
    assert module.read_source(file).digest == hashlib.sha256(file.read_bytes()).hexdigest()
