"""EnergyPrior: what is believed of every edge before any trip: eq. 8 as the mean, and spreads scaled by its own.

Sandberg et al., section 4.1: the prior standard deviation of an edge's expected energy is 0.25 and that of the noise
0.1 times the standard deviation of eq. 8 over all edges of the network.
"""

from dataclasses import dataclass

import numpy as np

from evroute.arms import Arms
from evroute.arrays import FloatArray, freeze
from evroute.energy.longitudinal import EnergyParts, energy_parts, potential_wh
from evroute.energy.vehicle import Vehicle
from evroute.network import context
from evroute.network.road_network import RoadNetwork

PRIOR_SHARE = 0.25
NOISE_SHARE = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class EnergyPrior:
    """Prior of the expected energy of n edges for one vehicle.

    parts: eq. 8 by cause.  mean_wh: (n,) their sum.  std_wh: one prior standard deviation, Wh.
    noise_std_wh: (n,) standard deviation of one measurement, Wh.  potential_wh: (n,) ``m g dz``, Wh.
    """

    parts: EnergyParts
    mean_wh: FloatArray
    std_wh: float
    noise_std_wh: FloatArray
    potential_wh: FloatArray

    def __post_init__(self) -> None:
        n = len(self.mean_wh)
        freeze(
            self,
            mean_wh=(self.mean_wh, np.float64, (n,)),
            noise_std_wh=(self.noise_std_wh, np.float64, (n,)),
            potential_wh=(self.potential_wh, np.float64, (n,)),
        )

    @property
    def dissipated_wh(self) -> FloatArray:
        """(n,) energy that does not come back, ``mean - potential``, never negative, Wh."""
        dissipated: FloatArray = self.mean_wh - self.potential_wh
        return dissipated


def fit(network: RoadNetwork, vehicle: Vehicle) -> EnergyPrior:
    """Evaluate eq. 8 on every edge at its speed limit and scale the spreads by its standard deviation."""
    parts = energy_parts(vehicle, network.length_m, network.climb_m, network.speed_mps)
    mean_wh = parts.total_wh
    spread_wh = float(mean_wh.std())
    return EnergyPrior(
        parts=parts,
        mean_wh=mean_wh,
        std_wh=PRIOR_SHARE * spread_wh,
        noise_std_wh=np.full(network.n_edges, NOISE_SHARE * spread_wh),
        potential_wh=potential_wh(vehicle, network.climb_m),
    )


def all_arms(network: RoadNetwork, prior: EnergyPrior) -> Arms:
    """Collect every edge of a network as an arm, with its free-flow context and prior mean."""
    return Arms(np.arange(network.n_edges), context.build(network).features, prior.mean_wh)
