"""Tables of *along the way*: the energy of the rest of a trip, by what the drive took so far.

`along` has the trips of a Twizy, each by the belief before it. `along-made` has made days: a car
has learned usual trips, and then drives with a cause that raises the consumption of the whole trip.
A wind of 10 m/s blows from the destination, a wet road rolls a quarter worse, a roof box raises the
drag by a third, and the other rows multiply all energies. The energies are those of the driver's
physics with another car than the vehicle file's, with noise along the way and a factor of each
trip. `CHANGING` has learned trips whose factors differ four times as much. `OTHER` is a world whose
energies are spread otherwise along a trip than the belief expects.

Two tables say how good a forecast could be. A column of `along-made` has the error of one that
knows the cause and its size, and leaves the noise alone. `along-drawn` has logs of the Twizy's
routes drawn from the belief itself, so that the belief is right about all.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.energy.prior import EQ8_CONDITIONS
from evroute.experiments.benchmark.data import load_data
from evroute.learning.measured import MeasuredTrip
from evroute.learning.trips.energies import TripEnergies
from evroute.learning.trips.trip_forecast import TripForecast
from evroute.methods.setting import Setting, load_setting
from evroute.planning.forecasts.rest import DrivenPart
from evroute.worlds.demand.demand import load_demand
from evroute.worlds.world import load_world
from studies.pages.tables import store
from studies.pages.trips import RESAMPLES, data_folder

QUARTERS = (0.25, 0.5, 0.75)
"""Shares of the way at which the rest is forecast again."""
SEEDS, USUAL_TRIPS, MADE_TRIPS, DRAWS = 30, 60, 5, 2000
DRAWN_LOGS, MOST = 200, 1.05
"""Logs drawn from the belief, and the limit of ratios of errors that is wished for."""
KM = "random 6-20 km"
USUAL = {"rolling": 1.1, "mass_kg": 1.05}
"""Factors of the car that drives on the numbers of its vehicle file."""
ROOT_KM_WH, TRIP_STD = 35.0, 0.05
"""Noise along the way, Wh per root of a km (`trips.noise`), and deviation of a trip's factor."""
WIND_MPS = 10.0
CAUSES: dict[str, dict[str, float]] = {
    "headwind": {"wind_mps": WIND_MPS},
    "wet road": {"rolling": 1.25},
    "roof box": {"drag": 1.33},
    "all energies times 1.15": {"factor": 1.15},
    "all energies times 1.3": {"factor": 1.3},
}
CHANGING, CHANGING_STD = "times 1.3, after changing days", 0.2
OTHER = "times 1.3, other physics"
WORLD: dict[str, Any] = {"kind": "physics", "kinetic": True, "from_standstill": True}
WORLD |= {"turn_braking": True, "noise_share": 0.1, "trip_std": TRIP_STD}
Rows = dict[float, list[tuple[float, ...]]]
Days = Iterable[tuple[MeasuredTrip, FloatArray | None]]


def rests(
    energies: TripEnergies,
    trip: MeasuredTrip,
    found: Rows,
    *,
    known_wh: FloatArray | None = None,
    drawn: dict[float, list[FloatArray]] | None = None,
) -> None:
    """Add the errors of the rest of a trip by the share of the way that was driven.

    A row has the measured rest, Wh, its errors by the drive so far, by the departure, by the
    departure scaled by what was driven, and by energies ``known_wh`` of the edges (k,), Wh, and
    whether the 90 % interval held. ``drawn`` gets the first three errors of drawn trips.
    """
    day = energies.under(EQ8_CONDITIONS)
    arms = day.space.arms_of_route(Route(tuple(int(edge) for edge in trip.edge)))
    arm_wh = day.mean_wh[arms]
    km = np.cumsum(energies.setting.network.length_m[trip.edge])
    forecast = day.forecast(arms, arm_wh)
    for share in QUARTERS:
        at = min(max(int(np.searchsorted(km, share * km[-1])) + 1, 1), len(arms) - 1)
        used_wh, left_wh = float(trip.energy_wh[:at].sum()), float(trip.energy_wh[at:].sum())
        after, left = forecast.rest(DrivenPart(at, 0.0, at, used_wh), arm_wh)
        departure_wh = float(arm_wh[at:].sum())
        scaled_wh = departure_wh * used_wh / max(left.driven_mean, 1.0)
        low_wh, high_wh = after.interval_wh()
        cause_wh = np.nan if known_wh is None else float(known_wh[at:].sum())
        expected = after.mean_wh, departure_wh, scaled_wh, cause_wh
        errors = [abs(each - left_wh) for each in expected]
        found[share].append((left_wh, *errors, float(low_wh <= left_wh <= high_wh)))
        if drawn is not None:
            rng = np.random.default_rng(len(drawn[share]))
            drawn[share].append(errors_drawn(forecast, arm_wh, at, rng))


