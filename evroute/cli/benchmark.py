"""``evroute benchmark``: compare programs that expect the energy of trips."""

from collections.abc import Iterable
from itertools import groupby
from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from evroute.cli.console import print_table, progress
from evroute.experiments.benchmark.entries import ENTRIES
from evroute.experiments.benchmark.run import DEFAULT_ENTRIES, Row
from evroute.experiments.benchmark.run import benchmark as run
from evroute.plugins import use_parts
from evroute.tables import write_table
from evroute.text import counted

COLUMNS = ("entry", "measure", "value", "against regression", "90 %")


def benchmark(
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="A folder with drives/ or ioniq5/ (docs/how-to/benchmark.md). [two made years]",
        ),
    ] = None,
    entry: Annotated[
        list[str] | None,
        typer.Option(
            help=f"{', '.join(ENTRIES)}, or MODULE:CLASS of your own, which runs its code. "
            f"Repeatable. [{', '.join(DEFAULT_ENTRIES)}]"
        ),
    ] = None,
    first: Annotated[
        int | None, typer.Option(metavar="TRIPS", help="Only the first trips of each data set.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print sources and results.")] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Write the results as a table.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on stderr.")] = False,
) -> None:
    """Compare programs that expect the energy of trips, in order of time.

    Each trip is expected from the trips before it alone. Each result has its difference from the
    regression, with a paired 90 % interval.
    """
    use_parts(entry or [])
    with progress(quiet=quiet) as report:
        found = run(
            data,
            entry or DEFAULT_ENTRIES,
            first=first,
            on_progress=lambda done, total: report("runs", done, total),
        )
    if out is not None:
        write_table(out, found.table())
    if as_json:
        typer.echo(dumps(found.to_json()))
        return
    for each, rows in zip(found.data, _by_data(found.rows), strict=True):
        typer.echo(f"{each.name}: {each.about['title']}, {counted(len(each.trips), 'trip')}")
        typer.echo("  {source} ({commit}), {licence}".format(**each.about))
        for name, digest in each.digests.items():
            typer.echo(f"  {name} SHA-256 {digest}")
        print_table(COLUMNS, [_cells(row) for row in rows], texts=2)


def _by_data(rows: Iterable[Row]) -> list[list[Row]]:
    """Return the rows of each data set."""
    return [list(group) for _, group in groupby(rows, key=lambda row: row.data)]


def _cells(row: Row) -> tuple[str, ...]:
    """Return the cells of a result."""
    numbers = (row.value, row.difference, row.low, row.high)
    if row.unit == "share":
        value, difference, low, high = (f"{100.0 * number:.1f}" for number in numbers)
        value, difference = f"{value} %", f"{difference} %"
    else:
        value, difference, low, high = (f"{number:,.0f}" for number in numbers)
        value, difference = f"{value} Wh", f"{difference} Wh"
    return row.entry, row.measure, value, difference, f"{low} to {high}"
