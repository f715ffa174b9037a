"""What the trips of a car saved: measured where both routes were driven, else as expected."""

from collections import Counter

from evroute.errors import EvrouteError
from evroute.learning.base import Belief
from evroute.learning.findings import SHOWN_PAIRS
from evroute.learning.measured import MeasuredTrip
from evroute.learning.route_pairs import driven_pairs
from evroute.planning.planner import Planner
from evroute.text import counted

UNMEASURED = "no saving is measured before two routes between the same ends are driven twice each"


def savings(planned: Planner, belief: Belief, recorded: list[MeasuredTrip]) -> list[str]:
    """Return what was saved in words: measured where both routes were driven, else as expected.

    Parameters
    ----------
    planned
        Planner of the belief.
    belief
        Belief of the trips.
    recorded
        Trips of one route each, wholly on the network.
    """
    if pairs := driven_pairs(belief, recorded):
        return pairs[:SHOWN_PAIRS]
    ends = Counter((int(trip.edge[0]), int(trip.edge[-1])) for trip in recorded)
    if not ends:
        return []
    (first, last), times = ends.most_common(1)[0]
    names = belief.network.edge_id
    usual = f"Between the ends of your most frequent trip ({counted(times, 'time')}),"
    try:
        plan = planned.plan(str(names[first]), str(names[last]))
    except EvrouteError as error:
        return [f"{UNMEASURED}. {usual} none is expected: {error}"]
    if plan.saving is None or plan.recommended_route.route == plan.routes["time"].route:
        return [f"{UNMEASURED}. {usual} none is expected: the fastest route is recommended"]
    low, high = (each / 1000 for each in plan.saving.interval_wh())
    return [
        f"{UNMEASURED}. {usual} {plan.saving.mean_wh / 1000:.2f} kWh less than by the fastest "
        f"route is expected (90 %: {low:.2f} to {high:.2f} kWh)"
    ]
