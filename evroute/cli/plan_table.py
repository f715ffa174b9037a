"""The table that ``evroute route`` prints: a column for each row of a plan, and lines below it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.box import HEAVY_HEAD, SIMPLE_HEAD
from rich.table import Table

from evroute.cli.console import plain_console, print_table
from evroute.network.road_network import RoadNetwork
from evroute.planning.plan import Plan, held_note
from evroute.report.words import NUMBERS, lowest_charge

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
        mark = " *" if name == plan.recommended else ""
        table.add_column(plan.label(name) + mark, justify="right", overflow="fold")
    for title, cells in _lines(plan):
        if cells:
            table.add_row(title, *cells)
    table.caption = "* recommended"
    return table


@dataclass(frozen=True, slots=True)
class _Start:
    """Where a leg starts: edges driven before it, time after departure, s, and charge, %."""

    edges: int
    clock_s: float
    percent: float


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


def _lines(plan: Plan) -> Iterator[Line]:
    """Yield the numbers of the rows, those of a forecast below what they forecast."""
    yield _line(plan, "energy")
    yield from _part_lines(plan)
    forecasts = [each.energy_forecast for each in plan.routes.values() if each.energy_forecast]
    for level in (0.5, 0.9):
        ends = [[wh / 1000 for wh in each.interval_wh(level)] for each in forecasts]
        yield f"  {100 * level:.0f} % of trips", _intervals(ends, 3)
    for name in ("per_km", "energy_cost", "cost", "length", "time"):
        yield _line(plan, name)
    times = [each.numbers() for each in forecasts]
    minutes = [(each["low90_s"] / 60, each["high90_s"] / 60) for each in times if "low90_s" in each]
    yield "  90 % of trips", _intervals(minutes, 1)
    for name in ("arrival", "ascent", "descent"):
        yield _line(plan, name)
    yield from _charge_lines(plan)


def _part_lines(plan: Plan) -> Iterator[Line]:
    """Yield the parts of the energy that are not zero on every route, kWh."""
    parts_wh = [each.parts_wh for each in plan.routes.values()]
    for part in parts_wh[0]:
        if any(each[part] for each in parts_wh):
            yield f"  {part}", [f"{each[part] / 1000:.3f}" for each in parts_wh]


def _charge_lines(plan: Plan) -> Iterator[Line]:
    """Yield the charge of the battery and how sure it is."""
    yield _line(plan, "lowest_charge")
    yield _line(plan, "arrival_charge")
    charges = [each.charge_forecast for each in plan.routes.values() if each.charge_forecast]
    yield "  90 % of trips", _intervals([each.arrival_interval_percent for each in charges], 1)
    yield "arrives above the reserve", [f"{each.arrives_above_reserve:.1%}" for each in charges]
    yield "never below the reserve", [f"{each.never_below_reserve:.1%}" for each in charges]


def _line(plan: Plan, name: str) -> Line:
    number = NUMBERS[name]
    return number.heading, number.cells(plan)


def _intervals(ends: Iterable[Sequence[float]], digits: int) -> list[str]:
    return [f"{low:.{digits}f} to {high:.{digits}f}" for low, high in ends]
