"""A report as files and text: one module per view. Imported by `api` and `cli`."""
