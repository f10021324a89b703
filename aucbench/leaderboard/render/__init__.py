"""A report as files and text."""
