"""`tour`: a tour over places in a given order, by one call."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evroute.door.planners import planner_for
from evroute.door.wishes import in_fields, with_fields
from evroute.network.road_network import RoadNetwork
from evroute.planning.dispatch.tour import Tour, TourRequest, tour_asked
from evroute.planning.forecasts.learned import LearnedEnergies


@with_fields(TourRequest)
def tour(
    network: RoadNetwork | str | Path,
    places: Sequence[str],
    *,
    belief: LearnedEnergies | None = None,
    physics: str | None = None,
    uncertainty: LearnedEnergies | None = None,
    **wishes: Any,
) -> Tour:
    """Return energy, deviation and probability of the reserve of a tour in a given order.

    Parameters
    ----------
    network
        A network, its name, or the path of a stored one.
    places
        Two or more places in driving order: names, ``"lat,lon"`` or edge ids. A closed tour ends
        with the place that it begins with. The car stops at each of them.
    belief
        Learned energies (`load_belief`) of this vehicle, or physics if None.
    physics
        For a tour without a belief, as in `Planner`.
    uncertainty
        Belief of the same physics for the forecasts, or `physics_belief` if None.
    **wishes
        Further fields of `TourRequest`: ``soc`` (100), ``reserve``, ``by`` (``"energy"`` or
        ``"time"``), ``vehicle``, ``car``, ``depart`` and ``conditions``. ``soc_percent`` and
        ``reserve_percent`` are ``soc`` and ``reserve``.

    Raises
    ------
    EvrouteError
        If the request cannot be met. See `tour_asked`.

    Examples
    --------
    >>> import evroute
    >>> depot, stop = "Walnut Street & 33rd Street", "Broadway & 20th Street"
    >>> round_trip = evroute.tour("denver", [depot, stop, depot], soc=40, reserve=10)
    >>> len(round_trip.legs), round_trip.p_reserve > 0.99
    (2, True)
    """
    request = TourRequest(**in_fields(wishes))
    planner = planner_for(
        network,
        request.vehicle,
        request.conditions,
        belief=belief,
        physics=physics,
        uncertainty=uncertainty,
    )
    return tour_asked(planner, places, request)
