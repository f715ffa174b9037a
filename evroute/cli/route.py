"""``evroute route``: the least-energy, the fastest and the shortest route, side by side."""

from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import Annotated, Any

import typer

from evroute.cli.driven import Drive
from evroute.cli.fields import takes_request, texts_of
from evroute.cli.plan_table import print_plan
from evroute.cli.shared import (
    Belief,
    Cluster,
    Jobs,
    Map,
    Mixed,
    Network,
    Physics,
    Run,
    Workers,
    refuse,
    write,
)
from evroute.door.opened import Door, DoorNames
from evroute.network.road_network import RoadNetwork
from evroute.planning.answers import document
from evroute.planning.plan import Plan
from evroute.planning.request import PLACES, PlanRequest, entries

_COLUMNS = [name for name in entries() if name != "trip"]
OF_MATRIX = "--by, --sd and --reduced go with --matrix"
OF_TABLES = "--jobs and --cluster go with --batch or --matrix"


@takes_request(first=("network",), before={"physics": "search"})
def route(  # noqa: PLR0913 - each parameter is an option of the command
    network: Network = "denver",
    physics: Physics = None,
    terrain: Annotated[
        str | None,
        typer.Option(
            help="Slopes: profile (inside edges, where the network has one), or edge (one per "
            "edge). [profile, with --belief the folder's]"
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
            help=f"Answer rows of a CSV table (id, trip | {', '.join(_COLUMNS)}) with JSON lines. "
            "Empty cells use the options.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Table of --matrix, or of --batch besides its JSON lines: .csv, .parquet, or a "
            "new folder of Parquet files, for more rows than memory holds.",
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
        typer.Option(
            help="Routes of --matrix: energy (least energy), time (fastest) or recommended (the "
            "fastest or the detour that pays, as by a plan). [energy]"
        ),
    ] = None,
    sd: Annotated[
        bool,
        typer.Option(
            "--sd",
            help="Add the standard deviation of the energy of each pair to --matrix, without "
            "--belief by the uncertainty of physics.",
        ),
    ] = False,
    reduced: Annotated[
        bool,
        typer.Option(
            "--reduced",
            help="Add reduced energies to --matrix, whole tenths of a Wh and at least 0, for "
            "solvers of routing problems. Over a closed tour they sum to its energy.",
        ),
    ] = False,
    only: Annotated[
        str | None,
        typer.Option(
            help="energy: --batch prints only least energies, of rows (id, trip | from, to), much "
            "faster."
        ),
    ] = None,
    driven: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Say what is left of the plan, by the drive so far: a table or GPX track with "
            "times and positions, and energy or charge if it has them. Nothing is learned.",
        ),
    ] = None,
    follow: Annotated[
        bool,
        typer.Option("--follow", help="Read --driven again as it grows, until Ctrl-C."),
    ] = False,
    jobs: Jobs = 1,
    cluster: Cluster = None,
    mixed: Mixed = False,
    **given: Any,
) -> None:
    """Plan a trip by least energy, beside the fastest and the shortest route."""
    texts, files = texts_of(given), Files(geojson, gpx, map_)
    tables = batch is not None or matrix is not None
    workers = Workers(jobs, cluster, mixed)
    refuse(
        (terrain and belief, "--belief has its own terrain. Leave --terrain out"),
        (run is not None and belief is None, "--run names a run of a folder: --belief FOLDER"),
        (only is not None and batch is None, "--only energy goes with --batch"),
        (out and not tables, "--out goes with --batch or --matrix"),
        (
            tables and (json or any(files.paths) or not texts.keys().isdisjoint(PLACES)),
            "--batch and --matrix read places from files, and print no other form of plan",
        ),
        (batch and matrix, "--matrix does not go with --batch. Leave one of them out"),
        (not tables and workers.given, OF_TABLES),
        ((by, sd, reduced) != (None, False, False) and matrix is None, OF_MATRIX),
    )
    drive = Drive(driven, follow)
    drive.check(with_tables=tables, with_files=any(files.paths))
    # refused before the network is read
    request = PlanRequest.without_places(texts) if tables else PlanRequest.from_texts(texts)
    names = DoorNames(network, terrain, belief, run, physics)
    names = names.of_car(texts.get("car"), texts.get("vehicle"))
    if not tables:
        _answer(names.open(), request, drive, files, json=json)
        return
    from evroute.cli.tables import Batch, Matrix, answer_batch, write_pairs

    with workers.engine() as engine:
        if matrix is not None:
            write_pairs(names, Matrix(matrix, by, out, reduced=reduced, sd=sd), texts, engine)
        elif batch is not None:
            answer_batch(names, Batch(batch, out, only), texts, engine)


@dataclass(frozen=True, slots=True)
class Files:
    """Files that a plan is written to, or None for none."""

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


def _answer(door: Door, request: PlanRequest, drive: Drive, files: Files, *, json: bool) -> None:
    """Print one plan and write its files, or print what a drive so far leaves of it."""
    planner = door.planner(request.vehicle, request.conditions, single=True)
    plan = planner.plan(request)
    if drive.path is not None:
        drive.show(plan, planner.vehicle, json=json)
        return
    files.write(door.roads, plan)
    if json:
        typer.echo(dumps(document(plan), ensure_ascii=False))
        return
    print_plan(door.roads, plan)
    for written in files.paths:
        if written:
            typer.echo(written)
