"""A cold day at the doors: plans, batches, matrices, tours, needs and ranges state one energy."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import evroute
from evroute import DrivingConditions, RoadNetwork
from evroute.energy.vehicle import load_vehicle
from evroute.errors import NotEnoughChargeError
from evroute.learning.measured import MeasuredTrip
from evroute.learning.trips.energies import TripEnergies
from evroute.learning.trips.terms import HEATING, WARM_UP
from evroute.methods.setting import Setting
from evroute.planning.battery import Battery
from evroute.planning.dispatch.day_need import DayNeed
from evroute.planning.dispatch.reduced import reduced_energies
from evroute.planning.dispatch.stops import Stop
from evroute.planning.matrix import Cells, Pairs
from evroute.planning.places import places_of
from evroute.planning.reach import reach, start_needed
from evroute.testing.on_average import PlannerOnAverage as Planner

COLD = DrivingConditions(temperature_c=-10.0, parked_minutes=600.0)


@pytest.fixture(scope="module")
def denver() -> RoadNetwork:
    return evroute.load_network("denver")


@pytest.fixture(scope="module")
def learned(denver: RoadNetwork) -> TripEnergies:
    """A belief of a car that heats twice as much as physics, with 30 Wh/K to warm up."""
    belief, rng = TripEnergies(Setting(denver, load_vehicle()), physics="driving"), np.random
    draw = rng.default_rng(4)
    search = Planner(denver).search
    truth = belief.belief.prior.mean.copy()
    truth[[HEATING, WARM_UP]] = 4.0, 30.0
    for number in range(30):
        ends = draw.choice(denver.n_edges, 2, replace=False).tolist()
        rows = search.route(
            denver.time_s[np.append(denver.turns[:, 1], np.arange(denver.n_edges))]
            if search.turns
            else denver.time_s,
            *ends,
        ).rows
        trip = MeasuredTrip(
            str(number),
            rows,
            np.zeros(len(rows)),
            np.full(len(rows), np.nan),
            temperature_c=float(draw.uniform(-15.0, 10.0)),
            parked_minutes=(20.0, 600.0)[number % 2],
        )
        total_wh = float(belief.row(trip)[: len(truth)] @ truth)
        belief.learn(replace(trip, energy_wh=np.full(len(rows), total_wh / len(rows))))
    return belief


@pytest.fixture(params=["physics", "learned"])
def planner(request: pytest.FixtureRequest, denver: RoadNetwork, learned: TripEnergies) -> Planner:
    belief = learned if request.param == "learned" else None
    unknown = evroute.physics_belief(denver) if belief is None else None
    return Planner(denver, None, belief, conditions=COLD, uncertainty=unknown)


def points(network: RoadNetwork, seed: int, number: int) -> list[str]:
    """Return random junctions as texts."""
    lon, lat = network.junction_lon_lat
    rows = np.random.default_rng(seed).choice(network.n_junctions, number, replace=False)
    return [f"{lat[row]:.6f},{lon[row]:.6f}" for row in rows]


def test_the_belief_learned_its_warm_up(planner: Planner) -> None:
    warm_up = planner.heating.warm_up
    assert warm_up.whole_wh > (650.0 if planner.belief else 250.0)
    assert warm_up.wh_per_s > 0.0


@pytest.mark.parametrize(
    "wishes",
    [{}, {"max_extra_time": 0.1}, {"price": 0.3, "time_value": 6.0}, {"risk": 0.05}],
    ids=str,
)
def test_rows_keep_the_reserve_and_their_proofs_hold(planner: Planner, wishes: dict) -> None:
    """Least energy is least of all rows, and the energies of edges and parts sum to each row's."""
    at, planned = points(planner.network, 1, 24), 0
    for k, (origin, destination) in enumerate(pairwise(at)):
        via = [at[k - 5]] if k % 4 == 3 and "risk" not in wishes else []
        asked = {"soc": (1.8, 3.0, 6.0)[k % 3], "reserve": 1.0, "via": via, **wishes}
        try:
            plan = planner.plan(origin, destination, **asked)
        except NotEnoughChargeError as error:
            if error.start_percent is not None:
                planner.plan(origin, destination, **asked | {"soc": error.start_percent})
            continue
        planned += 1
        reserve_wh = 10.0 * planner.vehicle.battery_kwh
        routes = plan.routes
        limit_s = (1.0 + wishes.get("max_extra_time", 1e9)) * routes["time"].time_s + 1e-6
        for name, route in routes.items():
            assert route.charge.low_wh.min() >= reserve_wh - 1e-6, name
            lost_wh = route.parts_wh["lost"]
            assert route.edge_wh.sum() + lost_wh == pytest.approx(route.energy_wh, abs=1e-6)
            assert sum(route.parts_wh.values()) == pytest.approx(route.energy_wh, abs=1e-6)
            if planner.belief:
                assert route.energy_forecast.mean_wh == pytest.approx(route.energy_wh, abs=1e-6)
        if plan.proofs["energy"].startswith("exact"):
            within = [each.energy_wh for each in routes.values() if each.time_s <= limit_s]
            assert routes["energy"].energy_wh <= min(within) + 1e-6
    assert planned >= 6


