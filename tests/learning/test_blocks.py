"""Trips learned in blocks against the same trips one after the other."""

import numpy as np
import pytest

from evroute.energy.prior import EQ8_CONDITIONS
from evroute.energy.vehicle import load_vehicle
from evroute.errors import NoRouteError
from evroute.learning.base import learn_in_turn
from evroute.learning.edges import blocks
from evroute.learning.learned_belief import LearnedBelief
from evroute.learning.measured import MeasuredTrip
from evroute.methods.method import Method
from evroute.methods.setting import Setting


@pytest.fixture(scope="module")
def trips(denver) -> list[MeasuredTrip]:
    setting, rng, found = Setting(denver, load_vehicle("reference")), np.random.default_rng(3), []
    while len(found) < 11:
        try:
            ends = rng.integers(denver.n_edges, size=2).tolist()
            rows = setting.search.route(denver.time_s, *ends).rows
        except NoRouteError:
            continue
        if len(found) == 4:
            rows = np.concatenate([rows, rows[-1:]])  # an edge twice in one trip
        energy_wh = setting.arms.prior_mean_wh[rows] * rng.normal(1.1, 0.1, len(rows))
        seconds = 1.2 * denver.time_s[rows]
        found.append(MeasuredTrip(str(len(found)), rows, energy_wh, seconds))
    return found


@pytest.mark.parametrize("model", ["exact", "physics+gp"])
def test_blocks_predict_and_learn_as_trip_after_trip(denver, trips, model, monkeypatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 4)
    setting, method = (
        Setting(denver, load_vehicle("reference")),
        Method(model=model, index="greedy"),
    )
    single, together = (LearnedBelief.before_trips(method, setting) for _ in range(2))
    expected = []
    for trip in trips:
        expected.append(single.expected(trip))
        single.learn(trip)
    updates = []
    update = together.model.update
    monkeypatch.setattr(
        together.model, "update", lambda each: (updates.append(len(each.id)), update(each))
    )
    found = list(learn_in_turn(together, trips))
    assert len(updates) == 2 + 3  # two blocks of four trips, and the last three
    assert sum(updates) == sum(len(trip.edge) for trip in trips)
    for one, other in zip(expected, found, strict=True):
        assert one.keys() == other.keys()
        np.testing.assert_allclose(list(other.values()), list(one.values()), rtol=0, atol=1e-6)
    alone, joint = (each.under(EQ8_CONDITIONS) for each in (single, together))
    for one, other in zip(
        (alone.posterior().mean_wh, alone.posterior().std_wh, alone.time_s),
        (joint.posterior().mean_wh, joint.posterior().std_wh, joint.time_s),
        strict=True,
    ):
        np.testing.assert_allclose(other, one, rtol=0, atol=1e-6)
    assert together.inflation == pytest.approx(single.inflation, rel=1e-8)
