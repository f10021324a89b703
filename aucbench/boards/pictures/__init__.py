"""Pictures of a report, each with a sentence that says how to read it; PNG, SVG and PDF."""

from aucbench.boards.pictures.drawing import draw_all

__all__ = ["draw_all"]
