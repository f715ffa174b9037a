"""``evroute report``: a page on runs or learned trips, with its figures as files."""

from pathlib import Path
from typing import Annotated

import typer

from evroute.cli.console import plain_console
from evroute.experiments.runs import RunFolder
from evroute.files import replacing
from evroute.network.catalog import load_network
from evroute.report.abstract import SHOWN_SENTENCES
from evroute.report.bandits import build_bandit_page
from evroute.report.own_trips import build_trips_page
from evroute.report.pages.run_page import build_page


def report(
    folder: Annotated[
        Path, typer.Argument(help="A folder of 'evroute simulate', 'bandit' or 'learn'.")
    ],
    out: Annotated[Path | None, typer.Option(help="The page. [report.html in the folder]")] = None,
    network: Annotated[
        str | None,
        typer.Option(help="Network of learned trips: name or file. [the folder's]"),
    ] = None,
) -> None:
    """Write a page on runs or learned trips, and its figures as PNG files.

    Prints its abstract and the verdicts on the claims that the experiment states.
    """
    target, runs = out or folder / "report.html", RunFolder(folder)
    with plain_console(stderr=True).status("reading") as status:

        def on_progress(name: str) -> None:
            status.update(f"drawing {name}")

        if runs.manifest().get("kind") == "learned":
            page = build_trips_page(
                runs, None if network is None else load_network(network), on_progress
            )
        elif "problem" in runs.manifest().get("configuration", {}):
            page = build_bandit_page(runs)
        else:
            page = build_page(runs, on_progress)
    outdated = set(target.parent.glob(f"{target.stem}-*.png"))
    for figure in page.figures:
        path = target.with_name(f"{target.stem}-{figure.name}.png")
        with replacing(path) as temporary:
            temporary.write_bytes(figure.png)
        outdated.discard(path)
    for path in outdated:
        path.unlink()
    with replacing(target, follow=out is not None) as temporary:
        temporary.write_text(page.html, encoding="utf-8", errors="replace")
    for note in page.notes:
        typer.echo(f"evroute: {note}", err=True)
    for line in (*page.claims, *page.abstract[:SHOWN_SENTENCES]):
        typer.echo(line)
    if len(page.abstract) > SHOWN_SENTENCES:
        typer.echo(f"{len(page.abstract) - SHOWN_SENTENCES} more sentences are in the page")
    typer.echo(f"{target} and {len(page.figures)} figures")
