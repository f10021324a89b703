from .auc import exact_auc
from .delong import AucInterval, auc_difference, auc_interval
from .measures import AveragePrecision, PartialAUC, PrecisionAt, RecallAtFPR, TwoWayPartialAUC
from .placements import difference_interval

__all__ = [
    "AucInterval",
    "AveragePrecision",
    "PartialAUC",
    "PrecisionAt",
    "RecallAtFPR",
    "TwoWayPartialAUC",
    "auc_difference",
    "auc_interval",
    "difference_interval",
    "exact_auc",
]
