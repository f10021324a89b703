"""Lines of progress and bars on standard error."""

import sys
from collections.abc import Mapping
from typing import Any

from tqdm import tqdm

from aucbench.humanize import counted, filesize
from aucbench.studies.study import Observer


def say(text: str) -> None:
    """Print a line of aucbench on standard error."""
    print(f"aucbench: {text}", file=sys.stderr, flush=True)


def bar(layout: str | None = None, **settings: Any) -> Any:
    """A tqdm bar on standard error, removed at the end; hidden if standard error is not a terminal."""
    return tqdm(leave=False, bar_format=layout, disable=not sys.stderr.isatty(), **settings)


class BarView(Observer):
    """An observer with a bar."""

    _bar: Any = None

    def files_missing(self, sizes: Mapping[str, int | None]) -> None:
        """Print the size of the downloads, and the data sets that cannot be downloaded."""
        amounts = [size for size in sizes.values() if size is not None]
        if amounts:
            say(f"{filesize(sum(amounts))} to download for {counted(len(amounts), 'data set')}")
        if lost := [title for title, size in sizes.items() if size is None]:
            say(f"no source has the files of {counted(len(lost), 'data set')}: {', '.join(lost)}")

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
