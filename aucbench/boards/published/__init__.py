"""Figures that the papers published, and which of our cells stand beside them."""

from aucbench.boards.published.tables import TABLES, PublishedTable

__all__ = ["TABLES", "PublishedTable"]
