"""Archives of results: their content and file, gaps, replications, and the settings that tunings tried."""
