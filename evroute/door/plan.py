"""`plan`: one trip between two places, or a named one, by one call."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evroute.door.planners import planner_for
from evroute.door.wishes import in_fields, with_fields
from evroute.errors import require
from evroute.network.road_network import RoadNetwork
from evroute.planning.forecasts.learned import LearnedEnergies
from evroute.planning.plan import Plan
from evroute.planning.request import PlanRequest


@with_fields(PlanRequest)
def plan(
    network: RoadNetwork | str | Path,
    origin: PlanRequest | str | None = None,
    destination: str | None = None,
    *,
    waypoints: Sequence[str] = (),
    belief: LearnedEnergies | None = None,
    physics: str | None = None,
    uncertainty: LearnedEnergies | None = None,
    **wishes: Any,
) -> Plan:
    """Plan one trip between two places, or a named one.

    Parameters
    ----------
    network
        A network, its name, or the path of a stored one.
    origin, destination
        Places to drive from and to: names, ``"lat,lon"`` or edge ids. In place of ``origin`` a
        whole `PlanRequest`.
    waypoints
        In place of origin and destination all places in driving order.
    belief
        Learned energies to plan on (`load_belief`) of this vehicle, or physics if None. A belief of
        trips goes with the car to any network, a belief of edges is about its own.
    physics
        For plans without a belief, as in `Planner`.
    uncertainty
        Belief of the same physics for the limit of risk, or `physics_belief` if None.
    **wishes
        Further fields of `PlanRequest`, such as ``trip="A"``, ``vehicle``, ``soc=40``, ``risk`` and
        ``conditions``. ``soc_percent`` and ``reserve_percent`` are ``soc`` and ``reserve``.

    Raises
    ------
    EvrouteError
        If the request cannot be met. See `Planner.plan` and `places.places_of`.

    Examples
    --------
    >>> import evroute
    >>> ends = "Walnut Street & 33rd Street", "Broadway & 20th Street"
    >>> evroute.plan("denver", *ends, soc=40).recommended_route.streets[0].name
    'Walnut Street'
    """
    if isinstance(origin, PlanRequest):
        require(
            destination is None and not waypoints and not wishes,
            "give a PlanRequest alone. Change its wishes with request.model_copy(update=...)",
        )
        request = origin
    else:
        request = _request(origin, destination, waypoints, wishes)
    require(
        not isinstance(belief, (str, Path)),
        f"belief is the path {str(belief)!r}. Give evroute.load_belief(FOLDER)",
    )
    planner = planner_for(
        network,
        request.vehicle,
        request.conditions,
        belief=belief,
        physics=physics,
        uncertainty=uncertainty,
    )
    return planner.plan(request)


def _request(
    origin: str | None, destination: str | None, waypoints: Sequence[str], wishes: dict[str, Any]
) -> PlanRequest:
    """Return the request of keywords, with their older names."""
    wishes = in_fields(wishes)
    if waypoints:
        require(
            origin is None and destination is None and not wishes.get("via"),
            "give origin and destination with via between, or waypoints alone",
        )
        require(len(waypoints) > 1, "give origin and destination, got 1 place")
        origin, *wishes["via"], destination = waypoints
    return PlanRequest(origin=origin, destination=destination, **wishes)
