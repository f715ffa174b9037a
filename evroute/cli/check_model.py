"""``evroute check-model``: whether an energy model is possible."""

from dataclasses import asdict
from json import dumps
from typing import Annotated

import typer

from evroute.cli.shared import Network
from evroute.door.check_model import ENERGY, FEATURES
from evroute.door.check_model import check_model as checked
from evroute.energy.consumption import ENERGIES
from evroute.energy.consumption import FEATURES as KNOWN_FEATURES

MARKS = {True: "holds", False: "FAILS", None: "-"}


def check_model(
    model: Annotated[
        str,
        typer.Argument(
            help="A vehicle (name or .toml), a table (.csv: speed_kmh, slope_percent, wh_per_km), "
            "an .onnx model, or the folder of a belief."
        ),
    ],
    network: Network = "denver",
    physics: Annotated[
        str | None, typer.Option(help="Physics of a vehicle: driving or eq8.")
    ] = None,
    mass: Annotated[
        float | None,
        typer.Option(metavar="KG", min=1, help="Mass of the vehicle of a table or an .onnx model."),
    ] = None,
    features: Annotated[
        str, typer.Option(help=f"Columns of an .onnx model, of {', '.join(KNOWN_FEATURES)}.")
    ] = ",".join(FEATURES),
    energy: Annotated[
        str, typer.Option(help=f"Energy of an .onnx model: {', '.join(ENERGIES)}.")
    ] = ENERGY,
    as_json: Annotated[bool, typer.Option("--json", help="Print the checks as JSON.")] = False,
) -> None:
    """Check an energy model for what no vehicle can do. The exit status is 1 if a check fails.

    No closed drive may charge the battery. A model of speed and slope also rises with the slope,
    returns at most m g h on a descent, and costs energy on the level.
    """
    names = tuple(name.strip() for name in features.split(","))
    found = checked(model, network, physics=physics, mass_kg=mass, features=names, energy=energy)
    if as_json:
        typer.echo(dumps(asdict(found) | {"holds": found.holds}))
    else:
        typer.echo(f"{found.model} on {found.network}")
        for law in found.laws:
            typer.echo(f"  {MARKS[law.holds]:5s}  {law.law}: {law.detail}")
        if found.raised:
            typer.echo(f"  {found.raised} learned arms are raised to their potential in plans")
    if not found.holds:
        raise typer.Exit(1)
