"""What an early warm-up costs or saves cars of three forms of heating (docs/figures/seasons.md).

python studies/warm_up_price.py 60    sixty cars of each form and kind of trips

Rows without roads: no map, no learned pace. A car has coefficients drawn from the prior of a BMW
i3, in its cone, and 60 trips in random order between -4 and 31 °C, four in ten of them after a
stand of 5 to 60 minutes. Their noise is half of what the belief expects before any trip. The kinds
of trips are drives of 10 to 60 minutes, the pieces of 5 km of such drives, and trips of 1 to 8
minutes. The car takes

ramp      its warm-up as physics has it: rising over eight minutes, none within an hour
sooner    half of the early warm-up as well
at once   all of it

Each trip is expected from the trips before it, with the early warm-up and with one that stays at 0.
The table has the errors of trips 11 to 60 and the mean interval scores of their 90 % intervals, and
the ratio of the scores by car: its mean, and the standard error.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng

from evroute.arrays import FloatArray
from evroute.energy.heating import Heating
from evroute.energy.vehicle import load_vehicle
from evroute.learning.trips.noise_fit import START
from evroute.learning.trips.regression import CoefficientPrior
from evroute.learning.trips.terms import (
    DOWN,
    DRAG,
    EARLY,
    KM,
    MINUTES,
    TURNING,
    UP,
    WARM_UP,
    coefficient_prior,
    departed,
)
from evroute.learning.trips.trip_belief import TripBelief
from evroute.report.charts.interval_scores import interval_score

CAR = load_vehicle("bmw-i3")
TRIPS, FIRST = 60, 10
SHARE = {"ramp": 0.0, "sooner": 0.5, "at once": 1.0}
KINDS = ("drives", "pieces", "short")


def minutes_of(kind: str, rng: Generator) -> Iterator[tuple[float, float]]:
    """Yield duration, minutes, and speed, km/h, of one trip, or of the pieces of one drive."""
    speed_kmh = rng.uniform(25.0, 70.0)
    minutes = rng.uniform(1.0, 8.0) if kind == "short" else rng.uniform(10.0, 60.0)
    if kind != "pieces":
        yield minutes, speed_kmh
        return
    piece = 300.0 / speed_kmh
    for _ in range(max(int(minutes / piece), 1)):
        yield piece, speed_kmh


def rows_of(kind: str, prior: CoefficientPrior, rng: Generator) -> FloatArray:
    """Return the terms of the trips of a car, (n, p)."""
    rows: list[FloatArray] = []
    while len(rows) < TRIPS:
        temperature_c = rng.uniform(-4.0, 31.0)
        stood = rng.uniform(5.0, 60.0) if rng.uniform() < 0.4 else rng.uniform(61.0, 900.0)
        for minutes, speed_kmh in minutes_of(kind, rng):
            km = minutes * speed_kmh / 60.0
            row = np.zeros(len(prior.mean))
            row[[KM, MINUTES]] = km, minutes
            row[[UP, DOWN]] = rng.uniform(0.0, 15.0) * km, -rng.uniform(0.0, 15.0) * km
            moving_mps = 1.2 * speed_kmh / 3.6
            row[DRAG] = 0.6 * CAR.drag * CAR.front_m2 * 1000.0 * km * moving_mps**2 / 3600.0
            row[TURNING] = rng.uniform(5.0, 25.0) * km
            rows.append(departed(row, Heating(CAR, temperature_c, stood), prior))
            stood = 0.0  # the next piece of a drive begins warm
    return np.array(rows[:TRIPS])


def car_of(prior: CoefficientPrior, share: float, rng: Generator) -> FloatArray:
    """Return the coefficients of a car whose early warm-up is a share of its warm-up, (p,)."""
    while True:
        b = prior.mean + 0.5 * prior.std * rng.standard_normal(len(prior.mean))
        b[EARLY] = share * b[WARM_UP]
        if np.all(prior.cone @ b >= 0.0):
            return b


def judged(
    rows: FloatArray, energy_wh: FloatArray, prior: CoefficientPrior
) -> tuple[FloatArray, FloatArray]:
    """Return the errors of trips in turn, Wh, and their interval scores, Wh."""
    belief, error_wh, scores = TripBelief(prior), np.empty(len(rows)), np.empty(len(rows))
    for k, (row, taken_wh) in enumerate(zip(rows, energy_wh.tolist(), strict=True)):
        found = belief.expect(row)
        low_wh, high_wh = np.array(found.interval(0.9))[:, np.newaxis]
        error_wh[k] = abs(found.mean_wh - taken_wh)
        scores[k] = interval_score(low_wh, high_wh, np.array([taken_wh]))[0]
        belief.learn(row, taken_wh)
    return error_wh[FIRST:], scores[FIRST:]


def main(cars: int) -> None:
    """Print the table."""
    prior = coefficient_prior(CAR, driving=True)
    std = prior.std.copy()
    std[EARLY] = 1e-9
    for kind in KINDS:
        for form, share in SHARE.items():
            parts, ratios = [], []
            for seed in range(cars):
                rng = default_rng(SeedSequence((390, KINDS.index(kind), seed)))
                rows = rows_of(kind, prior, rng)
                mean_wh = rows @ car_of(prior, share, rng)
                noise_wh = 0.5 * np.sqrt(START.variance(rows[:, KM]))
                energy_wh = mean_wh + rng.normal(0.0, noise_wh)
                (e1, s1), (e0, s0) = (
                    judged(rows, energy_wh, each) for each in (prior, replace(prior, std=std))
                )
                total_wh = np.abs(energy_wh[FIRST:]).sum()
                parts.append((e1.sum(), e0.sum(), s1.mean(), s0.mean(), total_wh))
                ratios.append(s1.mean() / s0.mean())
            with_wh, without_wh, score, score_without, total_wh = np.array(parts).T
            print(
                f"{kind:7} {form:8} error {with_wh.sum() / total_wh.sum():.2%}, without "
                f"{without_wh.sum() / total_wh.sum():.2%}; score {score.mean():.0f} Wh, without "
                f"{score_without.mean():.0f} Wh, ratio {np.mean(ratios):.4f} ± "
                f"{np.std(ratios) / np.sqrt(cars):.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main(int(sys.argv[1]))
