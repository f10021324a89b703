"""Archives of results: content and file, gaps, replications, and the settings that tunings tried."""
