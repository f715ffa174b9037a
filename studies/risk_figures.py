"""Announced risks against drives: trips planned with a limit of risk (`docs/results/charge.md`).

    python -m studies.risk_figures denver 40 60 300-347
    python -m studies.risk_figures denver 40 60 600-647,700-779 rough eq8 --store risk-promise

Seeds of the forecasts on roads not driven before, fixed before the first run: development 500 to
523, judged once 600 to 647 and, in a second set, 700 to 779, all by `rough eq8`.

Arguments: network, trips learned before, trips planned, seeds, and optionally worlds and the
physics of the belief. Trips are kept in a file (`--rows`), and a seed that is there is
not played again: a run that was stopped continues.
The worlds drive at steady speeds (``eq8``). A belief with the driver's physics (the default) counts
the lowest charge inside edges, before a car that brakes takes energy back. The worlds have no such
points, so that its announced risks are too high here. In each world and seed the belief of
``evroute learn`` learns random trips of 1 to 4 km on the fastest route; each trip has the
temperature and the auxiliary power at departure, as plans have. Each further trip is planned at one
of the limits of risk in turn, driven as planned (if it is refused, on the fastest route) and
learned. Its start charge gives the route of least energy 0.5 to 1.2 times that risk. The trips of
world `drift` after its first change are shown apart.

A row: plans, refused plans, mean risk announced, share of trips that fell below the reserve, their
ratio with its 90 % interval by resampling seeds (the worlds of a seed share trips and drivers),
mean energy, trips whose route without the limit is riskier than the limit, the median price of the
limit there, and plans in which no better route exists. Rows are of all worlds, of the trips on
which the limit acts, of roads driven before or not, of each set of seeds and of each world.

A second table has the bias of forecasts: the mean error of the energy in predicted deviations, of
the chosen route and, driven on the same trip, of the route without the limit.
"""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.random import SeedSequence

from evroute.arms import Feedback, Round, Route
from evroute.energy.defaults import KINDS_OF_PHYSICS, PHYSICS
from evroute.energy.driving import DrivingConditions
from evroute.errors import NoRouteError
from evroute.experiments.experiment import Experiment
from evroute.learning.measured import MeasuredTrip
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.setting import load_setting
from evroute.planning.battery import Battery, follow
from evroute.planning.plan import PlannedRoute
from evroute.planning.planner import Planner
from evroute.worlds.demand.demand import load_demand
from studies.pages.tables import store

WORLDS = ("rough", "cold", "congestion", "drift")
CHANGED = {"drift": 70}
"""Last round before the first change."""
LEVELS = (0.10, 0.05, 0.02, 0.01)
TRIP = "random 1-4 km"
RESERVE_PERCENT = 1.0
RESAMPLES = 2000
EXPONENTS = -1.0, 0.25
"""Range of the binary logarithm of the risk of the least-energy route, in limits."""
COLUMNS = ["limit", "plans", "refused", "announced", "fell", "ratio", "90 %", "mean Wh"]
COLUMNS += ["limit acts", "price", "exact"]


class Log:
    """A driver in a world: trips on the fastest route, with the belief that learns them."""

    def __init__(
        self, world: str, network: str, horizon: int, seed: int, physics: str = PHYSICS
    ) -> None:
        method = {"model": "independent", "index": "ts"}
        trips = {network: [TRIP]}
        made = Experiment(
            trips=trips, methods=[method], horizon=horizon, seeds=seed + 1, world=world
        )
        run = list(made.runs())[seed]
        setting = load_setting(run.network, run.vehicle, run.assumed)
        names = (crc32(setting.network.name.encode()), crc32(run.trip.encode()))
        world_seeds, _, _, trip_seeds = SeedSequence(run.seed, spawn_key=names).spawn(6)[:4]
        self.truth = run.world.build(
            setting, load_demand(run.trip, setting, trip_seeds), world_seeds
        )
        self.belief = TripEnergies(setting, physics=physics)
        self.plain = Planner(setting.network, setting.vehicle, physics="eq8")
        self.driven = np.zeros(setting.network.n_edges, dtype=bool)
        temperature_c = run.world.temperature_c
        self.day = DrivingConditions(
            temperature_c=temperature_c,
            auxiliary_w=run.world.true_vehicle(setting.vehicle, temperature_c).auxiliary_w,
        )

    def fastest(self, request: Round) -> Route:
        """Return the fastest route of a request by the map."""
        return self.plain.plan(request.origin, request.destination).routes["time"].route

    def learn(self, t: int, found: Feedback) -> None:
        """Learn a drive, with temperature and auxiliary power at departure."""
        known = self.day.temperature_c, self.day.auxiliary_w
        temperature_c, auxiliary_w = (np.nan if each is None else each for each in known)
        trip = MeasuredTrip(
            *(str(t), found.id, found.energy_wh, found.travel_s),
            temperature_c=temperature_c,
            auxiliary_w=auxiliary_w,
        )
        self.belief.learn(trip)
        self.driven[found.id] = True


