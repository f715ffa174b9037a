"""EnergyPrior: what is believed of every edge before any trip: eq. 8 as the mean, and spreads scaled by its own.

Sandberg et al., section 4.1: the prior standard deviation of an edge's expected energy is 0.25 and
that of the noise
0.1 times the standard deviation of eq. 8 over all edges of the network. One size for a street of 5
m and a road of 4 km makes drawn energies absurd on short edges; the spread "dissipation" is our
alternative: in proportion to what the edge itself dissipates.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from evroute.arms import Arms
from evroute.arrays import FloatArray, freeze
from evroute.energy.driving import DrivingConditions
from evroute.energy.longitudinal import EnergyParts, energy_parts, potential_wh
from evroute.energy.vehicle import Vehicle
from evroute.errors import UnknownNameError
from evroute.network import context
from evroute.network.road_network import RoadNetwork

PRIOR_SHARE = 0.25
NOISE_SHARE = 0.1

SPREADS: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "paper": lambda mean_wh, dissipated_wh: np.full(len(mean_wh), PRIOR_SHARE * mean_wh.std()),
    "dissipation": lambda mean_wh, dissipated_wh: PRIOR_SHARE * dissipated_wh,
}
"""Prior standard deviations (n,) by name, from eq. 8 and the part of it that does not come back, Wh."""
DEFAULT_SPREAD = "paper"
EQ8_CONDITIONS = DrivingConditions()


@dataclass(frozen=True, slots=True, eq=False)
class EnergyPrior:
    """Prior of the expected energy of n edges for one vehicle.

    parts: eq. 8 by cause.  mean_wh: (n,) their sum.  std_wh: (n,) prior standard deviations, Wh.
    noise_std_wh: (n,) standard deviation of one measurement, Wh.  potential_wh: (n,) ``m g dz``,
    Wh.
    """

    parts: EnergyParts
    mean_wh: FloatArray
    std_wh: FloatArray
    noise_std_wh: FloatArray
    potential_wh: FloatArray

    def __post_init__(self) -> None:
        n = len(self.mean_wh)
        freeze(
            self,
            mean_wh=(self.mean_wh, np.float64, (n,)),
            std_wh=(self.std_wh, np.float64, (n,)),
            noise_std_wh=(self.noise_std_wh, np.float64, (n,)),
            potential_wh=(self.potential_wh, np.float64, (n,)),
        )

    @property
    def dissipated_wh(self) -> FloatArray:
        """(n,) energy that does not come back, ``mean - potential``, never negative, Wh."""
        dissipated: FloatArray = self.mean_wh - self.potential_wh
        return dissipated

    def negative_share(self, variance_wh2: FloatArray) -> float:
        """Return the expected share of edges that a draw puts below their potential: a shifted weight below 0.

        variance_wh2: (n,) of the draws, Wh².
        """
        return float(ndtr(-self.dissipated_wh / np.sqrt(variance_wh2)).mean())


def check_spread(name: str) -> str:
    """Return the name of a spread if there is one of that name.

    Raises
    ------
    UnknownNameError
        If there is none; the message lists them.
    """
    if name not in SPREADS:
        raise UnknownNameError(f"unknown prior '{name}'; there are {', '.join(SPREADS)}")
    return name


def fit(
    network: RoadNetwork,
    vehicle: Vehicle,
    spread: str = DEFAULT_SPREAD,
    conditions: DrivingConditions = EQ8_CONDITIONS,
) -> EnergyPrior:
    """Evaluate eq. 8 on every edge at its speed limit, or under conditions; ``spread`` is one of `SPREADS`.

    Raises
    ------
    UnknownNameError
        If there is no such spread; the message lists them.
    """
    check_spread(spread)
    vehicle = conditions.load(vehicle)
    parts = energy_parts(
        vehicle,
        network.length_m,
        network.climb_m,
        conditions.speed_factor * network.speed_mps,
        headwind_mps=conditions.headwind_mps(network),
        air_density_kgpm3=conditions.air_density_kgpm3,
    )
    mean_wh, potential = parts.total_wh, potential_wh(vehicle, network.climb_m)
    return EnergyPrior(
        parts=parts,
        mean_wh=mean_wh,
        std_wh=SPREADS[spread](mean_wh, mean_wh - potential),
        noise_std_wh=np.full(network.n_edges, NOISE_SHARE * mean_wh.std()),
        potential_wh=potential,
    )


def all_arms(network: RoadNetwork, prior: EnergyPrior) -> Arms:
    """Collect every edge of a network as an arm, with its free-flow context and prior mean."""
    return Arms(np.arange(network.n_edges), context.build(network).features, prior.mean_wh)
