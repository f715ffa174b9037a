"""Tours: their legs are the pairs of a matrix, and their forecast is that of one trip."""

from itertools import pairwise
from pathlib import Path

import pytest

import evroute
from evroute.errors import EvrouteError
from evroute.network.places.positions import positions
from evroute.planning.dispatch.stops import Stop
from evroute.planning.dispatch.tour import TourRequest, tour_asked
from evroute.planning.matrix import energy_matrix
from evroute.planning.planner import Planner

DEPOT = "Walnut Street & 33rd Street"
STOPS = ("Broadway & 20th Street", "39.741000,-104.980000", "Blake Street & 17th Street")
CLOSED = (DEPOT, *STOPS, DEPOT)


@pytest.fixture(scope="module")
def belief(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("belief")
    trips = Path(__file__).parents[2] / "compat" / "trips.csv"
    evroute.learn(trips, folder, network="denver")
    return evroute.load_belief(folder)


@pytest.mark.parametrize("by", ["energy", "time"])
def test_the_legs_are_the_pairs_of_the_matrix(belief, by: str) -> None:
    planner = Planner(belief.network, None, belief)
    tour = tour_asked(planner, CLOSED, TourRequest(by=by))
    ends = [
        [
            Stop(each, each, positions(planner.network, each, leaving=leaving))
            for each in (DEPOT, *STOPS)
        ]
        for leaving in (True, False)
    ]
    energy_wh, time_s, length_m = energy_matrix(planner, *ends, by)
    order = [0, 1, 2, 3, 0]
    cells = list(pairwise(order))
    assert tour.leg_wh == pytest.approx([energy_wh[cell] for cell in cells], abs=1e-6)
    assert tour.leg_s == pytest.approx([time_s[cell] for cell in cells], abs=1e-6)
    assert tour.length_m == pytest.approx(sum(length_m[cell] for cell in cells), abs=1e-6)
    assert tour.mean_wh == pytest.approx(sum(tour.leg_wh), abs=1e-6)
    assert tour.titles[0] == tour.titles[-1]
    assert len(tour.titles) == 5


def test_a_tour_of_one_leg_is_the_plan(belief) -> None:
    warm = {"temperature_c": -5, "preheated": True}  # legs of a tour are planned without a warm-up
    day = {"soc": 5.5, "reserve": 4, "conditions": warm, "depart": "08:15"}
    tour = evroute.tour("denver", (DEPOT, STOPS[0]), belief=belief, **day)
    plan = evroute.plan("denver", DEPOT, STOPS[0], belief=belief, risk="mean", **day)
    route = plan.least_energy
    assert tour.driven.edges == route.edges
    assert tour.mean_wh == pytest.approx(route.energy_wh)
    assert route.charge_forecast is not None
    assert tour.p_reserve == pytest.approx(route.charge_forecast.never_below_reserve)
    assert tour.std_wh == pytest.approx(route.energy_forecast.std_wh)
    assert 0.05 < tour.p_reserve < 0.95


def test_the_deviations_of_the_legs_add_up_in_part(belief) -> None:
    """The deviation lies between that of independent legs and the sum of the legs' deviations."""
    whole = evroute.tour("denver", CLOSED, belief=belief)
    alone = [evroute.tour("denver", leg, belief=belief).std_wh for leg in pairwise(CLOSED)]
    assert sum(each**2 for each in alone) ** 0.5 < whole.std_wh < sum(alone)
    assert whole.charge.arrival_percent == pytest.approx(
        100 - whole.mean_wh / 10 / belief.vehicle.battery_kwh, abs=0.05
    )


def test_a_tour_without_a_belief_has_the_uncertainty_of_physics() -> None:
    tour = evroute.tour("denver", CLOSED, soc=4, reserve=2)
    risky = evroute.plan(
        "denver", DEPOT, DEPOT, via=STOPS, soc=20, reserve=2, risk=0.4
    ).recommended_route
    assert 0.3 * risky.energy_wh < tour.std_wh < risky.energy_wh
    assert 0.2 < tour.p_reserve < 0.9
    assert "keeps its reserve in" in repr(tour)


def test_wrong_tours_name_the_leg_and_the_field(belief) -> None:
    with pytest.raises(EvrouteError, match="two or more places, got 1"):
        evroute.tour("denver", [DEPOT])
    with pytest.raises(EvrouteError, match=r"leg 2 of the tour: .*Nowhere & Never"):
        evroute.tour("denver", [DEPOT, STOPS[0], "Nowhere & Never"])
    with pytest.raises(EvrouteError, match="leg 1 of the tour: "):
        evroute.tour("denver", [DEPOT, DEPOT])
    with pytest.raises(EvrouteError, match="a car needs the belief"):
        evroute.tour("denver", [DEPOT, STOPS[0]], car="van-1")
    with pytest.raises(EvrouteError, match="Known: soc"):
        evroute.tour("denver", [DEPOT, STOPS[0]], sock=50)
    with pytest.raises(EvrouteError, match="by is 'cost'"):
        evroute.tour("denver", [DEPOT, STOPS[0]], by="cost")
