"""`reachable`: the roads within reach of a charge, by one call."""

from pathlib import Path
from typing import Any

from evroute.door.planners import planner_for
from evroute.door.wishes import in_fields, with_fields
from evroute.errors import require
from evroute.network.road_network import RoadNetwork
from evroute.planning.forecasts.learned import LearnedEnergies
from evroute.planning.reach import RangeRequest, Reach, reach_asked


@with_fields(RangeRequest)
def reachable(
    network: RoadNetwork | str | Path,
    origin: RangeRequest | str,
    *,
    belief: LearnedEnergies | None = None,
    physics: str | None = None,
    uncertainty: LearnedEnergies | None = None,
    **wishes: Any,
) -> Reach:
    """Return the roads within reach of a charge.

    Parameters
    ----------
    network
        A network, its name, or the path of a stored one.
    origin
        Place to drive from: a name, ``"lat,lon"`` or an edge id, or a whole `RangeRequest`.
    belief
        Learned energies (`load_belief`) of this vehicle, or physics if None. A belief of trips goes
        with the car to any network, a belief of edges is about its own.
    physics
        For a range without a belief, as in `Planner`.
    uncertainty
        Belief of the same physics for forecasts of charge, or `physics_belief` if None.
    **wishes
        Further fields of `RangeRequest`: ``soc``, ``reserve``, ``risk``, ``vehicle``, ``depart``
        and ``conditions``. ``soc_percent`` and ``reserve_percent`` are ``soc`` and ``reserve``.

    Raises
    ------
    EvrouteError
        If the request cannot be met. See `reach`.
    """
    if isinstance(origin, RangeRequest):
        require(
            not wishes,
            "a RangeRequest has all wishes. Change it with request.model_copy(update=...)",
        )
        request = origin
    else:
        request = RangeRequest(origin=origin, **in_fields(wishes))
    planner = planner_for(
        network,
        request.vehicle,
        request.conditions,
        belief=belief,
        physics=physics,
        uncertainty=uncertainty,
    )
    return reach_asked(planner, request)
