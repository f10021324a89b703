"""No test of data sets leaves the machine: the fixtures of the tests of `data`."""

from tests.data.conftest import cache, mirror, web

__all__ = ["cache", "mirror", "web"]
