"""Methods on pairs and buffers in plain NumPy, transcribed from their specification without any trick."""

import math
from statistics import NormalDist

import numpy as np

from tests.algorithms.reference import proj2


def roc_sgd(X, pairs, lam, schedule, pegasos, margin):
    w = np.zeros(X.shape[1])
    for t, (i, j) in enumerate(pairs, 1):
        z = X[i] - X[j]
        eta = {"basic": 10 / (t + 10), "pegasos": 1 / (lam * t), "constant": 0.02}[schedule]
        active = margin > w @ z
        w = w * max(1 - eta * lam, 1e-7)
        if active:
            w = w + eta * z
        if pegasos:
            w = proj2(w, 1 / math.sqrt(lam))
    return w


def uni_exp(X, y, order, eta, ratio, intercept):
    w, b, positives = np.zeros(X.shape[1]), 0.0, 0
    for t, i in enumerate(order, 1):
        positives += y[i] == 1
        p = np.mean(y == 1) if ratio == "train" else positives / t
        c = 1 - p if y[i] == 1 else p
        step = eta * c * y[i] * math.exp(min(700.0, -y[i] * (w @ X[i] + b)))
        w, b = w + step * X[i], b + step * intercept
    return w, b


def reservoir_draw(rng, seen, buffer):
    """The slot that the sample overwrites in a full buffer, None when it is not kept."""
    return int(rng.integers(buffer)) if rng.random() < buffer / seen else None


def oam(X, y, order, kind, C, buffer, average, radius, margin=1.0):
    rng = np.random.default_rng(0)
    w, total = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    buffers, seen = {1: [], -1: []}, {1: 0, -1: 0}
    for i in order:
        x, s = X[i], int(y[i])
        seen[s] += 1
        Ct = C * max(1, seen[-s] / buffer)
        if len(buffers[s]) < buffer:
            buffers[s].append(x)
        else:
            slot = reservoir_draw(rng, seen[s], buffer)
            if slot is not None:
                buffers[s][slot] = x
        if kind == "seq":
            for xj in buffers[-s]:
                z = x - xj
                if z @ z > 0:
                    w = w + min(Ct / 2, max(0.0, margin - s * (w @ z)) / (z @ z)) * s * z
        else:
            step = np.zeros(X.shape[1])
            for xj in buffers[-s]:
                if s * (w @ (x - xj)) <= margin:
                    step += s * (x - xj)
            w = w + Ct / 2 * step
        if radius is not None:
            w = proj2(w, radius)
        total += w
    return total / len(order) if average else w


def cbr(X, y, order, C, eta, buffer, diagonal=False):
    d = X.shape[1]
    phi = NormalDist().inv_cdf(eta)
    psi, zeta = 1 + phi**2 / 2, 1 + phi**2
    mu, S = np.zeros(d), np.ones(d) if diagonal else np.eye(d)
    buffers = {1: [], -1: []}
    for i in order:
        x, s = X[i], int(y[i])
        buffers[s] = (buffers[s] + [x])[-buffer:]
        for xj in buffers[-s]:
            z = x - xj
            g = S * z if diagonal else S @ z
            v, m = z @ g, s * (mu @ z)
            if v > 0 and phi * math.sqrt(v) - m > 0:
                root = math.sqrt(m * m * phi**4 / 4 + v * phi**2 * zeta)
                al = min(C, max(0.0, (-m * psi + root) / (v * zeta)))
                u = (-al * v * phi + math.sqrt(al**2 * v**2 * phi**2 + 4 * v)) ** 2 / 4
                be = al * phi / (math.sqrt(u) + v * al * phi)
                mu = mu + al * s * g
                S = S - be * (g * g if diagonal else np.outer(g, g))
    return mu
