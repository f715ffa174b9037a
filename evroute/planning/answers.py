"""Plans as JSON documents (``--json``), and many requests from a table, one document each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from itertools import islice
from math import isnan
from typing import Any

from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import Vehicle
from evroute.errors import EvrouteError, NotEnoughChargeError, require
from evroute.planning import documents
from evroute.planning.battery import Battery
from evroute.planning.charge.chargers import ChargingStop
from evroute.planning.places import Places, places_of
from evroute.planning.plan import Plan, PlannedRoute, Street
from evroute.planning.planner import Planner
from evroute.planning.request import PlanRequest, entries
from evroute.validation.forms import Number

ENERGY_COLUMNS = ("id", "trip", "from", "to")
"""Columns of requests for least energies alone."""
_ENERGIES = ("energy_wh", "length_m", "time_s", "within_wh")
MOST_PLANNERS = 16
"""Number of planners kept, by vehicle and conditions."""
COLUMNS = ("id", *entries())
"""Columns of requests: the fields of `PlanRequest`."""
NUMBERS = tuple(name for name, entry in entries().items() if isinstance(entry.form, Number))


def columns_of(only: str | None) -> tuple[Sequence[str], Sequence[str]]:
    """Return the columns of requests, and the columns of numbers.

    Parameters
    ----------
    only
        ``energy`` for least energies alone, or None for plans.
    """
    return (ENERGY_COLUMNS if only else COLUMNS), NUMBERS


def document(plan: Plan) -> documents.Plan:
    """Return a plan as a JSON document. Energies in Wh, charges in % of the battery or None."""
    battery = plan.battery
    minutes_from: Any = plan.minutes_from
    return {
        "network": plan.network,
        "vehicle": plan.vehicle,
        "search": plan.request.search,
        "origin": plan.origin,
        "destination": plan.destination,
        "via": list(plan.via),
        "origin_name": plan.titles[0],
        "destination_name": plan.titles[-1],
        "via_names": list(plan.titles[1:-1]),
        "start_soc_percent": battery.percent(battery.start_wh) if battery else None,
        "reserve_percent": battery.percent(battery.reserve_wh) if battery else None,
        "risk": plan.request.risk if battery else None,
        "chance": plan.chance,
        "outlook": plan.outlook,
        "saving": _saving(plan),
        "safety": plan.safety,
        "verdict": plan.verdict,
        "proof": plan.proof,
        "recommended": plan.recommended,
        "proofs": plan.proofs,
        "minutes_from": minutes_from,
        "assumed": plan.assumed,
        "note": plan.note,
        "routes": {name: _route(plan, name) for name in plan.routes},
    }


def _saving(plan: Plan) -> documents.Saving | None:
    if plan.saving is None:
        return None
    return {
        "mean_wh": plan.saving.mean_wh,
        "sd_wh": plan.saving.std_wh,
        "interval_90_wh": plan.saving.interval_wh(),
        "told_apart": plan.saving.told_apart,
    }


def _street(street: Street) -> Any:
    """Return the fields of a street. `asdict` copies each value, 2 % of the time of a plan."""
    return {name: getattr(street, name) for name in Street.__slots__}


def _stop(stop: ChargingStop) -> Any:
    return asdict(stop)


def _route(plan: Plan, name: str) -> documents.PlannedRoute:
    route = plan.routes[name]
    return {
        "edges": list(route.edges),
        "start_m": route.route.start_m,
        "end_m": route.end_m,
        "streets": [_street(street) for street in route.streets],
        "energy_wh": route.energy_wh,
        "parts_wh": route.parts_wh,
        "length_m": route.length_m,
        "time_s": route.time_s,
        "ascent_m": route.ascent_m,
        "climb_m": route.ascent_m,  # its name in earlier versions
        "descent_m": route.descent_m,
        "held": {"arms": route.held_arms, "wh": route.held_wh},
        "stops": [_stop(stop) for stop in route.stops],
        **_forecasted(route, plan.battery),
        "arrival_time": plan.arrival_time(name),
        "energy_cost": plan.energy_cost(name),
        "cost": plan.cost(name),
    }


def _forecasted(route: PlannedRoute, battery: Battery | None) -> documents.Forecasted:
    found: documents.Forecasted = {"min_soc_percent": None, "arrival_soc_percent": None}
    if battery and route.charge:
        charge_wh, lowest = route.charge.charge_wh, route.charge.lowest
        found["min_soc_percent"] = battery.percent(float(route.charge.low_wh[lowest]))
        found["min_soc_edge"] = route.edges[max(lowest - 1, 0)]
        found["arrival_soc_percent"] = battery.percent(float(charge_wh[-1]))
        found["lost_wh"] = route.charge.lost_wh
    if forecast := _forecast(route):
        found["forecast"] = forecast
    return found


def _forecast(route: PlannedRoute) -> documents.Forecast:
    """Return the numbers of the forecasts of a route, empty without one."""
    found = documents.Forecast()
    if energy := route.energy_forecast:
        numbers: Any = energy.numbers()
        found.update(numbers)
        found["interval_90_wh"] = energy.interval_wh()
        found["inflation"] = energy.inflation
        learned_wh = route.parts_wh.get("learned", 0.0)
        found["physics_wh"] = energy.mean_wh - learned_wh - route.held_wh
    if charge := route.charge_forecast:
        found["arrival_soc_percent"] = charge.arrival_percent
        found["arrival_soc_interval_90_percent"] = charge.arrival_interval_percent
        found["arrives_above_reserve"] = charge.arrives_above_reserve
        found["never_below_reserve"] = charge.never_below_reserve
        found["supported_risk"] = charge.supported_risk
    return found


def answer_all(
    rows: Iterator[Mapping[str, str | None]],
    planner_of: Callable[[str | Vehicle | None, DrivingConditions], Planner],
    usual: Mapping[str, str] | None = None,
    *,
    first: int = 1,
) -> Iterator[dict[str, Any]]:
    """Yield the answers to requests in their order. One that cannot be met has an ``error``.

    Parameters
    ----------
    rows
        Requests by column (`COLUMNS`; others are errors): an ``id``, and the fields of
        `PlanRequest` as texts.
    planner_of
        Returns the planner for a vehicle, None for the usual one, in conditions. The last
        `MOST_PLANNERS` are kept.
    usual
        Texts of requests whose own cells are empty.
    first
        Number of the first row, the id of a row without one.

    Raises
    ------
    EvrouteError
        If a usual text is refused or the usual vehicle is unknown. Before the first answer.
    """
    usual = usual or {}
    planner, every = lru_cache(MOST_PLANNERS)(planner_of), PlanRequest.without_places(usual)
    planner(every.vehicle, every.conditions)
    for number, row in enumerate(rows, start=first):
        name = row.get("id") or str(number)
        try:
            _check_columns(row, COLUMNS, "")
            own = {column: text for column, text in row.items() if text and column != "id"}
            request = PlanRequest.from_texts({**usual, **own})
            plan = planner(request.vehicle, request.conditions).plan(request)
            yield {"id": name, **document(plan)}
        except NotEnoughChargeError as error:
            steps = [dict(step) for step in error.steps]
            yield {"id": name, "error": str(error), "steps": steps}
        except EvrouteError as error:
            yield {"id": name, "error": str(error)}


def answer_energies(
    rows: Iterator[Mapping[str, str | None]],
    planner: Planner,
    *,
    block: int = 1000,
    first: int = 1,
) -> Iterator[dict[str, Any]]:
    """Yield the least energies of requests (``id``, ``trip`` or ``from`` and ``to``), in order.

    An answer has ``id``, ``energy_wh``, ``length_m``, ``time_s`` and ``within_wh`` (`Energies`), or
    an ``error``.

    Parameters
    ----------
    rows
        Requests by column.
    planner
        Planner of all requests.
    block
        Number of rows that are answered together.
    first
        Number of the first row, the id of a row without one.
    """
    numbered = enumerate(rows, start=first)
    while taken := list(islice(numbered, block)):
        ends = [_ends(planner, row) for _, row in taken]
        pairs = [each for each in ends if not isinstance(each, str)]
        found = planner.least_energies.between(pairs)
        totals = zip(*(getattr(found, name).tolist() for name in _ENERGIES), strict=True)
        for (number, row), each in zip(taken, ends, strict=True):
            answer: dict[str, Any] = {"id": row.get("id") or str(number)}
            if isinstance(each, str):
                yield answer | {"error": each}
                continue
            totals_of = dict(zip(_ENERGIES, next(totals), strict=True))
            if isnan(totals_of["energy_wh"]):
                origin, destination = each.titles
                error = f"no legal way leads from '{origin}' to '{destination}'"
                yield answer | {"error": error}
            else:
                yield answer | totals_of


def _ends(planner: Planner, row: Mapping[str, str | None]) -> Places | str:
    """Return the places of a request, or its error as text."""
    try:
        _check_columns(row, ENERGY_COLUMNS, " with --only energy")
        places = [place for place in (row.get("from"), row.get("to")) if place]
        return places_of(planner.network, row.get("trip") or None, places)
    except EvrouteError as error:
        return str(error)


def _check_columns(row: Mapping[str, str | None], columns: Sequence[str], where: str) -> None:
    require(None not in row, "the row has more cells than the table has columns")
    if unknown := [column for column in row if column not in columns]:
        raise EvrouteError(f"unknown column '{unknown[0]}'{where}. There are {', '.join(columns)}")
