"""Views of a report: each prints its frames and computes nothing."""
