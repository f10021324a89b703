"""One random division of the rows: into training and test rows, or with validation rows between them."""

from dataclasses import dataclass
from typing import ClassVar

from aucbench.contracts import OpenUnit, check_fields
from aucbench.data.loading import Part
from aucbench.data.splitting import holdout, three_parts
from aucbench.errors import ParameterError
from aucbench.protocols.interface import Load, Split, check_fold, side


class _OneDivision:
    """Of the rows of one part, by the split seed."""

    @property
    def splits(self) -> int:
        """One."""
        return 1

    def digests(self, load: Load, part: Part) -> tuple[str, ...]:
        """Digest of the part."""
        return (load(part).sha256,)


@dataclass(frozen=True)
class Holdout(_OneDivision):
    """A random `test_fraction` of the rows tests, the others train.

    Source: Khalid, Chitsaz, Ray, proximal stochastic AUC maximisation, which divides 80:20 where a data set
    has no test part of its own. It does not say that the division is stratified.

    Parameters
    ----------
    test_fraction : float
        Share of the rows, > 0 and < 1.
    stratified : bool
        Whether both parts have the classes in the same proportion, within one row.
    """

    name: ClassVar[str] = "holdout"
    test_fraction: OpenUnit = 0.2
    stratified: bool = True

    def __post_init__(self) -> None:
        check_fields(self)

    def split(self, load: Load, part: Part, seed: int, fold: int = 0) -> Split:
        """Split the rows of `part` by the split seed."""
        check_fold(self, fold)
        loaded = load(part)
        train, test = holdout(loaded.y, self.test_fraction, seed, self.stratified)
        return Split(side(loaded, train), side(loaded, test))


@dataclass(frozen=True)
class TrainValidTest(_OneDivision):
    """Random shares of the rows validate and test, the others train; by default 4:1:1.

    Source: Liu, Zhang, Chen, Wang, Yang, Fast stochastic AUC maximization with O(1/n)-convergence rate,
    ICML 2018, for data sets without a test part of their own. It does not say that the division is
    stratified.

    Parameters
    ----------
    validation_fraction, test_fraction : float
        Shares of the rows, each > 0, together < 1.
    stratified : bool
        Whether the three parts have the classes in the same proportion, within one row.
    """

    name: ClassVar[str] = "train_valid_test"
    validation_fraction: OpenUnit = 1 / 6
    test_fraction: OpenUnit = 1 / 6
    stratified: bool = True

    def __post_init__(self) -> None:
        check_fields(self)
        if self.validation_fraction + self.test_fraction >= 1.0:
            raise ParameterError(
                f"{self.name}: validation_fraction + test_fraction must be < 1, so that rows are left to "
                f"train on, got {self.validation_fraction} + {self.test_fraction}."
            )

    def split(self, load: Load, part: Part, seed: int, fold: int = 0) -> Split:
        """Split the rows of `part` by the split seed."""
        check_fold(self, fold)
        loaded = load(part)
        train, validation, test = three_parts(
            loaded.y, self.validation_fraction, self.test_fraction, seed, self.stratified
        )
        return Split(side(loaded, train), side(loaded, test), side(loaded, validation))
