"""The way of the charge: height, charge and its band along a route, for the picture of the map."""

from typing import Any

import numpy as np
from cards import arrival_digits

from evroute.network.road_network import RoadNetwork
from evroute.planning.plan import Plan
from evroute.report.lines import route_heights

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
    km = np.concatenate([[0.0], np.cumsum(planned.edge_m)]) / 1000
    percent = planned.charge.charge_wh / battery.capacity_wh * 100
    band = np.column_stack([percent, percent])
    if planned.charge_forecast is not None:
        band = planned.charge_forecast.band_percent
    rows = np.column_stack([km, percent, band])
    after = np.array([stop.after_edges for stop in planned.stops], dtype=int)
    left = rows[after]
    left[:, 1:] = [[stop.to_percent] for stop in planned.stops] or left[:, 1:]
    rows = np.insert(rows, after + 1, left, axis=0)
    at_m, height_m = route_heights(roads, planned.stretches)
    return {
        "charge": rows.round(DIGITS).tolist(),
        "height": np.column_stack([at_m / 1000, height_m]).round(DIGITS).tolist(),
        "reserve": battery.percent(battery.reserve_wh),
        "digits": arrival_digits(plan),
    }
