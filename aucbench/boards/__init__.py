"""Leaderboards: finished cells collected, compared, shown."""
