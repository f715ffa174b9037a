"""Range of the page Plan: the roads within reach of the charge, by the charge on arrival."""

from dataclasses import dataclass, replace

import numpy as np
from map_component import classes_of, json_of

from evroute.planning.battery import Battery
from evroute.planning.planner import Planner
from evroute.planning.reach import LEVELS, reach
from evroute.report.colours import VISIT_COLOURS, Classes, value_classes


@dataclass(frozen=True)
class Range:
    """Roads within reach.

    lines: contents of the layer, JSON.  classes: charge on arrival.  words: length and extent.
    """

    lines: bytes
    classes: Classes
    words: str


def range_from(planner: Planner, origin: str, battery: Battery, risk: float | None) -> Range:
    """Return the roads within reach of a charge.

    Parameters
    ----------
    planner
        Network, vehicle and belief.
    origin
        Place to drive from.
    battery
        Charge at the start and reserve.
    risk
        Greatest probability of ever falling below the reserve; None to go by expected energies.

    Raises
    ------
    EvrouteError
        If the origin is not on the network.
    """
    found = reach(planner, origin, battery, risk=risk)
    charge = np.where(found.within, np.maximum(found.charge_percent[LEVELS[0]], 0.0), np.nan)
    classes = replace(value_classes("Charge there, %", charge), colours=VISIT_COLOURS)
    limit = "" if risk is None else f" at a risk of {100 * risk:g} %"
    roads = f"{found.length_m / 1000:.0f} of {planner.network.length_m.sum() / 1000:.0f} km of road"
    words = f"{battery.percent(battery.start_wh):.0f} % reaches {roads}{limit}"
    if found.within.any():
        words += f", up to {found.extent_m / 1000:.1f} km away"
    return Range(json_of(classes_of(planner.network, charge, classes)["classes"]), classes, words)
