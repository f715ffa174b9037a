"""``evroute route``: the least-energy, the fastest and the shortest route, side by side."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from threadpoolctl import threadpool_limits

from evroute.cli.answer_table import AnswerTable, check_out
from evroute.cli.fields import takes_request, texts_of
from evroute.cli.plan_table import print_plan
from evroute.cli.shared import Belief, Map, Network, Run, refuse, write
from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import Vehicle
from evroute.errors import EvrouteError
from evroute.learning.physics_belief import physics_belief
from evroute.network.catalog import load_network
from evroute.network.contraction import contraction_installed
from evroute.network.heights.profile import on_terrain
from evroute.network.road_network import RoadNetwork
from evroute.planning.answers import (
    COLUMNS,
    ENERGY_COLUMNS,
    NUMBERS,
    answer_all,
    answer_energies,
    document,
)
from evroute.planning.forecasts.learned import LearnedEnergies
from evroute.planning.matrix import AIMS, energy_matrix, read_stops, write_matrix
from evroute.planning.matrix_dataset import check_folder, write_dataset
from evroute.planning.plan import Plan
from evroute.planning.planner import Planner
from evroute.planning.request import PLACES, PlanRequest, entries
from evroute.planning.requests import read_requests
from evroute.planning.searches.search import numba_installed
from evroute.text import escaped

_COLUMNS = [name for name in entries() if name != "trip"]
_OF_MATRIX = ("vehicle", "car", *(name for name, entry in entries().items() if entry.of_day))
"""Fields of a request that a matrix takes."""


@takes_request(first=("network",), before={"physics": "search"})
def route(
    network: Network = "denver",
    physics: Annotated[
        str | None,
        typer.Option(
            help="Physics without --belief: driving (kinetic energy, turns, stops, real speeds) "
            "or eq8 (steady speeds at the limits). [driving]"
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
            help=f"Answer rows of a CSV table (id, trip | {', '.join(_COLUMNS)}) with JSON lines; "
            "empty cells use the options.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Table of --matrix, or of --batch besides its JSON lines: .csv, .parquet; of "
            "--matrix also a new folder of Parquet files, for more pairs than memory holds.",
        ),
    ] = None,
    matrix: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            metavar="ORIGINS DESTINATIONS",
            help="Write the energy, time and length of the least-energy route (--by) of each pair "
            "of two CSV tables (id, place) to --out.",
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(help="Routes of --matrix: energy (least energy) or time (fastest). [energy]"),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            help="energy: --batch prints only least energies, of rows (id, trip | from, to), much "
            "faster."
        ),
    ] = None,
    **given: Any,
) -> None:
    """Plan a trip by least energy, beside the fastest and the shortest route."""
    texts, files = texts_of(given), Files(geojson, gpx, map_)
    tables = batch is not None or matrix is not None
    refuse(
        (terrain and belief, "--terrain is that of the folder of --belief; leave it out"),
        (run is not None and belief is None, "--run names a run of a folder: --belief FOLDER"),
        (only is not None and batch is None, "--only energy goes with --batch"),
        (out and not tables, "--out goes with --batch or --matrix"),
        (
            tables and (json or any(files.paths) or any(name in texts for name in PLACES)),
            "--batch and --matrix read places from files, and print no other form of plan",
        ),
        (batch and matrix, "--matrix does not go with --batch; leave one of them out"),
    )
    _check_aim(by, matrix)
    # refused before the network is read
    request = PlanRequest.without_places(texts) if tables else PlanRequest.from_texts(texts)
    door = Door.opened(network, terrain, belief, run, physics)
    if batch is not None:
        _answer(door, Batch(batch, out, only), texts)
    elif matrix is not None:
        planner = door.planner(request.vehicle, request.conditions).of_car(request.car)
        _write_matrix(planner, matrix, by, out, texts)
    else:
        planner = door.planner(request.vehicle, request.conditions, single=True)
        _show(planner.plan(request), door, files, json=json)


@dataclass(frozen=True, slots=True)
class Files:
    """Files that a plan is written to; None for none."""

    geojson: Path | None
    gpx: Path | None
    map: Path | None

    @property
    def paths(self) -> tuple[Path | None, ...]:
        """The paths in the order in which they are printed."""
        return self.geojson, self.gpx, self.map

    def write(self, roads: RoadNetwork, plan: Plan) -> None:
        """Write a plan on roads to the files."""
        if not any(self.paths):
            return
        from evroute.report import exports

        write(self.geojson, lambda: exports.route_geojson(roads, plan))
        write(self.gpx, lambda: exports.route_gpx(roads, plan))
        if self.map:
            from evroute.report.maps.network_maps import route_map

            write(self.map, lambda: route_map(roads, plan))


@dataclass(frozen=True, slots=True)
class Batch:
    """A table of requests, the table of its answers, and which numbers are wanted alone."""

    table: Path
    out: Path | None
    only: str | None


@dataclass(frozen=True, slots=True)
class Door:
    """Roads, and the belief or the physics of all plans of one call."""

    roads: RoadNetwork
    learned: LearnedEnergies | None
    physics: str | None

    @classmethod
    def opened(
        cls,
        network: str,
        terrain: str | None,
        belief: Path | None,
        run: str | None,
        physics: str | None,
    ) -> "Door":
        """Read the roads, and the belief if there is one."""
        roads = on_terrain(load_network(network), terrain)
        if belief is None:
            return cls(roads, None, physics)
        from evroute.learning.belief import load_belief  # half of the start of a plan without one

        threadpool_limits(1)  # threads of small products wait for each other
        learned = load_belief(belief, run, network=roads)
        return cls(learned.network, learned, physics)

    def planner(
        self,
        vehicle: str | Vehicle | None,
        conditions: DrivingConditions,
        *,
        single: bool = False,
    ) -> Planner:
        """Return the planner of a vehicle on a day; ``single`` as in `Planner`."""
        return Planner(
            self.roads,
            vehicle,
            self.learned,
            conditions=conditions,
            physics=self.physics,
            uncertainty=physics_belief,
            single=single,
        )


def _show(plan: Plan, door: Door, files: Files, *, json: bool) -> None:
    files.write(door.roads, plan)
    if json:
        typer.echo(dumps(document(plan), ensure_ascii=False))
        return
    print_plan(door.roads, plan)
    for written in files.paths:
        if written:
            typer.echo(written)


def _answer(door: Door, batch: Batch, usual: Mapping[str, str]) -> None:
    refuse(
        (
            batch.only is not None and (batch.only != "energy" or "search" in usual),
            "--only energy goes with --batch, and with no other --search than potential",
        ),
    )
    found = AnswerTable(keep=batch.out is not None)
    if batch.out:
        check_out(batch.out, batch.table)
    columns = ENERGY_COLUMNS if batch.only else COLUMNS
    with read_requests(batch.table, columns, NUMBERS) as requests:
        if requests.ignored:
            names = escaped(", ".join(requests.ignored))
            typer.echo(f"evroute: {batch.table}: not read: {names}", err=True)
        if batch.only:
            answers = _energies(door, requests.rows, usual)
        else:
            answers = answer_all(requests.rows, door.planner, usual)
        for answer in found.through(answers):
            sys.stdout.write(dumps(answer, ensure_ascii=False) + "\n")
    if batch.out:
        found.write(batch.out)
    typer.echo(f"evroute: {found.summary}", err=True)
    if found.failed:
        raise typer.Exit(1)


def _energies(
    door: Door, rows: Iterator[Mapping[str, str | None]], usual: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Return the answers with least energies alone."""
    _refuse_others("--only energy", usual)
    if not (numba_installed() or contraction_installed()):
        typer.echo(
            "evroute: three times slower without numba; run: pip install 'evroute[fast]'", err=True
        )
    request = PlanRequest.without_places(usual)
    planner = door.planner(request.vehicle, request.conditions).of_car(request.car)
    return answer_energies(rows, planner)


