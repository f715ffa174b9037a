"""``evroute route``: the least-energy, the fastest and the shortest route, side by side."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evroute.cli.console import plain_console

if TYPE_CHECKING:
    from collections.abc import Callable

    from evroute.energy.vehicle import Vehicle
    from evroute.network.road_network import RoadNetwork
    from evroute.planning.guarantee import Guarantee
    from evroute.planning.plan import Plan
    from evroute.planning.planner import Planner

TITLES = {"energy": "least energy", "time": "fastest", "distance": "shortest"}
"""Columns; an alternative goes by its name."""


def route(
    network: Annotated[
        str, typer.Option(help="A network's name, or a stored .npz file.")
    ] = "denver",
    start: Annotated[
        str | None,
        typer.Option("--from", metavar="PLACE", help="Where from: an edge id, or LAT,LON."),
    ] = None,
    goal: Annotated[
        str | None, typer.Option("--to", metavar="PLACE", help="Where to, likewise.")
    ] = None,
    via: Annotated[
        list[str] | None,
        typer.Option(metavar="PLACE", help="A place to pass on the way; repeatable, in order."),
    ] = None,
    trip: Annotated[
        str | None, typer.Option(help="A named trip of the network, instead of two places.")
    ] = None,
    vehicle: Annotated[
        str, typer.Option(help="A vehicle of 'evroute vehicle list', or a .toml file.")
    ] = "reference",
    search: Annotated[
        str,
        typer.Option(help="potential (exact); rectified, clamped, potential-rectified to compare."),
    ] = "potential",
    max_extra_time: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE", help="Least energy among routes at most so much slower: 10%."
        ),
    ] = None,
    alternatives: Annotated[
        int,
        typer.Option(
            min=0, max=5, help="Show so many routes between the fastest and the least energy."
        ),
    ] = 0,
    soc: Annotated[
        float | None,
        typer.Option(min=0, max=100, help="Charge at the start, % of the usable battery."),
    ] = None,
    reserve: Annotated[
        float | None,
        typer.Option(min=0, max=100, help="Charge never to fall below, %. Needs --soc. [0]"),
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(metavar="C", help="Outside, °C: density of the air, heating or cooling."),
    ] = None,
    wind: Annotated[float, typer.Option(metavar="M/S", help="Steady wind, m/s.")] = 0.0,
    wind_from: Annotated[
        float,
        typer.Option(
            metavar="DEGREES", help="Where it blows from: 0 north, 90 east, 180 south, 270 west."
        ),
    ] = 0.0,
    speed_factor: Annotated[
        float, typer.Option(help="Speeds driven as a share of those of the network.")
    ] = 1.0,
    payload: Annotated[
        float, typer.Option(metavar="KG", help="On top of the vehicle's mass, kg.")
    ] = 0.0,
    belief: Annotated[
        Path | None,
        typer.Option(metavar="RUNS", help="Plan on what the runs in this folder have learned."),
    ] = None,
    run: Annotated[
        str | None, typer.Option(help="Which run of --belief, if it holds several.")
    ] = None,
    interval: Annotated[
        str | None,
        typer.Option(
            help="Bounds of the expected energy with a guarantee: cmm, dmm, amm, ay, igp. Needs --belief."
        ),
    ] = None,
    assume: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Of --interval: B (or auto), sigma (factor on the noise), delta. [B=5 sigma=1 delta=0.05]",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    geojson: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the routes as GeoJSON.")
    ] = None,
    gpx: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the least-energy route as GPX.")
    ] = None,
    map_: Annotated[
        Path | None,
        typer.Option("--map", metavar="FILE.html", help="Write a map that needs no internet."),
    ] = None,
    batch: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="Answer rows (id, trip | from, via, to, vehicle, soc, reserve, max_extra_time) with JSON lines.",
        ),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            help="energy: --batch tells least energies alone, of rows (id, trip | from, to), much faster."
        ),
    ] = None,
) -> None:
    """Plan a trip by least energy. Tells what that costs in time, and whether the battery carries it."""
    from evroute.energy.driving import conditions
    from evroute.energy.vehicle import load_vehicle
    from evroute.errors import EvrouteError
    from evroute.network.catalog import load_network
    from evroute.planning.answers import share_of
    from evroute.planning.battery import Battery
    from evroute.planning.places import stops

    places = [place for place in (start, *(via or ()), goal) if place is not None]
    if via and (start is None or goal is None):
        raise EvrouteError("--via goes between --from and --to")
    if batch is None and not trip and not places:
        raise EvrouteError(
            "say where to drive: a named trip (--trip A), or two places (--from, --to)"
        )
    if reserve is not None and soc is None:
        raise EvrouteError("--reserve needs the charge at the start: --soc")
    if run is not None and belief is None:
        raise EvrouteError("--run names a run of a folder: --belief FOLDER")
    if interval is not None and belief is None:
        raise EvrouteError("--interval bounds what was learned: --belief FOLDER")
    if assume and interval is None:
        raise EvrouteError("--assume belongs to --interval")
    wanted = None if interval is None else _guarantee(interval, assume or [])
    day = conditions(
        temperature_c=temperature,
        wind_mps=wind,
        wind_from_deg=wind_from,
        speed_factor=speed_factor,
        payload_kg=payload,
    )
    if only is not None and (only != "energy" or batch is None or search != "potential"):
        raise EvrouteError(
            "--only energy goes with --batch, and with no other --search than potential"
        )
    roads = load_network(network)
    learned = None
    if belief is not None:
        from evroute.learning.belief import load_belief

        learned = load_belief(belief, run, network=roads)

    def planner_of(vehicle: "Vehicle") -> "Planner":
        from evroute.planning.planner import Planner

        return Planner(roads, vehicle, learned, conditions=day, guarantee=wanted)

    if batch is not None:
        if (
            trip
            or places
            or json
            or geojson
            or gpx
            or map_
            or max_extra_time
            or soc is not None
            or alternatives
        ):
            raise EvrouteError(
                "--batch takes trips, charges and limits from its file, and prints JSON lines alone"
            )
        _answer(
            batch,
            lambda name: planner_of(load_vehicle(name)),
            vehicle,
            search,
            only,
        )
        return
    origin, *between, destination = stops(roads, trip, places)
    car = load_vehicle(vehicle)
    battery = None if soc is None else Battery.of_percent(car.battery_kwh, soc, reserve or 0.0)
    extra = None if max_extra_time is None else share_of("--max-extra-time", max_extra_time)
    plan = planner_of(car).plan(
        origin,
        destination,
        search=search,
        battery=battery,
        max_extra_time=extra,
        via=between,
        alternatives=alternatives,
    )
    _write(roads, plan, geojson, gpx, map_)
    if json:
        from json import dumps

        from evroute.planning.answers import document

        typer.echo(dumps(document(plan), ensure_ascii=False))
    else:
        _print(roads, plan)
        found = sum(name.startswith("alternative") for name in plan.routes)
        if found < alternatives:
            typer.echo(
                f"{found} of {alternatives} alternatives: no more lie between the fastest and the least energy"
            )
        if learned is not None:
            heard = learned.conformal
            if heard.trips:
                last = (
                    f"last {heard.trips_heard} trips were"
                    if heard.trips_heard > 1
                    else "one trip was"
                )
                typer.echo(
                    f"intervals are {heard.inflation:.2f} times as wide as the model alone would have them, "
                    f"by how far off its {last}"
                )
        for written in (geojson, gpx, map_):
            if written:
                typer.echo(written)


def _guarantee(interval: str, assumed: list[str]) -> "Guarantee":
    from typing import Any

    from evroute.errors import EvrouteError
    from evroute.planning.answers import number_of
    from evroute.planning.guarantee import Guarantee

    values: dict[str, Any] = {}
    for each in assumed:
        name, _, value = each.partition("=")
        if name not in ("B", "sigma", "delta"):
            raise EvrouteError(f"--assume '{each}' is none of B=VALUE, sigma=VALUE, delta=VALUE")
        values[name] = (
            "auto" if (name, value) == ("B", "auto") else number_of(f"--assume {name}", value)
        )
    try:
        return Guarantee(interval, **values)  # type: ignore[arg-type]
    except ValueError as error:
        raise EvrouteError(str(error)) from None


def _answer(
    batch: Path, planner_of: "Callable[[str], Planner]", vehicle: str, search: str, only: str | None
) -> None:
    import csv
    from json import dumps

    from evroute.errors import EvrouteError
    from evroute.planning.answers import answer_all, answer_energies
    from evroute.planning.batch import compiled

    failed = 0
    try:
        with batch.open(newline="", encoding="utf-8-sig") as handle:
            rows = csv.DictReader(handle, strict=True)
            if rows.fieldnames is None:
                raise EvrouteError(
                    f"{batch} is empty; its first line names the columns, such as from,to"
                )
            if only:
                if not compiled():
                    typer.echo(
                        "evroute: three times slower without numba; run: pip install 'evroute[fast]'",
                        err=True,
                    )
                answers = answer_energies(rows, planner_of(vehicle))
            else:
                answers = answer_all(rows, planner_of, vehicle=vehicle, search=search)
            for answer in answers:
                failed += "error" in answer
                sys.stdout.write(dumps(answer, ensure_ascii=False) + "\n")
    except (UnicodeDecodeError, csv.Error) as error:
        raise EvrouteError(f"{batch} is not a CSV table in UTF-8: {error}") from None
    if failed:
        raise typer.Exit(1)


def _write(
    roads: "RoadNetwork", plan: "Plan", geojson: Path | None, gpx: Path | None, map_: Path | None
) -> None:
    from evroute.files import replacing

    if geojson:
        from json import dumps

        from evroute.report.exports import route_geojson

        with replacing(geojson) as temporary:
            temporary.write_text(dumps(route_geojson(roads, plan)), encoding="utf-8")
    if gpx:
        from evroute.report.exports import route_gpx

        with replacing(gpx) as temporary:
            temporary.write_text(route_gpx(roads, plan), encoding="utf-8")
    if map_:
        from evroute.report.maps import route_map

        page = route_map(roads, plan)
        with replacing(map_) as temporary:
            page.save(str(temporary))


def _print(roads: "RoadNetwork", plan: "Plan") -> None:
    from rich.box import HEAVY_HEAD, SIMPLE_HEAD
    from rich.table import Table

    from evroute.report.words import lowest_charge

    console = plain_console()
    title = f"{plan.network}: {plan.origin} to {plan.destination}, {plan.vehicle}"
    many = len(plan.routes) > len(TITLES)
    table = Table(
        title=title,
        box=SIMPLE_HEAD if many else HEAVY_HEAD,
        pad_edge=not many,
        collapse_padding=many,
    )
    table.add_column("", overflow="fold")
    for name in plan.routes:
        table.add_column(
            TITLES.get(name, name.replace("alternative-", "alt. ")),
            justify="right",
            overflow="fold",
        )

    def row(title: str, *values: str) -> None:
        table.add_row(title, *values)

    routes = list(plan.routes.values())
    row("kWh from the battery", *(f"{r.energy_wh / 1000:.3f}" for r in routes))
    for part in routes[0].parts_wh:
        if any(r.parts_wh[part] for r in routes):
            row(f"  {part}", *(f"{r.parts_wh[part] / 1000:.3f}" for r in routes))
    if all(r.energy_forecast for r in routes):
        intervals = [r.energy_forecast.interval_wh() for r in routes if r.energy_forecast]
        row(
            "  90 % of trips",
            *(f"{low / 1000:.3f} to {high / 1000:.3f}" for low, high in intervals),
        )
    bounds = [r.guarantee for r in routes if r.guarantee]
    if bounds:
        row(
            f"  expected, {bounds[0].wanted.kind}",
            *(f"{b.low_wh / 1000:.3f} to {b.high_wh / 1000:.3f}" for b in bounds),
        )
    row("Wh/km", *(f"{r.wh_per_km:.1f}" for r in routes))
    row("km", *(f"{r.length_m / 1000:.2f}" for r in routes))
    row("min", *(f"{r.time_s / 60:.1f}" for r in routes))
    row("climb m", *(f"{r.climb_m:.0f}" for r in routes))
    row("descent m", *(f"{r.descent_m:.0f}" for r in routes))
    battery = plan.battery
    if battery:
        charges = [r.charge for r in routes if r.charge]
        row(
            "lowest charge %",
            *(f"{battery.percent(float(c.charge_wh.min())):.1f}" for c in charges),
        )
        row(
            "charge on arrival %",
            *(f"{battery.percent(float(c.charge_wh[-1])):.1f}" for c in charges),
        )
        forecasts = [r.charge_forecast for r in routes if r.charge_forecast]
        if forecasts:
            row("arrives above the reserve", *(f"{f.arrives_above_reserve:.1%}" for f in forecasts))
            row("never below the reserve", *(f"{f.never_below_reserve:.1%}" for f in forecasts))
    console.print(table)
    console.print(plan.verdict, highlight=False)
    console.print(plan.proof, highlight=False)
    if bounds:
        console.print(f"expected: {bounds[0].assumes}", highlight=False, soft_wrap=True)
    if lowest := lowest_charge(roads, plan):
        console.print(lowest)