def trips_of(
    world: str, network: str, learned: int, planned: int, seed: int, physics: str = PHYSICS
) -> Iterator[dict]:
    """Yield a row for each planned trip, and learn it as it was driven."""
    log = Log(world, network, learned + planned, seed, physics)
    rng = np.random.default_rng(seed)
    for t in range(1, learned + planned + 1):
        request = log.truth.observe(t)
        if t <= learned:
            log.learn(t, log.truth.drive(request, log.fastest(request)))
            continue
        row, found = driven(log, request, LEVELS[t % len(LEVELS)], rng)
        changed = t > CHANGED.get(world, t)
        yield {"world": f"{world}, changed" if changed else world, "seed": seed} | row
        log.learn(t, found)


def driven(
    log: Log, request: Round, level: float, rng: np.random.Generator
) -> tuple[dict, Feedback]:
    """Return the row of a trip that is planned and driven; the fastest route if it is refused."""
    setting = log.belief.setting
    planner = Planner(setting.network, setting.vehicle, log.belief, conditions=log.day)
    ends, target = (request.origin, request.destination), level * 2 ** rng.uniform(*EXPONENTS)
    battery = start_of(planner, planner.plan(*ends).routes["energy"].route, target)
    try:
        plan = planner.plan(*ends, battery=battery, risk=level)
    except NoRouteError:
        return {"level": level, "refused": True}, log.truth.drive(request, log.fastest(request))
    best = plan.recommended_route
    found = log.truth.drive(request, best.route)
    usual = log.truth.drive(request, plan.unlimited.route)
    charge_wh = follow(planner.fading(battery), found.energy_wh).charge_wh
    length_m = planner.network.length_m[best.route.rows]
    return {
        "level": level,
        "refused": False,
        "announced": 1 - best.charge_forecast.never_below_reserve,
        "fell": bool(charge_wh.min() < battery.reserve_wh),
        "usual": 1 - plan.unlimited.charge_forecast.never_below_reserve,
        "error": deviates(best, found),
        "usual_error": deviates(plan.unlimited, usual),
        "sd_wh": best.energy_forecast.std_wh,
        "extra_wh": best.energy_wh - plan.unlimited.energy_wh,
        "extra_s": best.time_s - plan.unlimited.time_s,
        "energy_wh": best.energy_wh,
        "exact": plan.proofs[plan.recommended].startswith("exact"),
        "known": length_m @ log.driven[best.route.rows] / length_m.sum() >= 0.5,
    }, found


def deviates(planned: PlannedRoute, found: Feedback) -> float:
    """Return the error of the forecast of a route that was driven, in predicted deviations."""
    forecast = planned.energy_forecast
    return float((found.energy_wh.sum() - forecast.mean_wh) / forecast.std_wh)


def start_of(planner: Planner, route: Route, risk: float) -> Battery:
    """Return the battery whose charge at the start gives a route a risk."""
    kwh, low, high = planner.vehicle.battery_kwh, RESERVE_PERCENT, 100.0
    for _ in range(14):
        middle = (low + high) / 2
        battery = Battery.of_percent(kwh, middle, RESERVE_PERCENT)
        kept = planner.forecasts.of_route(route, battery)[1].never_below_reserve
        low, high = (low, middle) if kept >= 1 - risk else (middle, high)
    return Battery.of_percent(kwh, high, RESERVE_PERCENT)


def cells(named: str, rows: list[dict]) -> list[str]:
    """Return a row of the table."""
    trips = [row for row in rows if not row["refused"]]
    seeds = sorted({row["seed"] for row in trips})
    totals = np.array(
        [
            [
                sum(row[name] for row in trips if row["seed"] == seed)
                for name in ("fell", "announced")
            ]
            for seed in seeds
        ]
    )
    picks = np.random.default_rng(0).integers(len(seeds), size=(RESAMPLES, len(seeds)))
    fell, announced = totals[picks].sum(axis=1).T
    low, high = np.quantile(fell / announced, [0.05, 0.95])
    fell, announced = totals.sum(axis=0) / len(trips)
    other = [row for row in trips if acts(row)]
    price = "-"
    if other:
        price = f"{np.median([row['extra_wh'] for row in other]):+.0f} Wh, "
        price += f"{np.median([row['extra_s'] for row in other]):+.0f} s"
    return [
        *(named, f"{len(rows)}", f"{len(rows) - len(trips)}", f"{announced:.2%}", f"{fell:.2%}"),
        *(f"{fell / announced:.2f}", f"{low:.2f} to {high:.2f}"),
        *(f"{np.mean([row['energy_wh'] for row in trips]):.0f}", f"{len(other)}", price),
        f"{np.mean([row['exact'] for row in trips]):.0%}",
    ]


def acts(row: dict) -> bool:
    """Return whether the route without the limit is riskier than the limit."""
    return bool(row.get("usual", 0.0) > row["level"])


