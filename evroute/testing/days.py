"""Routes on the days of a belief, for its contract."""

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
