"""``evroute route``: the least-energy, the fastest and the shortest route, side by side."""

import sys
from collections.abc import Callable
from json import dumps
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from threadpoolctl import threadpool_limits

from evroute.cli.plan_table import print_plan
from evroute.cli.shared import (
    Belief,
    Charge,
    Map,
    Network,
    Origin,
    Payload,
    Run,
    Temperature,
    VehicleName,
    refuse,
    write,
)
from evroute.energy.driving import DrivingConditions, conditions
from evroute.learning.physics_belief import physics_belief
from evroute.network.catalog import load_network
from evroute.network.contraction import contraction_installed
from evroute.network.heights.profile import on_terrain
from evroute.planning.answers import (
    COLUMNS,
    ENERGY_COLUMNS,
    NUMBERS,
    answer_all,
    answer_energies,
    document,
)
from evroute.planning.battery import Battery
from evroute.planning.matrix import energy_matrix, read_stops, write_matrix
from evroute.planning.numbers import share_of
from evroute.planning.places import stops
from evroute.planning.planner import Planner
from evroute.planning.requests import AnswerTable, check_out, read_requests
from evroute.planning.searches.search import numba_installed
from evroute.text import escaped


def route(
    network: Network = "denver",
    start: Origin = None,
    goal: Annotated[
        str | None, typer.Option("--to", metavar="PLACE", help="Destination, written likewise.")
    ] = None,
    via: Annotated[
        list[str] | None,
        typer.Option(metavar="PLACE", help="A place to pass on the way; repeatable, in order."),
    ] = None,
    trip: Annotated[
        str | None, typer.Option(help="A named trip of the network, instead of two places.")
    ] = None,
    vehicle: VehicleName = None,
    physics: Annotated[
        str | None,
        typer.Option(
            help="Physics without --belief: driving (kinetic energy, turns, stops, real speeds) "
            "or eq8 (steady speeds at the limits). [driving]"
        ),
    ] = None,
    search: Annotated[
        str,
        typer.Option(help="potential (exact); rectified, clamped, potential-rectified to compare."),
    ] = "potential",
    max_extra_time: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Longest extra time over the fastest route, such as 10%; the shortest is exempt.",
        ),
    ] = None,
    alternatives: Annotated[
        int,
        typer.Option(
            min=0, max=5, help="Number of further routes between the fastest and the least energy."
        ),
    ] = 0,
    depart: Annotated[
        str | None,
        typer.Option(
            metavar="HH:MM",
            help="Time of departure, on the clock of the learned trips: shows times of arrival, "
            "and selects the speeds that a belief learned in its quarter of the day.",
        ),
    ] = None,
    price: Annotated[
        float | None, typer.Option(metavar="MONEY", help="Price of a kWh: shows costs.")
    ] = None,
    time_value: Annotated[
        float | None,
        typer.Option(
            metavar="MONEY", help="Value of an hour: recommends the least cost. Needs --price."
        ),
    ] = None,
    soc: Charge = None,
    reserve: Annotated[
        float | None,
        typer.Option(min=0, max=100, help="Lowest allowed charge, %. Needs --soc. [0]"),
    ] = None,
    risk: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Greatest probability of ever falling below the reserve, such as 1%. Needs --soc; "
            "without --belief by the uncertainty of physics.",
        ),
    ] = None,
    charge: Annotated[
        bool,
        typer.Option(
            "--charge",
            help="Charge on the way where no route keeps the reserve, or the limit of --risk: the "
            "fastest such plan. Needs --soc and 'evroute network chargers'.",
        ),
    ] = False,
    temperature: Temperature = None,
    wind: Annotated[float, typer.Option(metavar="M/S", help="Steady wind, m/s.")] = 0.0,
    wind_from: Annotated[
        float,
        typer.Option(
            metavar="DEGREES", help="Origin of the wind: 0 north, 90 east, 180 south, 270 west."
        ),
    ] = 0.0,
    speed_factor: Annotated[
        float, typer.Option(help="Driven speeds as a share of the speeds of the network.")
    ] = 1.0,
    payload: Payload = 0.0,
    aux: Annotated[
        float | None,
        typer.Option(
            metavar="W",
            help="Auxiliary power at departure (heating, cooling and others), W.",
        ),
    ] = None,
    terrain: Annotated[
        str | None,
        typer.Option(
            help="Slopes: profile (inside edges, where the network has one), or edge (one per "
            "edge). [profile; with --belief that of its folder]"
        ),
    ] = None,
    belief: Belief = None,
    run: Run = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    geojson: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the routes as GeoJSON.")
    ] = None,
    gpx: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the recommended route as GPX.")
    ] = None,
    map_: Map = None,
    batch: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Answer rows of a CSV table (id, trip | from, via, to, vehicle, soc, reserve, "
            "max_extra_time, depart, price, time_value, risk, charge (yes, no), temperature, "
            "wind, wind_from, payload) with JSON lines.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Table of --matrix, or of --batch besides its JSON lines: .csv, .parquet.",
        ),
    ] = None,
    matrix: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            metavar="ORIGINS DESTINATIONS",
            help="Write the energy, time and length of the least-energy route of each pair of two "
            "CSV tables (id, place) to --out.",
        ),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            help="energy: --batch prints only least energies, of rows (id, trip | from, to), much "
            "faster."
        ),
    ] = None,
) -> None:
    """Plan a trip by least energy, beside the fastest and the shortest route."""
    places = [place for place in (start, *(via or ()), goal) if place is not None]
    refuse(
        (via and (start is None or goal is None), "--via goes between --from and --to"),
        (
            trip is None and (start is None) != (goal is None),
            "give origin and destination: --from and --to",
        ),
        (
            not (batch or matrix or trip or places),
            "give a named trip (--trip A), or two places (--from, --to)",
        ),
        (reserve is not None and soc is None, "--reserve needs the charge at the start: --soc"),
        (risk is not None and soc is None, "--risk needs the charge at the start: --soc"),
        (
            charge and (batch or matrix),
            "--charge plans one trip; --batch reads it from its file, --matrix has no stops",
        ),
        (charge and soc is None, "--charge needs the charge at the start: --soc"),
        (terrain and belief, "--terrain is that of the folder of --belief; leave it out"),
        (physics and belief, "a belief has its own physics: leave out --physics or --belief"),
        (run is not None and belief is None, "--run names a run of a folder: --belief FOLDER"),
        (
            only is not None and (only != "energy" or batch is None or search != "potential"),
            "--only energy goes with --batch, and with no other --search than potential",
        ),
        (out and not (batch or matrix), "--out goes with --batch or --matrix"),
        (
            (batch or matrix) and any((trip, places, json, geojson, gpx, map_, alternatives)),
            "--batch and --matrix read places from files, and print no other form of plan",
        ),
        (
            matrix and (batch or out is None or search != "potential"),
            "--matrix needs --out FILE, and goes with neither --batch nor another --search",
        ),
        (
            matrix and any(each is not None for each in (max_extra_time, depart, soc, price)),
            "--matrix has the routes of least energy, without charges, limits or prices",
        ),
        (
            batch and any(each is not None for each in (max_extra_time, depart, soc, price, risk)),
            "--batch reads charges, limits, departures, prices and risks from its file",
        ),
        (
            time_value is not None and (batch or price is None),
            "--time-value goes with --price, not with --batch",
        ),
    )

    day = conditions(
        temperature_c=temperature,
        wind_mps=wind,
        wind_from_deg=wind_from,
        speed_factor=speed_factor,
        payload_kg=payload,
        auxiliary_w=aux,
    )
    roads = on_terrain(load_network(network), terrain)
    learned = None
    if belief is not None:
        from evroute.learning.belief import load_belief  # half of the start of a plan without one

        threadpool_limits(1)  # threads of small products wait for each other
        learned = load_belief(belief, run, network=roads)
        roads = learned.network

    def planner_of(chosen: str | None, conditions: DrivingConditions) -> Planner:
        return Planner(
            roads,
            chosen,
            learned,
            conditions=conditions,
            physics=physics,
            uncertainty=physics_belief,
            single=batch is None and not matrix,
        )

    if batch is not None:
        _answer(batch, planner_of, vehicle, day, search, only, out)
        return
    if matrix and out:
        _write_matrix(*matrix, planner_of(vehicle, day), out)
        return

    origin, *between, destination = stops(roads, trip, places)
    planner = planner_of(vehicle, day)
    plan = planner.plan(
        origin,
        destination,
        search=search,
        battery=Battery.requested(planner.vehicle.battery_kwh, soc, reserve),
        max_extra_time=(
            None if max_extra_time is None else share_of("--max-extra-time", max_extra_time)
        ),
        via=between,
        alternatives=alternatives,
        depart=depart,
        price=price,
        time_value=time_value,
        risk=None if risk is None else share_of("--risk", risk),
        charge=charge,
    )
    if geojson or gpx or map_:
        from evroute.report import exports
        from evroute.report.maps import network_maps

        write(geojson, lambda: exports.route_geojson(roads, plan))
        write(gpx, lambda: exports.route_gpx(roads, plan))
        write(map_, lambda: network_maps.route_map(roads, plan))
    if json:
        typer.echo(dumps(document(plan), ensure_ascii=False))
        return

    print_plan(roads, plan, alternatives, "" if learned is None else learned.note)
    for written in (geojson, gpx, map_):
        if written:
            typer.echo(written)


