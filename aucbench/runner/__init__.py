"""Running one cell: rows, clock, checkpoints, divergence, replay. Receives objects, never the registry."""
