"""``evroute network``: what networks there are, what is in them, and building new ones."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from evroute.network.road_network import RoadNetwork

app = typer.Typer(help="Road networks: list them, look into them, build your own.", no_args_is_help=True)


@app.command("list")
def list_networks() -> None:
    """List the networks that can be used by name."""
    from rich.console import Console
    from rich.table import Table

    from evroute.network.catalog import network_names

    table = Table()
    table.add_column("network", no_wrap=True)
    table.add_column("where", overflow="fold")
    for name, where in network_names().items():
        table.add_row(name, where)
    Console().print(table)


@app.command()
def info(
    name: Annotated[str, typer.Argument(help="A network's name, or a stored .npz file.")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show size, inclines and origin of a network."""
    from evroute.network.catalog import load_network

    told = _told(load_network(name))
    if json:
        typer.echo(_as_json(told))
    else:
        _print_table(told)


@app.command()
def build(
    name: Annotated[str, typer.Argument(help="The name to use it by: letters, digits, '.', '_', '-'.")],
    sumo: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A SUMO network, .net.xml or .net.xml.gz.")
    ] = None,
    elevation: Annotated[
        list[Path] | None,
        typer.Option(metavar="RASTER", help="Heights (GeoTIFF, HGT; any CRS); may be given several times."),
    ] = None,
    smoothing: Annotated[
        float, typer.Option(min=0, metavar="METRES", help="Strength of the smoothing of heights; 0 for none.")
    ] = 30.0,
) -> None:
    """Build a network from its source and keep it under a name; a failure leaves an older one of that name usable."""
    from rich.console import Console

    from evroute.network import catalog

    if not math.isfinite(smoothing):
        raise typer.BadParameter("it must be a number of metres", param_hint="--smoothing")
    catalog.check_name(name)
    given = {option: value for option, value in {"--sumo": sumo}.items() if value is not None}
    if len(given) != 1:
        raise typer.BadParameter("give exactly one source of roads: --sumo FILE")
    ((option, source),) = given.items()
    console = Console(stderr=True)
    with console.status(f"reading {source}") as status:
        network = _read(option, source, name)
        status.update("setting heights")
        network = catalog.build(network, rasters=elevation or [], smoothing_m=smoothing)
        status.update("storing")
        path = catalog.keep(network)
    console.print(f"built {path}", soft_wrap=True)
    _print_table(_told(network))


def _read(option: str, source: Path, name: str) -> "RoadNetwork":
    """Read the roads with the reader that belongs to the option."""
    from evroute.network import sumo_net

    readers = {"--sumo": sumo_net.read}
    return readers[option](source, name)


def _told(network: "RoadNetwork") -> dict[str, Any]:
    from evroute.energy.prior import fit
    from evroute.energy.vehicle import load_vehicle
    from evroute.network.summary import summary

    negative = fit(network, load_vehicle()).mean_wh < 0
    return summary(network) | {"negative_prior_edges": int(negative.sum())}


def _as_json(told: dict[str, Any]) -> str:
    from json import dumps

    return dumps(told, indent=2, ensure_ascii=False)


def _print_table(told: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    inclines = told["incline_percent"]
    table = Table(title=told["name"], show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("edges, junctions, turns", f"{told['edges']:,}, {told['junctions']:,}, {told['turns']:,}")
    table.add_row("length", f"{told['length_m'] / 1000:.1f} km")
    table.add_row("|incline|", ", ".join(f"{name} {value:.1f} %" for name, value in inclines.items()))
    table.add_row("edges with negative energy", f"{told['negative_prior_edges']:,} (eq. 8, the default vehicle)")
    table.add_row("heights", f"{told['elevation']}; smoothed with {told['smoothing_m']:g} m")
    for key in ("source", "source_sha256", "attribution", "crs"):
        table.add_row(key.replace("_", " "), told[key])
    for note in told["notes"]:
        table.add_row("note", note)
    Console().print(table)
