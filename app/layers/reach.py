"""Range of the charge: the roads within reach, coloured by the charge on arrival."""

from dataclasses import replace

import numpy as np
from naming import check_place

from evroute.errors import EvrouteError
from evroute.planning.planner import Planner
from evroute.planning.reach import LEVELS, reach
from evroute.report.colours import CHARGE_COLOURS, value_classes
from layers import Asked, Drawn, Layer


def draw(asked: Asked, planner: Planner) -> Drawn:
    """Return the roads within reach of the charge from the origin. Nothing without one."""
    battery, risk = asked.battery, asked.risk
    if not asked.origin:
        return Drawn()
    try:
        check_place(planner.network, asked.origin)
    except EvrouteError:
        return Drawn()  # the plan has shown the reason
    found = reach(planner, asked.origin, battery, risk=risk)
    charge = np.where(found.within, np.maximum(found.charge_percent[LEVELS[0]], 0.0), np.nan)
    limit = "" if risk is None else f" at a risk of {100 * risk:g} %"
    roads = f"{found.length_m / 1000:.0f} of {planner.network.length_m.sum() / 1000:.0f} km of road"
    words = f"{battery.percent(battery.start_wh):.0f} % reaches {roads}{limit}"
    if found.within.any():
        words += f", up to {found.extent_m / 1000:.1f} km away"
    classes = replace(value_classes("Charge there, %", charge), colours=CHARGE_COLOURS)
    return Drawn(words=words, values=charge, classes=classes)


LAYER = Layer(
    label="Range of the charge",
    draw=draw,
    depends=lambda asked: asked,
)
