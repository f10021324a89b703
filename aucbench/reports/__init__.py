"""From stored cells to data frames, and views of these. Trains nothing."""
