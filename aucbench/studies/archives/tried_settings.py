"""The settings that the tunings of an archive tried: their validation AUCs by split and fold, and their cost.

A setting can be compared over splits and data sets if it was tried on all of them, as under
``ruleset=trials``, which fixes the seed of the draws. A method without a tuning has one setting, with its
test AUC.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucbench.studies.codec import canonical
from aucbench.studies.record import CellRecord, Seeds
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
    aucs: Floats  # (settings, splits, folds) of validation rows; test AUCs if nothing was tuned
    tested: Floats  # (splits,) test AUC of the final training; NaN if missing
    linear: bool
    seconds: float  # mean time of a training on the whole training part

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

    Variants of a method, cells with a feature map, and tunings whose settings differ between splits are left
    out, and so are tunings whose first setting is not the method as given, the reference of the others.
    """
    by_dataset: dict[str, dict[str, dict[Seeds, CellRecord]]] = {}
    variants: dict[str, str] = {}
    for record in (cell.record for cell in cells):
        variant = canonical(record.algorithm.parameters)
        is_plain = record.features.name == "identity" and record.budget.seconds is None
        if is_plain and variants.setdefault(record.algorithm.name, variant) == variant:
            methods = by_dataset.setdefault(record.dataset.title, {})
            methods.setdefault(record.algorithm.name, {})[record.seeds] = record
    tried = {}
    for name, methods in sorted(by_dataset.items()):
        seeds = sorted({key for records in methods.values() for key in records})
        settings = [_tried(method, name, records, seeds) for method, records in sorted(methods.items())]
        facts = _facts([record for records in methods.values() for record in records.values()])
        tried[name] = TriedDataset(name, facts, {result.method: result for result in settings if result})
    return tried


def _facts(records: list[CellRecord]) -> Facts:
    numbers = [
        (data.train_rows, data.features, data.nonzeros_per_row or data.features, data.train_positives)
        for data in (record.data for record in records)
    ]
    rows, features, nonzeros, positives = np.array(numbers, float).T
    means = (values.mean() for values in (rows, features, nonzeros / features, positives / rows))
    return Facts(*map(float, means))


def _tried(
    method: str, dataset: str, records: Mapping[Seeds, CellRecord], seeds: list[Seeds]
) -> TriedSettings | None:
    """The settings of one method; None if the settings differ between splits or were not kept."""
    results = [record.result for record in records.values()]
    test_aucs = {key: record.result.auc for key, record in records.items()}
    tested = np.array([test_aucs.get(key) for key in seeds], float)  # None becomes NaN
    linear = all(result.weights_norm is not None or result.auc is None for result in results)
    seconds = float(np.mean([records[key].result.train_seconds for key in seeds if key in records]))
    tuned = [(seeds.index(key), record, record.tuned) for key, record in records.items() if record.tuned]
    if not tuned:
        return TriedSettings(method, dataset, ({},), tested[None, :, None], tested, linear, seconds)
    trials = [(split, trial) for split, _, choice in tuned for trial in choice.trials or ()]
    settings = {trial.number: trial.parameters for _, trial in trials}
    differ = any(settings[trial.number] != trial.parameters for _, trial in trials)
    has_first = all(record.tuning.parameters.get("given_first") for _, record, _ in tuned)
    if not trials or differ or not has_first:
        return None
    order = sorted(settings)
    aucs = np.full((len(order), len(seeds), 1 + max(trial.fold for _, trial in trials)), np.nan)
    for split, trial in trials:
        if trial.auc is not None:
            aucs[order.index(trial.number), split, trial.fold] = trial.auc
    return TriedSettings(
        method, dataset, tuple(settings[number] for number in order), aucs, tested, linear, seconds
    )
