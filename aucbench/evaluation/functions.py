"""Measures other than the AUC, as functions of scores and labels."""

from typing import Any

from aucbench.evaluation import measures
from aucbench.evaluation.auc import roc_points


def average_precision(scores: Any, y: Any, weights: Any = None) -> float:
    """Average precision in (0, 1]: the mean precision over the positives, without interpolation.

        AP = sum_k (r_k - r_{k-1}) TP_k / (TP_k + FP_k)

    Equal scores are one step, as in scikit-learn's ``average_precision_score``. AP depends on the share of
    positives; if all scores are equal, AP is this share.

    Parameters
    ----------
    scores, y, weights : (n,) arrays
        As in `exact_auc`, with its errors.

    Examples
    --------
    >>> average_precision([0.1, 0.4, 0.5, 0.8], [-1, 1, -1, 1])
    0.8333333333333333
    """
    return measures.AveragePrecision().value(roc_points(scores, y, weights))


def partial_auc(scores: Any, y: Any, max_fpr: float = 0.1, weights: Any = None) -> float:
    """Partial AUC up to a false positive rate, standardised after McClish; in [0, 1].

    With A the area under the curve for f <= max_fpr, and h = max_fpr^2 / 2 the area of chance,

        pauc = (1 + (A - h) / (max_fpr - h)) / 2 = 1/2 + (m - max_fpr/2) / (2 - max_fpr),  m = A / max_fpr.

    Chance is 1/2 for every `max_fpr`, and lower values are possible; ``max_fpr=1`` is the AUC. Papers also
    report the mean true positive rate m, which orders scores in the same way and is `two_way_partial_auc`
    with ``min_tpr=0``. The result equals scikit-learn's ``roc_auc_score(max_fpr=)``.

    D. McClish: Analyzing a portion of the ROC curve. Medical Decision Making 9 (1989) 190-195.

    Parameters
    ----------
    scores, y, weights : (n,) arrays
        As in `exact_auc`, with its errors; `ParameterError` if another parameter is out of its range.
    max_fpr : float in [1e-12, 1]
        The largest false positive rate that counts.

    Examples
    --------
    >>> partial_auc([0.1, 0.4, 0.5, 0.8], [-1, 1, -1, 1], max_fpr=0.5)
    0.6666666666666666
    """
    return measures.PartialAUC(max_fpr).value(roc_points(scores, y, weights))


def two_way_partial_auc(
    scores: Any, y: Any, min_tpr: float = 0.5, max_fpr: float = 0.5, weights: Any = None
) -> float:
    """Two-way partial AUC: the area for r >= min_tpr and f <= max_fpr, as a share of the maximum.

        tpauc = integral over f in [0, max_fpr] of max(0, r(f) - min_tpr), over max_fpr (1 - min_tpr)

    There is no standard correction for chance. The measure equals the AUC of the lowest
    ``(1 - min_tpr) n+`` positives against the highest ``max_fpr n-`` negatives if both counts are whole and
    no tie crosses an edge.

    H. Yang, K. Lu, X. Lyu, F. Hu: Two-way partial AUC and its properties. Statistical Methods in Medical
    Research 28 (2019) 184-195.

    Parameters
    ----------
    scores, y, weights : (n,) arrays
        As in `exact_auc`, with its errors; `ParameterError` if another parameter is out of its range.
    min_tpr : float in [0, 1)
        The true positive rate above which the area counts.
    max_fpr : float in [1e-12, 1]
        The largest false positive rate that counts.

    Examples
    --------
    >>> two_way_partial_auc([0.1, 0.4, 0.5, 0.8], [-1, 1, -1, 1], 0.0, 0.5)
    0.5
    """
    return measures.TwoWayPartialAUC(min_tpr, max_fpr).value(roc_points(scores, y, weights))


def precision_at(scores: Any, y: Any, share: float = 0.1) -> float:
    """Precision among the rows with the highest scores, in expectation over the order of ties; in [0, 1].

    The first K = max(1, ceil(share n)) rows count. With N = TP + FP and k the first point where
    N_k >= K,

        precision = (TP_{k-1} + (K - N_{k-1}) (TP_k - TP_{k-1}) / (N_k - N_{k-1})) / K.

    The precision depends on the share of positives.

    Parameters
    ----------
    scores, y : (n,) arrays
        As in `exact_auc`, with its errors; `ParameterError` if another parameter is out of its range.
    share : float in (0, 1]
        Share of the rows that count.

    Examples
    --------
    >>> precision_at([0.1, 0.4, 0.5, 0.8], [-1, 1, -1, 1], share=0.5)
    0.5
    """
    return measures.PrecisionAt(share).value(roc_points(scores, y))


def recall_at(scores: Any, y: Any, max_fpr: float = 0.1) -> float:
    """Recall in [0, 1] at a limited false positive rate: the largest r_k with f_k <= max_fpr.

    A threshold can reach this recall, since nothing is interpolated.

    Parameters
    ----------
    scores, y : (n,) arrays
        As in `exact_auc`, with its errors; `ParameterError` if another parameter is out of its range.
    max_fpr : float in [0, 1]
        The false positive rate that must not be exceeded.

    Examples
    --------
    >>> recall_at([0.1, 0.4, 0.5, 0.8], [-1, 1, -1, 1], max_fpr=0.1)
    0.5
    """
    return measures.RecallAtFPR(max_fpr).value(roc_points(scores, y))
