"""One trip learned by the exact model and by downdating all covariances, at the same D.

The dense way is the fastest we know: LAPACK and BLAS in place, one triangle. Run with one BLAS
thread:

    OPENBLAS_NUM_THREADS=1 EVROUTE_DATA_DIR=... python -m pytest studies/test_models.py
    --benchmark-enable

and on a busy machine with ``--benchmark-timer=time.thread_time``, which leaves out the time of
others.
"""

import numpy as np
import pytest
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dtrtri

from evroute.arms import Feedback
from evroute.energy import prior as energy_prior
from evroute.energy.vehicle import load_vehicle
from evroute.model.exact import ExactGP
from evroute.model.kernels import build
from evroute.model.kernels.arms import EdgeContextKernel
from evroute.network.catalog import cache_dir, load_network
from evroute.planning.spaces.edge_space import EdgeSpace

pytestmark = [pytest.mark.data, pytest.mark.slow]

TRIP_EDGES = 50


class DenseDowndate:
    """Posterior mean and covariance of all n edges, downdated by every trip."""

    def __init__(self, prior_covariance: np.ndarray, noise_variance: np.ndarray) -> None:
        n = len(prior_covariance)
        self.mean, self.noise_variance = np.zeros(n), noise_variance
        self.lower = np.asfortranarray(prior_covariance)
        self.cross, self.half = np.empty((TRIP_EDGES, n)), np.empty((TRIP_EDGES, n))

    def update(self, edge: np.ndarray, residual_wh: np.ndarray) -> None:
        for row, e in zip(self.cross, edge.tolist(), strict=True):
            row[:e], row[e:] = self.lower[e, :e], self.lower[e:, e]
        predictive = self.cross[:, edge] + np.diag(self.noise_variance[edge])
        inverse, _ = dtrtri(np.linalg.cholesky(predictive), lower=1)
        half = np.matmul(inverse, self.cross, out=self.half)
        self.mean += (inverse @ (residual_wh - self.mean[edge])) @ half
        dsyrk(-1.0, half.T, beta=1.0, c=self.lower, lower=1, overwrite_c=1)


@pytest.fixture(scope="module", params=["monaco", "luxembourg"])
def city(request, data_dir):
    if not request.config.getoption("benchmark_enable"):
        pytest.skip("minutes of work that tests nothing; run with --benchmark-enable")
    network = load_network(request.param)
    prior = energy_prior.fit(network, load_vehicle("reference"))
    arms = EdgeSpace(network, load_vehicle("reference")).reference
    kernel = EdgeContextKernel(build.standard_graph(network, cache_dir()), prior.std_wh, np.ones(3))
    return request.param, arms, kernel, prior.noise_std_wh, build.prior_covariance(kernel, arms)


@pytest.mark.parametrize("way", ["exact", "dense"])
@pytest.mark.parametrize("visited", [50, 300, 1000, 2000])
def test_one_trip(benchmark, city, visited, way):
    name, arms, kernel, noise_std_wh, covariance = city
    benchmark.group = f"{name}, n = {len(arms)}, D = {visited}, k = {TRIP_EDGES}"
    rng = np.random.default_rng(0)
    edges = rng.permutation(len(arms))[:visited]
    if way == "dense":
        dense = DenseDowndate(covariance, noise_std_wh**2)
    else:
        model = ExactGP(kernel, arms, noise_std_wh)
        for edge in np.array_split(edges, visited // TRIP_EDGES):
            model.update(
                Feedback(
                    edge, arms.features[edge], arms.prior_mean_wh[edge], arms.prior_mean_wh[edge]
                )
            )

    def trip():
        edge = rng.choice(edges, TRIP_EDGES, replace=False)
        residual_wh = rng.normal(0.0, 10.0, TRIP_EDGES)
        if way == "dense":
            return (edge, residual_wh), {}
        prior_mean_wh = arms.prior_mean_wh[edge]
        return (
            Feedback(edge, arms.features[edge], prior_mean_wh, prior_mean_wh + residual_wh),
        ), {}

    benchmark.pedantic(
        dense.update if way == "dense" else model.update, setup=trip, rounds=30, warmup_rounds=2
    )


def test_first_belief_on_a_built_and_cached_network(benchmark, city, data_dir):
    """Everything that a run does before its first search, kernel from the cache included."""
    name, arms, *_ = city
    benchmark.group = f"{name}, start to first update"

    def start():
        network = load_network(name)
        prior = energy_prior.fit(network, load_vehicle("reference"))
        kernel = EdgeContextKernel(
            build.standard_graph(network, cache_dir()), prior.std_wh, np.ones(3)
        )
        model = ExactGP(kernel, arms, prior.noise_std_wh)
        model.posterior(arms)
        edge = np.arange(TRIP_EDGES)
        model.update(
            Feedback(edge, arms.features[edge], arms.prior_mean_wh[edge], arms.prior_mean_wh[edge])
        )

    benchmark.pedantic(start, rounds=3, warmup_rounds=1)
