"""The built-in methods, one file each."""

from aucbench import hookimpl

from aucbench_algorithms.psam import Psam
from aucbench_algorithms.solam import Solam


@hookimpl
def aucbench_algorithms() -> tuple[type, ...]:
    """The methods of this package."""
    return (Psam, Solam)
