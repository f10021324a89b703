"""An entry: one algorithm on one data set under one protocol; its cells, tunings and keys."""

import hashlib
from dataclasses import asdict, dataclass, field, fields
from dataclasses import replace as replace_field
from functools import cached_property
from importlib.util import find_spec
from typing import Any, NamedTuple

from msgspec import UNSET
from msgspec.structs import asdict as structs_asdict
from msgspec.structs import replace

from aucbench import stand_ins
from aucbench.contracts import DatasetFacts, MethodFacts
from aucbench.contracts.code_digest import code_digest
from aucbench.data.loader import Part
from aucbench.data.scaler import Scaling
from aucbench.evaluation.measures import Measure
from aucbench.studies.codec import canonical, subset
from aucbench.studies.default_settings import Budget, Limits, Settings
from aucbench.studies.record import (
    BudgetRecord,
    DatasetRecord,
    EntryDescription,
    PluginRecord,
    ProtocolRecord,
    RulesetRecord,
    Seeds,
)
from aucbench.studies.tuners import Tuning

# Version in the keys of searches, increased when their settings or trials change.
SEARCH = "search 2"
CPU = "cpu"  # device of methods that declare none
PREPARED = ("dataset", "features", "scaling", "rescale", "protocol", "dtype", "max_train_rows")


@dataclass(frozen=True)
class BoundPlugin:
    """A plugin instance and its distribution."""

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
        """The display name."""
        return DatasetFacts(self.instance).title or self.name

    @property
    def family(self) -> str:
        """The declared family of a data set, by default its title: each user's file is a separate family."""
        return DatasetFacts(self.instance).family or self.title

    @cached_property
    def device(self) -> str:
        """The device on which a method trains."""
        facts = MethodFacts(self.instance)
        if facts.device is not None:
            return str(self.instance.device())
        if "jax" in facts.packages and find_spec("jax"):
            import jax  # imported late: it takes a second

            return str(jax.default_backend())
        return CPU

    @cached_property
    def description(self) -> PluginRecord:
        """Name, parameters and origin."""
        return PluginRecord(
            name=self.name,
            parameters=parameters_of(self.instance),
            distribution=self.distribution,
            version=self.version,
            exempt=dict(DatasetFacts(self.instance).exempt),
        )


def parameters_of(instance: Any) -> dict[str, Any]:
    """The recorded fields of a plugin or protocol.

    A field with ``later`` in its metadata is omitted at its default, because earlier results lack the field.
    """
    later = {spec.name: spec.default for spec in fields(instance) if spec.metadata.get("later")}
    return {key: value for key, value in asdict(instance).items() if key not in later or value != later[key]}


class Search(NamedTuple):
    """One tuning of an entry's method, on the training part of one split in one order."""

    key: str
    seeds: Seeds


