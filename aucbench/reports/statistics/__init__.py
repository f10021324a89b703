"""Statistics of cells: pure functions, each with formula and source. Imported by `leaderboard` alone."""