def table(rows: list[dict], sets: list[range]) -> list[list[str]]:
    """Return the rows of all worlds, then those of their parts."""
    usual = [row for row in rows if row["world"] in WORLDS]
    groups = {"": usual, "the limit acts, ": [row for row in usual if acts(row)]}
    for name, known in (("mostly roads driven before, ", True), ("mostly others, ", False)):
        groups[name] = [row for row in usual if row.get("known") == known]
    for seeds in sets if len(sets) > 1 else []:
        named = f"seeds {seeds[0]} to {seeds[-1]}, "
        groups[named] = [row for row in usual if row["seed"] in seeds]
    worlds = list(dict.fromkeys(row["world"] for row in rows))
    for world in worlds if len(worlds) > 1 else []:
        groups[f"{world}, "] = [row for row in rows if row["world"] == world]
    return [
        cells(f"{name}{level:.0%}", some)
        for name, group in groups.items()
        for level in LEVELS
        if (some := [row for row in group if row["level"] == level])
    ]


def bias(rows: list[dict]) -> None:
    """Print the bias of chosen routes with and without the limit, by world and effect of it."""
    print(
        "\n| trips | n | with the limit | without it | difference, 90 % | sd Wh |\n"
        + "| --- " * 6
        + "|"
    )
    for world in dict.fromkeys(row["world"] for row in rows):
        own = [row for row in rows if row["world"] == world and not row["refused"]]
        groups = {"all": own, "the limit acts": [row for row in own if acts(row)]}
        groups["roads mostly driven before"] = [row for row in own if row["known"]]
        groups["mostly others"] = [row for row in own if not row["known"]]
        for name, some in groups.items():
            if some:
                print(bias_line(f"{world}, {name}", some))


def bias_line(named: str, rows: list[dict]) -> str:
    """Return a row of the table of biases."""
    names = ("error", "usual_error", "sd_wh")
    limited, usual, sd_wh = np.array([[row[name] for name in names] for row in rows]).T
    seed = np.array([row["seed"] for row in rows])
    seeds = np.unique(seed)
    sums = np.array([[(limited - usual)[seed == one].sum(), (seed == one).sum()] for one in seeds])
    picks = np.random.default_rng(0).integers(len(seeds), size=(RESAMPLES, len(seeds)))
    apart, count = sums[picks].sum(axis=1).T
    low, high = np.quantile(apart / count, [0.05, 0.95])
    return (
        f"| {named} | {len(rows)} | {limited.mean():+.2f} (sd {limited.std():.2f}) | "
        f"{usual.mean():+.2f} (sd {usual.std():.2f}) | {(limited - usual).mean():+.2f} "
        f"({low:+.2f} to {high:+.2f}) | {sd_wh.mean():.1f} |"
    )


def kept(path: Path | None) -> list[dict]:
    """Return the trips of a file, without a line that was cut off."""
    if path is None or not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def ranges(text: str) -> list[range]:
    """Return the seeds of a text such as ``600-647,700-779``."""
    ends = [part.split("-") for part in text.split(",")]
    return [range(int(part[0]), int(part[-1]) + 1) for part in ends]


def main() -> None:
    """Play the seeds in order, and print or store the table."""
    asked = ArgumentParser()
    asked.add_argument("network")
    asked.add_argument("learned", type=int)
    asked.add_argument("planned", type=int)
    asked.add_argument("seeds", type=ranges)
    asked.add_argument("names", nargs="*", choices=[*WORLDS, *KINDS_OF_PHYSICS])
    asked.add_argument("--rows", type=Path, help="file of trips, continued")
    asked.add_argument("--store", help="name of the table in docs/tables")
    given = asked.parse_args()
    worlds = [name for name in given.names if name in WORLDS] or WORLDS
    physics = next((name for name in given.names if name in KINDS_OF_PHYSICS), PHYSICS)
    found = kept(given.rows)
    played = {row["seed"] for row in found}
    wanted = [seed for seeds in given.seeds for seed in seeds]
    for seed in wanted:
        if seed in played:
            continue
        asks = given.network, given.learned, given.planned, seed, physics
        new = [row for world in worlds for row in trips_of(world, *asks)]
        found += new
        if given.rows is not None:
            with given.rows.open("a", encoding="utf-8") as file:
                file.write("".join(f"{json.dumps(row, default=float)}\n" for row in new))
        print(f"seed {seed}: {len(found)} trips", file=sys.stderr, flush=True)
    rows = sorted((row for row in found if row["seed"] in wanted), key=lambda row: row["seed"])
    summary = table(rows, given.seeds)
    for row in [COLUMNS, *summary]:
        print(" | ".join(row))
    bias(rows)
    if given.store:
        words = *sys.argv[1 : 5 + len(given.names)], "--store", given.store
        command = f"python -m studies.risk_figures {' '.join(words)}"
        store(given.store, COLUMNS, summary, command=command, networks=[given.network])


if __name__ == "__main__":
    main()
