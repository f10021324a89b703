"""Yardsticks for our kernels: the bare memory traffic, and updates that touch all d weights."""

import numpy as np

from aucbench import kernels
from aucbench.kernels import rows, vectors, weights

AHEAD = 8


@kernels.kernel
def dot_axpy(X, order, w):
    """A dot and an axpy a row, with the prefetch of the methods: the least a first-order method can do."""
    for k in range(order.size):
        if k + AHEAD < order.size:
            rows.prefetch(X, order[k + AHEAD])
        i = order[k]
        rows.axpy(1e-9 * rows.dot(X, i, w), X, i, w)


@kernels.kernel
def solam(X, y, order, d, zeta, radius, kappa, l1):
    """SOLAM from zero, mean before (l1: after), each step O(d)."""
    w, mean = np.zeros(d), np.zeros(d)
    a = b = alpha = total = positives = 0.0
    for k in range(order.size):
        i, t = order[k], k + 1
        positives += y[i] > 0
        p, g, s = positives / t, zeta / np.sqrt(t), rows.dot(X, i, w)
        if not l1:
            vectors.scale(total / (total + g), mean)
            vectors.add(g / (total + g), w, mean)
        if y[i] > 0:
            slope = 2.0 * (1.0 - p) * (s - a - 1.0 - alpha)
            ascent = -2.0 * (1.0 - p) * s - 2.0 * p * (1.0 - p) * alpha
            a = vectors.clip(a + g * 2.0 * (1.0 - p) * (s - a), radius * kappa)
        else:
            slope = 2.0 * p * (s - b + 1.0 + alpha)
            ascent = 2.0 * p * s - 2.0 * p * (1.0 - p) * alpha
            b = vectors.clip(b + g * 2.0 * p * (s - b), radius * kappa)
        alpha = vectors.clip(alpha + g * ascent, 2.0 * radius * kappa)
        rows.axpy(-g * slope, X, i, w)
        if l1:
            vectors.project_l1(w, radius)
            vectors.scale(total / (total + g), mean)
            vectors.add(g / (total + g), w, mean)
        else:
            size = np.sqrt(vectors.square(w))
            if size > radius:
                vectors.scale(radius / size, w)
        total += g
    return mean


@kernels.kernel
def psam(X, pairs_of_rows, d, gamma, t0, skip):
    """PSAM as Algorithm 1 has it: the shrinking and the mean touch all d weights every `skip` steps."""
    w, mean = np.zeros(d), np.zeros(d)
    count = 0.0
    for k in range(len(pairs_of_rows)):
        i, j, t = pairs_of_rows[k, 0], pairs_of_rows[k, 1], k + 1
        step = 1.0 / (gamma * (t + t0))
        slack = 1.0 - (rows.dot(X, i, w) - rows.dot(X, j, w))
        square = difference_norm(X, i, j)
        if square > 0.0:
            move = step * min(1.0, max(0.0, slack / (step * square)))
            rows.axpy(move, X, i, w)
            rows.axpy(-move, X, j, w)
        if t % skip == 0:
            vectors.scale(1.0 - skip / (t + t0), w)
            vectors.scale(count / (count + 1.0), mean)
            vectors.add(1.0 / (count + 1.0), w, mean)
            count += 1.0
    return mean


@kernels.kernel
def psam_dense(X, pairs_of_rows, d, gamma, t0, skip):
    """PSAM with the difference of a pair as a vector of all d features, each step O(d)."""
    w, mean, z = np.zeros(d), np.zeros(d), np.zeros(d)
    count = 0.0
    for k in range(len(pairs_of_rows)):
        t = k + 1
        z[:] = 0.0
        rows.axpy(1.0, X, pairs_of_rows[k, 0], z)
        rows.axpy(-1.0, X, pairs_of_rows[k, 1], z)
        step, square = 1.0 / (gamma * (t + t0)), vectors.square(z)
        if square > 0.0:
            slack = 1.0 - vectors.dot(w, z)
            vectors.add(step * min(1.0, max(0.0, slack / (step * square))), z, w)
        if t % skip == 0:
            vectors.scale(1.0 - skip / (t + t0), w)
            vectors.scale(count / (count + 1.0), mean)
            vectors.add(1.0 / (count + 1.0), w, mean)
            count += 1.0
    return mean


@kernels.kernel
def difference_norm(X, i, j):
    """|x_i - x_j|^2 of CSR rows by merging them."""
    total = 0.0
    p, q = X.indptr[i], X.indptr[j]
    while p < X.indptr[i + 1] or q < X.indptr[j + 1]:
        left = X.indices[p] if p < X.indptr[i + 1] else np.uint32(0xFFFFFFFF)
        right = X.indices[q] if q < X.indptr[j + 1] else np.uint32(0xFFFFFFFF)
        z = 0.0
        if left <= right:
            z += X.data[p]
            p += 1
        if right <= left:
            z -= X.data[q]
            q += 1
        total += z * z
    return total


