"""The belief of trips before any trip: the uncertainty of physics, for risks without a belief."""

from evroute.energy.vehicle import Vehicle
from evroute.learning.trip_energies import TripEnergies
from evroute.methods.setting import Setting
from evroute.network.road_network import RoadNetwork


def physics_belief(network: RoadNetwork, vehicle: Vehicle) -> TripEnergies:
    """Return the belief of ``evroute learn`` before any trip: physics and its uncertainty.

    Its coefficients have the prior deviations of `trip_terms`, its trips the noise of `noise_fit`.

    Examples
    --------
    >>> from evroute import load_network, load_vehicle, physics_belief
    >>> physics_belief(load_network("denver"), load_vehicle()).trips
    0
    """
    return TripEnergies(Setting(network, vehicle))