def test_batches_and_matrices_have_the_energies_of_single_plans(planner: Planner) -> None:
    at = points(planner.network, 2, 7)
    places = [places_of(planner.network, None, ends) for ends in pairwise(at)]
    single_wh = [planner.plan(*ends).routes["energy"].energy_wh for ends in pairwise(at)]
    many = planner.least_energies.between(places)
    np.testing.assert_allclose(many.energy_wh, single_wh, rtol=0, atol=1e-6)
    leaving = [Stop(each, each, p.starts) for each, p in zip(at, places, strict=False)]
    arriving = [Stop(each, each, p.ends) for each, p in zip(at[1:], places, strict=True)]
    cells = Pairs(planner, arriving).matrix(leaving)[0]
    np.testing.assert_allclose(np.diag(cells), single_wh, rtol=0, atol=1e-6)


def test_a_tour_is_the_sum_of_reduced_cells_and_one_warm_up(denver: RoadNetwork) -> None:
    at = points(denver, 3, 15)
    planner = Planner(denver, conditions=COLD)
    ends = [
        Stop(each, each, places_of(denver, None, (each, other)).starts)
        for each, other in zip(at, [*at[1:], at[0]], strict=True)
    ]
    into = [
        Stop(each, each, places_of(denver, None, (other, each)).ends)
        for each, other in zip(at, [*at[1:], at[0]], strict=True)
    ]
    cells = Pairs(planner, into, Cells(warm=True)).matrix(ends)
    reduced = reduced_energies(cells[0])
    order = [*range(len(at)), 0]
    tour = evroute.tour("denver", [at[k] for k in order], soc=90, conditions={"temperature_c": -10})
    legs_wh = sum(cells[0][pair] for pair in pairwise(order))
    assert tour.time_s > planner.heating.warm_up.whole_s
    whole_wh = planner.heating.warm_up.whole_wh
    assert legs_wh + whole_wh == pytest.approx(tour.mean_wh, abs=1.0)
    closed_dwh = sum(int(reduced[pair]) for pair in pairwise(order))
    assert closed_dwh / 10.0 + whole_wh == pytest.approx(tour.mean_wh, abs=1.0)


def test_needs_and_ranges_agree_with_plans(planner: Planner) -> None:
    for origin, destination in pairwise(points(planner.network, 4, 6)):
        places = places_of(planner.network, None, (origin, destination))
        battery = Battery.of_percent(planner.vehicle.battery_kwh, 50.0, 2.0)
        least = start_needed(planner, places, battery)
        enough = replace(battery, start_wh=battery.capacity_wh * least / 100 + 1e-5)
        plan = planner.plan(origin, destination, battery=enough, risk="mean")
        with pytest.raises(NotEnoughChargeError):
            planner.plan(
                origin,
                destination,
                battery=replace(enough, start_wh=enough.start_wh - 1e-3),
                risk="mean",
            )
        need = DayNeed([(planner, places)]).need(2.0, 0.9)
        energy_wh = planner.plan(origin, destination).routes["energy"].energy_wh
        assert need.trip_wh == (pytest.approx(energy_wh),)
        assert need.mean_wh == pytest.approx(energy_wh, abs=1e-6)
        found = reach(planner, plan.routes["energy"].edges[0], replace(battery, start_wh=4000.0))
        single = planner.plan(
            plan.routes["energy"].edges[0],
            plan.routes["energy"].edges[-1],
            battery=replace(battery, start_wh=4000.0),
            risk="mean",
        )
        row = planner.network.row_of[plan.routes["energy"].edges[-1]]
        arrived = single.routes["energy"].charge.charge_wh[-1] / battery.capacity_wh * 100
        assert found.charge_percent[0.5][row] == pytest.approx(arrived, abs=1e-9)
        assert found.within[row]
