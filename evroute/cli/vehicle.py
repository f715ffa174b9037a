"""``evroute vehicle``: the vehicles, and the sources of their numbers."""

from dataclasses import asdict
from typing import Annotated

import typer

from evroute.cli.console import print_table
from evroute.energy.vehicle import ROAD_LOADS, load_vehicle, vehicle_names
from evroute.errors import UnknownNameError, require

app = typer.Typer(help="Vehicles of the catalogue, and your own TOML files.", no_args_is_help=True)


@app.command("list")
def list_vehicles(
    name: Annotated[str, typer.Argument(help="Part of the name, such as tesla.")] = "",
    car_class: Annotated[
        str | None,
        typer.Option("--class", help="small, compact, midsize, large, suv, large suv or van."),
    ] = None,
    road_load: Annotated[
        str | None,
        typer.Option(
            help="Origin of rolling resistance and drag: stated (data sheet), measured (EPA), "
            "fitted (its class)."
        ),
    ] = None,
    min_battery: Annotated[
        float, typer.Option(metavar="KWH", help="Least usable battery, kWh.")
    ] = 0.0,
    max_battery: Annotated[
        float, typer.Option(metavar="KWH", help="Largest usable battery, kWh.")
    ] = float("inf"),
) -> None:
    """List the vehicles of the catalogue; options keep those that meet all of them."""
    vehicles = [load_vehicle(each) for each in vehicle_names()]
    for option, value, known in (
        ("--class", car_class, sorted({v.car_class for v in vehicles if v.car_class})),
        ("--road-load", road_load, ROAD_LOADS),
    ):
        require(
            value is None or value in known,
            f"unknown {option} '{value}'; there are {', '.join(known)}",
            UnknownNameError,
        )
    kept = [
        v
        for v in vehicles
        if name.lower() in v.name
        and car_class in (None, v.car_class)
        and road_load in (None, v.road_load)
        and min_battery <= v.battery_kwh <= max_battery
    ]
    require(kept, "no vehicle of the catalogue meets all options; drop one of them")
    columns = (
        *("vehicle", "class", "road load"),
        *("mass\nkg", "drag\narea m²", "battery\nkWh", "AC, DC\nkW"),
    )
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
    print_table(columns, rows, texts=3)


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
        (field, value if isinstance(value, str) else f"{value:g}", sources.get(field, ""))
        for field, value in fields.items()
        if value not in ("", None)
    )
    print_table(("field", "value", "source"), rows, title=title)
