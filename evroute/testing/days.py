"""Routes on the days of a belief, for its contract."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray, IntArray
from evroute.energy.prior import EQ8_CONDITIONS
from evroute.learning.base import Belief
from evroute.network.heights.stretches import Stretches
from evroute.planning.forecasts.forecast import EnergyForecast
from evroute.planning.forecasts.learned import Day


def arms_of(belief: Belief, edges: tuple[str, ...]) -> tuple[Day, IntArray]:
    """Return a usual day, and the arms of a route over edges by their ids, (k,)."""
    day = belief.under(EQ8_CONDITIONS)
    rows = tuple(belief.network.row_of[edge] for edge in edges)
    return day, day.space.arms_of_route(Route(rows))


def forecast_of(day: Day, arms: IntArray) -> tuple[EnergyForecast, FloatArray]:
    """Return the forecast of a trip over arms (k,), and their energies to its end, (k,) Wh."""
    route = Route(tuple(day.space.states.edge[arms].tolist()))
    driven = Stretches.of_route(day.space.edges.network, route, halts=day.space.halts)
    energy_wh = day.mean_wh[arms] + driven.halts * day.halt_wh[driven.edge]
    return day.forecast(arms, energy_wh, None, driven), energy_wh


def trips_to_each(day: Day, arms: IntArray) -> Stretches:
    """Return the edges of arms (k,), each of which is the end of a trip."""
    whole = Stretches.whole(day.space.edges.network, day.space.states.edge[arms])
    return replace(whole, halts=np.full(len(arms), day.space.halts))


def trips_together(day: Day, trips: Sequence[IntArray]) -> tuple[IntArray, IntArray, Stretches]:
    """Return the arms of trips over whole edges, the first of each, and the parts of edges.

    Parameters
    ----------
    day
        Day of the trips.
    trips
        Arms of each trip.
    """
    arms = np.concatenate(trips)
    routes = [Route(tuple(day.space.states.edge[each].tolist())) for each in trips]
    driven = Stretches.of_routes(day.space.edges.network, routes, halts=day.space.halts)
    first = np.cumsum([0, *map(len, trips[:-1])])
    return arms, first, driven


def parts_wh(day: Day, arms: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the energies of parts of edges, in two orders at once, and one by one, (2, k) Wh each.

    Plans keep such energies for later requests. They must not depend on the requests before.

    Parameters
    ----------
    day
        Day of the parts.
    arms
        Arms, of whose edges nine parts each are driven.
    """
    arms, rng = np.tile(arms, 9), np.random.default_rng(0)
    whole = Stretches.whole(day.space.edges.network, day.space.states.edge[arms])
    from_m, to_m = np.sort(rng.uniform(0.0, whole.to_m, (2, len(arms))), axis=0)
    parts, back = replace(whole, from_m=from_m, to_m=to_m), np.arange(len(arms))[::-1]
    one_by_one = [day.stretch_wh(arms[at], parts[at])[0] for at in back[::-1, np.newaxis]]
    together_wh = [day.stretch_wh(arms, parts), day.stretch_wh(arms[back], parts[back])[back]]
    return np.array(together_wh), np.array([one_by_one, one_by_one])
