"""The readers of each kind of file."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from aucbench.contracts import File
from aucbench.data.readers._block import Block
from aucbench.errors import DataError


class Reader:
    """Reads files of all kinds; what the data must tell is learned from the training files, when needed.

    Parameters
    ----------
    train : list of (File, Path)
        The files of the training part.
    """

    def __init__(self, train: list[tuple[File, Path]]):
        self._train = train
        self._schema: Any = None  # of tables
        self._width: int | None = None  # of arrays
        self._most_frequent: float | None = None  # topic

    def __call__(self, file: File, path: Path) -> Iterable[Block]:
        """The rows of a file, block by block."""
        # Imported here: compiled code and pyarrow are not needed where the cache is there.
        if file.kind == "libsvm":
            from aucbench.data.readers import libsvm

            topic: Any = file.topic
            if isinstance(topic, str):
                if self._most_frequent is None:
                    paths = [path for each, path in self._train if each.topic is not None]
                    self._most_frequent = libsvm.most_frequent_label(paths)
                topic = self._most_frequent
            yield from libsvm.read_blocks(path, topic=topic)
        elif file.kind in ("csv", "parquet", "arff"):
            from aucbench.data.readers import table_encoder, table_schema

            if self._schema is None:
                self._schema = table_schema.fit(self._train)
            yield from table_encoder.encode(self._schema, file, path)
        elif file.kind == "npz":
            from aucbench.data.readers.npz import read_npz

            for block in read_npz(file, path, self._width):
                self._width = block.width
                yield block
        else:
            raise DataError(f"{path}: unknown kind of file {file.kind!r}.")
