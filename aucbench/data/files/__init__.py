"""Files of data sets: found, downloaded, and kept in the cache as arrays. Imported by `data` and `cli`."""
