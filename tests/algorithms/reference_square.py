"""The family of the square loss as per-sample loops in plain NumPy, transcribed from its specification.

It shares nothing with the kernels: dense rows, every vector and matrix computed at every step.
"""

import math

import numpy as np
from scipy.special import comb

from tests.algorithms.reference import proj2


def spam(X, y, order, C, beta, nu, penalty, radius, bounded):
    p, m_pos, m_neg = np.mean(y == 1), X[y == 1].mean(axis=0), X[y == -1].mean(axis=0)
    w, mean = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for t, i in enumerate(order, 1):
        eta = C / math.sqrt(t)
        if bounded:
            eta = 1 / (1 / eta + 2 * (1 - p if y[i] == 1 else p) * (X[i] @ X[i]))
        a, b, s = w @ m_pos, w @ m_neg, w @ X[i]
        alpha = b - a
        if y[i] == 1:
            coef = 2 * (1 - p) * (s - a) - 2 * (1 + alpha) * (1 - p)
        else:
            coef = 2 * p * (s - b) + 2 * (1 + alpha) * p
        u = w - eta * coef * X[i]
        if penalty == "l2":
            w = u / (1 + eta * beta)
        elif penalty == "net":
            w = np.sign(u) * np.maximum(np.abs(u) - eta * nu, 0) / (1 + eta * beta)
        else:
            w = proj2(u, radius)
        mean += (w - mean) / t
    return mean


def opauc_r(X, y, order, draws, eta, lam, centring):
    d, tau = X.shape[1], draws.shape[1]
    w = np.zeros(d)
    T = {1: 0, -1: 0}
    c, h = {1: np.zeros(d), -1: np.zeros(d)}, {1: np.zeros(tau), -1: np.zeros(tau)}
    Z = {1: np.zeros((d, tau)), -1: np.zeros((d, tau))}
    for t, i in enumerate(order):
        x, s, r = X[i], int(y[i]), draws[t] / math.sqrt(tau)
        T[s] += 1
        c[s] = c[s] + (x - c[s]) / T[s]
        h[s] = h[s] + (r - h[s]) / T[s]
        Z[s] = Z[s] + np.outer(x, r)
        if T[-s]:
            co, ho, Zo, To = c[-s], h[-s], Z[-s], T[-s]
            q, cw = Zo.T @ w, co @ w
            Sw = Zo @ q / To
            if centring == "author":
                Sw = Sw - co * (ho @ ho) * cw
            else:
                Sw = Sw - (Zo @ ho) * cw - co * (ho @ q) + To * (ho @ ho) * cw * co
            w = w - eta * (lam * w - s * (x - co) + (x - co) * ((x - co) @ w) + Sw)
    return w


def spdam(X, y, batches, lam, sigma_rule, kappa):
    n, d = X.shape
    mb = len(batches[0])
    p, m_pos, m_neg = np.mean(y == 1), X[y == 1].mean(axis=0), X[y == -1].mean(axis=0)
    b = m_neg - m_pos
    xt = np.where((y == 1)[:, None], (X - m_pos) / math.sqrt(p), (X - m_neg) / math.sqrt(1 - p))
    kap = np.linalg.norm(xt, axis=1).max() if kappa is None else kappa
    if sigma_rule == "derived":
        sigma = lam * ((n - mb) + math.sqrt((n - mb) ** 2 + 4 * n * mb * kap**2 / lam)) / (4 * mb * kap**2)
    else:
        sigma = ((n - mb) + math.sqrt((n - mb) ** 2 + 4 * n * kap**2 * mb / lam)) / (8 * mb * kap**2)
    tau = 1 / (4 * sigma * kap**2)
    theta = 1 - lam / (lam + 2 * sigma * kap**2)
    beta, u, w, wb = np.zeros(n), np.zeros(d), np.zeros(d), np.zeros(d)
    c = lam + 1 / tau
    for K in batches:
        new = (sigma * (xt[K] @ wb) + beta[K]) / (1 + sigma)
        Delta = (new - beta[K]) @ xt[K]
        beta[K] = new
        ubar, u = u + Delta / mb, u + Delta / n
        q = w / tau - ubar - b
        next_w = q / c - b * (b @ q) / (c * (c + b @ b))
        wb = next_w + theta * (next_w - w)
        w = next_w
    return w


def sauc(X, y, order, loss, radius, beta, degree, kappa, average, step_rule):
    R, m, Dx, N, d = radius, degree, kappa, len(order), X.shape[1]
    T = round((math.sqrt(1 + 8 * N) - 1) / 2) - 1
    L = 2 * R * Dx
    phi = [loss.value(L * (2 * j / m - 1), 1.0) for j in range(m + 1)]
    dk = [sum((-1) ** (k - j) * math.comb(k, j) * phi[j] for j in range(k + 1)) for k in range(m + 1)]
    i, k = np.arange(m + 1)[:, None], np.arange(m + 1)
    gap = np.maximum(k - i, 0)
    terms = np.triu(comb(m, k) * comb(k, i)) * (m + 1)
    A, sizes = terms * dk / (2 * L) ** k, terms * np.abs(dk) / (2.0**k * L**i)
    R2, S1m, S2m = sizes.sum(), (sizes * gap).sum() / L, (sizes * gap * (gap - 1)).sum() / L**2
    R1 = sum(L**i for i in range(m + 1))
    S1p = sum(i * L ** (i - 1) for i in range(1, m + 1))
    S2p = sum(i * (i - 1) * L ** (i - 2) for i in range(2, m + 1))
    gamma = max(
        (2 * R1 + R2) * Dx**2 * S2p + Dx**2 * S1p**2, (R1 + 2 * R2) * Dx**2 * S2m + Dx**2 * S1m**2
    ) / (m + 1)
    w0, a0, b0, al0 = np.zeros(d), np.zeros(m + 1), np.zeros(m + 1), np.zeros(m + 1)
    total, samples = np.zeros(d), iter(order)
    for t in range(1, T + 1):
        eta = beta / (gamma * math.sqrt(t)) if step_rule == "code" else beta / math.sqrt(t)
        w, a, b, al = w0, a0, b0, al0
        if average == "before":
            total = total + w0
        sums = [np.zeros(d), np.zeros(m + 1), np.zeros(m + 1), np.zeros(m + 1)]
        for _ in range(t):
            row = next(samples)
            x, label = X[row], y[row]
            s = w @ x
            if average == "before":
                sums = [left + right for left, right in zip(sums, (w, a, b, al), strict=True)]
            if label == 1:
                e, de = (L / 2 + s) ** k, k * (L / 2 + s) ** np.maximum(k - 1, 0)
            else:
                e = (A * (L / 2 - s) ** gap).sum(axis=1)
                de = -(A * gap * (L / 2 - s) ** np.maximum(gap - 1, 0)).sum(axis=1)
            q = a if label == 1 else b
            w, a, b, al = (
                proj2(w - eta * ((al - q) @ de / (m + 1) * x + gamma * (w - w0)), R),
                proj2(a - eta * (a - (label == 1) * e) / (m + 1), R1),
                proj2(b - eta * (b - (label == -1) * e) / (m + 1), R2),
                proj2(al + eta * (e - al) / (m + 1), R1 + R2),
            )
            if average == "after":
                sums = [left + right for left, right in zip(sums, (w, a, b, al), strict=True)]
        w0, a0, b0, al0 = (value / t for value in sums)
        if average == "after":
            total = total + w0
    return total / max(1, T)
