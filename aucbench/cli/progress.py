"""Progress bars on the terminal."""

import sys
from typing import Any

from tqdm import tqdm

from aucbench.studies.study import Observer


def bar(layout: str | None = None, **settings: Any) -> Any:
    """A tqdm bar on standard error, removed at the end; hidden if standard error is not a terminal."""
    return tqdm(leave=False, bar_format=layout, disable=not sys.stderr.isatty(), **settings)


class BarView(Observer):
    """An observer with a bar."""

    _bar: Any = None

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
