"""What is run and what came of it: settings, entries, records, the store. Imported by all rooms above."""
