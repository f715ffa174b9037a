"""Problems for kernel bandits: in each round one of several arms with contexts is pulled.

Sources: Zenati, Bietti, Diemert, Mairal, Martin & Gaillard, *Efficient Kernel UCB for Contextual
Bandits*, AISTATS 2022, section 6 (``bump``, ``chessboard``, ``step-diagonal``). ``gp-surface`` is
ours. It replaces the data sets of Calandriello et al. 2020, which are not available. A cost is the
negative of a reward.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from evroute.arms import Arms
from evroute.arrays import FloatArray, IntArray
from evroute.errors import require
from evroute.model.base import lower_factor
from evroute.model.context_kernels import context_kernel
from evroute.model.kernels.arms import Covariance


class VectorKernel:
    """A variance times a kernel on contexts with one lengthscale.

    Parameters
    ----------
    context
        Name of the kernel, see `context_kernels.KERNELS`.
    variance
        Prior variance of each arm, positive.
    lengthscale
        Of every dimension, positive.

    Raises
    ------
    ValueError
        If the variance or the lengthscale is not positive and finite.
    """

    def __init__(self, context: str, variance: float, lengthscale: float) -> None:
        for name, value in (("variance", variance), ("lengthscale", lengthscale)):
            require(
                0 < value < np.inf,
                f"the kernel's {name} is {value:g}. It must be positive",
                ValueError,
            )
        self._context = context_kernel(context)
        self._variance = variance
        self._lengthscale = lengthscale

    def __call__(
        self, edge_a: IntArray, features_a: FloatArray, edge_b: IntArray, features_b: FloatArray
    ) -> FloatArray:
        """Return the prior covariance between two lists of arms.

        Parameters
        ----------
        edge_a, edge_b
            (a,) and (b,) numbers of the arms, not used.
        features_a, features_b
            (a, d) and (b, d) contexts.

        Returns
        -------
        FloatArray
            (a, b) covariance.
        """
        return self._variance * self._context(
            features_a, features_b, np.full(features_a.shape[1], self._lengthscale)
        )

    def diagonal(self, edge: IntArray, features: FloatArray) -> FloatArray:
        """Return the prior variance of each arm, (a,)."""
        return np.full(len(edge), self._variance)


N_ACTIONS = 10
SURFACE_ARMS = 200


class Problem(Protocol):
    """Arms and their expected costs, round by round."""

    def arms(self, rng: np.random.Generator) -> Arms:
        """Return the arms of the next round, numbered from 0, always the same number."""

    def cost(self, arms: Arms) -> FloatArray:
        """Return the expected cost of each action, (a,)."""


class _Actions:
    """New contexts in each round, with ten fixed actions drawn once from 0, 0.01, ..., 0.99."""

    def __init__(self, n_contexts: int, rng: np.random.Generator) -> None:
        self.n_contexts = n_contexts
        self.actions = rng.choice(100, N_ACTIONS, replace=False) / 100.0

    def arms(self, rng: np.random.Generator) -> Arms:
        """Return the actions in the context of the next round."""
        features = np.column_stack(
            [
                np.broadcast_to(rng.random(self.n_contexts), (N_ACTIONS, self.n_contexts)),
                self.actions,
            ]
        )
        return Arms(np.arange(N_ACTIONS), features, np.zeros(N_ACTIONS))


class Bump(_Actions):
    """Reward ``max(0, 1 - |a - a*| - w* . (x - x*))`` over contexts x in five dimensions."""

    def __init__(self, kernel: Covariance, rng: np.random.Generator) -> None:
        super().__init__(5, rng)
        self._best = rng.choice(self.actions)
        self._centre, self._slope = rng.random(5), rng.uniform(-1.0, 1.0, 5)

    def cost(self, arms: Arms) -> FloatArray:
        """Return the expected cost of each action."""
        x, a = arms.features[:, :5], arms.features[:, 5]
        return -np.maximum(0.0, 1.0 - np.abs(a - self._best) - (x - self._centre) @ self._slope)


class Chessboard(_Actions):
    """Sixteen cells of context and action: three have reward 1, three 1/2, the others 0."""

    _CELLS = np.array([[0, 0.5, 0, 0], [1, 0, 1, 0], [0, 0.5, 0, 0.5], [0, 0, 1, 0]])

    def __init__(self, kernel: Covariance, rng: np.random.Generator) -> None:
        super().__init__(1, rng)

    def cost(self, arms: Arms) -> FloatArray:
        """Return the expected cost of each action."""
        row, column = np.minimum((4 * arms.features).astype(int), 3).T
        return -self._CELLS[row, column]


class StepDiagonal(_Actions):
    """A band of 1 and a band of 1/2 along the diagonal of context and action."""

    def __init__(self, kernel: Covariance, rng: np.random.Generator) -> None:
        super().__init__(1, rng)

    def cost(self, arms: Arms) -> FloatArray:
        """Return the expected cost of each action."""
        difference = arms.features[:, 0] - arms.features[:, 1]
        high, low = np.abs(difference - 0.15) < 0.1, np.abs(difference + 0.15) < 0.1
        return -np.where(high, 1.0, np.where(low, 0.5, 0.0))


class GpSurface:
    """Two hundred fixed arms in the unit square. The costs are a draw of the kernel."""

    def __init__(self, kernel: Covariance, rng: np.random.Generator) -> None:
        number = np.arange(SURFACE_ARMS)
        self._arms = Arms(number, rng.random((SURFACE_ARMS, 2)), np.zeros(SURFACE_ARMS))
        x = self._arms.features
        covariance = kernel(number, x, number, x) + 1e-8 * np.eye(SURFACE_ARMS)
        self._cost = lower_factor(covariance, "the kernel of the arms") @ rng.standard_normal(
            SURFACE_ARMS
        )

    def arms(self, rng: np.random.Generator) -> Arms:
        """Return all arms."""
        return self._arms

    def cost(self, arms: Arms) -> FloatArray:
        """Return the expected cost of each action."""
        return self._cost[arms.id]


PROBLEMS: dict[str, Callable[[Covariance, np.random.Generator], Problem]] = {
    "bump": Bump,
    "chessboard": Chessboard,
    "step-diagonal": StepDiagonal,
    "gp-surface": GpSurface,
}