def errors_drawn(
    forecast: TripForecast, arm_wh: FloatArray, at: int, rng: np.random.Generator
) -> FloatArray:
    """Return errors of the rest of trips drawn from a forecast, as of `rests`, (`DRAWN_LOGS`, 3).

    Both readings have their own part a.
    """
    mean_wh, own_wh = np.cumsum(arm_wh), np.sqrt(forecast.trip_wh2)
    reached_wh2 = forecast.reached_wh2 - forecast.trip_wh2
    ends = np.ix_([at - 1, len(arm_wh) - 1], [at - 1, len(arm_wh) - 1])
    beyond = rng.multivariate_normal(np.zeros(2), reached_wh2[ends], DRAWN_LOGS, method="eigh")
    readings = rng.normal(0.0, own_wh, (DRAWN_LOGS, 2))
    used_wh = mean_wh[at - 1] + beyond[:, 0] + readings[:, 0]
    departure_wh = float(mean_wh[-1] - mean_wh[at - 1])
    left_wh = departure_wh + beyond[:, 1] - beyond[:, 0] + readings[:, 1]
    after_wh = [
        forecast.rest(DrivenPart(at, 0.0, at, float(each)), arm_wh)[1].mean[-1] for each in used_wh
    ]
    scaled_wh = departure_wh * used_wh / max(float(mean_wh[at - 1]), 1.0)
    expected = np.column_stack([after_wh, np.full(DRAWN_LOGS, departure_wh), scaled_wh])
    return np.abs(expected - left_wh[:, np.newaxis])


def lines_of(name: str, found: dict[float, FloatArray]) -> Iterator[list[str]]:
    """Yield the cells of each share of the way. Rows (r, n, 6) of a group are drawn together."""
    rng = np.random.default_rng(0)
    for share, rows in found.items():
        flat = rows.reshape(-1, 6)
        draws = [rows[rng.integers(0, len(rows), len(rows))] for _ in range(RESAMPLES)]
        sums = np.array([d.reshape(-1, 6).sum(axis=0) for d in draws])
        line = [f"{name}, {100 * share:.0f} % driven"]
        line += [f"{100 * flat[:, k].sum() / np.abs(flat[:, 0]).sum():.1f} %" for k in (1, 2, 3)]
        for other in (2, 3):
            high = np.quantile(sums[:, 1] / sums[:, other], 0.95)
            ratio = flat[:, 1].sum() / flat[:, other].sum()
            line.append(f"{ratio:.2f} (below {high:.2f})")
        line.append(f"{flat[:, 5].sum():.0f} of {len(flat)}")
        known = flat[:, 4].sum()  # NaN where no cause is known
        yield line if np.isnan(known) else [*line, f"{known / flat[:, 2].sum():.2f}"]


COLUMNS = ["part of the way", "by the drive so far", "at the departure", "scaled"]
COLUMNS += ["over the departure's", "over the scaled", "90 % held"]
KNOWN = "the cause known, over the departure's"


def along_the_way() -> None:
    """Write the errors of the rest of the Twizy's trips by what was driven so far."""
    (twizy,) = load_data(data_folder(), ["twizy"])
    lines, sure = [], []
    for physics, name in (("eq8", "steady speeds"), ("driving", "stops and turns")):
        energies = TripEnergies(twizy.setting, physics=physics)
        found: Rows = {share: [] for share in QUARTERS}
        drawn: dict[float, list[FloatArray]] = {share: [] for share in QUARTERS}
        for trip in sorted(twizy.trips, key=lambda trip: trip.departed_s or 0.0):
            rests(energies, trip, found, drawn=drawn)
            energies.learn(trip)
        rows = {share: np.array(of)[:, np.newaxis] for share, of in found.items()}
        lines += lines_of(name, rows)
        sure += [
            [f"{name}, {100 * share:.0f} % driven", *of_drawn_logs(np.array(of))]
            for share, of in drawn.items()
        ]
    columns = [f"physics, {COLUMNS[0]}", *COLUMNS[1:]]
    command = "python -m studies.pages --run along"
    store("along", columns, lines, command=command)
    ratios = COLUMNS[4:6]
    of_logs = [f"{each}, {of}" for each in ratios for of in ("middle", f"below {MOST}")]
    store("along-drawn", [columns[0], *of_logs], sure, command=command)