def _answer(
    batch: Path,
    planner_of: Callable[[str | None, DrivingConditions], Planner],
    vehicle: str | None,
    day: DrivingConditions,
    search: str,
    only: str | None,
    out: Path | None,
) -> None:

    found = AnswerTable(keep=out is not None)
    if out:
        check_out(out, batch)
    with read_requests(batch, ENERGY_COLUMNS if only else COLUMNS, NUMBERS) as requests:
        rows = requests.rows
        if requests.ignored:
            names = escaped(", ".join(requests.ignored))
            typer.echo(f"evroute: {batch}: not read: {names}", err=True)
        if only:
            if not (numba_installed() or contraction_installed()):
                typer.echo(
                    "evroute: three times slower without numba; run: pip install 'evroute[fast]'",
                    err=True,
                )
            answers = answer_energies(rows, planner_of(vehicle, day))
        else:
            answers = answer_all(rows, planner_of, vehicle=vehicle, conditions=day, search=search)
        for answer in found.through(answers):
            sys.stdout.write(dumps(answer, ensure_ascii=False) + "\n")
    if out:
        found.write(out)
    typer.echo(f"evroute: {found.summary}", err=True)
    if found.failed:
        raise typer.Exit(1)


def _write_matrix(origins: Path, destinations: Path, planner: Planner, out: Path) -> None:

    check_out(out, origins, destinations)
    ends = [
        read_stops(path, planner.network, leaving=leaving)
        for path, leaving in ((origins, True), (destinations, False))
    ]
    numbers = energy_matrix(planner, *ends)
    write_matrix(out, numbers, *ends)
    missing = int(np.isnan(numbers[0]).sum())
    typer.echo(f"evroute: {numbers[0].size} pairs, {missing} without a route", err=True)
    typer.echo(out)
