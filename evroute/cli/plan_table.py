"""The table that ``evroute route`` prints: a column for each row of a plan, and lines below it."""

from collections.abc import Iterator
from dataclasses import dataclass

from rich.box import HEAVY_HEAD, SIMPLE_HEAD
from rich.table import Table

from evroute.cli.console import plain_console, print_table
from evroute.network.road_network import RoadNetwork
from evroute.planning.plan import Plan, PlannedRoute, gained, held_note
from evroute.report.words import lowest_charge

TITLES = {
    "energy": "least energy",
    "recommended": "recommended",
    "cost": "least cost",
    "time": "fastest",
    "time-without-stop": "fastest without a stop",
    "distance": "shortest",
}
"""Columns. An alternative goes by its name."""

Line = tuple[str, list[str]]
"""Title and one cell for each column."""


def print_plan(roads: RoadNetwork, plan: Plan) -> None:
    """Print a plan.

    Parameters
    ----------
    roads, plan
        Network and plan.
    """
    console = plain_console(highlight=False)
    console.print(f"{' to '.join(plan.titles)}, {plan.vehicle}", soft_wrap=True)
    console.print(_table(plan))
    for line in filter(None, (plan.outlook, plan.verdict)):
        console.print(line, soft_wrap=True)
    if plan.recommended_route.stops:
        console.print(_stops(plan))
    alternatives = plan.request.alternatives
    found = sum(name.startswith("alternative") for name in plan.routes)
    fewer = (
        f"{found} of {alternatives} alternatives: no more lie between the fastest and the least "
        "energy"
    )
    lines = (
        plan.proofs.get(plan.recommended, plan.proof),
        plan.safety,
        plan.minutes_note,
        plan.assumed,
        held_note(plan.recommended_route),
        lowest_charge(roads, plan),
        fewer if found < alternatives else "",
        plan.note,
    )
    for line in filter(None, lines):
        console.print(line, soft_wrap=True)
    print_table(
        (f"streets of the recommended route ({plan.network})", "km", "kWh"),
        (
            (each.name, f"{each.length_m / 1000:.2f}", f"{each.energy_wh / 1000:.3f}")
            for each in plan.recommended_route.streets
        ),
        texts=1,
    )


def _table(plan: Plan) -> Table:
    many = len(plan.routes) > 3
    table = Table(
        box=SIMPLE_HEAD if many else HEAVY_HEAD,
        pad_edge=not many,
        collapse_padding=many,
    )
    table.add_column("", overflow="fold")
    for name in plan.routes:
        title = _title(plan, name)
        mark = " *" if name == plan.recommended else ""
        table.add_column(title + mark, justify="right", overflow="fold")
    for lines in (_energy(list(plan.routes.values())), _money(plan), _road(plan), _charge(plan)):
        for title, cells in lines:
            table.add_row(title, *cells)
    table.caption = "* recommended"
    return table


@dataclass(frozen=True, slots=True)
class _Start:
    """Where a leg starts: edges driven before it, time after departure, s, and charge, %."""

    edges: int
    clock_s: float
    percent: float


def _title(plan: Plan, name: str) -> str:
    """Return the heading of a row."""
    if name == "energy-limited":
        return f"least energy in +{100 * plan.request.detour_extra_time:.3g} % time"
    charging = " with charging" if plan.routes[name].stops else ""
    return TITLES.get(name, name.replace("alternative-", "alt. ")) + charging


def _stops(plan: Plan) -> Table:
    """Return legs and stops in driving order."""
    table = Table("leg or stop", box=SIMPLE_HEAD)
    for title in ("km", "min", "kWh", "from %", "to %"):
        table.add_column(title, justify="right")
    planned, battery = plan.recommended_route, plan.battery
    assert battery is not None, "a plan with stops has a battery"
    start = _Start(0, 0.0, battery.percent(battery.start_wh))
    for stop in planned.stops:
        leg = _leg(plan, start, stop.after_edges, stop.arrive_s)
        table.add_row(f"to {stop.station}", *leg)
        table.add_row(
            f"charge ({stop.plug})",
            "",
            f"{stop.time_s / 60:.1f}",
            f"{stop.energy_wh / 1000:.3f}",
            leg[-1],
            f"{stop.to_percent}",
        )
        start = _Start(stop.after_edges, stop.arrive_s + stop.time_s, float(stop.to_percent))
    table.add_row(f"to {plan.titles[-1]}", *_leg(plan, start, len(planned.edges), planned.time_s))
    return table


