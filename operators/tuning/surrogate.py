"""Surrogate: a Gaussian process that says what a point not yet measured may bring."""

from typing import Any

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

Floats = np.ndarray[Any, np.dtype[np.float64]]

LENGTH = 1.5  # of a feature's whole range: how far a measurement speaks, before any is known
LENGTH_SPREAD = 1.0  # of ln(length)
NUGGET = -3.0  # logit of the share of variance that even the nearest neighbours do not share
NUGGET_SPREAD = 1.0
STEPS = 15
JITTER = 1e-8


class Kernel:
    """exp(-distance), the distance a weighted sum over features: code generators make cliffs,
    not hills. Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), chapter 5,
    for how its weights are found (automatic relevance determination)."""

    def __init__(self, weights: Floats, nugget: float) -> None:
        """weights: by feature, of its distance. nugget: share of the variance of a single point's
        own, noise included."""
        self.weights, self.nugget = weights, nugget

    def __call__(self, left: Floats, right: Floats) -> Floats:
        """What points have in common, but for their own share."""
        return (1 - self.nugget) * self.closeness(left, right)

    def closeness(self, left: Floats, right: Floats) -> Floats:
        """1 for the same point, 0 for what tells nothing."""
        apart = cdist(left * self.weights, right * self.weights, "cityblock")
        return np.asarray(np.exp(-apart))


def fit_kernel(features: Floats, values: Floats, noise: Floats) -> Kernel:
    """The likeliest weights, with a prior. features: by point; values: by point and objective,
    each objective standardised; noise: variance by point, as far as it is known."""
    count, width = features.shape
    apart = np.abs(features.T[:, :, None] - features.T[:, None, :])
    start = np.append(np.full(width, -np.log(LENGTH)), NUGGET)
    spread = np.append(np.full(width, LENGTH_SPREAD), NUGGET_SPREAD)

    def cost(theta: Floats) -> tuple[float, Floats]:
        """Negative logarithm of the posterior, and its gradient."""
        weights, nugget = np.exp(theta[:-1]), _sigmoid(theta[-1])
        close = np.exp(-np.tensordot(weights, apart, axes=1))
        covariance = (1 - nugget) * close + np.diag(nugget + JITTER + noise)
        lower = cholesky(covariance, lower=True)
        inverse = cho_solve((lower, True), np.eye(count))
        solved = inverse @ values
        fit = float((values * solved).sum()) / values.shape[1]
        pull = (theta - start) / spread
        total = 0.5 * fit + float(np.log(np.diag(lower)).sum()) + 0.5 * float(pull @ pull)
        outer = inverse - solved @ solved.T / values.shape[1]
        by_weight = np.tensordot(apart, outer * close, axes=([1, 2], [0, 1]))
        gradient = -0.5 * (1 - nugget) * weights * by_weight
        by_nugget = 0.5 * (np.trace(outer) - (outer * close).sum()) * nugget * (1 - nugget)
        return total, np.append(gradient, by_nugget) + pull / spread

    found = minimize(
        cost,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(-5.0, 5.0)] * width + [(-8.0, 2.0)],
        options={"maxiter": STEPS},
    )
    return Kernel(np.exp(found.x[:-1]), float(_sigmoid(found.x[-1])))


class Surrogate:
    """Rasmussen and Williams, algorithm 2.1, one covariance for all objectives."""

    def __init__(self, kernel: Kernel, features: Floats, values: Floats, noise: Floats) -> None:
        """See fit_kernel."""
        self._kernel, self._features = kernel, features
        shared = kernel(features, features)
        self._lower = cholesky(shared + np.diag(kernel.nugget + JITTER + noise), lower=True)
        self._weights = cho_solve((self._lower, True), values)
        self.fitted: Floats = np.asarray(shared @ self._weights)
        """What is thought of the points themselves, by point and objective."""

    def over(self, features: Floats) -> "Posterior":
        """What is known of these points."""
        close = self._kernel.closeness(features, self._features)
        shared = (1 - self._kernel.nugget) * close
        known = solve_triangular(self._lower, shared.T, lower=True)
        return Posterior(self._kernel, features, close, shared @ self._weights, known)


class Posterior:
    """close: how close each point is to each that was measured; mean: by point and objective;
    deviation: by point."""

    def __init__(
        self, kernel: Kernel, features: Floats, close: Floats, mean: Floats, known: Floats
    ) -> None:
        self._kernel, self._features = kernel, features
        self.close, self.mean = close, mean
        self._known = known
        self._variance: Floats = 1 - (known**2).sum(axis=0)

    @property
    def deviation(self) -> Floats:
        return np.asarray(np.sqrt(np.maximum(self._variance, 1e-9)))

    def believe(self, place: int) -> None:
        """Take what is expected of a point for measured: others around it are worth less now.

        The Kriging believer (Ginsbourger, Le Riche, Carraro, 2010)."""
        own = self._features[place : place + 1]
        shared = self._kernel(own, self._features)[0] - self._known[:, place] @ self._known
        step = shared / float(np.sqrt(max(float(self._variance[place]), 1e-9)))
        self._known = np.concatenate([self._known, step[None, :]])
        self._variance = self._variance - step**2


def _sigmoid(value: float) -> float:
    return float(1 / (1 + np.exp(-value)))
