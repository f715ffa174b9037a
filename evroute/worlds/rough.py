"""Rough: congestion under a random error of each edge whose kernel no learner here has.

Half of the variance of the error is a field over the map with an exponential covariance
(Matérn-1/2 of the distance in metres, isotropic), sampled by random Fourier features
(Rahimi & Recht 2007); the other half is independent between edges. The learners' kernels are
Matérn-5/2 between contexts and a Matérn kernel on the graph of the roads. Factors of trips have
heavy tails, and each measured travel time has separate noise.
"""

from typing import Literal

import numpy as np
from pydantic import Field

from evroute.arrays import FloatArray
from evroute.network.road_network import RoadNetwork
from evroute.worlds.conditions import Congested

FEATURES = 300


class Rough(Congested):
    """Options of the world of congestion with random errors of the edges.

    Parameters
    ----------
    error_std
        Standard deviation of the logarithm of the factor of an edge's dissipated energy.
    error_range_m
        Distance at which the correlation of the field is 1/e, m.
    trip_freedom
        Degrees of freedom of Student's t distribution of the factor of a trip.
    """

    kind: Literal["rough"] = "rough"
    edge_time_std: float = Field(0.2, ge=0, le=1)
    error_std: float = Field(0.3, ge=0, le=1)
    error_range_m: float = Field(500.0, gt=0)
    trip_freedom: float = Field(4.0, gt=2)

    def dissipation_factor(self, network: RoadNetwork, rng: np.random.Generator) -> FloatArray:
        """Return the factor of the dissipated energy of each edge, (n,), of mean 1."""
        # the spectral density of an exponential covariance in the plane is Student's t with 1
        # degree of freedom
        frequency = rng.standard_normal((2, FEATURES)) / np.abs(rng.standard_normal(FEATURES))
        phase = rng.uniform(0.0, 2.0 * np.pi, FEATURES)
        waves = np.cos(network.middle_m / self.error_range_m @ frequency + phase)
        field = waves.sum(axis=1) * np.sqrt(2.0 / FEATURES)
        error = (field + rng.standard_normal(network.n_edges)) * np.sqrt(0.5)
        factor: FloatArray = np.exp(self.error_std * error - 0.5 * self.error_std**2)
        return factor

    def trip_deviates(self, rng: np.random.Generator) -> FloatArray:
        """Return the deviates of a trip's energy and time, (2,), the first by Student's t."""
        unit = np.sqrt((self.trip_freedom - 2.0) / self.trip_freedom)
        return np.array([rng.standard_t(self.trip_freedom) * unit, rng.standard_normal()])
