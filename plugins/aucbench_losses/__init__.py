"""The built-in surrogate losses."""

from aucbench import hookimpl
from aucbench_losses.exponential import Exponential
from aucbench_losses.hinge import Hinge
from aucbench_losses.logistic import Logistic
from aucbench_losses.smooth_hinge import SmoothHinge
from aucbench_losses.square import Square
from aucbench_losses.squared_hinge import SquaredHinge


@hookimpl
def aucbench_losses() -> tuple[type, ...]:
    """The losses of this package."""
    return (Square, Hinge, SquaredHinge, SmoothHinge, Logistic, Exponential)
