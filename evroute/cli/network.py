"""``evroute network``: list, inspect, build, export, and add charging stations."""

from collections.abc import Callable
from dataclasses import replace
from json import dumps
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import DownloadColumn, Progress
from rich.text import Text

from evroute.cli.console import plain_console, print_table
from evroute.energy.defaults import VEHICLE
from evroute.energy.prior import fit
from evroute.energy.vehicle import load_vehicle
from evroute.errors import require
from evroute.files import real_path
from evroute.network import catalog, city, store
from evroute.network.catalog import cache_dir, load_network, network_names
from evroute.network.heights import copernicus
from evroute.network.heights.elevation import DEFAULT_SMOOTHING_M, GREATEST_SMOOTHING_M
from evroute.network.places import street_names
from evroute.network.places.suggestions import suggest
from evroute.network.road_network import RoadNetwork
from evroute.network.sources import graphml, osm, sumo_net
from evroute.network.sources.chargers import add_chargers
from evroute.network.sources.fetch import download, find
from evroute.network.texts import check_name
from evroute.network.views.export import export as write
from evroute.network.views.summary import summary
from evroute.text import escaped

app = typer.Typer(
    help="Road networks: list, inspect, build, export, add charging stations.",
    no_args_is_help=True,
)

Name = Annotated[str, typer.Argument(help="A network's name, or a stored .npz file.")]
Elevation = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RASTER|copernicus",
        help="Heights: a raster (GeoTIFF, HGT or ASCII grid, any CRS), or 'copernicus' for GLO-30 "
        "from the internet. "
        "Of several, the first with a value at a place is used.",
    ),
]


SHOWN_SOURCE = ("source", "source_sha256", "attribution", "crs")


@app.command("list")
def list_networks() -> None:
    """List the networks that can be used by name."""
    print_table(("network", "where"), network_names().items())


