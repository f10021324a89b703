"""How well scores rank positives above negatives."""

from aucbench.evaluation.auc import auc_of_columns, exact_auc

__all__ = ["auc_of_columns", "exact_auc"]
