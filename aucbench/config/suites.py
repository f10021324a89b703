"""The suites: named sets of data sets for a sweep, files in ``conf/suite``."""

from typing import NamedTuple

from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser

from aucbench.config.compose import compose, session
from aucbench.config.overrides import expand
from aucbench.contracts import DatasetFacts
from aucbench.contracts.validation import Family
from aucbench.registry import Catalog


class Suite(NamedTuple):
    """A named set of data sets."""

    name: str
    title: str
    datasets: tuple[str, ...]  # names
    families: frozenset[str]


def suites(catalog: Catalog) -> list[Suite]:
    """All suites by name, with the data sets that they sweep over."""
    known, found = catalog.plugins[Family.datasets], []
    with session(catalog):
        loader = GlobalHydra.instance().config_loader()
        parser = OverridesParser.create(config_loader=loader)
        for name in sorted(loader.get_group_options("suite")):
            cfg = compose([f"+suite={name}"], with_hydra=True)
            swept = parser.parse_overrides([f"dataset={cfg.hydra.sweeper.params.dataset}"])
            datasets = tuple(word.partition("=")[2] for (word,) in expand(swept))
            families = frozenset(DatasetFacts(known[each].cls).family or each for each in datasets)
            found.append(Suite(name, str(cfg.suite), datasets, families))
    return found
