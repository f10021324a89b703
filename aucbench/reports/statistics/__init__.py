"""Statistics of the frames of a report: pure functions, each with formula and source."""
