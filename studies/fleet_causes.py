"""Where the errors of a fleet's forecasts come from (docs/figures/fleets.md).

python studies/fleet_causes.py 3    the worlds 0 to 2 of `fleet_figures`, 1,600 trips each

The factor of each car is known, and nothing is learned of single roads. First each form of heating
is fitted to all trips in hindsight, together with the terms of driving, and judged from trip 40 to
80 of each car. Then a belief learns the trips in turn. At last five of the 20 cars are new: their
trips before trip 1,200 of all cars are left out. Their first ten trips are expected as they come,
and by the trips of the other cars alone with the true factor of the new car.
"""

import sys

import numpy as np
import pandas as pd

from evroute.arrays import BoolArray, FloatArray
from evroute.energy.heating import HEATED_BELOW_C, HVAC_MAX_W, PRIOR_WH
from evroute.energy.vehicle import load_vehicle
from evroute.learning.trips.energies import TripEnergies
from evroute.learning.trips.regression import CoefficientPrior
from evroute.learning.trips.terms import (
    COOLING,
    DOWN,
    DRAG,
    KM,
    MINUTES,
    TURNING,
    UP,
    coefficient_prior,
)
from evroute.learning.trips.trip_belief import TripBelief
from evroute.methods.setting import Setting
from evroute.network.catalog import load_network

try:
    from studies.fleet_figures import CARS, LENGTHS, made_trips
except ImportError:
    from fleet_figures import CARS, LENGTHS, made_trips

LENGTH = LENGTHS["short"]
NEW_CARS = tuple(f"van-{car:03d}" for car in range(15, 20))
COOLED_MINUTES = 40.0
"""Time in which a parked cabin cools down by two thirds, in the form of a soft stand."""
DRIVEN = (KM, UP, DOWN, MINUTES, DRAG, TURNING)


def trips_of(seed: int, setting: Setting) -> tuple[pd.DataFrame, FloatArray]:
    """Return numbers of the trips of a world, and their terms by a belief that learned none."""
    belief, rows, terms = TripEnergies(setting, physics="driving"), [], []
    numbers: dict[str, int] = {}
    for trip, more, true_wh, heating_wh in made_trips(seed, setting, CARS, LENGTH, ""):
        number = numbers[trip.car] = numbers.get(trip.car, -1) + 1
        climb_wh = float(setting.potential_wh[trip.edge].sum())
        rows.append(
            (
                trip.car,
                number,
                1.0 + more,
                climb_wh,
                float(trip.energy_wh.sum()),
                true_wh,
                heating_wh,
                HEATED_BELOW_C - trip.temperature_c,
                trip.parked_minutes,
            )
        )
        terms.append(belief.row(trip))
    names = ("car", "number", "factor", "climb", "measured", "true", "heating", "below", "parked")
    return pd.DataFrame(rows, columns=names), np.array(terms)


def warm_up(trips: pd.DataFrame, terms: FloatArray, *, ramp: bool, soft: bool) -> FloatArray:
    """Return terms of heating, warm-up and cooling by a form, (n, 3)."""
    below, minutes = np.maximum(trips["below"].to_numpy(), 0.0), terms[:, MINUTES]
    parked = trips["parked"].to_numpy()
    cold = 1.0 - np.exp(-parked / COOLED_MINUTES) if soft else (parked > 60.0).astype(float)
    heating = below * minutes
    begun = cold * below * (np.minimum(1.0, minutes / 8.0) if ramp else 1.0)
    wanted_wh = PRIOR_WH[0] * heating + PRIOR_WH[1] * begun
    share = np.minimum(1.0, HVAC_MAX_W / 60.0 * minutes / np.maximum(wanted_wh, 1e-9))
    return np.column_stack([share * heating, share * begun, terms[:, COOLING]])


def fitted(columns: FloatArray, energy_wh: FloatArray, km: FloatArray) -> FloatArray:
    """Return the energies of the best fit in hindsight, (n,) Wh."""
    weight = 1.0 / np.sqrt(60.0**2 + 20.0**2 * km + (0.06 * energy_wh) ** 2)
    scaled = columns * weight[:, np.newaxis]
    return columns @ np.linalg.lstsq(scaled, energy_wh * weight, rcond=None)[0]


def error(expected_wh: FloatArray, trips: pd.DataFrame, which: BoolArray) -> float:
    """Return the error of some trips as a share of their energy."""
    measured = trips["measured"].to_numpy()
    return float(np.abs(expected_wh - measured)[which].sum() / np.abs(measured[which]).sum())


