"""The measures of runs, tunings and boards: names, parameters, formulas and chance values.

All measures are computed from one sort: the points (FP_k, TP_k) of the ROC curve at the distinct scores.
With n+ positives and n- negatives, f = FP/n- is the false positive rate and r = TP/n+ the true positive rate.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from aucbench.contracts import Interval, check_fields
from aucbench.errors import ParameterError
from aucbench.suggestions import suggest

if TYPE_CHECKING:
    from aucbench.evaluation.auc import RocPoints

ROUNDING = 1e-9  # tolerance, in rows, for a share to be a whole number of rows
Share = Annotated[float, Interval(low=0.0, high=1.0, open_low=True)]
Width = Annotated[float, Interval(low=1e-12, high=1.0)]  # positive, since areas are divided by it
Rate = Annotated[float, Interval(low=0.0, high=1.0)]
BelowOne = Annotated[float, Interval(low=0.0, high=1.0, open_high=True)]


@dataclass(frozen=True)
class Measure:
    """A measure of scores with its parameters; higher is better."""

    name: ClassVar[str]  # name in settings, records and files
    title_form: ClassVar[str]  # title in sentences, with {its parameters}
    symbol_form: ClassVar[str]  # title of a column, with {its parameters}
    rows: ClassVar[str] = "test"  # measured part: test or train

    def __post_init__(self) -> None:
        check_fields(self)

    @property
    def title(self) -> str:
        """The title in sentences, with parameters."""
        return self.title_form.format(**self.parameters)

    @property
    def symbol(self) -> str:
        """The title of a column."""
        return self.symbol_form.format(**self.parameters)

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters by name."""
        return asdict(self)

    def value(self, points: "RocPoints") -> float:
        """The value of the measure for the ROC curve of the scores."""
        raise NotImplementedError

    def chance(self, positives: float) -> float:
        """The value for equal or random scores, given the share of positives."""
        raise NotImplementedError


@dataclass(frozen=True)
class AUC(Measure):
    """The exact area under the ROC curve; always measured."""

    name: ClassVar[str] = "auc"
    title_form: ClassVar[str] = "AUC"
    symbol_form: ClassVar[str] = "AUC"

    def value(self, points: "RocPoints") -> float:
        return points.auc

    def chance(self, positives: float) -> float:
        return 0.5


@dataclass(frozen=True)
class AveragePrecision(Measure):
    """Average precision: the mean precision over the positives, without interpolation."""

    name: ClassVar[str] = "ap"
    title_form: ClassVar[str] = "average precision"
    symbol_form: ClassVar[str] = "AP"

    def value(self, points: "RocPoints") -> float:
        return points.average_precision()

    def chance(self, positives: float) -> float:
        return positives


@dataclass(frozen=True)
class PartialAUC(Measure):
    """Area under the ROC curve up to a false positive rate, standardised so that chance is 1/2.

    Parameters
    ----------
    max_fpr : float
        False positive rate up to which the area is measured.
    """

    name: ClassVar[str] = "pauc"
    title_form: ClassVar[str] = "partial AUC (FPR ≤ {max_fpr:g})"
    symbol_form: ClassVar[str] = "pAUC({max_fpr:g})"
    max_fpr: Width = 0.1

    def value(self, points: "RocPoints") -> float:
        area, chance = points.area(self.max_fpr), self.max_fpr**2 / 2
        return 0.5 * (1.0 + (area - chance) / (self.max_fpr - chance))

    def chance(self, positives: float) -> float:
        return 0.5


