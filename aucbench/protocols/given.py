"""The division that a data set comes with."""

from dataclasses import dataclass
from typing import ClassVar

from aucbench.contracts import check_fields
from aucbench.contracts.random_streams import RandomStream
from aucbench.data.loading import Part
from aucbench.data.splitting import class_counts, one_fold, permutation
from aucbench.errors import DataError, ParameterError
from aucbench.protocols.interface import Load, Side, Split, check_fold, side


@dataclass(frozen=True)
class Given:
    """The data set's own training and test parts.

    Source of the halves: Liu, Zhang, Chen, Wang, Yang, Fast stochastic AUC maximization with
    O(1/n)-convergence rate, ICML 2018, on a9a and w8a.

    Parameters
    ----------
    halved : bool
        Whether a random half of the test part validates instead of testing. The two halves have the classes
        in the same proportion, within one row.
    """

    name: ClassVar[str] = "given"
    halved: bool = False

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def splits(self) -> int:
        """One."""
        return 1

    def digests(self, load: Load, part: Part) -> tuple[str, ...]:
        """Digests of the two parts."""
        _check_part(part)
        return tuple(load(each).sha256 for each in (Part.train, Part.test))

    def split(self, load: Load, part: Part, seed: int, fold: int = 0) -> Split:
        """The two parts; the seed decides on nothing but the halves."""
        _check_part(part)
        check_fold(self, fold)
        train, test = load(Part.train), load(Part.test)
        training = Side(train.X, train.y, None)
        if not self.halved:
            return Split(training, Side(test.X, test.y, None))
        positives, negatives = class_counts(test.y)
        if min(positives, negatives) < 2:
            raise DataError(
                "protocol.halved=true needs two test rows of each class, got "
                f"{positives} positive and {negatives} negative; use protocol.halved=false."
            )
        order = permutation(len(test.y), seed, RandomStream.test_halves)
        validation_rows, test_rows = one_fold(test.y, order, folds=2, number=0)
        return Split(training, side(test, test_rows), side(test, validation_rows))


def _check_part(part: Part) -> None:
    if part is not Part.train:
        raise ParameterError(
            f"protocol=given trains on the training part and tests on the test part of a data set: "
            f"leave out dataset.part, got {part}."
        )
