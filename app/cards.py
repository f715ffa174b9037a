"""Texts of the route cards: charge on arrival, time, energy and the reason."""

from collections.abc import Collection
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

    The difference is large: the charge on arrival, or else minutes and energy.

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
    return [
        _texts(plan, plan.routes[name], rows)
        | {
            "name": name,
            "title": _title(name, names, plan.recommended),
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


def refused_card(plan: Plan, refused: PlannedRoute) -> dict[str, Any]:
    """Return the card of the fastest route, which cannot be chosen.

    Parameters
    ----------
    plan
        Plan that refuses it.
    refused
        The route, with its charge.
    """
    battery, charge = plan.battery, refused.charge
    assert battery is not None
    assert charge is not None
    assert refused.charge_forecast is not None
    keep = battery.percent(battery.reserve_wh)
    lowest = battery.percent(float(charge.low_wh.min()))
    falls = f"to {lowest:.1f} %," if round(lowest, 1) < keep else "just"
    words = f"Falls {falls} below the {keep:.0f} % to keep."
    if charge.low_wh.min() >= battery.reserve_wh:
        share = refused.charge_forecast.never_below_reserve
        words = f"Keeps {keep:.0f} % in only {100 * share:.0f} % of trips."
    return _texts(plan, refused, [*shown_rows(plan)]) | {
        "name": "",
        "title": "Fastest, but refused",
        "reason": words,
        "refused": True,
        "recommended": False,
        "selected": False,
    }


def same_arrival(plan: Plan) -> str:
    """Return the charge on arrival if all cards show the same one. Empty otherwise."""
    rows = [plan.routes[name] for name in shown_rows(plan)]
    if len(rows) < 2 or len({_arrival(plan, each) for each in rows}) > 1:
        return ""
    best = plan.recommended_route
    return f"all arrive with {_arrival(plan, best)} {_interval(best)}".strip()


def line_above(plan: Plan) -> str:
    """Return the line above the cards: an arrival that all share, and the source of the bands."""
    best = plan.recommended_route
    parts = [same_arrival(plan)]
    if best.charge_forecast is not None and not plan.note:
        parts.append("90 % bands before your first trip")
    return _sentence(", ".join(filter(None, parts))).removesuffix(".")


def _texts(plan: Plan, planned: PlannedRoute, rows: Collection[str]) -> dict[str, Any]:
    """Return the large line, its interval and the numbers of a route.

    ``leaves_now_s`` is the time until its arrival if it leaves now, or None at a time of departure.

    Parameters
    ----------
    plan, planned
        The plan and one of its routes, or a refused one.
    rows
        Rows with a card.
    """
    small = max(abs(plan.routes[name].energy_wh) for name in rows) < SMALL_WH
    energy = f"{gained(planned.energy_wh / 1000, 2)} kWh"
    if small:
        energy = f"{gained(planned.energy_wh, 0)} Wh"
    ends = time_interval(plan, planned)
    took = minutes(planned.time_s) + (f" ({_ends(ends)})" if ends else "")
    rest = [f"{planned.length_m / 1000:.1f} km"]
    if plan.request.price is not None:
        rest.append(f"costs {plan.request.price * planned.energy_wh / 1000:.2f}")
    clock = plan.clock_after(planned.time_s)
    texts = {"leaves_now_s": None if clock else planned.time_s}
    first = [clock] if clock else []
    if same_arrival(plan):
        large = f"{took} · {energy}"
        return texts | {"arrival": large, "interval": "", "numbers": " · ".join([*first, *rest])}
    return texts | {
        "arrival": f"arrive with {_arrival(plan, planned)}",
        "interval": _interval(planned),
        "numbers": " · ".join([*first, took, energy, *rest]),
    }


def minutes(time_s: float) -> str:
    """Return a travel time, whole minutes from 10 on."""
    return f"{time_s / 60:.0f} min" if time_s >= 595 else f"{time_s / 60:.1f} min"


def time_interval(plan: Plan, planned: PlannedRoute) -> tuple[float, float] | None:
    """Return the 90 % interval of the minutes of a route, stops included.

    None unless trips measured them.
    """
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
    said = () if name == recommended else (name,)  # the recommended row may be the fastest itself
    others = [TITLES[each] for each in ("time", "distance") if each in names and each not in said]
    return f"{first}, also the {' and the '.join(others)}" if others else first


def _arrival_percent(plan: Plan, planned: PlannedRoute) -> float:
    assert plan.battery is not None
    assert planned.charge is not None
    return plan.battery.percent(float(planned.charge.charge_wh[-1]))


def arrival_digits(plan: Plan) -> int:
    """Return the decimals of charges, wherever the page shows them: none, or one.

    Charges on arrival less than 1 % apart on both sides of a half have one: 79.46 % and 79.51 % are
    no 79 % and 80 %.
    """
    shown = [_arrival_percent(plan, plan.routes[name]) for name in shown_rows(plan)]
    whole = len({round(each) for each in shown}) == 1 or max(shown) - min(shown) >= 1.0
    return 0 if whole else 1


def _arrival(plan: Plan, planned: PlannedRoute) -> str:
    return f"{_arrival_percent(plan, planned):.{arrival_digits(plan)}f} %"


def _interval(planned: PlannedRoute) -> str:
    if planned.charge_forecast is None:
        return ""
    low, high = planned.charge_forecast.arrival_interval_percent
    digits = 0 if round(low) != round(high) else 1
    return f"({low:.{digits}f}-{high:.{digits}f} %)"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""
