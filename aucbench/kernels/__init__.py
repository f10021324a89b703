"""What compiled methods are made of: rows of dense or CSR data, pairs of rows, calls of a loss, projections.

The folder of compiled code is set here, before anything compiles: its name is a hash of this package,
because a cached kernel does not notice that a helper it inlines has changed.
"""

from aucbench.kernels.cache import source_hash, use_own_cache_folder

use_own_cache_folder()

from aucbench.kernels import (  # noqa: E402  (after the folder is set)
    buffers,
    confidence,
    low_rank,
    pairs,
    rows,
    saddle,
    symmetric,
    thresholded,
    vectors,
)
from aucbench.kernels.calling import CompiledLoss, call, compile_loss, theta  # noqa: E402
from aucbench.kernels.compiling import kernel  # noqa: E402
from aucbench.kernels.layout import Layout, layout, two_vectors  # noqa: E402

__all__ = [
    "CompiledLoss",
    "Layout",
    "buffers",
    "call",
    "compile_loss",
    "confidence",
    "kernel",
    "layout",
    "low_rank",
    "pairs",
    "rows",
    "saddle",
    "source_hash",
    "symmetric",
    "theta",
    "thresholded",
    "two_vectors",
    "vectors",
]
