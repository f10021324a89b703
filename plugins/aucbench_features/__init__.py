"""The built-in feature maps, one file each."""

from aucbench import hookimpl

from aucbench_features.identity import Identity


@hookimpl
def aucbench_features() -> tuple[type, ...]:
    """The feature maps of this package."""
    return (Identity,)
