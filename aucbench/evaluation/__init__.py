"""Measures of scores: how well they rank positives above negatives. Imports kernels only."""

from aucbench.evaluation.auc import auc_of_columns, exact_auc

__all__ = ["auc_of_columns", "exact_auc"]
