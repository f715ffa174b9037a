"""``evroute vehicle``: the vehicles, and the sources of their numbers."""

from typing import Annotated

import typer

from evroute.cli.console import plain_console

app = typer.Typer(help="Vehicles of the catalogue, and your own TOML files.", no_args_is_help=True)


@app.command("list")
def list_vehicles() -> None:
    """List the vehicles of the catalogue."""
    from rich.table import Table

    from evroute.energy.vehicle import load_vehicle, vehicle_names

    table = Table()
    for title in (
        "vehicle",
        "mass kg",
        "drag x area m²",
        "rolling",
        "auxiliary W",
        "usable battery kWh",
    ):
        first = title == "vehicle"
        table.add_column(title, justify="left" if first else "right", no_wrap=first)
    for name in vehicle_names():
        v = load_vehicle(name)
        table.add_row(
            name,
            f"{v.mass_kg:.0f}",
            f"{v.drag * v.front_m2:.3f}",
            f"{v.rolling:.4f}",
            f"{v.auxiliary_w:.0f}",
            f"{v.battery_kwh:.1f}",
        )
    plain_console().print(table)


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A name of the catalogue, or a .toml file.")],
) -> None:
    """Show the numbers of one vehicle and their sources."""
    from dataclasses import asdict

    from rich.table import Table

    from evroute.energy.vehicle import load_vehicle

    numbers = asdict(load_vehicle(name))
    sources = numbers.pop("sources")
    table = Table("field", "value", "source", title=numbers.pop("name"))
    for field, value in numbers.items():
        table.add_row(field, f"{value:g}", sources.get(field, ""))
    plain_console().print(table)