def of_drawn_logs(errors_wh: FloatArray) -> Iterator[str]:
    """Yield the middle ratio of errors (n, `DRAWN_LOGS`, 3), and in how many logs its limit holds.

    The limit of each log is that over its resampled trips, as in `lines_of`.
    """
    rng, n = np.random.default_rng(0), len(errors_wh)
    draws = [errors_wh[rng.integers(0, n, n)].sum(axis=0) for _ in range(RESAMPLES)]
    sums, whole = np.array(draws), errors_wh.sum(axis=0)
    for other in (1, 2):
        highs = np.quantile(sums[..., 0] / sums[..., other], 0.95, axis=0)
        yield f"{np.median(whole[:, 0] / whole[:, other]):.2f}"
        yield f"{100 * (highs <= MOST).mean():.0f} % of logs"


def routes(setting: Setting, seed: int, trips: range) -> Iterator[Route]:
    """Yield the fastest routes of random trips."""
    asked = load_demand(KM, setting, np.random.SeedSequence(seed).spawn(2)[1])
    for t in trips:
        trip = asked.trip(t)
        yield setting.search.route(setting.network.time_s, trip.origin, trip.destination)


def driven(
    setting: Setting, seed: int, trips: range, cause: Mapping[str, float]
) -> Iterator[tuple[MeasuredTrip, FloatArray]]:
    """Yield trips by the driver's physics with another car and a cause, as a belief learns them.

    With each are the energies of its edges by that car and cause, without noise, (k,) Wh.
    """
    car, network = setting.vehicle, setting.network
    times = {name: USUAL.get(name, 1.0) * cause.get(name, 1.0) for name in ("rolling", "mass_kg")}
    times["drag"] = cause.get("drag", 1.0)
    car = replace(car, **{name: getattr(car, name) * factor for name, factor in times.items()})
    truth = TripEnergies(Setting(network, car), physics="driving")
    day = truth.under(EQ8_CONDITIONS)
    for t, route in zip(trips, routes(setting, seed, trips), strict=True):
        if wind_mps := cause.get("wind_mps", 0.0):
            begin, end = network.tail[route.rows[0]], network.head[route.rows[-1]]
            east_m, north_m = (each[end] - each[begin] for each in (network.x_m, network.y_m))
            from_deg = float(np.degrees(np.arctan2(east_m, north_m)) % 360)
            wind = {"wind_mps": wind_mps, "wind_from_deg": from_deg}
            day = truth.under(replace(EQ8_CONDITIONS, **wind))
        rng = np.random.default_rng([seed, t])
        of_trip = 1.0 + cause.get("std", TRIP_STD) * rng.normal()
        own_wh = ROOT_KM_WH * np.sqrt(network.length_m[route.rows] / 1000.0)
        mean_wh = cause.get("factor", 1.0) * day.mean_wh[day.space.arms_of_route(route)]
        energy_wh = of_trip * mean_wh + own_wh * rng.normal(size=len(own_wh))
        times_s = day.time_s[route.rows]
        yield MeasuredTrip(str(t), route.rows, energy_wh, times_s, 1e9 + 3e4 * t), mean_wh


def in_a_world(setting: Setting, seed: int, trips: range) -> Iterator[MeasuredTrip]:
    """Yield trips of a world on their fastest routes, as a belief learns them."""
    world_seed, trip_seed = np.random.SeedSequence(seed).spawn(2)
    world = load_world(WORLD).build(setting, load_demand(KM, setting, trip_seed), world_seed)
    for t in trips:
        asked = world.observe(t)
        route = setting.search.route(setting.network.time_s, asked.origin, asked.destination)
        found = world.drive(asked, route)
        yield MeasuredTrip(str(t), found.id, found.energy_wh, found.travel_s, 1e9 + 3e4 * t)


