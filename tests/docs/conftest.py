"""The modules that make pages of the code."""

import sys
from pathlib import Path

import pytest

EXTENSION = Path(__file__).parents[2] / "docs" / "_ext"


@pytest.fixture(scope="module")
def extension():
    """The folder of these modules, importable within the test module only."""
    before = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(EXTENSION))
        yield EXTENSION
    for name in set(sys.modules) - before:
        if str(EXTENSION) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]