@app.command()
def info(
    name: Name,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show size, inclines and origin of a network."""
    about = _about(load_network(name))
    if json:
        typer.echo(dumps(about, indent=2, ensure_ascii=False))
    else:
        _print_table(about)


@app.command()
def places(
    name: Name,
    text: Annotated[str, typer.Argument(help="A place, as a driver writes it.")],
) -> None:
    """Find places by a name with typing errors. The likeliest is first."""
    found = suggest(load_network(name), text)
    require(found, f"nothing in network '{name}' is called '{text}'")
    rows = [(each.label, each.kind, each.text) for each in found]
    print_table(("place", "kind", "as a place of evroute route"), rows)


@app.command()
def build(  # noqa: PLR0913 - each parameter is an option of the command
    name: Annotated[
        str, typer.Argument(help="Name of the network: letters, digits, '.', '_', '-'.")
    ],
    place: Annotated[
        str | None, typer.Option(metavar="TEXT", help="A place in OpenStreetMap. Needs internet.")
    ] = None,
    osm: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="OpenStreetMap: .osm, .osm.gz, .osm.bz2 or .osm.pbf."),
    ] = None,
    graphml: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A graph saved by OSMnx.")
    ] = None,
    sumo: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A SUMO network, .net.xml or .net.xml.gz.")
    ] = None,
    lengths: Annotated[
        str | None,
        typer.Option(
            metavar="driven|junctions",
            help="Lengths of a SUMO network: as cars drive (default), by lanes and turns, or to "
            "the centres of junctions, as in the figures of the papers. Without --sumo, of a "
            "network of the data folder.",
        ),
    ] = None,
    elevation: Elevation = None,
    elevation_unchecked: Annotated[
        bool,
        typer.Option("--elevation-unchecked", help="Build also with heights that fail the checks."),
    ] = False,
    smoothing: Annotated[
        float,
        typer.Option(
            min=0,
            max=GREATEST_SMOOTHING_M,
            metavar="METRES",
            help="Strength of the smoothing of heights, 0 for none.",
        ),
    ] = DEFAULT_SMOOTHING_M,
    names: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.osm",
            help="Street names and named places of an OpenStreetMap file, for roads without a "
            "name.",
        ),
    ] = None,
) -> None:
    """Build a network from one source and store it by name. A failure keeps an older one."""
    sources = {"--place": place, "--osm": osm, "--graphml": graphml, "--sumo": sumo}
    given = {option: source for option, source in sources.items() if source is not None}
    if lengths is not None and not given:
        check_name(name)
        _keep_with(name, lengths)
        return
    require(
        len(given) == 1,
        f"give exactly one source of roads: {', '.join(sources)}",
        typer.BadParameter,
    )
    ((option, source),) = given.items()
    require(
        lengths is None or sumo is not None,
        "--lengths is an option of --sumo. Leave it out",
        typer.BadParameter,
    )
    check_name(name)
    settings = {"smoothing_m": smoothing, "checked": not elevation_unchecked}
    _build(
        lambda: _read(option, str(source), name, lengths),
        f"reading {source}",
        elevation,
        settings,
        names,
    )


@app.command()
def get(
    place: Annotated[str, typer.Argument(help="A city, district or region of OpenStreetMap.")],
    name: Annotated[
        str | None,
        typer.Option("--as", metavar="NAME", help="Name of the network. [the place's]"),
    ] = None,
) -> None:
    """Load a city by its name: roads, heights, names and charging stations. Needs internet.

    Size and time are printed first. A load that was interrupted goes on where it ended.
    """
    chosen = name or city.name_of(place)
    check_name(chosen)
    require(
        chosen not in network_names(),
        f"a network '{chosen}' exists. Give another name with --as",
    )
    console = plain_console(stderr=True)
    found = city.look_up(place)
    console.print(Text(escaped(found.words)), soft_wrap=True)
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("", total=len(city.STEPS))

        def on_step(step: int) -> None:
            progress.update(task, completed=step, description=city.STEPS[step])

        network = city.load(found, chosen, on_step)
    path = catalog.keep(network)
    console.print(f"built {path}", soft_wrap=True)
    _print_table(_about(network))


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(help="luxembourg or monaco.")],
    elevation: Elevation = None,
) -> None:
    """Download, verify and build a published SUMO network of a city. Needs internet.

    The file stays in the folder downloads of the cache: 'evroute network build --sumo FILE' builds
    it with other settings.
    """
    requested = find(name)
    columns = (*Progress.get_default_columns(), DownloadColumn())
    with Progress(*columns, console=plain_console(stderr=True), transient=True) as progress:
        task = progress.add_task(requested.file_name)
        path = download(
            requested,
            cache_dir() / "downloads",
            lambda so_far, total: progress.update(task, completed=so_far, total=total),
        )

    def read() -> RoadNetwork:
        network = sumo_net.read(path, name)
        source = replace(network.source, attribution=requested.attribution)
        return network.changed(source=source)

    _build(read, f"reading {path.name}", elevation)


@app.command()
def export(
    name: Name,
    to: Annotated[
        Path,
        typer.Option(metavar="FILE", help=".graphml (for OSMnx), .gpkg, .geojson or .parquet."),
    ],
) -> None:
    """Write a network for other programs."""
    network = load_network(name)
    write(network, to)
    typer.echo(f"wrote the {network.n_edges:,} edges of {network.name} to {to}")


@app.command()
def chargers(
    name: Name,
    file: Annotated[
        Path,
        typer.Argument(
            help="Open Charge Map export (.json), OpenStreetMap (.osm, .pbf), or .csv (name, lat, "
            "lon, socket, kw, status, of which the last two may be missing)."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE.npz", help="Network to write, instead of one of this name."),
    ] = None,
) -> None:
    """Store the charging stations of a file with a network, for 'evroute route --charge'."""
    require(
        out is None or out.suffix == ".npz", f"--out {out} must end in .npz", typer.BadParameter
    )
    network, counts = add_chargers(catalog.load_network(name), file)
    if out is not None:
        store.save(network, real_path(out))
    print_table(("", ""), [(what, str(count)) for what, count in counts.most_common()])
    typer.echo(f"wrote {out or catalog.keep(network)}")


def _build(
    read: Callable[[], RoadNetwork],
    doing: str,
    elevation: list[str] | None,
    settings: dict[str, Any] | None = None,
    names: Path | None = None,
) -> None:
    """Read the roads, set their heights and names, store them, and print a summary.

    ``settings`` are keywords of `catalog.build`.
    """
    console = plain_console(stderr=True)
    with console.status(Text(escaped(doing))) as status:
        network = read()
        status.update("setting heights")
        rasters, attribution = _rasters(network, elevation or [])
        network = catalog.build(network, rasters=rasters, attribution=attribution, **settings or {})
        if names is not None:
            status.update(Text(escaped(f"reading names from {names}")))
            network = street_names.add_names(network, osm.read(names, "names"))
        status.update("storing")
        path = catalog.keep(network)
    console.print(f"built {path}", soft_wrap=True)
    _print_table(_about(network))


def _keep_with(name: str, lengths: str) -> None:
    """Build a network of the data folder with other lengths, store it, and print a summary."""
    console = plain_console(stderr=True)
    with console.status(Text(escaped(f"building {name}"))):
        network = catalog.built_with(name, lengths)
        path = catalog.keep(network)
    console.print(f"built {path}", soft_wrap=True)
    _print_table(_about(network))


def _read(option: str, source: str, name: str, lengths: str | None) -> RoadNetwork:
    """Read the roads with the reader of the option.

    Parameters
    ----------
    option, source
        The option and its value.
    name
        Name of the network.
    lengths
        Lengths of a SUMO network, or None for the reader's own.
    """
    if option == "--place":
        return osm.read_place(source, name, catalog.cache_dir() / "osmnx")
    if lengths is not None:
        return sumo_net.read(Path(source), name, lengths)
    readers = {"--osm": osm.read, "--graphml": graphml.read, "--sumo": sumo_net.read}
    return readers[option](Path(source), name)


def _rasters(network: RoadNetwork, requested: list[str]) -> tuple[list[Path], str]:
    """Return the files with the heights, and the network's attribution with theirs."""
    rasters, attributions = [], [network.source.attribution]
    for raster in requested:
        if raster == "copernicus":
            rasters += copernicus.rasters(network, catalog.cache_dir() / "copernicus")
            attributions.append(copernicus.ATTRIBUTION)
        else:
            rasters.append(Path(raster))
    return rasters, "; ".join(filter(None, attributions))


def _about(network: RoadNetwork) -> dict[str, Any]:

    negative = fit(network, load_vehicle(VEHICLE)).mean_wh < 0
    return summary(network) | {"negative_prior_edges": int(negative.sum())}


def _print_table(about: dict[str, Any]) -> None:
    inclines = zip(
        ("median", "95th percentile", "99th", "steepest"),
        about["incline_percent"].values(),
        strict=True,
    )
    smoothed = f"smoothed by {about['smoothing_m']:g} m" if about["smoothing_m"] else "not smoothed"
    rows = {
        "edges, junctions, turns": (
            f"{about['edges']:,}, {about['junctions']:,}, {about['turns']:,}"
        ),
        "charging stations": f"{about['charging_stations']:,}",
        "length": f"{about['length_m'] / 1000:.1f} km",
        "|incline| of edges": ", ".join(f"{title} {value:.1f} %" for title, value in inclines),
        "ascent": f"{about['ascent_m_per_km']:.1f} m per km",
        "edges with negative energy": (
            f"{about['negative_prior_edges']:,} (at steady speeds, {VEHICLE})"
        ),
        "heights": f"{about['elevation']}, {smoothed}",
        **{key.replace("_", " "): about[key] for key in SHOWN_SOURCE},
    }
    notes = (("note", note) for note in about["notes"])
    print_table(("", ""), [*rows.items(), *notes], title=about["name"])
