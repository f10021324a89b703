"""Composing the many runs of a sweep, each with what its study says about its data set and method."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from omegaconf import DictConfig, open_dict

from aucbench.config import binding, composing, twins
from aucbench.config.settings import Matrix, Settings
from aucbench.contracts.validation import Family
from aucbench.errors import ParameterError
from aucbench.registry import Catalog, suggest

Words = tuple[str, ...]
LOOKED_UP = ("algo", "dataset")  # by which the matrix is asked: every job names them


class Composer:
    """Composes runs whose words differ in parts only; a part that was composed before is taken from there.

    A part is what lies under one top-level name, such as ``algo`` and ``algo.radius``. Composing with Hydra
    takes a tenth of a second, so that a sweep of twenty methods and twenty data sets is composed forty times
    and not four hundred.
    """

    def __init__(self, catalog: Catalog):
        self._catalog = catalog
        self._parts: dict[tuple[Words, str, Words], Any] = {}
        self._roots: dict[Words, DictConfig] = {}

    def compose(self, words: Sequence[str]) -> DictConfig:
        """The composed run of these words."""
        # What is added, or chosen for Hydra or an experiment, may touch any part.
        common = tuple(word for word in words if not _is_own(word))
        parts: dict[str, Words] = {}
        for word in words:
            if _is_own(word):
                parts[_part(word)] = (*parts.get(_part(word), ()), word)
        root = self._roots.get(common)
        keys = {part: (common, part, own) for part, own in parts.items()}
        if root is None or any(key not in self._parts for key in keys.values()):
            whole = composing.compose(self._catalog, words)
            if root is None and not parts:
                self._roots[common] = whole
            for part, key in keys.items():
                self._parts[key] = whole.get(part)
            return whole
        merged = root.copy()
        with open_dict(merged):
            for part, key in keys.items():
                merged[part] = self._parts[key]
        return merged

    def root(self, words: Sequence[str]) -> None:
        """Compose what all runs have in common, upon which parts are put."""
        self.compose([word for word in words if not _is_own(word)])


def runs(catalog: Catalog, jobs: Sequence[Sequence[str]]) -> Iterator[DictConfig | None]:
    """The composed config of every job of a sweep, in order; None of a job that the study's matrix skips.

    What the matrix says for the job's data set and method comes first, so that words of the command line win.
    """
    composer = Composer(catalog)
    if not jobs:
        return
    composer.root(jobs[0])
    # Other words of the job may only fit once the matrix has chosen, say, its protocol.
    first = composer.compose([word for word in jobs[0] if not _is_own(word) or _part(word) == "matrix"])
    matrix = binding.matrix(first)
    defaults = composing.choices(first)
    _check_names(catalog, matrix)
    for job in jobs:
        algo, dataset = (_chosen(job, group) or defaults[group] for group in LOOKED_UP)
        if dataset in _listed(matrix.skip, algo, "matrix.skip"):
            yield None
            continue
        said = [
            *_listed(matrix.for_dataset, dataset, "matrix.for_dataset"),
            *_listed(matrix.for_algo, algo, "matrix.for_algo"),
        ]
        yield composer.compose([*(word for word in said if not _is_overruled(word, job)), *job])


def _is_own(word: str) -> bool:
    name = word.partition("=")[0]
    return _part(word) in _part_names() and "/" not in name and not name.startswith(("+", "~"))


def _part_names() -> set[str]:
    return {*twins.GROUPS, *twins.FIXED_GROUPS, *twins.SECTIONS, *twins.field_names(Settings)}


def _part(word: str) -> str:
    return word.partition("=")[0].partition(".")[0]


def _chosen(words: Sequence[str], group: str) -> str | None:
    found = [word.partition("=")[2] for word in words if word.partition("=")[0] == group]
    return found[-1] if found else None


def _is_overruled(word: str, job: Sequence[str]) -> bool:
    """Whether the job gives the same setting, or chooses the group anew to which it belongs.

    The job's method and data set are those of which the matrix speaks: their fields stay.
    """
    name = word.partition("=")[0].lstrip("+")
    given = [each.partition("=")[0].lstrip("+") for each in job]
    return name in given or any(name.startswith(f"{each}.") for each in given if each not in LOOKED_UP)


def _listed(mapping: Any, name: str | None, field: str) -> list[str]:
    if mapping is None:
        return []
    if not isinstance(mapping, Mapping):
        raise ParameterError(f"{field}: expected {{NAME: [WORDS]}}, got {mapping!r}.")
    words = mapping.get(name, [])
    if isinstance(words, str):
        words = [words]
    if not isinstance(words, Sequence) or not all(isinstance(word, str) for word in words):
        raise ParameterError(f"{field}.{name}: expected a list of words, got {words!r}.")
    return list(words)


def _check_names(catalog: Catalog, matrix: Matrix) -> None:
    for field, family in (
        ("for_dataset", Family.datasets),
        ("for_algo", Family.algorithms),
        ("skip", Family.algorithms),
    ):
        for name in getattr(matrix, field) or ():
            if name not in catalog.plugins[family]:
                raise ParameterError(
                    f"matrix.{field}: unknown {family.singular} '{name}'. "
                    f"{suggest(str(name), catalog.plugins[family])}"
                )
