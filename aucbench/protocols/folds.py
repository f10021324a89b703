"""Cross-validation: every row tests once in each repeat."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from aucbench.contracts import Count, Interval, check_fields
from aucbench.contracts.random_streams import RandomStream
from aucbench.data.loading import Part
from aucbench.data.splitting import check_classes, class_counts, one_fold, permutation
from aucbench.errors import DataError
from aucbench.protocols.interface import Load, Split, check_fold, side


@dataclass(frozen=True)
class KFold:
    """The rows are dealt out to `folds` folds, `repeats` times; one fold tests, the others train.

    Split number i tests on fold i mod `folds` of repeat i // `folds`. Each repeat has a permutation of its
    own, and more repeats leave the first ones as they are.

    Source: five folds, five times, in Gao, Jin, Zhu, Zhou, One-pass AUC optimization, ICML 2013, and in
    Natole, Ying, Lyu, Stochastic AUC optimization algorithms with linear convergence, Front. Appl. Math.
    Stat. 2019; ten times in Yang, Shen, Ying, Yuan, Stochastic AUC optimization with general loss, 2020. None
    of them says whether its folds are stratified.

    Parameters
    ----------
    folds : int
        >= 2.
    repeats : int
        >= 1.
    stratified : bool
        Whether every fold has the classes in the same proportion, within one row.
    """

    name: ClassVar[str] = "kfold"
    folds: Annotated[int, Interval(low=2)] = 5
    repeats: Count = 1
    stratified: bool = True

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def splits(self) -> int:
        """Folds of all repeats."""
        return self.folds * self.repeats

    def digests(self, load: Load, part: Part) -> tuple[str, ...]:
        """Digest of the part."""
        return (load(part).sha256,)

    def split(self, load: Load, part: Part, seed: int, fold: int = 0) -> Split:
        """Split the rows of `part` by the split seed."""
        check_fold(self, fold)
        loaded = load(part)
        positives, negatives = class_counts(loaded.y)
        if self.stratified and self.folds > min(positives, negatives):
            raise DataError(
                f"protocol.folds must not exceed the rows of the rarer class, got {self.folds} folds for "
                f"{positives} positive and {negatives} negative rows; choose fewer folds."
            )
        repeat, number = divmod(fold, self.folds)
        order = permutation(len(loaded.y), seed, RandomStream.kfold, repeat)
        train, test = one_fold(loaded.y, order, self.folds, number, self.stratified)
        advice = "choose fewer folds, protocol.stratified=true or another split_seed"
        check_classes(loaded.y, {"training": train, "test": test}, advice)
        return Split(side(loaded, train), side(loaded, test))
