"""``evroute report``: a page on a run folder, with its figures as files."""

from pathlib import Path
from typing import Annotated

import typer

from evroute.cli.console import plain_console

SHOWN_SENTENCES = 6


def report(
    folder: Annotated[Path, typer.Argument(help="A run folder of 'evroute simulate'.")],
    out: Annotated[
        Path | None, typer.Option(help="The page. [report.html in the run folder]")
    ] = None,
) -> None:
    """Write a page on a run folder, with its figures as PNG files; print its abstract."""
    from rich.text import Text

    from evroute.experiments.runs import RunFolder
    from evroute.files import replacing
    from evroute.report.page import build_page

    target = out or folder / "report.html"
    with plain_console(stderr=True).status("reading") as status:
        page = build_page(RunFolder(folder), lambda name: status.update(Text(f"drawing {name}")))
    outdated = set(target.parent.glob(f"{target.stem}-*.png"))
    for figure in page.figures:
        path = target.with_name(f"{target.stem}-{figure.name}.png")
        with replacing(path) as temporary:
            temporary.write_bytes(figure.png)
        outdated.discard(path)
    for path in outdated:
        path.unlink()
    with replacing(target) as temporary:
        temporary.write_text(page.html, encoding="utf-8", errors="replace")
    for note in page.notes:
        typer.echo(f"evroute: {note}", err=True)
    for sentence in page.abstract[:SHOWN_SENTENCES]:
        typer.echo(sentence)
    if len(page.abstract) > SHOWN_SENTENCES:
        typer.echo(f"{len(page.abstract) - SHOWN_SENTENCES} more sentences are in the page")
    typer.echo(f"{target} and {len(page.figures)} figures")