def _refuse_others(option: str, texts: Mapping[str, str]) -> None:
    """Raise EvrouteError if a text is neither of the vehicle nor of the day."""
    others = [name for name in texts if name not in _OF_MATRIX]
    if others:
        raise EvrouteError(
            f"{option} has the routes of least energy of one car and day; leave out "
            f"--{others[0].replace('_', '-')}"
        )


def _check_aim(by: str | None, matrix: tuple[Path, Path] | None) -> None:
    """Refuse an aim of a matrix that does not exist, or without a matrix."""
    refuse(
        (by is not None and matrix is None, "--by goes with --matrix"),
        (by not in (None, *AIMS), f"--by is '{by}'; expected {' or '.join(AIMS)}"),
    )


def _write_matrix(
    planner: Planner,
    tables: tuple[Path, Path],
    by: str | None,
    out: Path | None,
    texts: Mapping[str, str],
) -> None:
    _refuse_others("--matrix", texts)
    refuse((out is None, "--matrix needs --out FILE"))
    assert out is not None
    if out.suffix:
        check_out(out, *tables)
    else:
        check_folder(out)
    aim = by or AIMS[0]
    origins, destinations = tables
    ends = [
        read_stops(origins, planner.network, leaving=True),
        read_stops(destinations, planner.network, leaving=False),
    ]
    if out.suffix:
        numbers = energy_matrix(planner, ends[0], ends[1], aim)
        write_matrix(out, numbers, *ends)
        missing = int(np.isnan(numbers[0]).sum())
    else:
        missing = write_dataset(out, planner, ends[0], ends[1], by=aim)
    pairs = len(ends[0]) * len(ends[1])
    typer.echo(f"evroute: {pairs} pairs, {missing} without a route", err=True)
    typer.echo(out)
