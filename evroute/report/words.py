"""Words on the routes of a plan: labels, numbers with their titles, and the reason of a route."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np

from evroute.arrays import IntArray
from evroute.network.controls import LIGHT, STOP
from evroute.network.places.names import edge_label
from evroute.network.road_network import RoadNetwork
from evroute.network.turn_table import TurnTable
from evroute.planning.plan import SMALL_WH, Plan, PlannedRoute, energy_text, gained

SHARP_RAD = np.deg2rad(60.0)
"""Least change of direction at a sharp corner."""
MOST_WH_OF_A_STOP = 100.0
"""Greatest saving that one light, sign or corner less explains."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number of the rows of a plan: the only place of its title and its value.

    Parameters
    ----------
    title
        Title with the unit in parentheses, on pages and in tables of data.
    heading
        Title on the terminal.
    digits
        Decimals on the terminal.
    of
        Returns the number of a row, a text, or None where the plan has no such number.
    is_energy
        Whether a number below 0 is written as gained.
    """

    title: str
    heading: str
    digits: int
    of: Callable[[Plan, str], float | str | None]
    is_energy: bool = False

    def cells(self, plan: Plan) -> list[str]:
        """Return the number of each row as text, or empty where the plan has none."""
        values = [self.of(plan, name) for name in plan.routes]
        return [self._text(value) for value in values if value is not None]

    def _text(self, value: float | str) -> str:
        if isinstance(value, str):
            return value
        return gained(value, self.digits) if self.is_energy else f"{value:.{self.digits}f}"


def _charge_percent(plan: Plan, name: str, *, at_end: bool) -> float | None:
    """Return the charge of a row on arrival, or the lowest one, %, or None without a battery."""
    charge = plan.routes[name].charge
    if plan.battery is None or charge is None:
        return None
    charge_wh = charge.charge_wh[-1] if at_end else charge.low_wh.min()
    return plan.battery.percent(float(charge_wh))


NUMBERS = {
    "energy": Number(
        "energy (kWh)",
        "kWh from the battery",
        3,
        lambda plan, name: plan.routes[name].energy_wh / 1000,
        is_energy=True,
    ),
    "per_km": Number(
        "per distance (Wh/km)",
        "Wh/km",
        1,
        lambda plan, name: plan.routes[name].wh_per_km,
        is_energy=True,
    ),
    "length": Number("length (km)", "km", 2, lambda plan, name: plan.routes[name].length_m / 1000),
    "time": Number("time (min)", "min", 1, lambda plan, name: plan.routes[name].time_s / 60),
    "ascent": Number("ascent (m)", "ascent m", 0, lambda plan, name: plan.routes[name].ascent_m),
    "descent": Number(
        "descent (m)", "descent m", 0, lambda plan, name: plan.routes[name].descent_m
    ),
    "arrival": Number("arrival", "arrival", 0, lambda plan, name: plan.arrival_time(name)),
    "energy_cost": Number("cost of energy", "cost of energy", 2, Plan.energy_cost),
    "cost": Number("cost with time", "cost with time", 2, Plan.cost),
    "lowest_charge": Number(
        "lowest charge (%)", "lowest charge %", 1, partial(_charge_percent, at_end=False)
    ),
    "arrival_charge": Number(
        "arrival charge (%)", "charge on arrival %", 1, partial(_charge_percent, at_end=True)
    ),
}
"""Numbers of the rows of a plan, in the order of a table of data."""


def rows_by_route(plan: Plan, first: Iterable[str]) -> dict[str, list[str]]:
    """Return the rows with different routes, and all rows of each route.

    Parameters
    ----------
    plan
        The plan.
    first
        Rows that come before the others, if the plan has them.
    """
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys([*(each for each in first if each in plan.routes), *plan.routes]):
        planned = plan.routes[name]
        same = next((known for known in found if plan.routes[known] is planned), name)
        found.setdefault(same, []).append(name)
    return found


def distinct_routes(plan: Plan) -> dict[str, str]:
    """Return the rows with different routes, the recommended one first, and their joint labels.

    A label is "least energy, fastest" where two rows are one route.
    """
    rows = rows_by_route(plan, [plan.recommended])
    return {name: ", ".join(map(plan.label, names)) for name, names in rows.items()}


def totals(planned: PlannedRoute) -> str:
    """Return the energy, time and length of a route in one line."""
    return (
        f"{energy_text(planned.energy_wh)}, {planned.time_s / 60:.1f} min, "
        f"{planned.length_m / 1000:.1f} km"
    )


def lowest_charge(network: RoadNetwork, plan: Plan) -> str:
    """Return the lowest charge of the recommended route and its place. Empty without a battery."""
    least = plan.recommended_route
    if plan.battery is None or least.charge is None:
        return ""
    lowest = least.charge.lowest
    where = "at the start"
    if lowest:
        length_km = least.edge_m[:lowest].sum() / 1000
        where = f"after {length_km:.1f} km, on {edge_label(network, least.route.edges[lowest - 1])}"
    return f"lowest charge {plan.battery.percent(float(least.charge.low_wh[lowest])):.1f} % {where}"


def reason(network: RoadNetwork, plan: Plan, name: str, among: str = "route") -> str:
    """Return why a row is as it is: the recommended one against the fastest, others against it.

    Parameters
    ----------
    network
        The roads.
    plan
        The routes.
    name
        The row.
    among
        The routes than which the fastest one is called faster, in the singular.

    Returns
    -------
    str
        The greatest cause of a saving, counted on both routes, and the differences in time and
        energy.
    """
    best, row = plan.recommended_route, plan.routes[name]
    fastest = plan.routes["time"]
    if row is best and best is fastest:
        if plan.routes.get("energy") is best:
            return f"no {among} is faster or takes less energy"
        return f"no {among} is faster"
    against = fastest if row is best else best
    off_s, off_wh = row.time_s - against.time_s, row.energy_wh - against.energy_wh
    small = max(abs(planned.energy_wh) for planned in plan.routes.values()) < SMALL_WH
    amount = f"{abs(off_wh):.0f} Wh" if small else f"{abs(off_wh) / 1000:.2f} kWh"
    same = float(amount.split()[0]) == 0
    sign = "more" if off_wh > 0 else "less"
    energy = "the same energy" if same else f"{amount} {sign}"
    words = f"{_off_time(off_s)}, {energy}"
    if against is best:
        return words if same else f"{words} than recommended"
    found = cause(network, row, against) if off_wh < 0 else ""
    return f"{found}: {words}" if found else words


def cause(network: RoadNetwork, row: PlannedRoute, against: PlannedRoute) -> str:
    """Return the greatest cause of a saving that can be counted, or empty if there is none.

    Parameters
    ----------
    network
        The roads.
    row, against
        The route that saves energy, and the other one.
    """
    saved_wh = {
        part: against.parts_wh.get(part, 0.0) - row.parts_wh.get(part, 0.0) for part in _COUNTED
    }
    for part in sorted(saved_wh, key=lambda part: -saved_wh[part]):
        if saved_wh[part] <= 0:
            return ""
        if words := _COUNTED[part](network, row, against, saved_wh[part]):
            return words
    return ""


def _less_climb(
    network: RoadNetwork, row: PlannedRoute, against: PlannedRoute, saved_wh: float
) -> str:
    less_m = against.ascent_m - row.ascent_m
    return f"{less_m:.0f} m less climb" if less_m >= 1 else ""


def _shorter(
    network: RoadNetwork, row: PlannedRoute, against: PlannedRoute, saved_wh: float
) -> str:
    less_m = against.length_m - row.length_m
    if less_m < 50:
        return ""
    return f"{less_m:.0f} m shorter" if less_m < 950 else f"{less_m / 1000:.1f} km shorter"


def _slower(network: RoadNetwork, row: PlannedRoute, against: PlannedRoute, saved_wh: float) -> str:
    kmh, other_kmh = (round(3.6 * each.length_m / each.time_s) for each in (row, against))
    return f"on average {kmh} instead of {other_kmh} km/h" if kmh < other_kmh else ""


def _fewer_stops(
    network: RoadNetwork, row: PlannedRoute, against: PlannedRoute, saved_wh: float
) -> str:
    ours, theirs = (counts(network, each.route.rows) for each in (row, against))
    fewer = {name: theirs[name] - ours[name] for name in ours if ours[name] < theirs[name]}
    if saved_wh > MOST_WH_OF_A_STOP * sum(fewer.values()):
        return f"{energy_text(saved_wh)} less for braking and accelerating"
    return " and ".join(f"{_of(ours[name], name)} instead of {theirs[name]}" for name in fewer)


def _less_lost(
    network: RoadNetwork, row: PlannedRoute, against: PlannedRoute, saved_wh: float
) -> str:
    return f"{energy_text(saved_wh)} less regeneration lost to a full battery"


def _learned(
    network: RoadNetwork, row: PlannedRoute, against: PlannedRoute, saved_wh: float
) -> str:
    return f"roads that took {energy_text(saved_wh)} less on past trips"


_COUNTED = {
    "climb": _less_climb,
    "rolling": _shorter,
    "drag": _slower,
    "turning": _fewer_stops,
    "lost": _less_lost,
    "learned": _learned,
}
"""Words on a cause by the part of the energy, or empty where the counts do not show it."""


def counts(network: RoadNetwork, edges: IntArray) -> dict[str, int]:
    """Return the numbers of traffic lights, stop signs and sharp corners of a route.

    Parameters
    ----------
    network
        The roads.
    edges
        (k,) network rows in driving order.
    """
    table = TurnTable.from_network(network)
    rows = table.rows_along(edges)[1:]
    control = np.zeros(0) if table.control is None else table.control[rows]
    return {
        "traffic light": int((control == LIGHT).sum()),
        "stop sign": int((control == STOP).sum()),
        "sharp corner": int((table.angle_rad[rows] >= SHARP_RAD).sum()),
    }


def _of(number: int, name: str) -> str:
    return f"{number or 'no'} {name}{'' if number == 1 else 's'}"


def _off_time(off_s: float) -> str:
    """Return a difference in time as text."""
    if abs(off_s) < 1:
        return "as fast"
    amount = f"{abs(off_s):.0f} s" if abs(off_s) < 60 else f"{abs(off_s) / 60:.0f} min"
    return f"{amount} {'longer' if off_s > 0 else 'less'}"
