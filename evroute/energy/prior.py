"""EnergyPrior: the belief about every arm before any trip, with physics as its mean.

Sandberg et al., section 4.1: the prior standard deviation of an edge's expected energy is 0.25, and
the standard deviation of the noise 0.1, times the standard deviation of eq. 8 over all edges of the
network. One deviation for a street of 5 m and a road of 4 km makes drawn energies absurd on short
edges. The spread "dissipation" is our alternative: it is proportional to the energy that the edge
dissipates.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evroute.arrays import FloatArray, IntArray, freeze
from evroute.energy.driving import DrivingConditions
from evroute.energy.longitudinal import EnergyParts, edge_energy, potential_wh
from evroute.energy.vehicle import Vehicle
from evroute.errors import UnknownNameError
from evroute.network.road_network import RoadNetwork

PRIOR_SHARE = 0.25
NOISE_SHARE = 0.1

SPREADS: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "paper": lambda mean_wh, dissipated_wh: np.full(len(mean_wh), PRIOR_SHARE * mean_wh.std()),
    "dissipation": lambda mean_wh, dissipated_wh: PRIOR_SHARE * dissipated_wh,
}
"""Prior standard deviations (a,) by name, from mean and dissipated energy, (a,) Wh each."""
DEFAULT_SPREAD = "paper"
EQ8_CONDITIONS = DrivingConditions()


@dataclass(frozen=True, slots=True, eq=False)
class EnergyPrior:
    """Prior of the expected energy of the a arms of a space for one vehicle.

    Parameters
    ----------
    mean_wh
        (a,) expected energy by physics, Wh.
    std_wh
        (a,) prior standard deviation, Wh.
    noise_std_wh
        (a,) standard deviation of one measurement, Wh.
    potential_wh
        (a,) rise of the potential, Wh: ``m g dz`` of edges, total energy of turns.
    """

    mean_wh: FloatArray
    std_wh: FloatArray
    noise_std_wh: FloatArray
    potential_wh: FloatArray

    def __post_init__(self) -> None:
        a = len(self.mean_wh)
        freeze(self, **{name: (getattr(self, name), np.float64, (a,)) for name in self.__slots__})

    @property
    def dissipated_wh(self) -> FloatArray:
        """(a,) energy that is not regained, ``mean - potential``, never negative, Wh."""
        return self.mean_wh - self.potential_wh


def check_spread(name: str) -> str:
    """Return the name of a spread after checking it.

    Raises
    ------
    UnknownNameError
        If the name is unknown. The message lists the names.
    """
    if name not in SPREADS:
        raise UnknownNameError(f"unknown prior '{name}'. There are {', '.join(SPREADS)}")
    return name


def edge_parts(
    network: RoadNetwork,
    vehicle: Vehicle,
    conditions: DrivingConditions = EQ8_CONDITIONS,
    rows: IntArray | None = None,
) -> EnergyParts:
    """Return eq. 8 of edges of a network, by cause, Wh.

    Parameters
    ----------
    network
        n edges, driven at their speed limits times the speed factor of the conditions.
    vehicle
        The vehicle without payload, heating or cooling.
    conditions
        Conditions of the day.
    rows
        (k,) rows of the edges, or None for all of them.
    """
    rows = np.arange(network.n_edges) if rows is None else rows
    return edge_energy(
        network,
        conditions.load(vehicle),
        rows,
        conditions.speed_factor * network.speed_mps[rows],
        headwind_mps=conditions.headwind_mps(network)[rows],
        air_density_kgpm3=conditions.air_density_kgpm3,
    )


def fit(
    network: RoadNetwork,
    vehicle: Vehicle,
    spread: str = DEFAULT_SPREAD,
    conditions: DrivingConditions = EQ8_CONDITIONS,
) -> EnergyPrior:
    """Return the prior of the edges of a network.

    Parameters
    ----------
    network, vehicle, conditions
        As in `edge_parts`.
    spread
        One of `SPREADS`.

    Raises
    ------
    UnknownNameError
        If the spread is unknown. The message lists the names.
    """
    mean_wh = edge_parts(network, vehicle, conditions).total_wh
    return spread_around(mean_wh, potential_wh(conditions.load(vehicle), network.climb_m), spread)


def spread_around(mean_wh: FloatArray, rise_wh: FloatArray, spread: str) -> EnergyPrior:
    """Return the prior of edges around mean energies.

    Parameters
    ----------
    mean_wh
        (n,) eq. 8 of each edge, Wh.
    rise_wh
        (n,) rise of the potential, Wh.
    spread
        One of `SPREADS`.

    Raises
    ------
    UnknownNameError
        If the spread is unknown. The message lists the names.
    """
    std_wh = SPREADS[check_spread(spread)](mean_wh, mean_wh - rise_wh)
    return EnergyPrior(mean_wh, std_wh, np.full(len(mean_wh), NOISE_SHARE * mean_wh.std()), rise_wh)
