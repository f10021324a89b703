"""Independent solutions of problems over all pairs, written out, and of the univariate ones."""

import numpy as np
from scipy import optimize


def all_pairs(X, y):
    """(n+ n-, d) differences."""
    return (X[y == 1][:, None] - X[y == -1][None]).reshape(-1, X.shape[1])


def squared_hinge_optimum(X, y, C):
    """Newton's method on the pairs, and the norm of the gradient at its end against that at zero."""
    Z = all_pairs(X, y)

    def gradient(w):
        return w - 2 * C * Z.T @ np.maximum(0, 1 - Z @ w)

    def value(w):
        return 0.5 * w @ w + C * np.sum(np.maximum(0, 1 - Z @ w) ** 2)

    w = np.zeros(X.shape[1])
    for _ in range(200):
        A = Z[Z @ w < 1]
        step = np.linalg.solve(np.eye(w.size) + 2 * C * A.T @ A, gradient(w))
        length = 1.0
        while value(w - length * step) > value(w) and length > 1e-12:
            length /= 2
        w = w - length * step
    return w, np.linalg.norm(gradient(w)) / np.linalg.norm(gradient(np.zeros_like(w)))


def hinge_optimum(X, y, lam):
    """The hinge over pairs as a quadratic programme with one slack a pair, by sequential least squares.

    These are good to some 1e-8. They tell on which side of the margin each pair is, or whether it is at it;
    then the conditions of the optimum are a linear system: lam w = sum of z / N over pairs inside of the
    margin + sum of a z over those at it, for which w.z = 1.
    """
    Z = all_pairs(X, y)
    N = len(Z)

    def value(v):
        return 0.5 * lam * v[: Z.shape[1]] @ v[: Z.shape[1]] + v[Z.shape[1] :].sum() / N

    def slope(v):
        return np.concatenate([lam * v[: Z.shape[1]], np.full(N, 1 / N)])

    start = np.concatenate([np.zeros(Z.shape[1]), np.ones(N)])
    matrix = np.hstack([Z, np.eye(N)])
    found = optimize.minimize(
        value, start, jac=slope, method="SLSQP",
        bounds=[(None, None)] * Z.shape[1] + [(0, None)] * N,
        constraints={"type": "ineq", "fun": lambda v: matrix @ v - 1, "jac": lambda v: matrix},
        options={"ftol": 1e-16, "maxiter": 500},
    )  # fmt: skip
    d = Z.shape[1]
    margins = Z @ found.x[:d]
    at = Z[np.abs(margins - 1) < 1e-6]
    system = np.block([[lam * np.eye(d), -at.T], [at, np.zeros((len(at), len(at)))]])
    wanted = np.concatenate([Z[margins <= 1 - 1e-6].sum(axis=0) / N, np.ones(len(at))])
    solved = np.linalg.lstsq(system, wanted)[0]
    assert np.all((solved[d:] > -1e-9) & (solved[d:] < 1 / N + 1e-9))
    assert np.abs(solved[:d] - found.x[:d]).max() < 1e-6
    return solved[:d]


def hinge_value(w, X, y, lam):
    return 0.5 * lam * w @ w + np.maximum(0, 1 - all_pairs(X, y) @ w).mean()


def logistic_gradient(w, X, y, lam, b=0.0):
    """The gradient of the balanced logistic loss by w, and its derivative by b."""
    P, N = X[y == 1], X[y == -1]
    pull_pos = 1 / (1 + np.exp(P @ w + b))
    pull_neg = 1 / (1 + np.exp(-N @ w - b))
    by_w = lam * w - 0.5 * ((P * pull_pos[:, None]).mean(axis=0) - (N * pull_neg[:, None]).mean(axis=0))
    return by_w, -0.5 * (pull_pos.mean() - pull_neg.mean())


def block_least_squares(run, lam, **fields):
    """The least squares over pairs, of which each block with both classes contributes the mean moments."""
    blocks = [all_pairs(run.X[rows], run.y[rows]) for rows in run.rows if len(set(run.y[rows])) == 2]
    second = np.mean([Z.T @ Z / len(Z) for Z in blocks], axis=0)
    first = np.mean([Z.mean(axis=0) for Z in blocks], axis=0)
    return np.linalg.solve(second + lam * np.eye(first.size), first)


def sgd_classifier(name):
    """One call of scikit-learn's SGDClassifier on the rows in order, classes balanced."""
    from sklearn.linear_model import SGDClassifier

    def fit(run, alpha, average, intercept):
        share = np.mean(run.y == 1)
        model = SGDClassifier(
            loss="hinge" if name == "sgd_hinge" else "log_loss",
            alpha=alpha,
            average=average,
            class_weight={1: 0.5 / share, -1: 0.5 / (1 - share)},
            fit_intercept=intercept,
            shuffle=False,
        )
        model.partial_fit(run.X[run.rows], run.y[run.rows], classes=[-1, 1])
        return model.coef_[0], float(np.ravel(model.intercept_)[0])

    return fit
