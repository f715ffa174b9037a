"""A made compact car in hilly Monaco: error, intervals and CRPS in strict order of time.

    python studies/hilly_car.py --cars 10

The car commutes between a home and 24 places, 350 trips of 1 to 20 km. Nothing of it is linear:
traction by edge with efficiencies, stops at random, a speed of each road and rush hours, heating by
the season, payload, a factor of 10 % on each trip, recuperation that fades above 85 % of charge,
Student-t noise. It differs from its vehicle file in every number, and the heights of the map are
off by 3 m. EVROUTE_DATA_DIR must name the folder with ``monaco/``.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from evroute.arrays import FloatArray, IntArray
from evroute.energy.vehicle import Vehicle
from evroute.errors import NoRouteError
from evroute.learning.baseline import online_regression
from evroute.learning.measured import MeasuredTrip
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.setting import Setting
from evroute.network.catalog import load_network
from evroute.network.heights.profile import on_terrain

CAR = Vehicle("compact", 1500.0, 0.009, 0.29, 2.3, 0.88, 0.75, 300.0, 17.2)
PLACES, TRIPS, FIRST = 25, 350, 30
FACTOR_STD, FADE, HEIGHT_STD_M = 0.1, 0.8, 3.0
WH_PER_PERCENT = CAR.battery_kwh * 10.0
LEVELS = np.arange(0.02, 0.99, 0.02)


@dataclass(frozen=True)
class Result:
    """Figures of one car: errors as shares of the energy, widths and CRPS in Wh."""

    error: float
    regression: float
    late_ratio: float
    held: float
    least_held: float
    held_early: float
    width_wh: float
    crps_wh: float
    gaussian_wh: float
    restarted: float


def trips_of(setting: Setting, seed: int) -> list[MeasuredTrip]:
    """Return the trips of one car in order."""
    rng, network = np.random.default_rng(seed), setting.network
    hub = rng.choice(network.n_edges, PLACES)
    heights_m = network.elevation_m + HEIGHT_STD_M * rng.standard_normal(len(network.elevation_m))
    climb_m = heights_m[network.head] - heights_m[network.tail]
    usual_s = 1.5 * network.time_s * rng.lognormal(0.0, 0.25, network.n_edges)
    ways = [network.time_s * rng.lognormal(0.0, 0.3, network.n_edges) for _ in range(2)]
    trips: list[MeasuredTrip] = []
    here, percent, clock_s = hub[0], 80.0, 0.0
    while len(trips) < TRIPS:
        clock_s += rng.exponential(4.0) * 3600
        goal = hub[0] if here != hub[0] and rng.random() < 0.4 else rng.choice(hub)
        edge = way(setting, ways[int(rng.integers(2))], int(here), int(goal))
        here = goal
        km = network.length_m[edge].sum() / 1000
        if not 1 <= km <= 20:
            continue
        if percent < 25 or rng.random() < 0.35:
            percent = min(97.0, rng.uniform(70, 110))
        rush = slower(clock_s / 3600 % 24) * rng.lognormal(0.0, 0.2)
        travel_s = usual_s[edge] * rush * rng.lognormal(0.0, 0.3, len(edge))
        true_wh = taken(network.length_m[edge], climb_m[edge], travel_s, clock_s, rush, rng)
        wh, after = faded(true_wh, percent)
        noise_wh = rng.standard_t(6) / np.sqrt(1.5) * np.sqrt(35**2 + 40**2 * km)
        wh = wh + noise_wh / len(edge)
        trips.append(
            MeasuredTrip(str(len(trips)), edge, wh, travel_s, clock_s, soc_percent=percent)
        )
        percent = after
    return trips


def way(setting: Setting, time_s: FloatArray, here: int, goal: int) -> IntArray:
    """Return the fastest route; empty where there is none."""
    try:
        return setting.search.route(time_s, here, goal).rows if here != goal else np.arange(0)
    except NoRouteError:
        return np.arange(0)


def slower(hour: float) -> float:
    """Return the factor of rush hours on travel times."""
    morning, evening = np.exp(-(((hour - 8) / 1.5) ** 2)), np.exp(-(((hour - 17.5) / 2) ** 2))
    return float(1 + 0.35 * (morning + evening))


def taken(
    length_m: FloatArray,
    climb_m: FloatArray,
    travel_s: FloatArray,
    clock_s: float,
    rush: float,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the energy of each edge from a battery that takes everything back, (k,) Wh."""
    celsius = 15 + 10 * np.sin(2 * np.pi * clock_s / 86400 / 365) + 3 * rng.standard_normal()
    cabin_w = 60 * max(12 - celsius, 0) + 80 * max(celsius - 24, 0)
    auxiliary_w = 1.2 * CAR.auxiliary_w + cabin_w * rng.uniform(0.3, 1.5)
    mass_kg = 1.05 * CAR.mass_kg + rng.choice([0, 70, 140], p=[0.6, 0.3, 0.1])
    weight_n, air = mass_kg * 9.81, 0.5 * 1.2 * CAR.drag * CAR.front_m2 * 1.1
    drag_wh = air * length_m * (length_m / travel_s) ** 2 / 3600
    wheel_wh = weight_n * (1.3 * CAR.rolling * length_m + climb_m) / 3600 + drag_wh
    to_wheel, back = 0.96 * CAR.propulsion_efficiency, 0.95 * CAR.recuperation_efficiency
    traction_wh = np.where(wheel_wh > 0, wheel_wh / to_wheel, wheel_wh * back)
    stops = rng.poisson(0.8 * rush * length_m.sum() / 1000)
    stop_wh = 0.5 * mass_kg * 10.0**2 / 3600 * (1 / to_wheel - back)
    driven: FloatArray = traction_wh * rng.lognormal(0.0, FACTOR_STD)
    return driven + auxiliary_w * travel_s / 3600 + stops * stop_wh / len(length_m)


