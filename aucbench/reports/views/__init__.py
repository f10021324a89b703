"""Views of a report, which print its frames and compute nothing."""
