"""The measures of runs, tunings and boards: names, parameters, formulas, chance.

All are computed from one sort: the points (FP_k, TP_k) of the ROC curve at the distinct scores.
With n+ positives and n- negatives, f = FP/n- is the false positive rate and r = TP/n+ the true positive rate.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from aucbench.contracts import Interval, check_fields
from aucbench.errors import ParameterError
from aucbench.suggestions import suggest

if TYPE_CHECKING:
    from aucbench.evaluation.roc_points import RocPoints

Share = Annotated[float, Interval(low=0.0, high=1.0, open_low=True)]
Width = Annotated[float, Interval(low=1e-12, high=1.0)]  # positive, since areas are divided by it
Rate = Annotated[float, Interval(low=0.0, high=1.0)]
BelowOne = Annotated[float, Interval(low=0.0, high=1.0, open_high=True)]


@dataclass(frozen=True)
class Measure:
    """A measure of scores with its parameters, called as a function; higher is better."""

    name: ClassVar[str]  # name in settings, records and files
    title_form: ClassVar[str]  # title in sentences, with {its parameters}
    symbol_form: ClassVar[str]  # title of a column, with {its parameters}
    rows: ClassVar[str] = "test"  # part that is measured: test or train

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

    def __call__(self, scores: Any, y: Any, weights: Any = None) -> float:
        """The value of the measure.

        Parameters
        ----------
        scores, y, weights : (n,) arrays
            As in `exact_auc`.

        Returns
        -------
        float

        Raises
        ------
        DataError
            As `exact_auc`.
        """
        from aucbench.evaluation.auc import roc_points  # compiles kernels, which names do not need

        return self.value(roc_points(scores, y, weights))

    def value(self, points: "RocPoints") -> float:
        """The value of the measure for the ROC curve of the scores."""
        return float(self._value(points))

    def chance(self, positives: float) -> float:
        """The value for equal or random scores, given the share of positives."""
        return float(self._chance(positives))

    def _value(self, points: "RocPoints") -> float:
        raise NotImplementedError

    def _chance(self, positives: float) -> float:
        raise NotImplementedError


@dataclass(frozen=True)
class AUC(Measure):
    """The exact area under the ROC curve; always measured."""

    name: ClassVar[str] = "auc"
    title_form: ClassVar[str] = "AUC"
    symbol_form: ClassVar[str] = "AUC"

    def _value(self, points: "RocPoints") -> float:
        return points.auc

    def _chance(self, positives: float) -> float:
        return 0.5


@dataclass(frozen=True)
class AveragePrecision(Measure):
    """Average precision: the mean precision over the positives, without interpolation.

        AP = sum_k (r_k - r_{k-1}) TP_k / (TP_k + FP_k)

    Equal scores are one step, as in scikit-learn's ``average_precision_score``. AP depends on the share of
    positives; if all scores are equal, AP is this share.

    Examples
    --------
    >>> AveragePrecision()([0.1, 0.4, 0.5, 0.8], [-1, 1, -1, 1])
    0.8333333333333333
    """

    name: ClassVar[str] = "ap"
    title_form: ClassVar[str] = "average precision"
    symbol_form: ClassVar[str] = "AP"

    def _value(self, points: "RocPoints") -> float:
        return points.average_precision()

    def _chance(self, positives: float) -> float:
        return positives


@dataclass(frozen=True)
class PartialAUC(Measure):
    """Partial AUC up to a false positive rate, standardised after McClish so that chance is 1/2.

    With A the area under the curve for f <= max_fpr, and h = max_fpr^2 / 2 the area of chance,

        pauc = (1 + (A - h) / (max_fpr - h)) / 2 = 1/2 + (m - max_fpr/2) / (2 - max_fpr),  m = A / max_fpr.

    Chance is 1/2 for every `max_fpr`, and lower values are possible; ``max_fpr=1`` is the AUC. The mean true
    positive rate m, which papers also report, orders scores equally: it is `TwoWayPartialAUC` with
    ``min_tpr=0``. The same as scikit-learn's ``roc_auc_score(max_fpr=)``.

    D. McClish: Analyzing a portion of the ROC curve. Medical Decision Making 9 (1989) 190-195.

    Parameters
    ----------
    max_fpr : float in [1e-12, 1]
        The largest false positive rate that counts.

    Examples
    --------
    >>> PartialAUC(0.5)([0.1, 0.4, 0.5, 0.8], [-1, 1, -1, 1])
    0.6666666666666666
    """

    name: ClassVar[str] = "pauc"
    title_form: ClassVar[str] = "partial AUC (FPR ≤ {max_fpr:g})"
    symbol_form: ClassVar[str] = "pAUC({max_fpr:g})"
    max_fpr: Width = 0.1

    def _value(self, points: "RocPoints") -> float:
        area, chance = points.area(self.max_fpr), self.max_fpr**2 / 2
        return 0.5 * (1.0 + (area - chance) / (self.max_fpr - chance))

    def _chance(self, positives: float) -> float:
        return 0.5


@dataclass(frozen=True)
class TwoWayPartialAUC(Measure):
    """Two-way partial AUC: the part of the curve with r >= min_tpr and f <= max_fpr, as a share of the most.

        tpauc = integral over f in [0, max_fpr] of max(0, r(f) - min_tpr), over max_fpr (1 - min_tpr)

    There is no standard correction for chance. The measure equals the AUC of the lowest
    ``(1 - min_tpr) n+`` positives against the highest ``max_fpr n-`` negatives if both counts are whole and
    no tie crosses an edge.

    H. Yang, K. Lu, X. Lyu, F. Hu: Two-way partial AUC and its properties. Statistical Methods in Medical
    Research 28 (2019) 184-195.

    Parameters
    ----------
    min_tpr : float in [0, 1)
        The true positive rate above which the area counts.
    max_fpr : float in [1e-12, 1]
        The largest false positive rate that counts.

    Examples
    --------
    >>> TwoWayPartialAUC(0.0, 0.5)([0.1, 0.4, 0.5, 0.8], [-1, 1, -1, 1])
    0.5
    """

    name: ClassVar[str] = "tpauc"
    title_form: ClassVar[str] = "two-way partial AUC (TPR ≥ {min_tpr:g}, FPR ≤ {max_fpr:g})"
    symbol_form: ClassVar[str] = "tpAUC({min_tpr:g}, {max_fpr:g})"
    min_tpr: BelowOne = 0.5
    max_fpr: Width = 0.5

    def _value(self, points: "RocPoints") -> float:
        area = points.area(self.max_fpr, self.min_tpr)
        return area / (self.max_fpr * (1.0 - self.min_tpr))

    def _chance(self, positives: float) -> float:
        return max(0.0, self.max_fpr - self.min_tpr) ** 2 / (2 * self.max_fpr * (1.0 - self.min_tpr))


@dataclass(frozen=True)
class PrecisionAt(Measure):
    """Precision among the rows with the highest scores, in expectation over the order of ties.

    The first K = max(1, ceil(share n)) rows count. With N = TP + FP and k the first point where
    N_k >= K,

        precision = (TP_{k-1} + (K - N_{k-1}) (TP_k - TP_{k-1}) / (N_k - N_{k-1})) / K.

    The precision depends on the share of positives.

    Parameters
    ----------
    share : float in (0, 1]
        Share of the rows that count.

    Examples
    --------
    >>> PrecisionAt(0.5)([0.1, 0.4, 0.5, 0.8], [-1, 1, -1, 1])
    0.5
    """

    name: ClassVar[str] = "precision_at"
    title_form: ClassVar[str] = "precision at share {share:g}"
    symbol_form: ClassVar[str] = "P@{share:g}"
    share: Share = 0.1

    def _value(self, points: "RocPoints") -> float:
        return points.precision_at(self.share)

    def _chance(self, positives: float) -> float:
        return positives


@dataclass(frozen=True)
class RecallAtFPR(Measure):
    """Recall at a limited false positive rate: the largest r_k with f_k <= max_fpr.

    This recall can be reached by a threshold: nothing is interpolated.

    Parameters
    ----------
    max_fpr : float in [0, 1]
        The false positive rate that must not be exceeded.

    Examples
    --------
    >>> RecallAtFPR(0.1)([0.1, 0.4, 0.5, 0.8], [-1, 1, -1, 1])
    0.5
    """

    name: ClassVar[str] = "recall_at_fpr"
    title_form: ClassVar[str] = "recall at FPR ≤ {max_fpr:g}"
    symbol_form: ClassVar[str] = "R@FPR{max_fpr:g}"
    max_fpr: Rate = 0.1

    def _value(self, points: "RocPoints") -> float:
        return points.recall_at(self.max_fpr)

    def _chance(self, positives: float) -> float:
        return self.max_fpr


@dataclass(frozen=True)
class TrainingObjective(Measure):
    """The objective that the method declares, over all pairs of training rows; of weights, lower is better.

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
    """The measure of a name; a ParameterError if there is none."""
    if name not in known:
        raise ParameterError(f"{field}: unknown measure '{name}'. {suggest(str(name), list(known))}")
    return known[name]


def restored(name: str, parameters: Mapping[str, Any]) -> Measure:
    """The measure of a name with the parameters of a record."""
    return named(name, known=RECORDED)(**parameters)


def listed(measures: Iterable[Measure]) -> str:
    """Measures with their parameters in one line, such as ``ap, pauc(max_fpr=0.1)``."""
    texts = []
    for measure in measures:
        fields = ", ".join(f"{key}={value:g}" for key, value in measure.parameters.items())
        texts.append(f"{measure.name}({fields})" if fields else measure.name)
    return ", ".join(texts)