def faded(wh: FloatArray, percent: float) -> tuple[FloatArray, float]:
    """Return the energy of edges from a battery that takes less when full, and its charge."""
    kept = wh.copy()
    for k in np.arange(len(wh)):
        if wh[k] < 0:
            kept[k] *= 1 - np.clip(FADE * max(percent - 85, 0) / 10, 0, 1)
        percent -= kept[k] / WH_PER_PERCENT
    return kept, percent


def in_whole_percents(trips: list[MeasuredTrip]) -> Iterator[MeasuredTrip]:
    """Yield the trips as a display of whole per cents reads their energies."""
    for trip in trips:
        start, wh = trip.soc_percent, float(trip.energy_wh.sum())
        read_wh = WH_PER_PERCENT * (np.floor(start) - np.floor(start - wh / WH_PER_PERCENT))
        yield replace(
            trip,
            energy_wh=trip.energy_wh + (read_wh - wh) / len(trip.edge),
            known_variance_wh2=WH_PER_PERCENT**2 / 6,
        )


def judged(
    setting: Setting, read: list[MeasuredTrip], true: list[MeasuredTrip], physics: str
) -> Result:
    """Learn the trips as read, and judge each expectation by its true energy."""
    energies, rows = TripEnergies(setting, physics=physics), []
    for trip, exact in zip(read, true, strict=True):
        expected = energies.expected(trip)
        wh, spread = float(exact.energy_wh.sum()), energies.belief.expect(energies.row(trip)).spread
        mean_wh, sd_wh = expected["predicted_wh"], expected["predicted_sd_wh"]
        z = np.array([np.sign(p - 0.5) * spread.quantile(abs(2 * p - 1)) for p in LEVELS])
        normal_wh, ours_wh = mean_wh + ndtri(LEVELS) * sd_wh, mean_wh + z * sd_wh
        ends = expected["low90_wh"], expected["high90_wh"]
        rows.append([mean_wh, *ends, wh, crps(ours_wh, wh), crps(normal_wh, wh)])
        energies.learn(trip)
    network = setting.network
    km, climb_m, descent_m = np.array(
        [
            (network.length_m[edge].sum() / 1000, np.maximum(dz, 0).sum(), np.maximum(-dz, 0).sum())
            for edge in (trip.edge for trip in read)
            for dz in [network.climb_m[edge]]
        ]
    ).T
    mean_wh, low_wh, high_wh, wh, ours_wh, normal_wh = np.array(rows).T
    read_wh = np.array([trip.energy_wh.sum() for trip in read])
    off_wh = np.abs(mean_wh - wh)
    other_wh = np.abs(online_regression(km, climb_m, descent_m, read_wh) - wh)
    held, total_wh = (low_wh <= wh) & (wh <= high_wh), np.abs(wh[FIRST:]).sum()
    return Result(
        off_wh[FIRST:].sum() / total_wh,
        other_wh[FIRST:].sum() / total_wh,
        off_wh[-150:].sum() / other_wh[-150:].sum(),
        held.mean(),
        min(held[i : i + 50].mean() for i in range(0, TRIPS, 50)),
        held[:FIRST].mean(),
        (high_wh - low_wh).mean(),
        ours_wh[FIRST:].mean(),
        normal_wh[FIRST:].mean(),
        float(energies.changed_after > 0),
    )


def crps(quantiles_wh: FloatArray, wh: float) -> float:
    """Return the continuous ranked probability score by the quantiles at `LEVELS`, Wh."""
    off_wh = wh - quantiles_wh
    return float(2 * np.mean(np.maximum(LEVELS * off_wh, (LEVELS - 1) * off_wh)))


def main() -> None:
    """Print the errors after learning, and the coefficients, of each car."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cars", type=int, default=10)
    parser.add_argument("--physics", default="eq8")
    asked = parser.parse_args()
    setting = Setting(on_terrain(load_network("monaco"), "edge"), CAR)
    network = setting.network
    level = Setting(replace(network, elevation_m=np.zeros(len(network.elevation_m))), CAR)
    results: dict[str, list[Result]] = {}
    for seed in range(asked.cars):
        trips = trips_of(setting, seed)
        for name, where, read in (
            ("exact", setting, trips),
            ("whole per cents", setting, list(in_whole_percents(trips))),
            ("heights removed", level, trips),
        ):
            results.setdefault(name, []).append(judged(where, read, trips, asked.physics))
    for name, cars in results.items():
        print(name)
        for field in Result.__dataclass_fields__:
            values = np.array([getattr(car, field) for car in cars])
            print(f"  {field}: {values.mean():.3f} ({values.min():.3f} to {values.max():.3f})")


if __name__ == "__main__":
    main()
