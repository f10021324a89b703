"""Archives of results: their content and file, their gaps, replications, and the settings that tunings tried."""
