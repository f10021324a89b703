"""Projection onto the dual variables of a loss over the top of the negatives.

    min over a, q >= 0 of alpha |a - b|^2 + |q - r|^2,   sum q = sum a = S,   q_j <= S / K

With a threshold t of the negatives, a cap c = S / K and u = t + c, the solution is

    q_j = min(max(r_j - t, 0), c)
    a_i = max(b_i + (t + B / K) / alpha, 0),   B = sum over j of max(r_j - u, 0)

Where the cap binds nowhere, t is the zero of sum max(b + t / alpha, 0) - sum max(r - t, 0), found by Newton's
method on this piecewise linear function. Otherwise u lies below max r. As u falls from max r, t rises so that
sum q remains K c, until sum a has risen to K c; in between both are linear, and the pieces are visited in
order. K = 1 is never capped.

Cost: O(n) where no cap binds, and O(n log n) for the order of the values otherwise.

Source: the problem, with alpha = 1, is that of Zhang et al., tau-FPL, AAAI 2018, and for K = 1 of Li, Jin,
Zhou, Top rank optimization in linear time, NIPS 2014; the walk is written for this package.
"""

import numpy as np

from aucbench import kernels

NEWTON = 200  # most Newton steps


@kernels.kernel
def project(b, r, K, alpha):
    """Project (b, r), both changed in place: values of the positives and negatives, K of which are the top.

    Returns the top u, at and above which negatives are capped; inf if none is capped.
    """
    if r.size == K:  # all q are equal: only their mean is projected
        r[:] = r.mean()
    t = _uncapped(b, r, alpha)
    total, highest = 0.0, -np.inf
    for value in r:
        total += max(value - t, 0.0)
        highest = max(highest, value)
    u, shift = np.inf, 0.0
    if r.size > K and highest - t > total / K:
        t, u, shift = _capped(b, r, K, alpha)
    for i in range(b.size):
        b[i] = max(b[i] + (t + shift) / alpha, 0.0)
    for j in range(r.size):
        r[j] = max(min(r[j], u) - t, 0.0)
    return u


@kernels.helper
def _uncapped(b, r, alpha):
    """The threshold if no cap binds; any threshold at which both sums are zero, if one exists."""
    low, high = -np.inf, -np.inf
    for value in b:
        low = max(low, value)
    for value in r:
        high = max(high, value)
    low = -low * alpha
    if low >= high:
        return high
    t = min(max(0.0, low), high)
    for _ in range(NEWTON):
        value, slope = 0.0, 0.0
        for entry in b:
            if entry + t / alpha > 0.0:
                value += entry + t / alpha
                slope += 1.0 / alpha
        for entry in r:
            if entry - t > 0.0:
                value -= entry - t
                slope += 1.0
        if value == 0.0:
            break
        if value < 0.0:
            low = t
        else:
            high = t
        last, t = t, t - value / slope
        if not low < t < high:
            t = 0.5 * (low + high)
        if t in (last, low, high):
            break
    return t


@kernels.helper
def _capped(b, r, K, alpha):
    """Threshold t, top u and B / K where the cap binds, of the values in descending order."""
    b, r = np.sort(b)[::-1], np.sort(r)[::-1]
    u, t = r[0], _first_threshold(r, K)
    capped, above = 0, np.searchsorted(-r, -t)  # negatives above u and above t
    excess = 0.0  # B
    positive, total = 0, 0.0  # positives above the level -(t + B / K) / alpha, and their sum
    for _ in range(2 * (b.size + r.size) + 4):  # pieces at most
        level = -(t + excess / K) / alpha
        while positive < b.size and b[positive] >= level:
            total += b[positive]
            positive += 1
        while capped < K and r[capped] >= u:
            capped += 1
        while above > K and r[above - 1] <= t:
            above -= 1
        # The rates at which u falls and t rises; with the top K capped and no others left, t alone moves.
        falls, rises = float(above - K), float(K - capped)
        if falls <= 0.0 or rises <= 0.0:
            falls, rises = 0.0, 1.0
        lowers = (rises + capped * falls / K) / alpha
        surplus = K * (u - t) - (total - positive * level)  # sum q - sum a
        until_equal = surplus / (K * (rises + falls) + positive * lowers)
        until_capped = (u - r[capped]) / falls if falls > 0.0 else np.inf
        until_zero = (r[above - 1] - t) / rises if falls > 0.0 else np.inf
        until_positive = (level - b[positive]) / lowers if positive < b.size else np.inf
        step = min(until_capped, until_zero, until_positive)
        is_last = not until_equal > step
        if is_last:
            step = max(until_equal, 0.0)
        if step == until_positive:
            total += b[positive]
            positive += 1
        excess += capped * falls * step
        u = r[capped] if step == until_capped else u - falls * step
        t = r[above - 1] if step == until_zero else t + rises * step
        if is_last:
            break
    return t, u, excess / K


@kernels.helper
def _first_threshold(r, K):
    """The t < r_1 with sum max(r - t, 0) = K (r_1 - t), by Newton's method, monotone from the left."""
    t = (r.sum() - K * r[0]) / (r.size - K)
    for _ in range(NEWTON):
        count = np.searchsorted(-r, -t)
        if count <= K:
            break
        last, t = t, (r[:count].sum() - K * r[0]) / (count - K)
        if not t > last:
            break
    return t
