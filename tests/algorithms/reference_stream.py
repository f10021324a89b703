"""Plain-NumPy transcriptions of the stream methods published since 2020, on dense rows."""

import numpy as np


def pair_descent(X, y, order, slope, eta, schedule, partner, radius, average, theta=None):
    """fifo_ogd, or with a `theta` aogd; `slope` is the derivative of the loss."""
    w, m, v, total = np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0.0, np.zeros(X.shape[1])
    earlier = []
    for t, i in enumerate(order, 1):
        others = [j for j in earlier[-1:] if y[j] != y[i]]
        if partner == "opposite":
            others = next(([j] for j in reversed(earlier) if y[j] != y[i]), [])
        for j in others:
            eta_t = eta / np.sqrt(t) if schedule == "sqrt" else eta
            z = y[i] * (X[i] - X[j])
            g = slope(w @ z) * z
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
    """Proximal steps with the estimates so far, or those of all rows."""
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
            z, apart = x - means[s], means[-1] - means[1]
            eta = 1 / (1 / eta + 2 * (1 - p if s == 1 else p) * z @ z + 2 * p * (1 - p) * apart @ apart)
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
