"""The changed lines of `python -m benchmarks mutations` are there."""

from benchmarks.mutations import MUTATIONS, ROOT


def test_every_line_stands_once():
    for mutation in MUTATIONS:
        assert (ROOT / mutation.file).read_text(encoding="utf-8").count(mutation.line) == 1, mutation.file
        assert mutation.changed != mutation.line
        assert (ROOT / mutation.tests).is_dir()
