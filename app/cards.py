"""Texts of the routes of a plan: a verdict for each, its numbers, the reason, and its level."""

from typing import Any

from evroute.network.road_network import RoadNetwork
from evroute.planning.fields import PROMISE
from evroute.planning.plan import SMALL_WH, Plan, PlannedRoute, chance_text, gained
from evroute.report.words import reason

TITLES = {
    "energy": "least energy",
    "energy-limited": "least energy in little more time",
    "cost": "least cost",
    "time": "fastest",
    "time-without-stop": "fastest without a stop",
    "distance": "shortest",
    "recommended": "best detour",
}
LEAST_S = 10.0
LEAST_PERCENT = 1.0
"""Another route has a card if it differs from the recommended one by more than this time, s, and
by more than this charge on arrival, %."""


def distinct_rows(plan: Plan) -> dict[str, list[str]]:
    """Return the rows with different routes, the recommended one first, and those that share each.

    Parameters
    ----------
    plan
        The routes.
    """
    shared: dict[str, list[str]] = {}
    first = [plan.recommended, "time", "energy", *plan.routes]
    for name in sorted(plan.routes, key=first.index):
        planned = plan.routes[name]
        same = next((known for known in shared if plan.routes[known] is planned), None)
        shared.setdefault(same or name, []).append(name)
    return shared


def shown_rows(plan: Plan, selected: str = "") -> list[str]:
    """Return the rows that the page shows at once: the recommended one, and those worth a choice.

    The others are one click away, in *More routes*.

    Parameters
    ----------
    plan
        The routes.
    selected
        A row that is shown in any case, or empty.
    """
    best = plan.recommended_route
    arrival = _arrival_percent(plan, best)

    def differs(planned: PlannedRoute) -> bool:
        off_percent = abs(_arrival_percent(plan, planned) - arrival)
        return abs(planned.time_s - best.time_s) > LEAST_S and off_percent > LEAST_PERCENT

    return [
        name
        for name in distinct_rows(plan)
        if name in (plan.recommended, selected) or differs(plan.routes[name])
    ]


def cards_of(
    roads: RoadNetwork,
    plan: Plan,
    names: list[str],
    selected: str,
    *,
    currency: str = "",
    refuses: bool = False,
) -> list[dict[str, Any]]:
    """Return the texts of the cards of rows.

    Parameters
    ----------
    roads
        The network.
    plan
        The routes.
    names
        The rows, from `distinct_rows`.
    selected
        The row that is shown on the map and in the tabs.
    currency
        Sign of the money, or empty.
    refuses
        Whether the plan refuses a faster route.
    """
    rows = distinct_rows(plan)
    among = "route that keeps the charge" if refuses else "route"
    return [
        _texts(plan, plan.routes[name], currency)
        | _verdict(plan, name)
        | {
            "name": name,
            "title": _title(name, rows[name], plan.recommended, refuses=refuses),
            "reason": _sentence(
                plan.verdict
                if name == plan.recommended and plan.routes[name].stops
                else reason(roads, plan, name, among)
            ),
            "recommended": name == plan.recommended,
            "selected": name == selected,
        }
        for name in names
    ]


def refused_line(plan: Plan, refused: PlannedRoute) -> str:
    """Return a line on the fastest route, which cannot be chosen.

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
    words = f"falls {falls} below the {keep:.0f} % to keep"
    if charge.low_wh.min() >= battery.reserve_wh:
        words = f"keeps {keep:.0f} % in {chance_text(refused.charge_forecast)} of trips"
    return f"Fastest refused ({minutes(refused.time_s)}): {words}."


def _verdict(plan: Plan, name: str) -> dict[str, str]:
    """Return the large line of a row, what follows it, and its level: ``good`` or ``low``.

    A row whose chance is below the promise is low.
    """
    forecast = plan.routes[name].charge_forecast
    words, _, rest = plan.outlook_of(name).partition(", ")
    if forecast is None:
        percent = _arrival_percent(plan, plan.routes[name])
        return {"verdict": f"You arrive with {percent:.0f} %", "arrival": "", "level": ""}
    promised = 1.0 - (plan.request.most_risk or PROMISE)
    level = "good" if forecast.never_below_reserve >= promised else "low"
    return {"verdict": words, "arrival": rest, "level": level}


def _texts(plan: Plan, planned: PlannedRoute, currency: str) -> dict[str, Any]:
    """Return the numbers of a route.

    ``leaves_now_s`` is the time until its arrival if it leaves now, or None at a time of departure.

    Parameters
    ----------
    plan, planned
        The plan and one of its routes.
    currency
        Sign of the money, or empty.
    """
    small = max(abs(each.energy_wh) for each in plan.routes.values()) < SMALL_WH
    energy = f"{gained(planned.energy_wh / 1000, 2)} kWh"
    if small:
        energy = f"{gained(planned.energy_wh, 0)} Wh"
    ends = time_interval(plan, planned)
    took = minutes(planned.time_s) + (f" ({_ends(ends)})" if ends else "")
    clock = plan.clock_after(planned.time_s)
    numbers = [f"at {clock}"] if clock else []
    numbers += [took, energy, f"{planned.length_m / 1000:.1f} km"]
    if plan.request.price is not None:
        cost = plan.request.price * planned.energy_wh / 1000
        numbers.append(f"costs {cost:.2f} {currency}".rstrip())
    return {"numbers": numbers, "leaves_now_s": None if clock else planned.time_s}


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


def _title(name: str, names: list[str], recommended: str, *, refuses: bool) -> str:
    first = "Recommended" if name == recommended else _sentence(TITLES[name])[:-1]
    said = () if name == recommended else (name,)  # the recommended row may be the fastest itself
    offered = ("distance",) if refuses else ("time", "distance")
    others = [TITLES[each] for each in offered if each in names and each not in said]
    return f"{first}, also the {' and the '.join(others)}" if others else first


def _arrival_percent(plan: Plan, planned: PlannedRoute) -> float:
    assert plan.battery is not None
    assert planned.charge is not None
    return plan.battery.percent(float(planned.charge.charge_wh[-1]))


def arrival_digits(plan: Plan) -> int:
    """Return the decimals of the charge in the picture of the way: none, or one.

    Charges on arrival less than 1 % apart on both sides of a half have one: 79.46 % and 79.51 % are
    no 79 % and 80 %.
    """
    shown = [_arrival_percent(plan, plan.routes[name]) for name in distinct_rows(plan)]
    whole = len({round(each) for each in shown}) == 1 or max(shown) - min(shown) >= 1.0
    return 0 if whole else 1


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""
