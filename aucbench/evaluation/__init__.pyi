from .auc import exact_auc
from .delong import AucInterval, auc_difference, auc_interval, difference_interval
from .functions import average_precision, partial_auc, precision_at, recall_at, two_way_partial_auc

__all__ = [
    "AucInterval",
    "auc_difference",
    "auc_interval",
    "average_precision",
    "difference_interval",
    "exact_auc",
    "partial_auc",
    "precision_at",
    "recall_at",
    "two_way_partial_auc",
]
