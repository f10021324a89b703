"""The methods as per-sample loops in plain NumPy, transcribed from their specification, without any trick.

They share nothing with the kernels: dense rows, every projection computed at every step. Fields have no
defaults: those of a method are the plugin's.
"""

import math

import numpy as np


def clip(value, bound):
    return min(max(value, -bound), bound)


def proj2(v, radius, centre=0.0):
    size = np.linalg.norm(v - centre)
    return v if size <= radius else centre + (v - centre) * (radius / size)


def proj1(v, radius):
    if np.abs(v).sum() <= radius:
        return v
    sizes = np.sort(np.abs(v))[::-1]
    thresholds = (np.cumsum(sizes) - radius) / np.arange(1, len(v) + 1)
    theta = thresholds[np.flatnonzero(sizes > thresholds)[-1]]
    return np.sign(v) * np.maximum(np.abs(v) - theta, 0.0)


def gradients(w, a, b, alpha, x, label, p):
    s = w @ x
    if label == 1:
        return (
            2 * (1 - p) * (s - a - 1 - alpha) * x,
            -2 * (1 - p) * (s - a),
            0.0,
            -2 * (1 - p) * s - 2 * p * (1 - p) * alpha,
        )
    return 2 * p * (s - b + 1 + alpha) * x, 0.0, -2 * p * (s - b), 2 * p * s - 2 * p * (1 - p) * alpha


def below_curvature(step, x, label, p):
    """A step bounded by the second derivative of the saddle function along (x, -1)."""
    return 1 / (1 / step + 2 * (1 - p if label == 1 else p) * (x @ x + 1))


def solam(
    X, y, order, zeta, start, average, kappa, bounded, radius=None, norm="l2", one_sided_ab=False, lam=0.0
):
    """With `lam` regsolam."""
    d, R = X.shape[1], math.sqrt(2 / lam) if lam else radius
    kappa = np.linalg.norm(X, axis=1).max() if kappa is None else kappa
    w, a, b, alpha = np.zeros(d), 0.0, 0.0, 0.0
    if start == "author":
        w, a, b, alpha = np.full(d, R / math.sqrt(d)), R, R, 2 * R
    mean, total, positives = np.zeros(d), 0.0, 0
    for t, i in enumerate(order, 1):
        positives += y[i] == 1
        p, g = positives / t, zeta / math.sqrt(t)
        if bounded:
            g = below_curvature(g, X[i], y[i], p)
        dw, da, db, dalpha = gradients(w, a, b, alpha, X[i], y[i], p)
        next_w = (proj2 if norm == "l2" else proj1)(w - g * (dw + lam * w), R)
        clipped = min if one_sided_ab else clip
        a, b = clipped(a - g * da, R * kappa), clipped(b - g * db, R * kappa)
        alpha = clip(alpha + g * dalpha, 2 * R * kappa)
        mean = (total * mean + g * (w if average == "before" else next_w)) / (total + g)
        total += g
        w = next_w
    return mean


def psam(X, pairs, gamma, t0, rskip, askip, margin=1.0, derivative=None):
    """With the derivative of a loss asam."""
    t0 = gamma**-0.75 if t0 is None else t0
    w, mean, q = np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0
    until_shrink, until_average = rskip, askip
    for t, (i, j) in enumerate(pairs, 1):
        x = X[i] - X[j]
        step, slack = 1 / (gamma * (t + t0)), margin - w @ x
        if derivative:
            w = w - step * derivative(w @ x) * x
        elif x @ x > 0:
            w = w + step * min(1.0, max(0.0, slack / (step * (x @ x)))) * x
        until_shrink -= 1
        if until_shrink <= 0:
            w = w - rskip / (t + t0) * w
            until_shrink = rskip
        until_average -= 1
        if until_average <= 0:
            mean, q, until_average = (q * mean + w) / (q + 1), q + 1, askip
    return mean if q else w


