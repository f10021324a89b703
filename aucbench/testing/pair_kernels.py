"""A mean over pairs in compiled code, through the address of a loss."""

from typing import Any

from aucbench import kernels


@kernels.kernel
def mean_over_pairs(positive: Any, negative: Any, address: Any, theta: Any) -> Any:
    """Mean of a compiled function of the margins s+ - s- over all pairs of scores."""
    total = 0.0
    for i in range(positive.size):
        for j in range(negative.size):
            total += kernels.call(address, positive[i] - negative[j], theta)
    return total / (positive.size * negative.size)
