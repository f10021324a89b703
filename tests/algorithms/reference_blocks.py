"""Plain NumPy versions of the methods on blocks, written from their formulas: dense, pair by pair."""

import numpy as np

from aucbench import kernels


def optimiser(kind, eta, momentum, lam, schedule="constant"):
    """A function of (w, gradient without lam w) that returns the next w."""
    u, first, second = 0, 0.0, 0.0

    def step(w, g):
        nonlocal u, first, second
        u, g = u + 1, g + lam * w
        rate = eta / np.sqrt(u) if schedule == "sqrt" else eta
        if kind != "adam":
            first = (momentum if kind == "momentum" else 0.0) * first + g
            return w - rate * first
        first, second = 0.9 * first + 0.1 * g, 0.999 * second + 0.001 * g * g
        return w - rate / (1 - 0.9**u) * first / (np.sqrt(second) / np.sqrt(1 - 0.999**u) + 1e-8)

    return step


def of_loss(loss):
    """The value and the derivative of a loss plugin."""
    theta = kernels.theta(loss)
    return lambda m: type(loss).value(m, theta), lambda m: type(loss).derivative(m, theta)


def blocks_of(pairs, block):
    return [pairs[k : k + block] for k in range(0, len(pairs) - block + 1, block)]


def pair_batch(X, pairs, loss, block, eta, kind="sgd", pairing="all", average=False, **rest):
    _, slope = of_loss(loss)
    w, step, total, count = np.zeros(X.shape[1]), optimiser(kind, eta, **rest), 0.0, 0
    for rows in blocks_of(pairs, block):
        index_pairs = (
            zip(*rows.T, strict=True)
            if pairing == "matched"
            else ((i, j) for i in rows[:, 0] for j in rows[:, 1])
        )
        terms = [slope(X[i] @ w - X[j] @ w) * (X[i] - X[j]) for i, j in index_pairs]
        w = step(w, np.mean(terms, axis=0))
        total, count = total + w, count + 1
    return total / count if average else w


def sopa(X, pairs, loss, block, eta, alpha, eta_s, kind="sgd", **rest):
    value, slope = of_loss(loss)
    w, step, s = np.zeros(X.shape[1]), optimiser(kind, eta, **rest), np.zeros(len(X))
    for rows in blocks_of(pairs, block):
        g, new = 0.0, {}
        for i in rows[:, 0]:
            on = 0
            for j in rows[:, 1]:
                m = X[i] @ w - X[j] @ w
                if value(m) > s[i]:
                    on += 1
                    g = g + slope(m) * (X[i] - X[j]) / (alpha * block**2)
            new[i] = s[i] - eta_s * (1 - on / (alpha * block))
        for i, number in new.items():
            s[i] = number
        w = step(w, g + np.zeros_like(w))
    return w


def sopa_s(X, pairs, loss, block, eta, temperature, gamma, kind="sgd", **rest):
    value, slope = of_loss(loss)
    w, step, u = np.zeros(X.shape[1]), optimiser(kind, eta, **rest), np.zeros(len(X))
    for rows in blocks_of(pairs, block):
        g, new = np.zeros_like(w), {}
        for i in rows[:, 0]:
            margins = [X[i] @ w - X[j] @ w for j in rows[:, 1]]
            sizes = np.exp([value(m) / temperature for m in margins])
            new[i] = (1 - gamma) * u[i] + gamma * sizes.mean()
            for j, m, size in zip(rows[:, 1], margins, sizes, strict=True):
                g += size / new[i] * slope(m) * (X[i] - X[j]) / block**2
        for i, number in new.items():
            u[i] = number
        w = step(w, g)
    return w


def soap(X, pairs, loss, block, eta, gamma, p, kind="sgd", **rest):
    value, slope = of_loss(loss)
    w, step, u = np.zeros(X.shape[1]), optimiser(kind, eta, **rest), np.zeros((len(X), 2))
    for rows in blocks_of(pairs, block):
        g, new = np.zeros_like(w), {}
        weighed = [(k, p / block, 1) for k in rows[:, 0]] + [(k, (1 - p) / block, 0) for k in rows[:, 1]]
        for i in rows[:, 0]:
            losses = [(c * value(X[i] @ w - X[k] @ w), positive) for k, c, positive in weighed]
            first, total = sum(c for c, positive in losses if positive), sum(c for c, _ in losses)
            new[i] = u1, u2 = (1 - gamma) * u[i] + gamma * np.array([first, total])
            for k, c, positive in weighed:
                g += c * (u1 - u2 * positive) / u2**2 * slope(X[i] @ w - X[k] @ w) * (X[i] - X[k]) / block
        for i, numbers in new.items():
            u[i] = numbers
        w = step(w, g)
    return w


def pesg(X, pairs, block, eta, margin, lam, pull, stages, decay, average, bounded):
    """v = (w, a, b) as one vector; the gradient of the saddle function by its definition."""
    d = X.shape[1]
    v, ref, acc, total, alpha = np.zeros(d + 2), np.zeros(d + 2), np.zeros(d + 2), np.zeros(d + 2), 0.0
    blocks = blocks_of(pairs, block)
    length = -(-len(blocks) // stages)
    for u, rows in enumerate(blocks, 1):
        P, N = X[rows[:, 0]], X[rows[:, 1]]
        high, low = P @ v[:d], N @ v[:d]
        a, b = v[d:]
        g = np.zeros(d + 2)
        g[:d] = 2 * (P.T @ (high - a) + N.T @ (low - b)) / block + 2 * alpha * (
            N.mean(axis=0) - P.mean(axis=0)
        )
        g[d:] = -2 * np.mean(high - a), -2 * np.mean(low - b)
        ascent = 2 * (margin + low.mean() - high.mean()) - 2 * alpha
        h = 2 * sum(1 + z @ z for z in X[rows.ravel()]) / block
        step = eta / (1 + eta * h) if bounded else eta
        v = v - step * (g + pull * (v - ref) + lam * v)
        alpha = max(0.0, alpha + step * ascent)
        acc, total = acc + v, total + v
        if u % length == 0 and u < length * stages:
            ref, acc, eta = acc / length, np.zeros(d + 2), eta / decay
    return (total / len(blocks) if average else v)[:d]


def sht_auc(X, y, batches, sparsity, eta, lam, bounded):
    p = np.mean(y == 1)
    centre = {1: X[y == 1].mean(axis=0), -1: X[y == -1].mean(axis=0)}
    gap = centre[-1] - centre[1]
    w = np.zeros(X.shape[1])
    for rows in batches:
        g, h = 2 * p * (1 - p) * (1 + w @ gap) * gap, 2 * p * (1 - p) * gap @ gap
        for i in rows:
            z, share = X[i] - centre[y[i]], 2 * (1 - p if y[i] == 1 else p) / len(rows)
            g, h = g + share * (w @ z) * z, h + share * z @ z
        step = 1 / (1 / eta + h) if bounded else eta
        w = (w - step * g) / (1 + step * lam)
        w[sorted(range(len(w)), key=lambda j: (-abs(w[j]), j))[sparsity:]] = 0.0
    return w
