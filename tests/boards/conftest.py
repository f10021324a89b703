"""The studies of `tests.leaderboard.conftest`."""

from tests.leaderboard.conftest import folder, troubled

__all__ = ["folder", "troubled"]
