"""What the report tells of beliefs: intervals of the last route."""

import numpy as np
import pytest

from evroute.arms import Feedback
from evroute.energy.vehicle import load_vehicle
from evroute.methods.method import Method, make_model
from evroute.methods.setting import Setting
from evroute.report.beliefs import route_intervals


def test_intervals_with_a_guarantee_hold_the_bayesian_ones_and_say_what_they_assume(denver) -> None:
    setting = Setting(denver, load_vehicle())
    model = make_model(Method(model="exact", index="ts"), setting, np.random.default_rng(0))
    route = setting.search.route(setting.network.length_m, 3, 300)
    for _ in range(5):
        energy_wh = setting.prior.mean_wh[route.rows]
        model.update(Feedback.of_route(setting.arms, route, energy_wh))
    table = route_intervals(model, setting.arms, route.rows, float(energy_wh.sum())).set_index(
        "interval of the last route"
    )
    low, high = table["low (Wh)"], table["high (Wh)"]
    assert np.all(low < table["true (Wh)"])
    assert np.all(table["true (Wh)"] < high)
    width = high - low
    assert width["Bayes, 95 %"] < width["CMM, 95 %"] <= width["AMM, 95 %"]
    assert "norm at most 10" in table.loc["CMM, 95 %", "assumes"]
    assert low.mean() == pytest.approx(energy_wh.sum(), rel=0.5)
