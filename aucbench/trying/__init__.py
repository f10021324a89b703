"""``aucbench try``: a method against well-known ones on small data; curves and a verdict in the terminal."""

from aucbench.trying.contest import Contest, Standing
from aucbench.trying.holding import EPOCHS, SECONDS, hold
from aucbench.trying.showing import show
from aucbench.trying.verdict import verdict

__all__ = ["EPOCHS", "SECONDS", "Contest", "Standing", "hold", "show", "verdict"]
