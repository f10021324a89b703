from .auc import exact_auc
from .functions import (
    average_precision,
    partial_auc,
    precision_at,
    recall_at,
    two_way_partial_auc,
)

__all__ = [
    "average_precision",
    "exact_auc",
    "partial_auc",
    "precision_at",
    "recall_at",
    "two_way_partial_auc",
]