def fsauc(X, y, order, radius, eta, delta, eta_rule, average, p_scope, kappa, bounded):
    n, d, R = len(order), X.shape[1], radius
    k = np.linalg.norm(X, axis=1).max() if kappa is None else kappa
    stages = max(1, math.floor(0.5 * math.log2(2 * n / math.log2(n))) - 1)
    length = n // stages
    r = 2 * math.sqrt(1 + 2 * k**2) * R
    D, beta, c = 2 * math.sqrt(2) * k * r, 1 + 8 * k**2, 2 + math.sqrt(2 * math.log(12 / delta))
    v1, alpha1 = np.zeros(d + 2), 0.0
    sums, counts = {1: np.zeros(d), -1: np.zeros(d)}, {1: 0, -1: 0}
    samples = iter(order)
    for _ in range(stages):
        v, alpha, acc = v1.copy(), alpha1, np.zeros(d + 2)
        if p_scope == "stage":
            sums, counts = {1: np.zeros(d), -1: np.zeros(d)}, {1: 0, -1: 0}
        for _ in range(length):
            i = next(samples)
            sums[y[i]] = sums[y[i]] + X[i]
            counts[y[i]] += 1
            p = counts[1] / (counts[1] + counts[-1])
            dw, da, db, dalpha = gradients(v[:d], v[d], v[d + 1], alpha, X[i], y[i], p)
            if average == "before":
                acc += v
            g = below_curvature(eta, X[i], y[i], p) if bounded else eta
            v = v - g * np.concatenate([dw, [da, db]])
            alpha = alpha + g * dalpha
            v[:d] = proj1(v[:d], R)
            v[d], v[d + 1] = clip(v[d], R * k), clip(v[d + 1], R * k)
            v = proj2(v, r, v1)
            alpha = max(-2 * R * k, alpha1 - D, min(2 * R * k, alpha1 + D, alpha))
            if average == "after":
                acc += v
        v1 = acc / length
        alpha1 = (sums[-1] / max(1, counts[-1]) - sums[1] / max(1, counts[1])) @ v1[:d]
        r /= 2
        rare = min(p, 1 - p)
        q = rare * length - math.sqrt(2 * length * math.log(12 / delta))
        D = math.inf
        if q > 0:
            D = 2 * math.sqrt(2) * k * r + 4 * math.sqrt(2) * k * c * (1 + 2 * k) * R / math.sqrt(q)
        denominator = rare - math.sqrt(2 * math.log(12 / delta) / length)
        new = None
        if denominator > 0:
            new = 1 + 8 * k**2 + 32 * k**2 * (1 + 2 * k) ** 2 * c**2 / denominator
        elif eta_rule == "capped":
            new = 1e7
        ratio = 0.5 if new is None or beta is None else 0.5 * math.sqrt(new / beta)
        eta *= {"halve": 0.5, "paper": ratio, "capped": min(ratio, 1.0)}[eta_rule]
        beta = new
    return v1[:d]


def opauc(X, y, order, eta, lam, delta=None, bounded=False):
    """With `delta` adaoam."""
    d = X.shape[1]
    w, q = np.zeros(d), np.zeros(d)
    counts = {1: 0, -1: 0}
    means = {1: np.zeros(d), -1: np.zeros(d)}
    moments = {1: np.zeros((d, d)), -1: np.zeros((d, d))}
    for i in order:
        x, s = X[i], int(y[i])
        counts[s] += 1
        means[s] = means[s] + (x - means[s]) / counts[s]
        moments[s] = moments[s] + (np.outer(x, x) - moments[s]) / counts[s]
        if not counts[-s]:
            continue
        c = means[-s]
        S = moments[-s] - np.outer(c, c)
        g = lam * w - s * (x - c) + (x - c) * ((x - c) @ w) + S @ w
        if delta is None:
            curvature = (x - c) @ (x - c) + np.trace(S) if bounded else 0.0
            w = w - eta / (1 + eta * curvature) * g
            continue
        q = q + g * g
        w = w - eta * g / (delta + np.sqrt(q))
        w = proj2(w, 1 / math.sqrt(lam)) if lam > 0 else w
    return w


def ls_svm(X, y, lam):
    P, N = X[y == 1], X[y == -1]
    b = N.mean(axis=0) - P.mean(axis=0)
    S = np.cov(P.T, bias=True) + np.cov(N.T, bias=True)
    return np.linalg.solve(S + np.outer(b, b) + lam * np.eye(X.shape[1]), -b)
