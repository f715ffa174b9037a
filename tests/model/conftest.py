"""A small world for models: random line graph, contexts, kernel, and textbook formulas."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
from scipy.sparse import csc_matrix

from evroute.arms import Arms, Feedback
from evroute.model.exact import ExactGP
from evroute.model.kernels.arms import EdgeContextKernel
from evroute.model.kernels.graph_matern import GraphMatern


@dataclass
class World:
    """A kernel over n edges, reference arms and noise, with a record of all measurements."""

    kernel: EdgeContextKernel
    arms: Arms
    noise_std_wh: np.ndarray
    rng: np.random.Generator
    edge: list[int] = field(default_factory=list)
    features: list[np.ndarray] = field(default_factory=list)
    residual_wh: list[float] = field(default_factory=list)

    def model(self, *, prior_factor=None) -> ExactGP:
        return ExactGP(self.kernel, self.arms, self.noise_std_wh, prior_factor=prior_factor)

    def trip(self, k: int, *, among: int | None = None, moved: bool = False) -> Feedback:
        """Measure k of the first ``among`` edges, ``moved`` ones in one of a few other contexts."""
        edge = self.rng.integers(0, among or len(self.arms), k)
        features = self.arms.features[edge].copy()
        if moved:
            features[::2, 0] += self.rng.integers(0, 3, len(features[::2]))
        feedback = Feedback(edge, features, self.rng.normal(size=k), self.rng.normal(0.0, 8.0, k))
        self.edge += edge.tolist()
        self.features += list(features)
        self.residual_wh += (feedback.energy_wh - feedback.prior_mean_wh).tolist()
        return feedback

    def textbook(self, arms: Arms) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and covariance of eqs. 2-3 on all single measurements, with repeats."""
        edge, features = np.array(self.edge, dtype=int), np.array(self.features).reshape(-1, 3)
        cross = self.kernel(arms.id, arms.features, edge, features)
        gram = self.kernel(edge, features, edge, features) + np.diag(self.noise_std_wh[edge] ** 2)
        mean = arms.prior_mean_wh + cross @ np.linalg.solve(gram, np.array(self.residual_wh))
        prior = self.kernel(arms.id, arms.features, arms.id, arms.features)
        return mean, prior - cross @ np.linalg.solve(gram, cross.T)


@pytest.fixture
def random_laplacian() -> Callable[[int, int], csc_matrix]:
    """Return the incidence Laplacian of a random line graph: n edges, two weighted turns each."""

    def make(n: int, seed: int) -> csc_matrix:
        rng = np.random.default_rng(seed)
        incidence = np.zeros((n, 2 * n))
        for turn, edge in enumerate(np.repeat(np.arange(n), 2)):
            other = (edge + rng.integers(1, n)) % n
            weight = rng.uniform(0.3, 5.0)
            incidence[edge, turn], incidence[other, turn] = -weight, weight
        return csc_matrix(incidence @ incidence.T)

    return make


@pytest.fixture
def make_world(random_laplacian: Callable[[int, int], csc_matrix]) -> Callable[..., World]:
    """Return a maker of worlds of n edges with three-dimensional contexts and noise by edge."""

    def make(n: int = 40, seed: int = 0) -> World:
        rng = np.random.default_rng(seed)
        kernel = EdgeContextKernel(
            GraphMatern(random_laplacian(n, seed)), np.full(n, 20.0**0.5), np.array([1.0, 2.0, 0.5])
        )
        arms = Arms(np.arange(n), rng.normal(size=(n, 3)), rng.normal(0.0, 5.0, n))
        return World(kernel, arms, rng.uniform(0.5, 2.0, n), rng)

    return make
