"""From stored cells to boards, tests and views. Trains nothing. Imported by `api` and `cli`."""
