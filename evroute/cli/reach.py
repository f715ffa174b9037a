"""``evroute range``: the roads within reach of a charge, or the charge that a place needs."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from evroute.arrays import FloatArray
from evroute.cli.fields import takes_request, texts_of
from evroute.cli.shared import Belief, Map, Network, Physics, Run, refuse, write
from evroute.door.opened import DoorNames
from evroute.planning.reach import NeedRequest, RangeRequest, Reach, need_asked, reach_asked
from evroute.report.maps.reach import reach_geojson, reach_map

SHARES = (50, 90, 100)


@takes_request(RangeRequest, first=("network",), before={"goal": "soc", "physics": "reserve"})
def reach(
    network: Network = "denver",
    goal: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="PLACE", help="Instead: the charge that every road needs to get there."
        ),
    ] = None,
    physics: Physics = None,
    belief: Belief = None,
    run: Run = None,
    geojson: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write roads and area as GeoJSON.")
    ] = None,
    map_: Map = None,
    **given: Any,
) -> None:
    """Find the roads within reach of a charge, or the charge that every road needs to a place."""
    texts = texts_of(given, RangeRequest)
    refuse(
        (
            ("from" in texts) == (goal is not None),
            "give the place to drive from (--from) or the place to drive to (--to)",
        ),
        (run is not None and belief is None, "--run names a run of a folder: --belief FOLDER"),
        (
            goal is not None and ("soc" in texts or geojson or map_),
            "--soc, --geojson and --map go with --from, not with --to",
        ),
        (goal is None and "soc" not in texts, "--from needs the charge at the start: --soc"),
    )
    wanted: RangeRequest | NeedRequest
    if goal is None:
        wanted = RangeRequest.from_texts(texts)
    else:
        wanted = NeedRequest.from_texts({"to": goal, **texts})
    names = DoorNames(network, None, belief, run, physics)
    door = names.of_car(texts.get("car"), texts.get("vehicle")).open()
    planner = door.planner(wanted.vehicle, wanted.conditions)
    if isinstance(wanted, NeedRequest):
        _print_needs(need_asked(planner, wanted), wanted)
        return
    found = reach_asked(planner, wanted)
    write(geojson, lambda: reach_geojson(found))
    write(map_, lambda: reach_map(found))
    _print(found)
    for written in (geojson, map_):
        if written:
            typer.echo(written)


def _by(risk: float | None) -> str:
    return "by expected energies" if risk is None else f"at a risk of {100 * risk:.4g} %"


def _print(found: Reach) -> None:
    network, battery = found.network, found.battery
    typer.echo(
        f"within reach {_by(found.risk)}: {found.within.sum():,} of {network.n_edges:,} roads, "
        f"{found.length_m / 1000:.1f} km, up to {found.extent_m / 1000:.1f} km away"
    )
    reserve = battery.percent(battery.reserve_wh)
    for level, percent in found.charge_percent.items():
        kept = percent >= reserve
        typer.echo(
            f"{100 * level:.4g} % of trips arrive at or above {reserve:.4g} %: {kept.sum():,} "
            f"roads, {network.length_m[kept].sum() / 1000:.1f} km"
        )
    typer.echo(found.note or "uncertainty of physics alone: no trip was learned")


def _print_needs(percent: FloatArray, wanted: NeedRequest) -> None:
    possible = percent[np.isfinite(percent)]
    typer.echo(
        f"{len(possible):,} of {len(percent):,} roads lead there on a full battery "
        f"{_by(wanted.most_risk)}"
    )
    for share in SHARES if len(possible) else ():
        least = np.quantile(possible, share / 100, method="inverted_cdf")
        shown = f"{least:.1f}" if wanted.most_risk is None else f"{least:.0f}"
        typer.echo(f"{share} % of them need at most {shown} % of charge")
