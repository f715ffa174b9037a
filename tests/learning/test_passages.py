"""Covariances along many trips against the forecasts of single trips."""

from dataclasses import replace

import numpy as np
import pytest

from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import load_vehicle
from evroute.learning.measured import MeasuredTrip
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.setting import Setting
from evroute.planning.battery import Battery, follow
from evroute.planning.forecasts.first_passage import ERROR
from evroute.planning.forecasts.many_trips import TripsTogether
from evroute.testing.days import arms_of, trips_together

CAR = replace(load_vehicle("reference"), battery_kwh=10.0)
OVER, ROUND = ("in", "up", "down", "out"), ("in", "east", "west", "out")


@pytest.mark.parametrize("temperature_c", [None, -10.0])
@pytest.mark.parametrize("physics", ["eq8", "driving"])
@pytest.mark.parametrize("trips", [0, 20])
def test_covariances_of_many_trips_are_those_of_single_forecasts(
    hill, trips, physics, temperature_c
) -> None:
    """The trips share a belief with heights of junctions and an unknown size of the battery."""
    belief = TripEnergies(Setting(hill, CAR), physics=physics)
    for number in range(trips):
        edges = np.array([hill.row_of[edge] for edge in (OVER, ROUND)[number % 2]])
        energy_wh = np.full(len(edges), 90.0 + 7.0 * (number % 5))
        travel_s = np.full(len(edges), 150.0)
        belief.learn(MeasuredTrip(str(number), edges, energy_wh, travel_s))
    day = belief.under(DrivingConditions(temperature_c=temperature_c))
    routes = [arms_of(belief, OVER)[1], arms_of(belief, ROUND)[1], arms_of(belief, OVER)[1][:2]]
    arms, first, driven = trips_together(day, routes)
    rows = np.split(np.arange(len(arms)), first[1:])
    forecasts, charges, risks = [], [], []
    for row in rows:
        energy_wh = day.mean_wh[arms[row]] + driven.halts[row] * day.halt_wh[driven.edge[row]]
        usual = day.forecast(arms[row], energy_wh, None, driven[row])
        battery = Battery(10_000.0, usual.mean_wh + 1.5 * usual.std_wh, 0.0)
        charges.append(follow(battery, energy_wh))
        forecasts.append(day.forecast(arms[row], energy_wh, charges[-1], driven[row]))
        charge = forecasts[-1].charge(battery, charges[-1])
        risks.append(1.0 - charge.never_below_reserve)
    begin_wh = np.concatenate([charge.charge_wh[:-1] for charge in charges])
    end_wh = np.concatenate([charge.charge_wh[1:] for charge in charges])
    low_wh = np.concatenate([charge.low_wh[1:] for charge in charges])
    together = TripsTogether(arms, first, driven, begin_wh, end_wh, low_wh)
    covariance = day.sums_of_trips(together).covariance_with
    for k in range(2):  # with the energy up to the end of the k-th arm of each trip
        found = covariance(np.concatenate([np.full(len(row), row[k]) for row in rows]))
        expected = np.concatenate([each.reached_wh2[:, k] for each in forecasts])
        assert found == pytest.approx(expected, rel=1e-9)
    least, most = day.passage_bounds(together, 0.0)
    assert (least <= np.array(risks)).all()
    assert (least >= 0.5 * np.array(risks)).all()
    assert (most >= np.array(risks) - ERROR).all()
    assert (most <= 1.3 * np.array(risks)).all()
