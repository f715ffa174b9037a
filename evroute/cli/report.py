"""``evroute report``: one page about a run folder, with its figures beside it."""

import sys
from pathlib import Path
from typing import Annotated

import typer


def report(
    folder: Annotated[Path, typer.Argument(help="A run folder, as evroute simulate writes it.")],
    out: Annotated[Path | None, typer.Option(help="The page. [report.html in the run folder]")] = None,
) -> None:
    """Write a page that stands alone, and each of its figures as a PNG beside it."""
    from rich.console import Console

    from evroute.files import replacing
    from evroute.report.page import build_page
    from evroute.simulation.runs import RunFolder

    target = out or folder / "report.html"
    with Console(file=sys.stderr).status("reading") as status:
        page = build_page(RunFolder(folder), lambda what: status.update(f"drawing {what}"))
    for figure in page.figures:
        with replacing(target.with_name(f"{target.stem}-{figure.name}.png")) as temporary:
            temporary.write_bytes(figure.png)
    with replacing(target) as temporary:
        temporary.write_text(page.html, encoding="utf-8")
    typer.echo(f"{target} and {len(page.figures)} figures")
