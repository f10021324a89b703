"""Readers of LIBSVM, NPZ, CSV, Parquet and ARFF files. Imported by `data`."""
