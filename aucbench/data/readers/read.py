"""Which reader reads a file, by its kind."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from aucbench.contracts import File
from aucbench.errors import DataError

TABLES = ("csv", "parquet", "arff")


class Reading:
    """Reads files of all kinds; what tables need to know is learned from the first file, a training file.

    Parameters
    ----------
    files : iterable of (File, Path)
        The files of the training part.
    """

    def __init__(self, files: Iterable[tuple[File, Path]]):
        self._train = list(files)
        self._schema: Any = None
        self._width: int | None = None
        self._largest: float | None = None

    def __call__(self, file: File, path: Path) -> Iterable[Any]:
        """The rows of a file, block by block.

        Raises
        ------
        DataError
            What the reader refuses; an unknown kind.
        """
        # Imported here: compiled code and pyarrow are not needed where the cache is there.
        if file.kind == "libsvm":
            from aucbench.data.readers.libsvm import read_blocks

            return read_blocks(path) if file.topic is None else read_blocks(path, topic=self._topic(file))
        if file.kind in TABLES:
            from aucbench.data.readers import table_encoder, table_schema

            if self._schema is None:
                self._schema = table_schema.fit(self._train)
            return table_encoder.encode(self._schema, file, path)
        if file.kind == "npz":
            return self._npz(file, path)
        raise DataError(f"{path}: unknown kind of file {file.kind!r}.")

    def _topic(self, file: File) -> float:
        if isinstance(file.topic, str):
            if self._largest is None:
                self._largest = _most_frequent([path for each, path in self._train if each.topic is not None])
            return self._largest
        return float(file.topic or 0.0)

    def _npz(self, file: File, path: Path) -> Iterable[Any]:
        from aucbench.data.readers.npz import read_npz

        for block in read_npz(file, path, self._width):
            self._width = block.width
            yield block


def _most_frequent(paths: list[Path]) -> float:
    """The label that most rows have, of rows with any number of them; the smallest of several such."""
    from aucbench.data.readers.libsvm import readable

    counts: Counter[float] = Counter()
    for path in paths:
        with readable(path) as stream:
            for number, line in enumerate(stream, 1):
                line = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                word = line.split(maxsplit=1)[0] if line.strip() else b""
                if word and b":" not in word and not word.startswith(b"#"):
                    try:
                        counts.update(float(label) for label in word.split(b","))
                    except ValueError:
                        raise DataError(
                            f"{path}, line {number}: the labels {word!r} are no numbers."
                        ) from None
    if not counts:
        raise DataError(f"{', '.join(map(str, paths))}: no row has a label.")
    return max(sorted(counts), key=lambda label: counts[label])
