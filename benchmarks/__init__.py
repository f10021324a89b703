"""Speed of the kernels beside their peers: ``python -m benchmarks [MEASURE ...]``; not part of the tests."""
