"""Announced risks against drives: trips planned with a limit of risk (`docs/figures/risk.md`).

    python tests/benchmarks/risk_figures.py denver 60 60 2

Arguments: network, trips learned before, trips planned, seeds of each world. In every world the
belief of ``evroute learn`` learns random trips of 1 to 4 km on the fastest route. Each further trip
is planned at every limit of risk; its start charge gives the route of least energy 0.5 to 1.2 times
that risk. The planned route is then driven once. Prints announced risk and share of trips that fell
below the reserve, with intervals by resampling runs; trips refused; and trips whose route without
the limit is riskier, with the median price of the limit there.
"""

import sys
from collections.abc import Iterator
from zlib import crc32

import numpy as np
from numpy.random import SeedSequence

from evroute.errors import NoRouteError
from evroute.experiments.experiment import Experiment
from evroute.learning.measured import MeasuredTrip
from evroute.learning.trip_energies import TripEnergies
from evroute.methods.setting import load_setting
from evroute.planning.battery import Battery, follow
from evroute.planning.planner import Planner
from evroute.worlds.demand.demand import load_demand

WORLDS = ("rough", "cold", "congestion", "drift")
LEVELS = (0.10, 0.05, 0.02, 0.01)
TRIP = "random 1-4 km"
RESERVE_PERCENT = 1.0
RESAMPLES = 2000
EXPONENTS = -1.0, 0.25
"""Range of the binary logarithm of the risk of the least-energy route, in limits."""


def trips_of(world: str, network: str, learned: int, planned: int, seed: int) -> Iterator[dict]:
    """Yield a row for each planned trip and limit of risk."""
    method = {"model": "independent", "index": "ts"}
    made = Experiment(
        trips={network: [TRIP]},
        methods=[method],
        horizon=learned + planned,
        seeds=seed + 1,
        world=world,
    )
    run = list(made.runs())[seed]
    setting = load_setting(run.network, run.vehicle, run.assumed)
    names = (crc32(setting.network.name.encode()), crc32(run.trip.encode()))
    world_seeds, _, _, trip_seeds = SeedSequence(run.seed, spawn_key=names).spawn(6)[:4]
    truth = run.world.build(setting, load_demand(run.trip, setting, trip_seeds), world_seeds)
    belief = TripEnergies(setting)
    plain = Planner(setting.network, setting.vehicle)
    for t in range(1, learned + 1):
        request = truth.observe(t)
        route = plain.plan(request.origin, request.destination).routes["time"].route
        found = truth.drive(request, route)
        trip = MeasuredTrip(str(t), found.id, found.energy_wh, found.travel_s)
        belief.learn(trip, belief.expected(trip))
    planner = Planner(setting.network, setting.vehicle, belief)
    rng = np.random.default_rng(seed)
    kwh = setting.vehicle.battery_kwh
    for t in range(learned + 1, learned + planned + 1):
        request = truth.observe(t)
        ends = request.origin, request.destination
        least = planner.plan(*ends).routes["energy"].route
        for level in LEVELS:
            target = level * 2 ** rng.uniform(*EXPONENTS)
            battery = start_of(planner, least, kwh, target)
            row = {"world": world, "run": f"{world}-{seed}", "level": level}
            try:
                plan = planner.plan(*ends, battery=battery, risk=level)
            except NoRouteError:
                yield row | {"refused": True}
                continue
            best = plan.recommended_route
            drive = truth.drive(request, best.route)
            charge_wh = follow(planner.fading(battery), drive.energy_wh).charge_wh
            yield row | {
                "refused": False,
                "announced": 1 - best.charge_forecast.never_below_reserve,
                "fell": charge_wh.min() < battery.reserve_wh,
                "usual": 1 - plan.unlimited.charge_forecast.never_below_reserve,
                "extra_wh": best.energy_wh - plan.unlimited.energy_wh,
                "extra_s": best.time_s - plan.unlimited.time_s,
                "energy_wh": best.energy_wh,
                "exact": plan.proofs[plan.recommended].startswith("exact"),
            }


def start_of(planner: Planner, route, kwh: float, risk: float) -> Battery:
    """Return the battery whose charge at the start gives a route a risk."""
    low, high = RESERVE_PERCENT, 100.0
    for _ in range(14):
        middle = (low + high) / 2
        battery = Battery.of_percent(kwh, middle, RESERVE_PERCENT)
        kept = planner.charge_forecast(route, battery)[1].never_below_reserve
        low, high = (low, middle) if kept >= 1 - risk else (middle, high)
    return Battery.of_percent(kwh, high, RESERVE_PERCENT)


def line(named: str, rows: list[dict]) -> str:
    """Return a row of the table: mean risk announced, share that fell, with its interval."""
    driven = [row for row in rows if not row["refused"]]
    announced = np.mean([row["announced"] for row in driven])
    runs = sorted({row["run"] for row in driven})
    fell = [[row["fell"] for row in driven if row["run"] == run] for run in runs]
    rng = np.random.default_rng(0)
    picks = rng.integers(len(runs), size=(RESAMPLES, len(runs)))
    shares = [np.mean(np.concatenate([fell[i] for i in pick])) for pick in picks]
    low, high = np.quantile(shares, [0.05, 0.95])
    other = [row for row in driven if row["usual"] > row["level"]]
    price = "-"
    if other:
        price = f"{np.median([row['extra_wh'] for row in other]):+.0f} Wh, "
        price += f"{np.median([row['extra_s'] for row in other]):+.0f} s"
    return (
        f"| {named} | {len(rows)} | {len(rows) - len(driven)} | {announced:.1%} | "
        f"{np.mean([row['fell'] for row in driven]):.1%} | {low:.1%} to {high:.1%} | "
        f"{np.mean([row['energy_wh'] for row in driven]):.0f} | {len(other)} | "
        f"{price} | {np.mean([r['exact'] for r in driven]):.0%} |"
    )


def main(network: str, learned: int, planned: int, seeds: int) -> None:
    """Print the tables by limit, and by limit and world."""
    rows: list[dict] = []
    for world in WORLDS:
        for seed in range(seeds):
            rows += trips_of(world, network, learned, planned, seed)
            done = line(f"until {world} {seed}", rows)
            print(done, file=sys.stderr, flush=True)
    titles = "limit, plans, refused, announced, fell, 90 %, mean Wh, limit acts, price, exact"
    print(f"| {titles.replace(', ', ' | ')} |\n{'| --- ' * 10}|")
    for level in LEVELS:
        print(line(f"{level:.0%}", [row for row in rows if row["level"] == level]))
    for world in WORLDS:
        for level in LEVELS:
            both = [r for r in rows if r["level"] == level and r["world"] == world]
            print(line(f"{world}, {level:.0%}", both))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
