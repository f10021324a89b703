"""Values and gradients over all pairs, written out, and of the univariate losses; two reference solutions."""

import numpy as np


def all_pairs(X, y):
    """(n+ n-, d) differences."""
    return (X[y == 1][:, None] - X[y == -1][None]).reshape(-1, X.shape[1])


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
    """Least squares over pairs, with the mean moments of the blocks that have both classes."""
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
