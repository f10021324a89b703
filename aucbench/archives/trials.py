"""The settings that the tunings of an archive tried: their validation AUCs by split and fold, and their cost.

A setting can be compared over splits and data sets where it was tried on all of them, as under
``ruleset=trials``, whose draws have a seed of their own. A method without a tuning stands here with the one
setting that it was run with, and its test AUC.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucbench.studies.record import CellRecord, ReportedTrial, canonical
from aucbench.studies.result import CellResult

Floats = NDArray[np.float64]


class Facts(NamedTuple):
    """Facts of the training rows of a data set that are known before anything is trained."""

    rows: float
    features: float
    density: float  # share of the values that are not 0; 1 of dense rows
    positives: float  # share of the rows


@dataclass(frozen=True)
class TriedSettings:
    """One method on one data set: every setting that was tried, on every split."""

    method: str
    dataset: str
    settings: tuple[dict[str, Any], ...]
    aucs: Floats  # (settings, splits, folds) of validation rows; test AUCs where nothing was tuned
    tested: Floats  # (splits,) test AUC of the final training; NaN, as above, where there is none
    linear: bool
    seconds: float  # of a training on the whole training part, mean over splits

    @property
    def is_tuned(self) -> bool:
        """Whether several settings were tried, on validation rows."""
        return len(self.settings) > 1


@dataclass(frozen=True)
class TriedDataset:
    """A data set of an archive: its facts, and the methods that were tried on it by name."""

    name: str
    facts: Facts
    methods: dict[str, TriedSettings]


def tried_settings(cells: Iterable[CellResult]) -> dict[str, TriedDataset]:
    """Settings that were tried, by data set.

    Left out are variants of a method, cells with a feature map, and tunings whose settings differ from split
    to split, or whose first setting is not the method as given, which the others are compared with.
    """
    found: dict[str, dict[str, list[CellRecord]]] = {}
    variants: dict[str, str] = {}
    for cell in cells:
        record = cell.record
        variant = canonical(record.algorithm.parameters)
        is_plain = record.features.name == "identity" and record.budget.seconds is None
        if is_plain and variants.setdefault(record.algorithm.name, variant) == variant:
            methods = found.setdefault(record.dataset.title, {})
            methods.setdefault(record.algorithm.name, []).append(record)
    return {name: _dataset(name, methods) for name, methods in sorted(found.items())}


def _dataset(name: str, methods: Mapping[str, list[CellRecord]]) -> TriedDataset:
    seeds = sorted({record.seeds for records in methods.values() for record in records})
    of_methods = {
        method: tried
        for method, records in sorted(methods.items())
        if (tried := _tried(method, name, {record.seeds: record for record in records}, seeds)) is not None
    }
    return TriedDataset(name, _facts([record for each in methods.values() for record in each]), of_methods)


def _facts(records: list[CellRecord]) -> Facts:
    data = [record.data for record in records]
    rows = np.array([each.train_rows for each in data], float)
    features = np.array([each.features for each in data], float)
    nonzeros = np.array([each.nonzeros_per_row or each.features for each in data], float)
    return Facts(
        float(rows.mean()),
        float(features.mean()),
        float((nonzeros / features).mean()),
        float((np.array([each.train_positives for each in data]) / rows).mean()),
    )


def _tried(
    method: str, dataset: str, records: Mapping[Any, CellRecord], seeds: list[Any]
) -> TriedSettings | None:
    """The settings of one method; None where they differ from split to split, or were not kept."""
    trials: dict[Any, tuple[ReportedTrial, ...]] = {
        own: record.tuned.trials or () for own, record in records.items() if record.tuned is not None
    }
    results = [records[own].result if own in records else None for own in seeds]
    tested = np.array([np.nan if each is None or each.auc is None else each.auc for each in results])
    linear = all(each is None or each.weights_norm is not None or each.auc is None for each in results)
    seconds = float(np.mean([each.train_seconds for each in results if each is not None]))
    if not trials:
        return TriedSettings(method, dataset, ({},), tested[None, :, None], tested, linear, seconds)
    numbers: dict[int, dict[str, Any]] = {}
    for trial in (trial for each in trials.values() for trial in each):
        if numbers.setdefault(trial.number, trial.parameters) != trial.parameters:
            return None
    tuned = [record for record in records.values() if record.tuned is not None]
    if not numbers or not all(record.tuning.parameters.get("given_first") for record in tuned):
        return None
    order = {number: at for at, number in enumerate(sorted(numbers))}
    folds = max(trial.fold for each in trials.values() for trial in each) + 1
    aucs = np.full((len(order), len(seeds), folds), np.nan)
    for own, of_split in trials.items():
        for trial in of_split:
            if trial.auc is not None:
                aucs[order[trial.number], seeds.index(own), trial.fold] = trial.auc
    settings = tuple(numbers[number] for number in order)
    return TriedSettings(method, dataset, settings, aucs, tested, linear, seconds)
