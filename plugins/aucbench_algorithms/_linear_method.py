"""Totals of the two classes, with or without weights of rows, and the planned length of a run."""

import numpy as np

from aucbench import Batch, ParameterError, Problem


def class_totals(of: Problem | Batch) -> tuple[float, float]:
    """The numbers of positives and negatives, at least 1; with weights, the sums of the weights."""
    positive = of.y == 1
    if of.weights is not None:
        sums = float(of.weights[positive].sum()), float(of.weights[~positive].sum())
        return sums[0] or 1.0, sums[1] or 1.0
    n_pos = int(np.count_nonzero(positive))
    return float(max(1, n_pos)), float(max(1, len(of.y) - n_pos))


def total(of: Problem | Batch) -> float:
    """The number of rows, or the sum of their weights."""
    return float(len(of.y) if of.weights is None else of.weights.sum())


def planned_iterations(name: str, problem: Problem) -> int:
    """The number of iterations; a ParameterError where it is not known beforehand."""
    if problem.iterations is None:
        raise ParameterError(
            f"{name}: the number of iterations must be known beforehand, got a budget in seconds; "
            "give budget.epochs or budget.iterations."
        )
    return problem.iterations
