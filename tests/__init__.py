"""The tests of aucbench; it is set here, before NumPy is loaded, that each process uses one thread."""

import os

# Processes of the suite share the processors: more threads would wait for each other.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")
