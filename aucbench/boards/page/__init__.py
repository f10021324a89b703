"""A report as one HTML file that needs nothing else: no network, no other file."""

from aucbench.boards.page.writing import page, write_page

__all__ = ["page", "write_page"]