@kernels.kernel
def spam(X, y, order, mean_pos, mean_neg, p, C, beta):
    """SPAM l2, each step O(d)."""
    d = mean_pos.size
    w, mean = np.zeros(d), np.zeros(d)
    for k in range(order.size):
        i, t = order[k], k + 1
        eta, s = C / np.sqrt(t), rows.dot(X, i, w)
        a, b = vectors.dot(mean_pos, w), vectors.dot(mean_neg, w)
        if y[i] > 0:
            slope = 2.0 * (1.0 - p) * (s - a) - 2.0 * (1.0 + b - a) * (1.0 - p)
        else:
            slope = 2.0 * p * (s - b) + 2.0 * (1.0 + b - a) * p
        rows.axpy(-eta * slope, X, i, w)
        vectors.scale(1.0 / (1.0 + eta * beta), w)
        vectors.scale(1.0 - 1.0 / t, mean)
        vectors.add(1.0 / t, w, mean)
    return mean


@kernels.kernel
def opauc_r(X, y, order, draws, d, eta, lam):
    """OPAUCr with the authors' centring, each step O(tau d)."""
    tau = draws.shape[1]
    w, step = np.zeros(d), np.zeros(d)
    means, sums, sketches = np.zeros((2, d)), np.zeros((2, tau)), np.zeros((2, d, tau))
    counts, r, product = np.zeros(2), np.zeros(tau), np.zeros(tau)
    for k in range(order.size):
        i = order[k]
        side = 1 if y[i] > 0 else 0
        other = 1 - side
        sign = 1.0 if side == 1 else -1.0
        counts[side] += 1.0
        for q in range(tau):
            r[q] = draws[k, q] / np.sqrt(tau)
            sums[side, q] += (r[q] - sums[side, q]) / counts[side]
        vectors.scale(1.0 - 1.0 / counts[side], means[side])
        rows.axpy(1.0 / counts[side], X, i, means[side])
        for e in range(X.indptr[i], X.indptr[i + 1]):
            for q in range(tau):
                sketches[side, X.indices[e], q] += X.data[e] * r[q]
        if counts[other] == 0.0:
            continue
        product[:] = 0.0
        for j in range(d):
            for q in range(tau):
                product[q] += sketches[other, j, q] * w[j]
        centre_w = vectors.dot(means[other], w)
        size = vectors.square(sums[other])
        margin = rows.dot(X, i, w) - centre_w
        for j in range(d):
            total = 0.0
            for q in range(tau):
                total += sketches[other, j, q] * product[q]
            spread = total / counts[other] - means[other, j] * size * centre_w
            # (x - c) (margin - sign): the part of c; that of x follows below, in O(nnz)
            step[j] = lam * w[j] - means[other, j] * (margin - sign) + spread
        rows.axpy(margin - sign, X, i, step)
        vectors.add(-eta, step, w)
    return w


@kernels.kernel
def solam_by_hand(X, y, order, u, v, zeta, radius, kappa):
    """`solam` on the l2 ball, from zero, with bounded steps, written out by hand as a loop of its own."""
    positives = 0
    a = b = alpha = weight = total = size = 0.0
    scale = 1.0
    bound = radius * kappa
    for k in range(order.size):
        if k + AHEAD < order.size:
            rows.prefetch(X, order[k + AHEAD])
        i, t = order[k], k + 1
        positive = y[i] > 0
        positives += positive
        p = positives / t
        g = zeta / np.sqrt(t)
        product, square = rows.dot_norm(X, i, u)
        s = scale * product
        sign, centre, q = (1.0, a, 2.0 * (1.0 - p)) if positive else (-1.0, b, 2.0 * p)
        g /= 1.0 + g * q * (1.0 + square)
        step = -g * q * (s - centre - sign * (1.0 + alpha))
        moved = vectors.clip(centre + g * q * (s - centre), bound)
        a, b = (moved, b) if positive else (a, moved)
        alpha = vectors.clip(alpha - g * (sign * q * s + (1.0 - 0.5 * q) * q * alpha), 2.0 * bound)
        weight += g * scale
        total += g
        if t % max(1024, u.size) == 0:
            size = scale * scale * vectors.square(u)
        size += step * (2.0 * s + step * square)
        shrink = 1.0
        if not size <= radius * radius:
            shrink = radius / np.sqrt(size)
            size = radius * radius
        if scale * shrink >= weights.SMALLEST_SCALE:
            rows.axpy2(step / scale, X, i, u, weight * step / scale, v)
            scale *= shrink
        else:
            weights.fold(u, scale * shrink, v, weight)
            scale, weight = 1.0, 0.0
            rows.axpy(step * shrink, X, i, u)
    return weights.mean(u, v, weight, total)
