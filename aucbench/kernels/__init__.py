"""What compiled methods are made of: rows of dense or CSR data, pairs of rows, calls of a loss, projections.

The folder of compiled code is set here, before anything compiles: its name is a hash of this package,
because a cached kernel does not notice that a helper it inlines has changed.
"""

from aucbench.kernels.cache import source_hash, use_own_cache_folder

use_own_cache_folder()

from aucbench.kernels import pairs, rows, symmetric, vectors  # noqa: E402  (after the folder is set)
from aucbench.kernels.calling import CompiledLoss, call, compile_loss, theta  # noqa: E402
from aucbench.kernels.compiling import kernel  # noqa: E402
from aucbench.kernels.layout import Layout, layout, two_vectors  # noqa: E402

__all__ = [
    "CompiledLoss",
    "Layout",
    "call",
    "compile_loss",
    "kernel",
    "layout",
    "pairs",
    "rows",
    "source_hash",
    "symmetric",
    "theta",
    "two_vectors",
    "vectors",
]
