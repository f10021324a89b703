"""Settings, entries, records and the store: what is run and its results. Imported by all rooms above."""
