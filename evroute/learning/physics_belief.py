"""The belief of trips before any trip: physics and its uncertainty."""

from typing import TYPE_CHECKING

from evroute.energy import defaults
from evroute.energy.vehicle import Vehicle, load_vehicle
from evroute.network.road_network import RoadNetwork

if TYPE_CHECKING:
    from evroute.learning.base import Belief


def physics_belief(
    network: RoadNetwork,
    vehicle: Vehicle | str | None = None,
    physics: str | None = None,
) -> "Belief":
    """Return the belief of ``evroute learn`` before any trip: physics and its uncertainty.

    Its coefficients have the prior deviations of `trip_terms`, its trips the noise of `noise`.

    Parameters
    ----------
    network
        The roads.
    vehicle
        A vehicle, its name, or a TOML file, or None for `defaults.VEHICLE`.
    physics
        Physics of the plans that it serves, one of `defaults.KINDS_OF_PHYSICS`, or None for the one
        that fits the speeds of the network (`defaults.physics_of`).

    Examples
    --------
    >>> from evroute import load_network, physics_belief
    >>> physics_belief(load_network("denver")).trips
    0
    """
    from evroute.learning.trips.energies import TripEnergies
    from evroute.methods.setting import Setting

    car = vehicle if isinstance(vehicle, Vehicle) else load_vehicle(vehicle or defaults.VEHICLE)
    return TripEnergies(Setting(network, car), physics=physics)
