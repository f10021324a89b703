"""Settings, entries, records and the store of studies; their execution, and archives of their results."""