@dataclass(frozen=True)
class TwoWayPartialAUC(Measure):
    """Area under the ROC curve above a true positive rate and up to a false positive rate, from 0 to 1.

    Parameters
    ----------
    min_tpr : float
        True positive rate above which the area is measured.
    max_fpr : float
        False positive rate up to which the area is measured.
    """

    name: ClassVar[str] = "tpauc"
    title_form: ClassVar[str] = "two-way partial AUC (TPR ≥ {min_tpr:g}, FPR ≤ {max_fpr:g})"
    symbol_form: ClassVar[str] = "tpAUC({min_tpr:g}, {max_fpr:g})"
    min_tpr: BelowOne = 0.5
    max_fpr: Width = 0.5

    def value(self, points: "RocPoints") -> float:
        area = points.area(self.max_fpr, self.min_tpr)
        return area / (self.max_fpr * (1.0 - self.min_tpr))

    def chance(self, positives: float) -> float:
        return max(0.0, self.max_fpr - self.min_tpr) ** 2 / (2 * self.max_fpr * (1.0 - self.min_tpr))


@dataclass(frozen=True)
class PrecisionAt(Measure):
    """Share of positives among the rows with the highest scores.

    Parameters
    ----------
    share : float
        Share of the rows that are measured, highest scores first.
    """

    name: ClassVar[str] = "precision_at"
    title_form: ClassVar[str] = "precision at share {share:g}"
    symbol_form: ClassVar[str] = "P@{share:g}"
    share: Share = 0.1

    def value(self, points: "RocPoints") -> float:
        tp, counts = points.tp, points.fp + points.tp
        rows = max(1.0, math.ceil(self.share * counts[-1] - ROUNDING))
        k = int(np.searchsorted(counts, rows))
        part = (rows - counts[k - 1]) / (counts[k] - counts[k - 1])
        return float((tp[k - 1] + part * (tp[k] - tp[k - 1])) / rows)

    def chance(self, positives: float) -> float:
        return positives


@dataclass(frozen=True)
class RecallAtFPR(Measure):
    """The largest share of positives that a threshold finds at a limited false positive rate.

    Parameters
    ----------
    max_fpr : float
        Largest allowed false positive rate.
    """

    name: ClassVar[str] = "recall_at_fpr"
    title_form: ClassVar[str] = "recall at FPR ≤ {max_fpr:g}"
    symbol_form: ClassVar[str] = "R@FPR{max_fpr:g}"
    max_fpr: Rate = 0.1

    def value(self, points: "RocPoints") -> float:
        k = int(np.searchsorted(points.fp, self.max_fpr * points.fp[-1] + ROUNDING, side="right"))
        return float(points.tp[k - 1] / points.tp[-1])

    def chance(self, positives: float) -> float:
        return self.max_fpr


@dataclass(frozen=True)
class TrainingObjective(Measure):
    """The declared objective of the weights of a method over all pairs of training rows; lower is better.

    It is recorded with the measures of scores, but not used for ranking, tuning or tests, since objectives
    differ between methods.
    """

    name: ClassVar[str] = "objective"
    title_form: ClassVar[str] = "training objective"
    symbol_form: ClassVar[str] = "objective"
    rows: ClassVar[str] = "train"


MEASURES: Mapping[str, type[Measure]] = {
    cls.name: cls for cls in (AUC, AveragePrecision, PartialAUC, TwoWayPartialAUC, PrecisionAt, RecallAtFPR)
}


RECORDED: Mapping[str, type[Measure]] = {**MEASURES, TrainingObjective.name: TrainingObjective}


def named(name: Any, field: str = "metrics", known: Mapping[str, type[Measure]] = MEASURES) -> type[Measure]:
    """The measure with a name; ParameterError if the name is unknown."""
    if name not in known:
        raise ParameterError(f"{field}: unknown measure '{name}'. {suggest(str(name), list(known))}")
    return known[name]


def restored(name: str, parameters: Mapping[str, Any]) -> Measure:
    """The measure with a name and the parameters of a record."""
    return named(name, known=RECORDED)(**parameters)


def listed(measures: Iterable[Measure]) -> str:
    """Measures with their parameters in one line, such as ``ap, pauc(max_fpr=0.1)``."""
    texts = []
    for measure in measures:
        fields = ", ".join(f"{key}={value:g}" for key, value in measure.parameters.items())
        texts.append(f"{measure.name}({fields})" if fields else measure.name)
    return ", ".join(texts)
