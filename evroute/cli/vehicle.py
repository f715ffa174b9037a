"""``evroute vehicle``: the vehicles, and the sources of their numbers."""

from dataclasses import asdict
from typing import Annotated

import typer

from evroute.cli.console import print_table
from evroute.energy.vehicle import load_vehicle, vehicle_names
from evroute.errors import require

app = typer.Typer(help="Vehicles of the catalogue, and your own TOML files.", no_args_is_help=True)


@app.command("list")
def list_vehicles(
    words: Annotated[
        list[str] | None,
        typer.Argument(help="Parts of name, class or road load, such as: tesla midsize measured."),
    ] = None,
) -> None:
    """List the vehicles of the catalogue with all the words given.

    The road load is stated (data sheet), measured (EPA) or fitted (to its class).
    """
    kept = [
        v
        for v in map(load_vehicle, vehicle_names())
        if all(
            any(word.lower() in text for text in (v.name, v.car_class, v.road_load))
            for word in words or ()
        )
    ]
    require(kept, f"no vehicle of the catalogue has '{' '.join(words or ())}'. Drop a word")
    names = ["vehicle", "class", "road load"]
    numbers = ["mass\nkg", "drag\narea m²", "battery\nkWh", "AC, DC\nkW"]
    rows = (
        (
            v.name,
            v.car_class,
            v.road_load,
            f"{v.mass_kg:.0f}",
            f"{v.drag * v.front_m2:.3f}",
            f"{v.battery_kwh:.1f}",
            ", ".join(f"{kw:g}" for kw in (v.ac_kw, v.dc_kw) if kw is not None),
        )
        for v in kept
    )
    print_table(names + numbers, rows, texts=len(names))


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A name of the catalogue, or a .toml file.")],
) -> None:
    """Show the numbers of one vehicle and their sources."""
    fields = asdict(load_vehicle(name))
    sources, curve = fields.pop("sources"), fields.pop("charging_curve")
    fields["charging_curve"] = ", ".join(f"{kw:g} kW at {charge:g} %" for charge, kw in curve)
    title = fields.pop("name")
    rows = (
        (field, _cell(value), sources.get(field, ""))
        for field, value in fields.items()
        if value not in ("", None)
    )
    print_table(("field", "value", "source"), rows, title=title)


def _cell(value: str | float) -> str:
    """Return the text of a field."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else f"{value:g}"
