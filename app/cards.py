"""Texts of the route cards: charge on arrival, time, energy and the reason."""

from typing import Any

from evroute.network.road_network import RoadNetwork
from evroute.planning.plan import SMALL_WH, Plan, PlannedRoute, gained
from evroute.report.words import reason

MOST = 3
TITLES = {
    "energy": "least energy",
    "energy-limited": "least energy in little more time",
    "cost": "least cost",
    "time": "fastest",
    "time-without-stop": "fastest without a stop",
    "distance": "shortest",
    "recommended": "best detour",
}


def shown_rows(plan: Plan) -> dict[str, list[str]]:
    """Return the rows with a card, the recommended one first, and the rows that share its route."""
    shared: dict[str, list[str]] = {}
    first = [plan.recommended, "time", "energy", *plan.routes]
    for name in sorted(plan.routes, key=first.index):
        planned = plan.routes[name]
        same = next((known for known in shared if plan.routes[known] is planned), None)
        shared.setdefault(same or name, []).append(name)
    return dict(list(shared.items())[:MOST])


def cards_of(roads: RoadNetwork, plan: Plan, selected: str) -> list[dict[str, Any]]:
    """Return the texts of at most three cards, the recommended one first.

    Parameters
    ----------
    roads
        The network.
    plan
        The routes.
    selected
        The row that is shown on the map and in the tabs.
    """
    rows = shown_rows(plan)
    small = max(abs(plan.routes[name].energy_wh) for name in rows) < SMALL_WH
    return [
        {
            "name": name,
            "title": _title(name, names, plan.recommended),
            "arrival": f"arrive with {_arrival_percent(plan, plan.routes[name]):.0f} %",
            "interval": _interval(plan.routes[name]),
            "numbers": _numbers(plan, name, small=small),
            "reason": _sentence(
                plan.verdict
                if name == plan.recommended and plan.routes[name].stops
                else reason(roads, plan, name)
            ),
            "recommended": name == plan.recommended,
            "selected": name == selected,
        }
        for name, names in rows.items()
    ]


def minutes(time_s: float) -> str:
    """Return a travel time, whole minutes from 10 on."""
    return f"{time_s / 60:.0f} min" if time_s >= 595 else f"{time_s / 60:.1f} min"


def time_interval(plan: Plan, name: str) -> tuple[float, float] | None:
    """Return the 90 % interval of the minutes of a row, stops included.

    None unless trips measured them.
    """
    planned = plan.routes[name]
    forecast, stops_s = planned.energy_forecast, sum(stop.time_s for stop in planned.stops)
    if forecast is None or plan.minutes_from != "trips":
        return None
    numbers = forecast.numbers()
    if "low90_s" not in numbers:
        return None
    return (numbers["low90_s"] + stops_s) / 60, (numbers["high90_s"] + stops_s) / 60


def _ends(ends: tuple[float, float]) -> str:
    """Return the ends of an interval of minutes, with the digits of `minutes`."""
    return "-".join(f"{end:.0f}" if ends[0] >= 9.95 else f"{end:.1f}" for end in ends)


def extra_time(plan: Plan, name: str, selected: str) -> str:
    """Return the time of a row against the selected one, such as "+2 min"."""
    off_s = plan.routes[name].time_s - plan.routes[selected].time_s
    if abs(off_s) < 0.5:
        return "same time"
    return f"{off_s:+.0f} s" if abs(off_s) < 60 else f"{off_s / 60:+.0f} min"


def _title(name: str, names: list[str], recommended: str) -> str:
    first = "Recommended" if name == recommended else _sentence(TITLES[name])[:-1]
    others = [TITLES[other] for other in names if other != name and other in ("time", "distance")]
    return f"{first}, also the {' and the '.join(others)}" if others else first


def _numbers(plan: Plan, name: str, *, small: bool) -> str:
    planned = plan.routes[name]
    energy = (
        f"{gained(planned.energy_wh, 0)} Wh"
        if small
        else f"{gained(planned.energy_wh / 1000, 2)} kWh"
    )
    ends = time_interval(plan, name)
    parts = [minutes(planned.time_s) + (f" ({_ends(ends)})" if ends else "")]
    parts += [arrival] if (arrival := plan.arrival_time(name)) else []
    parts += [energy, f"{planned.length_m / 1000:.1f} km"]
    if (cost := plan.energy_cost(name)) is not None:
        parts.append(f"costs {cost:.2f}")
    return " · ".join(parts)


def _arrival_percent(plan: Plan, planned: PlannedRoute) -> float:
    assert plan.battery is not None
    assert planned.charge is not None
    return plan.battery.percent(float(planned.charge.charge_wh[-1]))


def _interval(planned: PlannedRoute) -> str:
    if planned.charge_forecast is None:
        return ""
    low, high = planned.charge_forecast.arrival_interval_percent
    return f"({low:.0f}-{high:.0f} %)"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""
