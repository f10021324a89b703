"""The matrix of a study: exceptions from its common settings, by data set and method."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from aucbench.config.words import check_overrides
from aucbench.contracts import DatasetFacts
from aucbench.contracts.validation import Family
from aucbench.data.labels import positive_labels
from aucbench.errors import ParameterError
from aucbench.registry import Catalog

FAMILIES = {"for_dataset": Family.datasets, "for_algo": Family.algorithms, "skip": Family.algorithms}


class StudyMatrix:
    """The overrides by data set or method, the data sets that methods skip, and the bounds for runs."""

    def __init__(self, catalog: Catalog, values: Any):
        self._catalog = catalog
        if not isinstance(values, Mapping):
            raise ParameterError(f"matrix={values}: expected matrix.FIELD=VALUE.")
        self._bounds = values.get("runs") or {}
        self._listed: dict[str, dict[str, list[str]]] = {}
        for field, family in FAMILIES.items():
            mapping = values.get(field) or {}
            if not isinstance(mapping, Mapping):
                raise ParameterError(f"matrix.{field}: expected {{NAME: [WORDS]}}, got {mapping!r}.")
            lists = {name: [entry] if isinstance(entry, str) else entry for name, entry in mapping.items()}
            self._listed[field] = lists
            for name, listed in lists.items():
                catalog.find(family, str(name))
                if not isinstance(listed, Sequence):
                    raise ParameterError(f"matrix.{field}.{name}: expected a list of words, got {listed!r}.")
                check_overrides(listed if field != "skip" else ())

    def skips(self, algo: str, dataset: str) -> bool:
        """Whether a method does not run on a data set."""
        return dataset in self._listed["skip"].get(algo, ())

    def words(self, algo: str, dataset: str) -> list[str]:
        """The overrides for a method on a data set; the override for the number of runs comes first."""
        by_dataset, by_algo = self._listed["for_dataset"], self._listed["for_algo"]
        return [*self._by_size(dataset), *by_dataset.get(dataset, ()), *by_algo.get(algo, ())]

    def _by_size(self, dataset: str) -> list[str]:
        """The override of `runs`: the first with a bound above the published number of rows, if known."""
        if not self._bounds:
            return []
        sizes = _published_sizes(self._catalog.find(Family.datasets, dataset).cls)
        try:
            for runs, bounds in self._bounds.items():
                if any(sizes[name] < bound for name, bound in bounds.items() if sizes):
                    return [f"runs={int(runs)}"]
        except (AttributeError, KeyError, TypeError, ValueError):
            raise ParameterError(
                f"matrix.runs: expected {{RUNS: {{rows: ROWS, rare: ROWS}}}}, got {self._bounds!r}."
            ) from None
        return []


def _published_sizes(dataset: Any) -> dict[str, int]:
    """The numbers of training rows and of rows of the rarer class; empty if they are not published."""
    facts, counts = DatasetFacts(dataset), Counter[Any]()
    for file in facts.files if isinstance(facts.files, tuple) else ():
        counts.update(file.labels if file.part == "train" else ())
    if not counts:
        return {}
    positive = positive_labels(dataset.name, counts, facts.positive, facts.grouping, facts.grouping_seed)
    positives, rows = sum(counts[label] for label in positive), counts.total()
    return {"rows": rows, "rare": min(positives, rows - positives)}
