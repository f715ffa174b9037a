"""KORS: which measured arms enter a dictionary that only grows, in one pass.

Source: Zenati, Bietti, Diemert, Mairal, Martin & Gaillard, *Efficient Kernel UCB for Contextual
Bandits*, AISTATS 2022, section 4 and eq. 41, after Calandriello, Lazaric & Valko, *Second-order
kernel online convex optimization with adaptive sketching*, 2017. The score is the paper's. Its
published program computes only the quadratic form that eq. 41 subtracts, and so prefers points that
the dictionary explains already. Weights are ``1 / sqrt(p)``.
"""

import numpy as np
from scipy.linalg import solve_triangular

from evroute.arrays import FloatArray


class Kors:
    """Scores of new points against a weighted dictionary.

    Parameters
    ----------
    mu
        Accuracy of the projection, lambda in the paper.
    eps
        Accuracy of the scores.

    Attributes
    ----------
    p
        (m,) inclusion probability of each dictionary point.
    factor
        (m, m) Cholesky factor of ``S K_ZZ S + mu I``, S the weights.
    """

    def __init__(self, mu: float, eps: float) -> None:
        self._mu = mu
        self._eps = eps
        self.p = np.empty(0)
        self.factor = np.empty((0, 0))

    def score(self, prior: float, with_points: FloatArray) -> float:
        """Return tau~ of a point, in [0, 1 + eps).

        prior: its prior variance.  with_points: (m,) its covariance with the dictionary.
        """
        explained = self._spread(with_points)
        rest = max(0.0, prior - float(explained @ explained))
        return (1.0 + self._eps) * rest / (rest + self._mu)

    def add(self, prior: float, with_points: FloatArray, p: float) -> None:
        """Add a point to the dictionary.

        Parameters
        ----------
        prior
            Its prior variance.
        with_points
            (m,) its covariance with the dictionary.
        p
            Its inclusion probability.
        """
        m = len(self.p)
        row = self._spread(with_points) / np.sqrt(p)
        factor = np.zeros((m + 1, m + 1))
        factor[:m, :m], factor[m, :m] = self.factor, row
        factor[m, m] = np.sqrt(prior / p + self._mu - row @ row)
        self.factor, self.p = factor, np.append(self.p, p)

    def _spread(self, with_points: FloatArray) -> FloatArray:
        if not len(self.p):
            return np.empty(0)
        spread: FloatArray = solve_triangular(
            self.factor, with_points / np.sqrt(self.p), lower=True
        )
        return spread
