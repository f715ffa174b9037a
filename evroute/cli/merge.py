"""``evroute merge``: parts of one experiment become one run folder."""

from pathlib import Path
from typing import Annotated

import typer

from evroute.experiments.union import unite
from evroute.text import counted

SHOWN = 3
"""Number of missing runs that are named."""


def merge(
    folders: Annotated[
        list[Path], typer.Argument(help="Run folders that differ in methods or seeds only.")
    ],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Run folder of all their runs.")],
) -> None:
    """Unite run folders that have other methods or other seeds of one experiment."""
    whole, missing = unite(folders, out)
    for name in missing[:SHOWN]:
        typer.echo(f"evroute: missing: {name}", err=True)
    if missing:
        typer.echo(
            f"evroute: {len(missing)} runs of the grid are missing. 'evroute simulate' of the "
            f"whole experiment with --out {out} plays them",
            err=True,
        )
    typer.echo(f"{whole.path}: {counted(len(whole.finished_runs()), 'run')}")