def _leg(plan: Plan, start: _Start, end: int, arrive_s: float) -> list[str]:
    """Return km, minutes, kWh and the charge at both ends of a leg, %, as text.

    ``end`` is the number of edges driven at its end, ``arrive_s`` the time there.
    """
    planned, battery = plan.recommended_route, plan.battery
    assert battery is not None, "a plan with stops has a battery"
    assert planned.charge is not None, "and a charge along the route"
    arrive = battery.percent(float(planned.charge.charge_wh[end]))
    km = planned.edge_m[start.edges : end].sum() / 1000
    kwh = (start.percent - arrive) / 100 * battery.capacity_wh / 1000
    minutes = (arrive_s - start.clock_s) / 60
    return [f"{km:.2f}", f"{minutes:.1f}", f"{kwh:.3f}", f"{start.percent:.1f}", f"{arrive:.1f}"]


def _energy(routes: list[PlannedRoute]) -> Iterator[Line]:
    yield "kWh from the battery", [gained(r.energy_wh / 1000, 3) for r in routes]
    for part in routes[0].parts_wh:
        if any(r.parts_wh[part] for r in routes):
            yield f"  {part}", [f"{r.parts_wh[part] / 1000:.3f}" for r in routes]
    forecasts = [r.energy_forecast for r in routes if r.energy_forecast]
    for level in (0.5, 0.9) if forecasts else ():
        yield (
            f"  {100 * level:.0f} % of trips",
            [_range(*each.interval_wh(level)) for each in forecasts],
        )
    yield "Wh/km", [gained(r.wh_per_km, 1) for r in routes]


def _money(plan: Plan) -> Iterator[Line]:
    for title, costs in (
        ("cost of energy", [plan.energy_cost(name) for name in plan.routes]),
        ("cost with time", [plan.cost(name) for name in plan.routes]),
    ):
        cells = [f"{cost:.2f}" for cost in costs if cost is not None]
        if cells:
            yield title, cells


def _road(plan: Plan) -> Iterator[Line]:
    routes = list(plan.routes.values())
    yield "km", [f"{r.length_m / 1000:.2f}" for r in routes]
    yield "min", [f"{r.time_s / 60:.1f}" for r in routes]
    times = [r.energy_forecast.numbers() for r in routes if r.energy_forecast]
    if times and "low90_s" in times[0]:
        ends = [(each["low90_s"] / 60, each["high90_s"] / 60) for each in times]
        yield "  90 % of trips", [f"{low:.1f} to {high:.1f}" for low, high in ends]
    if plan.depart_s is not None:
        yield "arrival", [plan.arrival_time(name) or "" for name in plan.routes]
    yield "ascent m", [f"{r.ascent_m:.0f}" for r in routes]
    yield "descent m", [f"{r.descent_m:.0f}" for r in routes]


def _charge(plan: Plan) -> Iterator[Line]:
    battery = plan.battery
    if battery is None:
        return
    charges = [r.charge for r in plan.routes.values() if r.charge]
    lowest = [battery.percent(float(charge.low_wh.min())) for charge in charges]
    last = [battery.percent(float(charge.charge_wh[-1])) for charge in charges]
    yield "lowest charge %", [f"{percent:.1f}" for percent in lowest]
    yield "charge on arrival %", [f"{percent:.1f}" for percent in last]
    forecasts = [r.charge_forecast for r in plan.routes.values() if r.charge_forecast]
    if forecasts:
        ends = [f.arrival_interval_percent for f in forecasts]
        yield "  90 % of trips", [f"{low:.1f} to {high:.1f}" for low, high in ends]
        yield "arrives above the reserve", [f"{f.arrives_above_reserve:.1%}" for f in forecasts]
        yield "never below the reserve", [f"{f.never_below_reserve:.1%}" for f in forecasts]


def _range(low_wh: float, high_wh: float) -> str:
    return f"{low_wh / 1000:.3f} to {high_wh / 1000:.3f}"
