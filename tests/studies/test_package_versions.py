"""Package versions of a method: recorded, compared with installed versions, reported if missing."""

from dataclasses import dataclass, replace
from typing import ClassVar

import pytest
from msgspec import structs

from aucbench.studies import provenance
from aucbench.studies.store import Store
from tests.helpers.studies import bound, entry, run_entries, write_metadata
from tests.helpers.study_methods import Gentle


@dataclass(frozen=True)
class Importing(Gentle):
    """A method that declares its imports."""

    name: ClassVar[str] = "fake_importing"
    packages: ClassVar[tuple[str, ...]] = ("aucbench-test-engine", "aucbench-test-absent")
    extra: ClassVar[str] = "mine[engine]"


@pytest.fixture
def record(tmp_path, monkeypatch):
    """The record of a cell of a distribution that requires some packages."""
    site = tmp_path / "site"
    for name, version in (("engine", "1.5"), ("tool", "0.3"), ("optional", "9.9")):
        write_metadata(site, f"aucbench-test-{name}", "", version)
    required = ("numpy>=1", 'aucbench_test_tool[fast]>=0.1; python_version > "3"')
    required += ('aucbench-test-optional; extra == "more"',)
    write_metadata(site, "aucbench-test-author", "", "2.0", required)
    monkeypatch.syspath_prepend(site)
    caches = provenance._version, provenance._required
    for cache in caches:
        cache.cache_clear()
    planned = entry(Importing())
    planned = replace(planned, algorithm=replace(bound(Importing()), distribution="aucbench-test-author"))
    store = Store(tmp_path / "store")
    run_entries([planned], store)
    yield next(iter(store)).record
    for cache in caches:
        cache.cache_clear()


def test_declared_and_required_packages_stand_in_the_record_and_other_versions_are_told_apart(record):
    packages = record.environment.packages
    assert (packages["aucbench-test-engine"], packages["aucbench-test-tool"]) == ("1.5", "0.3")
    assert packages["numpy"]
    assert not {"aucbench-test-optional", "aucbench-test-absent"} & packages.keys()
    assert provenance.changed_versions(record) == {}
    older = packages | {"aucbench-test-engine": "1.4", "aucbench-test-gone": "3", "numpy": "1"}
    outdated = structs.replace(record, environment=structs.replace(record.environment, packages=older))
    assert provenance.changed_versions(outdated) == {
        "aucbench-test-engine": ("1.4", "1.5"),
        "aucbench-test-gone": ("3", ""),
    }


def test_a_method_with_a_missing_package_names_the_command_that_installs_it():
    message = provenance.missing_packages(Importing())
    assert "aucbench-test-absent" in message
    assert "mine[engine]" in message
    assert provenance.missing_packages(Gentle()) == ""
    assert provenance.missing_packages(type("Renamed", (Importing,), {"packages": ("sklearn",)})()) == ""
    base = type("Bare", (Importing,), {"extra": ""})()
    assert provenance.missing_packages(base).endswith("pip install aucbench-test-engine aucbench-test-absent")
