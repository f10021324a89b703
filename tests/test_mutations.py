"""The changed lines of `python -m benchmarks mutations` are there: one in each of ten packages."""

from benchmarks.mutations import MUTATIONS, ROOT


def test_every_line_stands_once_in_a_package_of_its_own():
    for mutation in MUTATIONS:
        assert (ROOT / mutation.file).read_text(encoding="utf-8").count(mutation.line) == 1, mutation.file
        assert mutation.changed != mutation.line
        assert (ROOT / mutation.tests).is_dir()
    assert len({mutation.tests for mutation in MUTATIONS}) == len(MUTATIONS) == 10
