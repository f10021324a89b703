"""The line on a terminal that shows how far a command is."""

import sys
from typing import Any

from tqdm import tqdm

from aucbench.studies.study import Observer


def bar(layout: str | None = None, **settings: Any) -> Any:
    """A bar of tqdm on standard error, which is removed in the end; nothing where that is no terminal."""
    return tqdm(leave=False, bar_format=layout, disable=not sys.stderr.isatty(), **settings)


class BarView(Observer):
    """An observer with a bar."""

    _bar: Any = None

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
