"""`reachable`: the roads within reach of a charge, by one call."""

from pathlib import Path

from evroute.energy.driving import DrivingConditions
from evroute.energy.prior import EQ8_CONDITIONS
from evroute.energy.vehicle import Vehicle
from evroute.learning.physics_belief import physics_belief
from evroute.network.catalog import load_network
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import Battery
from evroute.planning.forecasts.learned import LearnedEnergies
from evroute.planning.planner import Planner
from evroute.planning.reach import Reach, reach


def reachable(
    network: RoadNetwork | str | Path,
    *,
    origin: str,
    soc_percent: float,
    reserve_percent: float = 0.0,
    risk: float | None = None,
    vehicle: Vehicle | str | Path | None = None,
    conditions: DrivingConditions = EQ8_CONDITIONS,
    belief: LearnedEnergies | None = None,
    physics: str | None = None,
    uncertainty: LearnedEnergies | None = None,
) -> Reach:
    """Return the roads within reach of a charge.

    Parameters
    ----------
    network
        A network, its name, or the path of a stored one.
    origin
        Place to drive from: a name, ``"lat,lon"`` or an edge id.
    soc_percent, reserve_percent
        Charge at the start, and the charge never to fall below, in percent of the usable battery.
    risk
        Greatest probability of ever falling below the reserve, in (0, 0.5]; None to go by expected
        energies.
    vehicle
        A vehicle, its name, or a TOML file; None for that of the belief, or `defaults.VEHICLE`.
    conditions
        Temperature, wind, payload and speeds of the day.
    belief
        Learned energies (`load_belief`), about this network and vehicle; physics if None.
    physics
        For a range without a belief, as in `Planner`.
    uncertainty
        Belief of the same physics for forecasts of charge; `physics_belief` if None.

    Raises
    ------
    EvrouteError
        If the request cannot be met; see `reach`.
    """
    roads = network if isinstance(network, RoadNetwork) else load_network(network)
    planner = Planner(
        roads,
        vehicle,
        belief,
        conditions=conditions,
        physics=physics,
        uncertainty=uncertainty or physics_belief,
    )
    return reach(
        planner,
        origin,
        Battery.of_percent(planner.vehicle.battery_kwh, soc_percent, reserve_percent),
        risk=risk,
    )