@dataclass(frozen=True)
class Entry:
    """Everything that determines the results of an entry; its cells differ only in their seeds."""

    algorithm: BoundPlugin
    dataset: BoundPlugin
    loss: BoundPlugin | None  # None if the method takes no loss
    features: BoundPlugin
    part: Part
    scaling: Scaling  # resolved for the data set
    protocol: Any
    tuning: Tuning
    budget: Budget
    settings: Settings
    limits: Limits = field(default_factory=Limits)  # not part of the key, like the next five fields
    measures: tuple[Measure, ...] = ()  # beside the AUC
    keep_weights: bool = False  # keep the weights of all checkpoints
    keep_scores: bool = True  # keep the scores of a method that is not linear
    keep_model: bool = True  # keep the model, if the method provides it as bytes
    ruleset: RulesetRecord | None = None

    def __str__(self) -> str:
        return f"{self.algorithm.name} on {self.dataset.title}"

    @cached_property
    def imported(self) -> "Entry":
        """The entry with third-party plugins imported in this process instead of their stand-ins."""
        changed = {
            name: replace_field(bound, instance=instance)
            for name in ("algorithm", "dataset", "loss", "features")
            if (bound := getattr(self, name)) is not None
            and (instance := stand_ins.imported(bound.instance)) is not bound.instance
        }
        return replace_field(self, **changed) if changed else self

    def cells(self) -> list[Seeds]:
        """The seeds of each cell: one cell per run and fold."""
        s = self.settings
        seeds = range(s.seed, s.seed + s.runs)
        splits, orders = (seeds if seed is None else [seed] * s.runs for seed in (s.split_seed, s.order_seed))
        return [
            Seeds(*numbers, fold)
            for numbers in zip(seeds, splits, orders, strict=True)
            for fold in range(self.protocol.splits)
        ]

    def searches(self, digests: tuple[str, ...]) -> dict[Seeds, Search]:
        """The search on which each cell depends; empty if there is nothing to choose.

        Cells of one split share the search on their first order.
        """
        by_split: dict[tuple[int, int], Search] = {}
        searches = {}
        for seeds in self.cells() if self.tuning.chooses else ():
            split = (seeds.split_seed, seeds.fold)
            if split not in by_split:
                by_split[split] = Search(self._search_key(digests, seeds), seeds)
            searches[seeds] = by_split[split]
        return searches

    def describe(self) -> EntryDescription:
        """The description shared by all cells."""
        return self._description

    @cached_property
    def preparation(self) -> str:
        """All settings that decide the prepared rows of a split."""
        return canonical(subset(self._description, PREPARED))

    @cached_property
    def _description(self) -> EntryDescription:
        return EntryDescription(
            algorithm=self.algorithm.description,
            dataset=DatasetRecord(
                **structs_asdict(self.dataset.description), part=str(self.part), title=self.dataset.title
            ),
            loss=None if self.loss is None else self.loss.description,
            features=self.features.description,
            scaling=str(self.scaling),
            rescale=self.settings.rescale,
            regularisation=str(self.settings.regularisation),
            protocol=ProtocolRecord(name=self.protocol.name, parameters=parameters_of(self.protocol)),
            tuning=self.tuning.describe(),
            max_train_rows=self.settings.max_train_rows,
            budget=BudgetRecord(**asdict(self.budget)),
            order=str(self.settings.order),
            dtype=str(self.settings.dtype),
            device=UNSET if self.algorithm.device == CPU else self.algorithm.device,
        )

    @cached_property
    def source_digest(self) -> str:
        """Digest of the code that decides the results, computed once in a process and sent to the workers."""
        return self.digest_sources()

    def digest_sources(self) -> str:
        """Digest of the plugins, their helpers and the kernels, in this process."""
        from aucbench import kernels  # imported late: it loads numba, which reading studies does not need

        plugins = [self.algorithm, self.features, *([self.loss] if self.loss else [])]
        digest = hashlib.sha256(kernels.source_hash().encode())
        for plugin in plugins:
            digest.update(code_digest(plugin.cls).encode())
        return digest.hexdigest()

    def key(self, digests: tuple[str, ...]) -> str:
        """Identity of the whole entry, given the digests of its data."""
        s = self.settings
        seeds = [s.seed, s.runs, s.split_seed, s.order_seed]
        return _digest([self.describe(), self.source_digest, digests, seeds, s.study])

    def cell_keys(self, digests: tuple[str, ...]) -> dict[Seeds, str]:
        """Identity of each cell: equal keys mean equal results, timings aside."""
        described = _digest(self.describe())  # computed once for all cells: it is the larger part
        return {seeds: _digest([described, self.source_digest, digests, seeds]) for seeds in self.cells()}

    def _search_key(self, digests: tuple[str, ...], seeds: Seeds) -> str:
        """Identity of a search; independent of the number of checkpoints of the final run."""
        described = self.describe()
        described = replace(described, budget=replace(described.budget, checkpoints=1))
        return _digest([SEARCH, described, self.source_digest, digests, seeds])


def _digest(content: Any) -> str:
    return hashlib.sha256(canonical(content).encode()).hexdigest()
