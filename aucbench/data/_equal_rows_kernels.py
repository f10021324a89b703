"""Numba kernels of hashes of rows: the sum over the non-zeros of a hash of column and value, modulo 2^64."""

import numpy as np
from numba import njit

MAGNITUDE = np.uint64((1 << 63) - 1)  # all bits of a float64 but its sign
INFINITE = np.uint64(0x7FF << 52)  # magnitudes above it are NaN
NAN = np.uint64(0xFFF << 51)
STEP = np.uint64(0x9E3779B97F4A7C15)
ONE, TWENTY_SEVEN, THIRTY, THIRTY_ONE = np.uint64(1), np.uint64(27), np.uint64(30), np.uint64(31)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@njit(cache=True, nogil=True)
def hash_dense(bits, out):
    """Add the hash of each row of bits (n, d) of float64 to out (n,)."""
    for i in range(len(out)):
        for j in range(bits.shape[1]):
            out[i] += _hash(bits[i, j], j)


@njit(cache=True, nogil=True)
def hash_sparse(indptr, indices, bits, out):
    """Add the hash of each CSR row, whose values have these bits, to out (n,)."""
    for i in range(len(out)):
        for k in range(indptr[i], indptr[i + 1]):
            out[i] += _hash(bits[k], indices[k])


@njit(cache=True, nogil=True)
def _hash(bits, column):
    """The finaliser of SplitMix64 (Steele, Lea, Flood: Fast splittable random number generators, 2014)."""
    magnitude = bits & MAGNITUDE
    if magnitude == 0:
        return np.uint64(0)
    if magnitude > INFINITE:
        bits = NAN
    bits += (np.uint64(column) + ONE) * STEP
    bits = (bits ^ (bits >> THIRTY)) * FIRST
    bits = (bits ^ (bits >> TWENTY_SEVEN)) * SECOND
    return bits ^ (bits >> THIRTY_ONE)
