"""An entry: one algorithm on one data set under one protocol, bound to objects; its cells and their keys."""

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from aucbench import kernels, sources
from aucbench.config.settings import Budget, Settings
from aucbench.data.loading import Part
from aucbench.data.scaling import Scaling


@dataclass(frozen=True)
class Bound:
    """A plugin instance and the distribution it comes from."""

    instance: Any
    distribution: str
    version: str

    @property
    def cls(self) -> Any:
        """The plugin's class."""
        return type(self.instance)

    @property
    def name(self) -> str:
        """The plugin's name."""
        return str(self.instance.name)

    @property
    def title(self) -> str:
        """The name under which results are shown."""
        return str(getattr(self.instance, "title", self.name))

    def describe(self) -> dict[str, Any]:
        """Name, parameters and origin, ready for JSON."""
        return {
            "name": self.name,
            "parameters": asdict(self.instance),
            "distribution": self.distribution,
            "version": self.version,
            "exempt": dict(getattr(self.instance, "exempt", {})),
        }


@dataclass(frozen=True)
class Entry:
    """Everything that determines the results of an entry.

    Parameters
    ----------
    algorithm, dataset, features, loss : Bound
        The plugins; loss None for a method that takes none.
    part : Part
        Which part of the data set is used.
    scaling : Scaling
        As resolved for the data set.
    protocol : object
        A protocol.
    budget, settings
        The remaining fields of a run.
    """

    algorithm: Bound
    dataset: Bound
    loss: Bound | None
    features: Bound
    part: Part
    scaling: Scaling
    protocol: Any
    tuning: str
    budget: Budget
    settings: Settings

    def cells(self) -> list["Cell"]:
        """One cell a run."""
        s = self.settings
        return [
            Cell(
                self,
                seed,
                seed if s.split_seed is None else s.split_seed,
                seed if s.order_seed is None else s.order_seed,
            )
            for seed in range(s.seed, s.seed + s.runs)
        ]

    def describe(self) -> dict[str, Any]:
        """What all cells share, ready for JSON."""
        return {
            "algorithm": self.algorithm.describe(),
            "dataset": self.dataset.describe() | {"part": str(self.part), "title": self.dataset.title},
            "loss": None if self.loss is None else self.loss.describe(),
            "features": self.features.describe(),
            "scaling": str(self.scaling),
            "protocol": {"name": self.protocol.name, "parameters": asdict(self.protocol)},
            "tuning": self.tuning,
            "budget": asdict(self.budget),
            "order": str(self.settings.order),
            "dtype": str(self.settings.dtype),
        }

    @cached_property
    def source_digest(self) -> str:
        """Digest of the code that decides the numbers: the plugins, their helpers and the kernels."""
        plugins = [self.algorithm, self.features, *([self.loss] if self.loss else [])]
        digest = hashlib.sha256(kernels.source_hash().encode())
        for plugin in plugins:
            digest.update(sources.source_digest(plugin.cls).encode())
        return digest.hexdigest()

    def key(self, digests: tuple[str, ...]) -> str:
        """Identity of the whole entry, given the digests of its data."""
        s = self.settings
        seeds = [s.seed, s.runs, s.split_seed, s.order_seed]
        return _digest([self.describe(), self.source_digest, digests, seeds, s.study])

    def with_runs(self, runs: int) -> "Entry":
        """The same entry with another number of runs."""
        return replace(self, settings=replace(self.settings, runs=runs))


@dataclass(frozen=True)
class Cell:
    """One run of an entry and its seeds."""

    entry: Entry = field(repr=False)
    seed: int
    split_seed: int
    order_seed: int

    def seeds(self) -> dict[str, int]:
        """The three seeds by name."""
        return {"seed": self.seed, "split_seed": self.split_seed, "order_seed": self.order_seed}

    def key(self, digests: tuple[str, ...]) -> str:
        """Identity of the cell: equal keys mean equal results, timings aside."""
        return _digest([self.entry.describe(), self.entry.source_digest, digests, self.seeds()])


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()
