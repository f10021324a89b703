"""The built-in surrogate losses."""
