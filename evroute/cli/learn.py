"""``evroute learn``: from a user's measured trips to a belief for planning."""

from math import isfinite
from pathlib import Path
from typing import Annotated

import typer

from evroute.cli.console import plain_console, print_table, progress
from evroute.cli.shared import VehicleName, parsed_options, refuse
from evroute.errors import EvrouteError, require
from evroute.learning.learn import Learned
from evroute.learning.learn import learn as run
from evroute.learning.readers.formats import TOTALS, named_headers
from evroute.learning.records.manifest import Choice
from evroute.learning.records.repair import repair
from evroute.plugins import use_parts

SHOWN = 20


def learn(  # noqa: PLR0913 - each parameter is an option of the command
    table: Annotated[
        list[Path] | None,
        typer.Argument(
            show_default=False,
            help="Files, folders or zip archives of CSV, Parquet or GPX: a row per edge (trip, "
            "edge, energy_wh), or per GPS point (time, lat, lon) with cumulative energy_wh, volts "
            "and amps, power_w or soc_percent.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the belief. Earlier trips in it are kept.")
    ] = None,
    network: Annotated[
        str | None,
        typer.Option(help="A network's name, or a stored .npz file. [the folder's, or denver]"),
    ] = None,
    vehicle: VehicleName = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="trips: coefficients of whole trips, with calibrated intervals, or a "
            "model of edges from 'evroute method list'. [the model of --out, or trips]"
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME=VALUE, an option of the model, such as physics=eq8, or roads=kernel for "
            "deviations of roads by the graph-Matérn x Matérn kernel, or arms=turns of a model of "
            "edges; terrain=edge for one slope per edge; for a model of edges prior=dissipation or "
            "prior=paper, the size of prior deviations. Repeatable."
        ),
    ] = None,
    kernel: Annotated[
        str | None,
        typer.Option(
            help="Kernel between contexts of a model of edges, see 'evroute method list'. [the "
            "kernel of --out, or matern-5/2]"
        ),
    ] = None,
    reader: Annotated[
        str | None,
        typer.Option(
            help="Format of the table: gpx, points, notebook, edges, a format of an installed "
            "package, or MODULE:NAME. [by its suffix or columns]"
        ),
    ] = None,
    totals: Annotated[
        bool,
        typer.Option(
            "--totals",
            help="Learn the total of each trip by its speeds, without positions: coefficients of "
            "the car and no road.",
        ),
    ] = False,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=HEADER",
            help="A column of the table by its header, such as lat=gps_lat. The folder keeps it. "
            "Repeatable.",
        ),
    ] = None,
    cars: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Types of the cars of a fleet: CSV or Parquet (car, vehicle). Each type gets a "
            "folder in --out. The trips name their cars in a column car, or vehicle where no "
            "value is a type.",
        ),
    ] = None,
    reset: Annotated[
        bool,
        typer.Option(
            "--reset", help="Start afresh. Earlier trips are moved to reset-DATE in --out."
        ),
    ] = False,
    mended: Annotated[
        Path | None,
        typer.Option(
            "--repair",
            metavar="FOLDER",
            help="Learn the intact trips of a damaged folder again. Damaged files are moved to "
            "repair-DATE in it.",
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on stderr.")] = False,
) -> None:
    """Learn measured trips. Plan on them with 'evroute route --belief'."""
    use_parts(filter(None, (model, kernel, reader)))
    options = parsed_options(option)
    prior, terrain = (options.pop(name, None) for name in ("prior", "terrain"))
    for name, given in (("prior", prior), ("terrain", terrain)):
        valid = given is None or (isinstance(given, str) and given)
        require(valid, f"--option {name} is '{given}'. Give one name")
    refuse((totals and reader, "--totals is a reader of its own. Leave --reader out"))
    with progress(quiet=quiet) as report:
        if mended is not None:
            refuse(
                (reader, "--repair reads no table. Leave --reader out"),
                (column, "--repair reads no table. Leave --column out"),
                (totals, "--repair reads no table. Leave --totals out"),
                (table or out, "--repair takes no table and no --out. Learn a table afterwards"),
                (cars, "--repair reads no table. Leave --cars out"),
                (reset, "--repair and --reset exclude each other. Give one of them"),
            )
            learned = repair(
                mended,
                network=network,
                vehicle=vehicle,
                choice=Choice(model, options, prior, kernel, terrain),
                on_progress=lambda done, total: report("trips", done, total),
            )
        else:
            if table is None or out is None:
                raise EvrouteError("give a table of trips and --out FOLDER, or --repair FOLDER")
            learned = run(
                table,
                out,
                column=named_headers(column or ()),
                network=network,
                vehicle=vehicle,
                model=model,
                options=options,
                prior=prior,
                kernel=kernel,
                terrain=terrain,
                reader=TOTALS if totals else reader,
                reset=reset,
                cars=cars,
                on_progress=lambda done, total: report("trips", done, total),
            )
    for name, of_type in learned.by_type.items():
        plain_console(highlight=False).print(f"{name}:")
        _print(of_type)
    if not learned.by_type:
        _print(learned)


COLUMNS = ("trip", "km", "measured Wh", "expected Wh", "90 % of trips", "physics Wh")


def _print(learned: Learned) -> None:
    rows = learned.trips.to_pylist()[-learned.new :] if learned.new else []
    if rows:
        shown = (
            (
                row["trip"],
                f"{row['length_m'] / 1000:.2f}",
                f"{row['energy_wh']:.0f}",
                f"{row['predicted_wh']:.0f}",
                _interval(row.get("low90_wh"), row.get("high90_wh")),
                f"{row['eq8_wh']:.0f}",
            )
            for row in rows[-SHOWN:]
        )
        title = f"the last {SHOWN} of {len(rows)} trips" if len(rows) > SHOWN else ""
        print_table(COLUMNS, shown, title=title, texts=1)
    counts = [
        f"learned {learned.new} trip{'s' * (learned.new != 1)}, {learned.trips.num_rows} in all"
    ]
    if learned.known:
        counts.append(f"{learned.known} known already")
    if learned.skipped:
        counts.append(f"{len(learned.skipped)} set aside")
    reasons = [f"  {trip}: {reason}" for trip, reason in learned.skipped.items()]
    further = [f"  and {len(reasons) - SHOWN} more"] if len(reasons) > SHOWN else []
    aside = [f"{_moved(learned.aside)} are in {learned.aside}"] if learned.aside else []
    lines = ("; ".join(counts), *learned.findings, *reasons[:SHOWN], *further, *aside)
    for line in (*lines, *learned.notes, f"{learned.folder}/trips.parquet"):
        plain_console(highlight=False).print(line, soft_wrap=True)


def _moved(aside: Path) -> str:
    """Return the content of a folder to which files were moved, in words."""
    is_repair = aside.name.startswith("repair-")
    return "the damaged files and the earlier belief" if is_repair else "the earlier trips"


def _interval(low_wh: float | None, high_wh: float | None) -> str:
    """Return the ends of an interval, or empty where it is unknown."""
    if low_wh is None or high_wh is None or not isfinite(high_wh - low_wh):
        return ""
    return f"{low_wh:.0f} to {high_wh:.0f}"
