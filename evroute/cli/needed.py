"""``evroute needed``: the charge at the start that a trip, or all trips of a day, need."""

from json import dumps
from pathlib import Path
from typing import Annotated, Any

import typer
from threadpoolctl import threadpool_limits

from evroute.cli.console import print_table
from evroute.cli.fields import takes_request, texts_of
from evroute.cli.shared import Belief, Network, Run, refuse
from evroute.door.planners import Planner
from evroute.errors import EvrouteError, require
from evroute.learning.belief import load_belief
from evroute.learning.readers.table import check_columns, read_table
from evroute.network.catalog import load_network
from evroute.planning.dispatch.needs import ChargeRequest, needed, needed_of_day
from evroute.planning.documents import Needed, NeededOfDay
from evroute.planning.fields import day_of

COLUMNS = ("from", "to", "depart")
MOST_TRIPS = 20


@takes_request(ChargeRequest, first=("network",))
def charge(
    network: Network = "denver",
    trips: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Instead of --from and --to: a table of the trips of one car on one day in "
            f"driving order (from, to, depart), up to {MOST_TRIPS}, without a charge between them.",
        ),
    ] = None,
    belief: Belief = None,
    run: Run = None,
    json: Annotated[bool, typer.Option("--json", help="Print the answer of /v1/needed.")] = False,
    **given: Any,
) -> None:
    """Find the least charge at the start that keeps a reserve with a probability."""
    texts = texts_of(given, ChargeRequest)
    single = {"from", "to", "depart"} & texts.keys()
    refuse(
        (trips is not None and single, "--trips has the places. Leave --from, --to, --depart out"),
        (trips is None and not {"from", "to"} <= texts.keys(), "give --from and --to, or --trips"),
        (run is not None and belief is None, "--run names a run of a folder: --belief FOLDER"),
    )
    wanted = ChargeRequest.from_texts(texts)
    threadpool_limits(1)  # threads of small products wait for each other
    roads = load_network(network)
    learned = None if belief is None else load_belief(belief, run, network=roads)
    day = Planner(roads, wanted.vehicle, learned, conditions=wanted.conditions).of_car(wanted.car)
    answer: Needed | NeededOfDay
    if trips is None:
        ends = str(wanted.origin), str(wanted.destination)
        planner = day.under(day_of(wanted.conditions, wanted.depart))
        answer = needed(planner, ends, wanted.reserve, wanted.p)
    else:
        rows = _rows(trips)
        planners = [day.under(day_of(wanted.conditions, each.pop())) for each in rows]
        pairs = [(str(start), str(end)) for start, end in rows]
        answer = needed_of_day(planners, pairs, wanted.reserve, wanted.p)
    typer.echo(dumps(answer)) if json else _print(answer)


def _rows(path: Path) -> list[list[str | None]]:
    """Return places and departure of each trip of a table."""
    table = read_table(path, COLUMNS, ())
    check_columns(path, table.column_names, COLUMNS[:2])
    columns = [table[name].to_pylist() for name in COLUMNS if name in table.column_names]
    rows = [[*row, None][:3] for row in zip(*columns, strict=True)]
    require(0 < len(rows) <= MOST_TRIPS, f"{path} has {len(rows)} trips, expected 1 to 20")
    for number, (start, end, depart) in enumerate(rows, start=1):
        require(start and end, f"{path}, row {number}: name the places in from and to")
        try:
            ChargeRequest.from_texts({"from": start, "to": end, "depart": depart or None})
        except EvrouteError as error:
            raise EvrouteError(f"{path}, row {number}: {error}") from None
    return [[start, end, depart or None] for start, end, depart in rows]


def _print(answer: Any) -> None:
    """Print an answer as a table, with the trips of a day above it."""
    if "trips" in answer:
        rows = [
            (each["origin_name"], each["destination_name"], f"{each['energy_wh'] / 1000:.2f}")
            for each in answer["trips"]
        ]
        print_table(("from", "to", "kWh"), rows)
    share = f"{100 * answer['p']:.6g} %"
    lines = [
        (
            f"needed to keep {answer['reserve_percent']:g} % in {share} of cases",
            f"{answer['needed_percent']} %, {answer['needed_wh'] / 1000:.1f} kWh",
        ),
        ("needed by expected energies", f"{answer['expected_percent']:.1f} %"),
    ]
    if "mean_wh" in answer:
        both = f"{answer['mean_wh'] / 1000:.2f} +- {answer['sd_wh'] / 1000:.2f} kWh"
        lines.append(("expected energy of all trips", both))
    print_table(("", ""), lines)
    typer.echo(answer["note"] or "uncertainty of physics alone: no trip was learned")
