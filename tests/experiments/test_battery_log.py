"""Charge after trips, by hand; predicted reserve, in closed form on one edge."""

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.special import ndtr

from evroute.arms import Arms, Feedback, Round, Route
from evroute.errors import EvrouteError
from evroute.experiments.experiment import grid, simulate
from evroute.experiments.log import COLUMNS, BatteryLog
from evroute.methods.setting import load_setting
from evroute.planning.battery import Battery
from evroute.planning.forecasts.forecast import RouteForecast

BATTERY = Battery(10_000.0, 2_000.0, 1_750.0)
ARMS = Arms(np.arange(3), np.zeros((3, 1)), np.zeros(3))


class Announces:
    def __init__(self, told: RouteForecast | None) -> None:
        self.told = told

    def forecast(self, request: Round, route: Route) -> RouteForecast | None:
        return self.told


def row(energy_wh, told=None, expected_wh=0.0, widened=1.0):
    edges = Route(tuple(range(len(energy_wh))))
    feedback = Feedback.of_route(ARMS, edges, np.array(energy_wh, dtype=float))
    charge = BatteryLog({"": BATTERY})
    request = Round(7, ARMS, 0, len(energy_wh) - 1)
    return charge.row(
        Announces(told), request, edges, feedback, expected_wh=expected_wh, widened=widened
    )


def test_below_the_reserve_on_the_way_and_back_above_it_by_regeneration() -> None:
    told = row([300, -200], expected_wh=150)
    assert told["soc_lowest_percent"] == pytest.approx(17.0)
    assert told["soc_arrival_percent"] == pytest.approx(19.0)
    assert told["soc_arrival_expected_percent"] == pytest.approx(18.5)
    assert (told["below_reserve_midway"], told["below_reserve_on_arrival"]) == (1.0, 0.0)


def test_a_reserve_missed_on_arrival_alone_does_not_count_as_missed_midway() -> None:
    told = row([100, 200])
    assert (told["below_reserve_midway"], told["below_reserve_on_arrival"]) == (0.0, 1.0)


def test_exactly_on_the_reserve_is_not_below_it_and_a_start_may_be_the_lowest() -> None:
    assert row([250])["below_reserve_on_arrival"] == 0.0
    assert row([-100])["soc_lowest_percent"] == pytest.approx(20.0)


@pytest.mark.parametrize("widened", [1.0, 2.0])
def test_the_announced_probability_of_one_edge_is_normal(widened) -> None:
    told = row([0], RouteForecast(np.array([200.0]), np.array([[60.0**2]])), widened=widened)
    for name, factor in (("p_reserve", 1.0), ("p_reserve_widened", widened)):
        exact = ndtr((250 - 200) / (60 * factor))
        assert told[name] == pytest.approx(exact, abs=1e-6)


def test_nothing_is_announced_where_the_joint_is_not_known() -> None:
    told = row([0])
    assert tuple(told) == COLUMNS
    assert np.isnan([told["p_reserve"], told["p_reserve_widened"]]).all()


def test_a_run_logs_the_charge_of_each_trip_and_of_random_routes(tmp_path) -> None:
    chosen = {
        "networks": ["denver"],
        "trips": ["A"],
        "models": ["exact"],
        "indices": ["ts"],
        "options": {},
    }
    folder = simulate(
        grid(**chosen, world=["cold"], horizon=10, seeds=1, audit=True, soc=11.5, reserve=10.0),
        tmp_path / "out",
    )
    assert not folder.failures()
    rounds = folder.rounds().to_pandas()
    capacity_wh = 1000 * load_setting("denver", "reference").vehicle.battery_kwh
    (path,) = (folder.path / "routes").glob("*.parquet")
    for t, energies in pq.read_table(path).to_pandas().groupby("t")["observed_wh"]:
        charge = 11.5 - 100 * energies.cumsum() / capacity_wh
        assert rounds["soc_arrival_percent"][t - 1] == pytest.approx(charge.iloc[-1])
        assert rounds["soc_lowest_percent"][t - 1] == pytest.approx(min(11.5, charge.min()))
    assert rounds["soc_arrival_expected_percent"].to_numpy() == pytest.approx(
        11.5 - 100 * rounds["predicted_wh"] / capacity_wh
    )
    assert rounds["audit_p_reserve"].notna().tolist() == [False] * 9 + [True]


@pytest.mark.parametrize(
    ("fields", "told"),
    [({"reserve": 10.0}, "reserve needs soc"), ({"soc": 5, "reserve": 10}, "soc is 5 %")],
)
def test_a_battery_that_cannot_be_is_refused(fields, told) -> None:
    with pytest.raises(EvrouteError, match=told):
        grid(
            networks=["denver"], trips=["A"], models=["exact"], indices=["ts"], options={}, **fields
        )
