"""Congested worlds: the kinds rough, drift and daily of `Conditions`, unknown to the learner.

The random error of each edge in `Rough` has a kernel that no learner here has. Half of its variance
is a field over the map with an exponential covariance (Matérn-1/2 of the distance in metres,
isotropic), sampled by random Fourier features (Rahimi & Recht 2007). The other half is independent
between edges. The learners' kernels are Matérn-5/2 between contexts and a Matérn kernel on the
graph of the roads. Factors of trips have heavy tails, and each measured travel time has separate
noise.
"""

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from evroute.arrays import FloatArray
from evroute.network.road_network import RoadNetwork
from evroute.worlds.conditions import Conditions
from evroute.worlds.demand.trips import S_PER_H


class Congested(Conditions):
    """Conditions with the cars, noise and zones of the shipped world ``judged-congestion``."""

    zones: int = Field(12, ge=1)
    zone_radius_m: float = Field(350.0, gt=0)
    kinetic: bool = True
    from_standstill: bool = True
    turn_braking: bool = True
    noise_share: float = Field(0.2, ge=0)
    noise_spread: float = Field(0.5, ge=0, le=3)
    trip_std: float = Field(0.05, ge=0)
    time_std: float = Field(0.05, ge=0, le=1)


class Daily(Congested):
    """Options of the world of free flow at night and other zones in each quarter of the day."""

    zone_sets: ClassVar[int] = 3

    kind: Literal["daily"] = "daily"

    def congested_zones(self, t: int, departed_s: float) -> int:
        """Return the set of zones that is congested: 0 before 6 h, then 1, 2 and 3 to midnight."""
        return int(departed_s / S_PER_H % 24 // 6)


class Drift(Congested):
    """Options of the world whose congestion changes between trips.

    Parameters
    ----------
    changes
        Last round of free flow, and last round of the first set of zones.
    """

    zone_sets: ClassVar[int] = 2

    kind: Literal["drift"] = "drift"
    changes: tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(ge=0)]] = (70, 140)

    def congested_zones(self, t: int, departed_s: float) -> int:
        """Return the set of zones that is congested in round ``t``: 0, then 1, then 2."""
        return sum(t > last for last in self.changes)


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
        return np.exp(self.error_std * error - 0.5 * self.error_std**2)

    def trip_deviates(self, rng: np.random.Generator) -> FloatArray:
        """Return the deviates of a trip's energy and time, (2,), the first by Student's t."""
        unit = np.sqrt((self.trip_freedom - 2.0) / self.trip_freedom)
        return np.array([rng.standard_t(self.trip_freedom) * unit, rng.standard_normal()])
