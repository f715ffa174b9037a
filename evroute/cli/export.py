"""``evroute export``: a belief in the numbers that other planners ask for."""

from json import dumps
from pathlib import Path
from typing import Annotated

import typer
from threadpoolctl import threadpool_limits

from evroute.cli.shared import Network, Run
from evroute.door.planners import Planner
from evroute.export.targets import TARGETS, exported
from evroute.files import replacing
from evroute.learning.belief import load_belief
from evroute.network.catalog import load_network


def export(
    belief: Annotated[Path, typer.Argument(help="Folder of a belief.")],
    target: Annotated[
        str, typer.Option("--for", metavar="PLANNER", help=f"One of {', '.join(TARGETS)}.")
    ],
    network: Network = "denver",
    run: Run = None,
    car: Annotated[str | None, typer.Option(help="A car of the belief of a fleet.")] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write to a file instead of the terminal.")
    ] = None,
) -> None:
    """Write what a belief learned as numbers for other planners, in JSON.

    They are fitted to 300 routes of the network, and the file has their errors on 300 others.
    """
    threadpool_limits(1)  # threads of small products wait for each other
    roads = load_network(network)
    learned = load_belief(belief, run, network=roads, car=car)
    found = exported(Planner(roads, None, learned).of_car(car), target)
    text = dumps(found, indent=2, ensure_ascii=False) + "\n"
    if out is None:
        typer.echo(text, nl=False)
        return
    with replacing(out, follow=True) as new:
        new.write_text(text, encoding="utf-8")
