"""The built-in feature maps."""

from aucbench import hookimpl
from aucbench_features.gaussian_kernel import Fourier, Nystroem
from aucbench_features.identity import Identity
from aucbench_features.reductions import Pca, Projection, Subset


@hookimpl
def aucbench_features() -> tuple[type, ...]:
    """The feature maps of this package."""
    return (Identity, Nystroem, Fourier, Projection, Pca, Subset)
