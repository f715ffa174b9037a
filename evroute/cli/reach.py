"""``evroute range``: the roads within reach of a charge, or the charge that a place needs."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from threadpoolctl import threadpool_limits

from evroute.cli.shared import (
    Belief,
    Charge,
    Map,
    Network,
    Origin,
    Payload,
    Run,
    Temperature,
    VehicleName,
    refuse,
    write,
)
from evroute.energy.driving import conditions
from evroute.learning.belief import load_belief
from evroute.learning.physics_belief import physics_belief
from evroute.network.catalog import load_network
from evroute.planning.battery import Battery
from evroute.planning.numbers import share_of
from evroute.planning.planner import Planner
from evroute.planning.reach import Reach, charge_needed
from evroute.planning.reach import reach as reach_of
from evroute.report.maps.reach import reach_geojson, reach_map

SHARES = (50, 90, 100)


def reach(
    network: Network = "denver",
    start: Origin = None,
    goal: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="PLACE", help="Instead: the charge that every road needs to get there."
        ),
    ] = None,
    soc: Charge = None,
    reserve: Annotated[float, typer.Option(min=0, max=100, help="Lowest allowed charge, %.")] = 0.0,
    risk: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Greatest probability of ever falling below the reserve, such as 5%. Without it "
            "expected energies decide.",
        ),
    ] = None,
    vehicle: VehicleName = None,
    temperature: Temperature = None,
    payload: Payload = 0.0,
    belief: Belief = None,
    run: Run = None,
    geojson: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write roads and area as GeoJSON.")
    ] = None,
    map_: Map = None,
) -> None:
    """Find the roads within reach of a charge, or the charge that every road needs to a place."""
    refuse(
        (
            (start is None) == (goal is None),
            "give the place to drive from (--from) or the place to drive to (--to)",
        ),
        (run is not None and belief is None, "--run names a run of a folder: --belief FOLDER"),
        (
            goal is not None and any(each is not None for each in (soc, risk, geojson, map_)),
            "--soc, --risk, --geojson and --map go with --from, not with --to",
        ),
        (
            start is not None and soc is None,
            "--from needs the charge at the start: --soc",
        ),
    )
    threadpool_limits(1)  # threads of small products wait for each other
    roads = load_network(network)
    day = conditions(temperature_c=temperature, payload_kg=payload)
    learned = None if belief is None else load_belief(belief, run, network=roads)
    planner = Planner(roads, vehicle, learned, conditions=day, uncertainty=physics_belief)
    battery = Battery.of_percent(
        planner.vehicle.battery_kwh, reserve if soc is None else soc, reserve
    )
    if goal is not None:
        _print_needs(planner, goal, battery)
        return
    found = reach_of(
        planner, str(start), battery, risk=None if risk is None else share_of("--risk", risk)
    )
    write(geojson, lambda: reach_geojson(found))
    write(map_, lambda: reach_map(found))
    _print(found, learned is None)
    for written in (geojson, map_):
        if written:
            typer.echo(written)


def _print(found: Reach, physics: bool) -> None:

    network, battery = found.network, found.battery
    by = "by expected energies" if found.risk is None else f"at a risk of {100 * found.risk:.4g} %"
    typer.echo(
        f"within reach {by}: {found.within.sum():,} of {network.n_edges:,} roads, "
        f"{found.length_m / 1000:.1f} km, up to {found.extent_m / 1000:.1f} km away"
    )
    reserve = battery.percent(battery.reserve_wh)
    for level, percent in found.charge_percent.items():
        kept = percent >= reserve
        typer.echo(
            f"{100 * level:.4g} % of trips arrive at or above {reserve:.4g} %: {kept.sum():,} "
            f"roads, {network.length_m[kept].sum() / 1000:.1f} km"
        )
    if physics:
        typer.echo("uncertainty of physics alone: no trip was learned")


def _print_needs(planner: Planner, goal: str, battery: Battery) -> None:

    percent = charge_needed(planner, goal, battery)
    possible = percent[np.isfinite(percent)]
    typer.echo(
        f"{len(possible):,} of {len(percent):,} roads lead there on a full battery by expected "
        "energies"
    )
    for share in SHARES if len(possible) else ():
        least = np.quantile(possible, share / 100, method="inverted_cdf")
        typer.echo(f"{share} % of them need at most {least:.1f} % of charge")