def of_draws(energies: TripEnergies, trip: MeasuredTrip, seed: int) -> FloatArray:
    """Return the share of trips drawn from the belief whose rest is within its 90 %, (3,)."""
    day = energies.under(EQ8_CONDITIONS)
    arms = day.space.arms_of_route(Route(tuple(int(edge) for edge in trip.edge)))
    arm_wh = day.mean_wh[arms]
    forecast, held = day.forecast(arms, arm_wh), np.zeros(len(QUARTERS))
    rng, count = np.random.default_rng(seed), -(-DRAWS // SEEDS)
    mean, reached = np.cumsum(arm_wh), forecast.reached_wh2
    # the intervals are wider than normal ones by this factor, and so are the draws
    drawn = mean + forecast.inflation * rng.multivariate_normal(0.0 * mean, reached, count)
    for column, share in enumerate(QUARTERS):
        at = max(int(share * len(arms)), 1)
        ends_wh = rng.normal(0.0, np.sqrt(forecast.trip_wh2), count) * forecast.inflation
        for up_to_wh, own_wh in zip(drawn, ends_wh, strict=True):
            part = DrivenPart(at, 0.0, at, float(up_to_wh[at - 1]))
            low_wh, high_wh = forecast.rest(part, arm_wh)[0].interval_wh()
            left_wh = up_to_wh[-1] - up_to_wh[at - 1] + own_wh
            held[column] += low_wh <= left_wh <= high_wh
    return held / count


def learned(setting: Setting, trips: Iterable[MeasuredTrip]) -> TripEnergies:
    """Return the belief of some trips."""
    energies = TripEnergies(setting, physics="driving")
    for trip in trips:
        energies.learn(trip)
    return energies


def made_days() -> None:
    """Write the errors of the rest on days with a cause that raises all of a trip."""
    setting = load_setting("luxembourg", "nissan-leaf-40")
    of_seeds: dict[str, dict[float, list[FloatArray]]]
    of_seeds = {name: {share: [] for share in QUARTERS} for name in (*CAUSES, CHANGING, OTHER)}
    usual = range(1, USUAL_TRIPS + 1)
    later, held = range(USUAL_TRIPS + 1, USUAL_TRIPS + MADE_TRIPS + 1), []
    noises: dict[float, list[tuple[float, ...]]] = {TRIP_STD: [], CHANGING_STD: []}
    for seed in range(SEEDS):
        print(f"seed {seed + 1} of {SEEDS}", file=sys.stderr)
        energies = learned(setting, (trip for trip, _ in driven(setting, seed, usual, {})))
        days: dict[str, tuple[TripEnergies, Days]]
        days = {name: (energies, driven(setting, seed, later, of)) for name, of in CAUSES.items()}
        differing = driven(setting, seed, usual, {"std": CHANGING_STD})
        changing = learned(setting, (trip for trip, _ in differing))
        days[CHANGING] = changing, driven(setting, seed, later, CAUSES["all energies times 1.3"])
        other = learned(setting, in_a_world(setting, seed, usual))
        dear = (
            (replace(trip, energy_wh=1.3 * trip.energy_wh), None)
            for trip in in_a_world(setting, seed, later)
        )
        for name, (by, trips) in (days | {OTHER: (other, dear)}).items():
            found: Rows = {share: [] for share in QUARTERS}
            for trip, known_wh in trips:
                rests(by, trip, found, known_wh=known_wh)
            for share, rows in found.items():
                of_seeds[name][share].append(np.array(rows))
        usually, mean_wh = next(driven(setting, seed, later, {}))
        held.append(of_draws(energies, usually, seed))
        wh_per_km = 1000.0 * mean_wh.sum() / setting.network.length_m[usually.edge].sum()
        for std, belief in ((TRIP_STD, energies.belief), (CHANGING_STD, changing.belief)):
            fitted = belief.noise
            noises[std].append((fitted.root_km_wh, fitted.km_wh, std * wh_per_km))
    lines = [
        line
        for name, found in of_seeds.items()
        for line in lines_of(name, {share: np.array(of) for share, of in found.items()})
    ]
    command = "python -m studies.pages --run along-made"
    columns = [f"day, {COLUMNS[0]}", *COLUMNS[1:], KNOWN]
    lines = [line + [""] * (len(columns) - len(line)) for line in lines]
    store("along-made", columns, lines, command=command)
    rows = [
        [f"{100 * share:.0f} % driven", f"{100 * each:.1f} %"]
        for share, each in zip(QUARTERS, np.mean(held, axis=0), strict=True)
    ]
    store("along-held", ["part of the way", f"of {DRAWS:,} drawn trips"], rows, command=command)
    rows = []
    for std, of in noises.items():
        root_km_wh, km_wh, made_km_wh = np.mean(of, axis=0)
        line = f"{root_km_wh:.0f}", f"{ROOT_KM_WH:.0f}", f"{km_wh:.0f}", f"{made_km_wh:.0f}"
        rows.append([f"factor of a trip {100 * std:.0f} %", *line])
    columns = [
        "usual trips",
        "along the way, fitted",
        "along the way, made",
        "of the trip, fitted",
        "of the trip, made",
    ]
    store("along-noise", columns, rows, command=command)


RUNS = {"along": along_the_way, "along-made": made_days}