def in_hindsight(trips: pd.DataFrame, terms: FloatArray, late: BoolArray) -> dict[str, float]:
    """Return the errors of late trips by what is known in hindsight."""
    factor, climb_wh = trips["factor"].to_numpy(), trips["climb"].to_numpy()
    typed_wh = (trips["measured"].to_numpy() - climb_wh) / factor + climb_wh
    driven, km = terms[:, DRIVEN], terms[:, KM]

    def of_type(energy_wh: FloatArray) -> float:
        return error((energy_wh - climb_wh) * factor + climb_wh, trips, late)

    heating_wh = trips["heating"].to_numpy()
    found = {
        "car, roads and heating known": error(trips["true"].to_numpy(), trips, late),
        "heating known": of_type(fitted(driven, typed_wh - heating_wh, km) + heating_wh),
    }
    forms = {
        "by physics": (True, False),
        "soft stand": (True, True),
        "no ramp": (False, False),
        "no ramp, soft stand": (False, True),
    }
    for name, (ramp, soft) in forms.items():
        form = warm_up(trips, terms, ramp=ramp, soft=soft)
        found[name] = of_type(fitted(np.hstack([driven, form]), typed_wh, km))
    return found


def in_turn(trips: pd.DataFrame, terms: FloatArray, prior: CoefficientPrior) -> FloatArray:
    """Return the energies that a belief expects of each trip before it learns it, (n,) Wh."""
    belief, expected_wh = TripBelief(prior), np.empty(len(trips))
    driven = zip(trips["car"], terms, trips["measured"], strict=True)
    for number, (car, row, measured_wh) in enumerate(driven):
        expected_wh[number] = belief.of_car(car).expect(row).mean_wh
        belief.learn(row, measured_wh, car=car)
    return expected_wh


def print_new_cars(trips: pd.DataFrame, terms: FloatArray, prior: CoefficientPrior) -> None:
    """Print the errors of the first ten trips of cars that are new to a fleet."""
    new = trips["car"].isin(NEW_CARS).to_numpy()
    stays = ~new | (trips.index >= LENGTH.new_after)
    some, rows = trips[stays].reset_index(drop=True), terms[stays]
    own = some.groupby("car").cumcount().to_numpy()
    new, n = some["car"].isin(NEW_CARS).to_numpy(), len(some)
    first = new & (own < 10)
    belief, expected_wh, of_type_wh = TripBelief(prior), np.empty(n), np.empty(n)
    for k, (car, row, taken_wh) in enumerate(zip(some["car"], rows, some["measured"], strict=True)):
        expected_wh[k] = belief.of_car(car).expect(row).mean_wh
        belief.learn(row, taken_wh, car=car)
    others = TripBelief(prior)
    for k, (car, row, taken_wh) in enumerate(zip(some["car"], rows, some["measured"], strict=True)):
        if new[k]:
            of_type_wh[k] = others.of_car(None).expect(row).mean_wh
        else:
            others.learn(row, taken_wh, car=car)
    factor, climb_wh = some["factor"].to_numpy(), some["climb"].to_numpy()
    known_wh = (of_type_wh - climb_wh) * factor + climb_wh
    for name, wh in (
        ("as they come", expected_wh),
        ("as a car of the type", of_type_wh),
        ("with the true factor", known_wh),
    ):
        begin = error(wh, some, first & (own == 0)), error(wh, some, first)
        print(f"  new cars, {name:34} {begin[1]:.1%} in ten trips, {begin[0]:.1%} in the first")


def main(worlds: int) -> None:
    """Print the errors of some worlds."""
    setting = Setting(load_network("denver"), load_vehicle())
    prior = coefficient_prior(load_vehicle(), driving=True)
    for seed in range(worlds):
        trips, terms = trips_of(seed, setting)
        numbers = trips["number"]
        late = numbers.between(LENGTH.late.start, LENGTH.late.stop - 1).to_numpy()
        first = (numbers < 10).to_numpy()
        minutes, share = terms[:, MINUTES], trips["heating"].sum() / trips["measured"].sum()
        print(
            f"world {seed}: half of the trips below {np.median(minutes):.1f} minutes, all below "
            f"{minutes.max():.1f}; heating {share:.0%}"
        )
        for name, found in in_hindsight(trips, terms, late).items():
            print(f"  in hindsight, {name:30} {found:.1%}")
        expected_wh = in_turn(trips, terms, prior)
        print(
            f"  in turn {error(expected_wh, trips, late):.1%}, first ten of a car "
            f"{error(expected_wh, trips, first):.1%}",
            flush=True,
        )
        print_new_cars(trips, terms, prior)


if __name__ == "__main__":
    main(int(sys.argv[1]))
