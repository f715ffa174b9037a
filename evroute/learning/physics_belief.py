"""The belief of trips before any trip, and the planner of a driver, who has it or a learned one."""

from typing import TYPE_CHECKING

from evroute.energy.driving import DrivingConditions
from evroute.energy.prior import EQ8_CONDITIONS
from evroute.energy.vehicle import DRIVER_DEFAULT, Vehicle, load_vehicle
from evroute.network.road_network import RoadNetwork
from evroute.planning.planner import Planner

if TYPE_CHECKING:
    from evroute.learning.learned_belief import LearnedBelief
    from evroute.learning.trips.energies import TripEnergies


def physics_belief(network: RoadNetwork, vehicle: Vehicle, physics: str = "eq8") -> "TripEnergies":
    """Return the belief of ``evroute learn`` before any trip: physics and its uncertainty.

    Its coefficients have the prior deviations of `trip_terms`, its trips the noise of `noise_fit`.

    Parameters
    ----------
    network, vehicle
        The roads, and the car.
    physics
        Physics of the plans that it serves, one of `planner.PHYSICS`.

    Examples
    --------
    >>> from evroute import load_network, load_vehicle, physics_belief
    >>> physics_belief(load_network("denver"), load_vehicle()).trips
    0
    """
    from evroute.learning.trips.energies import TripEnergies
    from evroute.methods.setting import Setting

    return TripEnergies(Setting(network, vehicle), physics=physics)


def driver_planner(
    network: RoadNetwork,
    vehicle: str | None = None,
    belief: "LearnedBelief | TripEnergies | None" = None,
    *,
    conditions: DrivingConditions = EQ8_CONDITIONS,
    physics: str | None = None,
    uncertain: bool = True,
    single: bool = False,
) -> Planner:
    """Return the planner on a belief, or on physics and its uncertainty.

    Parameters
    ----------
    network
        Roads to plan on.
    vehicle
        Name or TOML file of a vehicle; None for that of the belief, or `DRIVER_DEFAULT`.
    belief
        Learned energies of the network; physics if None.
    conditions
        As in `Planner`.
    physics
        Physics of a plan without a belief, as in `Planner`; ``driving`` if None.
    uncertain
        Whether a plan without a belief can limit a risk, which takes longer to prepare.
    single
        As in `Planner`.

    Raises
    ------
    EvrouteError
        If the vehicle is unknown, or the belief is about another one.
    """
    if belief is not None:
        known = vehicle in (None, belief.vehicle.name)
        car = belief.vehicle if known else load_vehicle(str(vehicle))
        return Planner(network, car, belief, conditions=conditions, single=single)
    car = load_vehicle(vehicle or DRIVER_DEFAULT)
    physics = physics or "driving"
    prior = physics_belief(network, car, physics) if uncertain else None
    return Planner(
        network, car, conditions=conditions, physics=physics, uncertainty=prior, single=single
    )
