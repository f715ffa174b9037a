"""The sparse process is the optimum of a variational one: Titsias 2009, Hensman et al. 2013."""

import numpy as np
import pytest
from engines import engine

from evroute.arms import Arms, Feedback
from evroute.bandits.problems import VectorKernel
from evroute.model.sparse.svgp import SVGPOptions

N, MEASURED = 12, 60


class Case:
    """Measurements of twelve arms, and dense formulas for any q(u) at some of them."""

    def __init__(self, seed: int, points: int) -> None:
        rng = np.random.default_rng(seed)
        self.features = rng.random((N, 2))
        self.noise_wh = rng.uniform(0.3, 0.8, N)
        self.kernel = VectorKernel("rbf", 1.0, 0.3)
        self.arms = Arms(np.arange(N), self.features, np.zeros(N))
        self.rows = rng.integers(0, N, MEASURED)
        self.wh = rng.standard_normal(MEASURED)
        given = self.kernel, self.arms, self.noise_wh
        self.model = engine(SVGPOptions, *given, rng, inducing_points=points)
        for some in np.array_split(np.arange(MEASURED), 6):
            rows = self.rows[some]
            self.model.update(
                Feedback(rows, self.features[rows], np.zeros(len(some)), self.wh[some])
            )

    def prior(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return self.kernel(a, self.features[a], b, self.features[b])

    def elbo(self, points: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> float:
        """Hensman et al. 2013, eq. 4, term by term."""
        own = self.prior(points, points) + 1e-12 * np.eye(len(points))
        cross = self.prior(points, self.rows)
        weights = np.linalg.solve(own, cross)
        variance = (
            1.0
            - np.einsum("ij,ij->j", cross, weights)
            + np.einsum("ij,ij->j", weights, covariance @ weights)
        )
        noise2 = self.noise_wh[self.rows] ** 2
        misfit = (self.wh - weights.T @ mean) ** 2 + variance
        likelihood = -0.5 * np.sum(np.log(2 * np.pi * noise2) + misfit / noise2)
        inverse = np.linalg.inv(own)
        divergence = 0.5 * (
            np.trace(inverse @ covariance)
            + mean @ inverse @ mean
            - len(points)
            + np.linalg.slogdet(own)[1]
            - np.linalg.slogdet(covariance)[1]
        )
        return float(likelihood - divergence)

    def evidence(self) -> float:
        gram = self.prior(self.rows, self.rows) + np.diag(self.noise_wh[self.rows] ** 2)
        fit = self.wh @ np.linalg.solve(gram, self.wh)
        return float(-0.5 * (MEASURED * np.log(2 * np.pi) + np.linalg.slogdet(gram)[1] + fit))


@pytest.mark.parametrize("points", [3, 6, 9])
def test_one_natural_step_of_size_one_from_any_q_gives_the_inducing_belief(points: int) -> None:
    """Natural parameters are linear in the likelihood's, so that the step forgets its start."""
    case = Case(points, points)
    found = case.model.inducing()
    own = case.prior(found.id, found.id)
    weights = np.linalg.solve(own, case.prior(found.id, case.rows))
    scaled = weights / case.noise_wh[case.rows] ** 2
    for seed in range(3):
        root = np.random.default_rng(seed).standard_normal((points, points))
        start = np.linalg.inv(root @ root.T + np.eye(points))  # a precision of q
        gradient = np.linalg.inv(own) + scaled @ weights.T - start  # of the ELBO, natural
        covariance = np.linalg.inv(start + 1.0 * gradient)
        mean = covariance @ (scaled @ case.wh)
        np.testing.assert_allclose(found.mean_wh, mean, atol=1e-6)
        np.testing.assert_allclose(found.covariance_wh2, covariance, atol=1e-6)


@pytest.mark.parametrize("points", [3, 6, 9, N])
def test_no_q_has_a_greater_elbo_and_none_is_above_the_evidence(points: int) -> None:
    case, rng = Case(points, points), np.random.default_rng(1)
    found, best = case.model.inducing(), case.model.elbo()
    own = case.elbo(found.id, found.mean_wh, found.covariance_wh2)
    assert best == pytest.approx(own, rel=1e-6)
    assert best <= case.evidence() + 1e-8
    for size in (1e-3, 0.03, 0.3):
        for _ in range(20):
            root = np.linalg.cholesky(found.covariance_wh2)
            turned = root @ (np.eye(len(root)) + size * rng.standard_normal(root.shape))
            mean = found.mean_wh + size * root @ rng.standard_normal(len(root))
            assert case.elbo(found.id, mean, turned @ turned.T) < best


def test_the_elbo_is_the_evidence_with_all_points_and_rises_with_nested_ones() -> None:
    whole = Case(0, N)
    assert whole.model.elbo() == pytest.approx(whole.evidence(), rel=1e-9)
    pivots = whole.model.sparse.arms.id  # every order of arms has nested beginnings
    elbos = []
    for number in range(1, N + 1):
        whole.model.sparse.set_dictionary(np.arange(number))
        elbos.append(whole.model.elbo())
        assert set(whole.model.inducing().id.tolist()) == set(pivots[:number].tolist())
    assert np.all(np.diff(elbos) > 0)
    assert elbos[-1] == pytest.approx(whole.evidence(), rel=1e-9)
