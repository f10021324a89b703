"""The built-in surrogate losses, one file each."""

from aucbench import hookimpl

from aucbench_losses.hinge import Hinge
from aucbench_losses.square import Square


@hookimpl
def aucbench_losses() -> tuple[type, ...]:
    """The losses of this package."""
    return (Square, Hinge)
