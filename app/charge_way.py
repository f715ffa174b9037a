"""The way of the charge: height, charge and its band along a route, for the picture of the map."""

from typing import Any

import numpy as np
from cards import arrival_digits

from evroute.network.road_network import RoadNetwork
from evroute.planning.plan import Plan
from evroute.report.lines import charge_points, route_heights

DIGITS = 4


def charge_way(roads: RoadNetwork, plan: Plan, name: str) -> dict[str, Any] | None:
    """Return the numbers of the picture of a row, or None without a battery.

    Parameters
    ----------
    roads, plan
        Network and plan.
    name
        The row.

    Returns
    -------
    dict
        ``charge``: km and per cent, and low and high end of the 90 % band, at the start, after each
        edge, and once more after each stop.  ``height``: km and metres.  ``reserve``: per cent.
        ``digits``: least decimals of the charge, as the cards show it.
    """
    planned, battery = plan.routes[name], plan.battery
    if battery is None or planned.charge is None:
        return None
    rows = charge_points(planned, battery) / [1000, 1, 1, 1]
    at_m, height_m = route_heights(roads, planned.stretches)
    return {
        "charge": rows.round(DIGITS).tolist(),
        "height": np.column_stack([at_m / 1000, height_m]).round(DIGITS).tolist(),
        "reserve": battery.percent(battery.reserve_wh),
        "digits": arrival_digits(plan),
    }
