"""Methods on pairs, buffers and streams in plain NumPy, transcribed from their specification."""

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
    buffers, counts = {1: [], -1: []}, {1: 0, -1: 0}
    for i in order:
        x, s = X[i], int(y[i])
        counts[s] += 1
        Ct = C * max(1, counts[-s] / buffer)
        if len(buffers[s]) < buffer:
            buffers[s].append(x)
        else:
            slot = reservoir_draw(rng, counts[s], buffer)
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


def pair_descent(X, y, order, derivative, eta, schedule, partner, radius, average, theta=None):
    """fifo_ogd, or with a `theta` aogd; `derivative` is that of the loss."""
    w, m, v, total = np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0.0, np.zeros(X.shape[1])
    earlier = []
    for t, i in enumerate(order, 1):
        partners = [j for j in earlier[-1:] if y[j] != y[i]]
        if partner == "opposite":
            partners = next(([j] for j in reversed(earlier) if y[j] != y[i]), [])
        for j in partners:
            eta_t = eta / np.sqrt(t) if schedule == "sqrt" else eta
            z = y[i] * (X[i] - X[j])
            g = derivative(w @ z) * z
            if theta is None:
                w = w - eta_t * g
            else:
                m, v = theta * m + (1 - theta) * g, v + g @ g
                w = w - eta_t * m / np.sqrt(v) if v > 0 else w
            if radius is not None:
                w = w * min(1.0, radius / max(np.linalg.norm(w), 1e-300))
        total = total + w
        earlier = [*earlier, i]
    return total / len(order) if average else w


def spauc(X, y, order, C, schedule, penalty, beta, nu, statistics, average, bounded):
    """Proximal steps with running estimates, or with the estimates over all rows."""
    d = X.shape[1]
    w, total, count, means = np.zeros(d), np.zeros(d), {1: 0, -1: 0}, {1: np.zeros(d), -1: np.zeros(d)}
    if statistics == "train":
        p, means = np.mean(y == 1), {label: X[y == label].mean(axis=0) for label in (1, -1)}
    for t, i in enumerate(order, 1):
        x, s = X[i], y[i]
        if statistics == "running":
            count[s] += 1
            means[s] = means[s] + (x - means[s]) / count[s]
            p = count[1] / t
        a, b = w @ means[1], w @ means[-1]
        k = 2 * (1 - p) * (w @ x - a) if s == 1 else 2 * p * (w @ x - b)
        g = k * (x - means[s]) + 2 * p * (1 - p) * (1 + b - a) * (means[-1] - means[1])
        eta = C / np.sqrt(t) if schedule == "sqrt" else 2 * C / (t + C)
        if bounded:
            z, gap = x - means[s], means[-1] - means[1]
            eta = 1 / (1 / eta + 2 * (1 - p if s == 1 else p) * z @ z + 2 * p * (1 - p) * gap @ gap)
        u = w - eta * g
        if penalty == "net":
            u = np.sign(u) * np.maximum(np.abs(u) - eta * nu, 0)
        w = u / (1 + eta * beta)
        total = total + w
    return total / len(order) if average else w


def ftrl_weights(z, q, gamma, smooth, l1, l2):
    """The weights of the sums."""
    w = -(z - np.sign(z) * l1) / ((smooth + np.sqrt(q)) / gamma + l2)
    return np.where(np.abs(z) <= l1, 0.0, w)


def ftrl_auc(X, y, order, gamma, smooth, l1, l2):
    """FTRL-Proximal with running means of past scores."""
    z, q = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    past = {1: [], -1: []}
    for t, i in enumerate(order, 1):
        w = ftrl_weights(z, q, gamma, smooth, l1, l2)
        s = w @ X[i]
        past[y[i]].append(s)
        p, h = len(past[1]) / t, {label: np.mean(scores or [0.0]) for label, scores in past.items()}
        g = (2 * (1 - p) * (s - h[-1] - 1) if y[i] == 1 else 2 * p * (s - h[1] + 1)) * X[i]
        z = z + g - (np.sqrt(q + g**2) - np.sqrt(q)) / gamma * w
        q = q + g**2
    return ftrl_weights(z, q, gamma, smooth, l1, l2)


def ftrl_log(X, y, order, gamma, smooth, l1, l2, intercept, balanced):
    """FTRL-Proximal for logistic regression: weights and intercept."""
    d = X.shape[1]
    columns = np.hstack([X, np.full((len(X), 1), float(intercept))])
    strength1, strength2 = np.append(np.full(d, l1), 0.0), np.append(np.full(d, l2), 0.0)
    share = {label: len(y) / (2 * np.sum(y == label)) if balanced else 1.0 for label in (1, -1)}
    z, q = np.zeros(d + 1), np.zeros(d + 1)
    for i in order:
        w = ftrl_weights(z, q, gamma, smooth, strength1, strength2)
        g = -share[y[i]] * y[i] / (1 + np.exp(y[i] * (w @ columns[i]))) * columns[i]
        z = z + g - (np.sqrt(q + g**2) - np.sqrt(q)) / gamma * w
        q = q + g**2
    w = ftrl_weights(z, q, gamma, smooth, strength1, strength2)
    return w[:-1], w[-1]
