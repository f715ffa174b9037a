"""``evroute bandit``: kernel bandits with one arm a round, as in the papers on Nyström."""

from math import isnan
from pathlib import Path
from typing import Annotated

import typer

from evroute.bandits.kernel_bandit import load_bandit, play
from evroute.bandits.starvation import StarvationExperiment, bands
from evroute.cli.console import print_table, progress
from evroute.experiments.runs import RunFolder
from evroute.files import replacing
from evroute.report.bandits import bandit_chart, bandit_table, starvation_chart, starvation_table
from evroute.report.pages.claims import folder_verdicts, verdict_lines
from evroute.report.pages.run_page import png
from evroute.tables import csv_of


def bandit(
    experiment: Annotated[Path, typer.Argument(help="A TOML file (see data/bandits).")],
    out: Annotated[
        Path | None, typer.Option(help="Folder of table and figure. [runs/NAME of the file]")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on stderr.")] = False,
) -> None:
    """Let methods play a plain kernel bandit. Interrupted, the same command continues.

    Writes rounds.parquet, table.csv and bandit.png, and prints the table and the verdicts on the
    claims of the file.
    """
    import pandas as pd

    requested = load_bandit(experiment)
    folder = out or Path("runs") / experiment.stem
    if isinstance(requested, StarvationExperiment):
        rounds = pd.DataFrame(bands(requested))
        table, chart = starvation_table(rounds), starvation_chart(rounds)
        title = (
            f"{requested.problem}, {requested.repetitions} repetitions: deviations without "
            "measurements"
        )
    else:
        n_runs = len(requested.methods) * requested.repetitions
        with progress(quiet=quiet) as report:
            played = play(
                requested, lambda done: report(f"runs of {requested.problem}", done, n_runs), folder
            )
        rounds = played.to_pandas()
        table, chart = bandit_table(rounds), bandit_chart(rounds)
        title = (
            f"{requested.problem}, {requested.horizon} rounds, {requested.repetitions} repetitions"
        )
    with replacing(folder / "rounds.parquet") as temporary:
        rounds.to_parquet(temporary)
    with replacing(folder / "table.csv") as temporary:
        temporary.write_bytes(csv_of(table, "%.4g").encode())
    with replacing(folder / "bandit.png") as temporary:
        temporary.write_bytes(png(chart))
    rows = [[_cell(cell) for cell in row] for row in table.itertuples(index=False, name=None)]
    print_table(list(table.columns), rows, title=title)
    if not isinstance(requested, StarvationExperiment):
        for line in verdict_lines(folder_verdicts(RunFolder(folder))):
            typer.echo(line)
    typer.echo(folder)


def _cell(value: str | float) -> str:
    """Return a name, or a number with four digits. A dash for a number that is missing."""
    if isinstance(value, str):
        return value
    return "–" if isnan(value) else f"{value:.4g}"
