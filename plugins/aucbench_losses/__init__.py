"""The built-in surrogate losses."""

from aucbench import hookimpl
from aucbench_losses.losses import Exponential, Hinge, Logistic, SmoothHinge, Square, SquaredHinge


@hookimpl
def aucbench_losses() -> tuple[type, ...]:
    """The losses of this package."""
    return (Square, Hinge, SquaredHinge, SmoothHinge, Logistic, Exponential)
