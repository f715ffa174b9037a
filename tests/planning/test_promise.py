"""Plans with a charge keep the reserve in nine trips of ten unless they ask for another risk."""

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from evroute.door.planners import Planner
from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError, NotEnoughChargeError
from evroute.network.catalog import load_network
from evroute.planning.battery import Battery
from evroute.planning.dispatch.needs import needed
from evroute.planning.forecasts.forecast import Legs, RouteForecast, forecast_charge
from evroute.planning.plan import Plan
from evroute.planning.reach import RangeRequest, charge_needed, reach
from evroute.planning.request import PlanRequest

BETWEEN = {"origin": "a", "destination": "b"}


@pytest.fixture(scope="module")
def planner() -> Planner:
    return Planner(load_network("denver"), "nissan-leaf-40")


@pytest.fixture(scope="module")
def small() -> Planner:
    """A car of 4 kWh, of whose charge a trip takes tens of per cents."""
    car = replace(load_vehicle("nissan-leaf-40"), battery_kwh=4.0)
    return Planner(load_network("denver"), car)


@pytest.mark.parametrize(
    ("given", "risk", "text"),
    [
        ({}, 0.1, "10%"),
        ({"risk": None}, 0.1, "10%"),
        ({"risk": "mean"}, "mean", "mean"),
        ({"risk": "5 %"}, 0.05, "5%"),
        ({"risk": 0.5}, 0.5, "50%"),
    ],
)
def test_a_request_with_a_charge_writes_its_risk_out(
    given: dict[str, object], risk: object, text: str
) -> None:
    request = PlanRequest(**BETWEEN, soc=40, **given)
    assert request.risk == risk
    assert request.texts()["risk"] == text
    assert PlanRequest.from_texts(request.texts()) == request
    assert RangeRequest(origin="a", soc=40, **given).risk == risk


def test_without_a_charge_the_risk_is_silent() -> None:
    assert "risk" not in PlanRequest(**BETWEEN).texts()
    assert PlanRequest(**BETWEEN, risk="mean").most_risk is None
    with pytest.raises(EvrouteError, match="a risk needs the charge"):
        PlanRequest(**BETWEEN, risk=0.1)


@pytest.mark.parametrize("risk", [0, 0.51, "average", True])
def test_other_risks_are_refused(risk: object) -> None:
    with pytest.raises(EvrouteError, match="risk is"):
        PlanRequest(**BETWEEN, soc=40, risk=risk)


def test_by_the_mean_a_plan_is_the_one_by_expected_energies(planner: Planner) -> None:
    """Where a charge is ample, both are the plan without a charge, row by row."""
    free = planner.plan(1213, 40)
    for risk in ("mean", 0.1):
        plan = planner.plan(1213, 40, soc=60, reserve=10, risk=risk)
        assert plan.recommended == free.recommended
        for name, route in free.routes.items():
            assert plan.routes[name].route == route.route
            assert plan.routes[name].energy_wh == pytest.approx(route.energy_wh, rel=1e-9)


def _refusals(planner: Planner, rng: np.random.Generator, number: int, **wishes: object):
    found = 0
    while found < number:
        ends = rng.choice(planner.network.n_edges, 2, replace=False).tolist()
        asked = {"soc": round(10 + float(rng.exponential(3.0)), 1), "reserve": 10, **wishes}
        try:
            plan = planner.plan(*ends, **asked)
        except NotEnoughChargeError as error:
            found += 1
            yield ends, asked, error
        else:
            assert plan.chance >= 0.9


def test_every_step_out_of_a_refusal_leads_to_a_plan_that_keeps_the_promise(
    small: Planner,
) -> None:
    seen: Counter[str] = Counter()
    for ends, asked, error in _refusals(small, np.random.default_rng(11), 12):
        assert error.steps
        for step in error.steps:
            assert small.plan(*ends, **{**asked, **step}).chance >= 0.9
        if error.average_percent is not None:
            words = f"(on average {error.average_percent} % is enough)"
            assert f"at least {error.start_percent} % {words}" in str(error)
            plain = {**asked, "risk": "mean"}
            small.plan(*ends, **{**plain, "soc": error.average_percent})
            if error.average_percent - 1 > 10:
                with pytest.raises(NotEnoughChargeError):
                    small.plan(*ends, **{**plain, "soc": error.average_percent - 1})
            seen["average"] += 1
    assert seen["average"] >= 5


def test_where_a_full_battery_is_too_little_the_step_lowers_the_reserve(small: Planner) -> None:
    for ends, asked, error in _refusals(small, np.random.default_rng(3), 2, soc=99.9, reserve=99.8):
        (step,) = error.steps
        assert set(step) == {"soc", "reserve"}
        assert small.plan(*ends, **{**asked, **step}).chance >= 0.9
        with pytest.raises(NotEnoughChargeError):
            small.plan(*ends, **{**asked, **step, "reserve": step["reserve"] + 1})


def test_only_the_recommended_row_has_to_keep_the_promise_beside_alternatives(
    small: Planner,
) -> None:
    rng, seen = np.random.default_rng(2), 0
    while not seen:
        ends = rng.choice(small.network.n_edges, 2, replace=False).tolist()
        try:
            plan = small.plan(*ends, soc=60, reserve=10, alternatives=3)
        except NotEnoughChargeError:
            continue
        others = [name for name in plan.routes if name.startswith("alternative")]
        seen += len(others)
        assert plan.chance >= 0.9
        assert all(plan.routes[name].charge_forecast is not None for name in others)


def _draws(
    battery: Battery, energy: RouteForecast, stops: list[tuple[int, float]], arrive_wh: float
) -> float:
    """Return the share of random trips that never fall below the reserve, by following them."""
    rng = np.random.default_rng(1)
    k = len(energy.edge_mean_wh)
    trips_wh = rng.multivariate_normal(energy.edge_mean_wh, energy.edge_covariance_wh2, 200_000)
    kept = np.ones(len(trips_wh), dtype=bool)
    starts_wh = [battery.start_wh, *(battery.capacity_wh * to / 100 for _, to in stops)]
    ends = pairwise([0, *(after for after, _ in stops), k])
    for start_wh, (begin, end) in zip(starts_wh, ends, strict=True):
        left_wh = start_wh - np.cumsum(trips_wh[:, begin:end], axis=1)
        kept &= (left_wh >= battery.reserve_wh).all(axis=1)
    return float((kept & (left_wh[:, -1] >= arrive_wh)).mean())


@pytest.mark.parametrize("arrive_wh", [0.0, 150.0])
@pytest.mark.parametrize("stops", [[], [(2, 30.0)], [(2, 30.0), (4, 25.0)]])
def test_the_chance_with_stops_is_the_share_of_random_trips(
    stops: list[tuple[int, float]], arrive_wh: float
) -> None:
    """Energies are strongly correlated, so the sum of the risks of the legs is too great."""
    mean_wh = np.array([100.0, 120.0, 90.0, 110.0, 80.0, 60.0])
    spread = 0.3 * mean_wh
    covariance = np.outer(spread, spread) + np.diag((0.15 * mean_wh) ** 2)
    energy = RouteForecast(mean_wh, covariance)
    battery = Battery(1000.0, 350.0 if stops else 700.0, 50.0)
    legs = Legs.of(battery, 6, stops, arrive_wh)
    kept = forecast_charge(energy, battery, 0.0, legs).never_below_reserve
    assert kept == pytest.approx(_draws(battery, energy, stops, arrive_wh), abs=0.005)


def test_the_outlook_rounds_the_chance_down(planner: Planner) -> None:
    plan: Plan = planner.plan(1213, 40, soc=60, reserve=10)
    assert plan.outlook.startswith("You get there: more than 99 %, arriving with ")
    assert planner.plan(1213, 40).outlook == ""


def test_needed_in_nine_of_ten_the_advice_and_the_edge_of_a_range_agree(small: Planner) -> None:
    """The same per cent: for `needed`, in a refusal, and in ranges to and from a road."""
    ids, seen = small.network.edge_id, Counter[bool]()
    for (origin, destination), _, error in _refusals(small, np.random.default_rng(61), 5):
        asked = ids[origin], ids[destination]
        assert needed(small, asked, 10.0, 0.9)["needed_percent"] == error.start_percent
        reserve = Battery.of_percent(4.0, 10.0, 10.0)
        assert charge_needed(small, destination, reserve, risk=0.1)[origin] == error.start_percent
        for percent in (error.start_percent, error.start_percent - 1):
            battery = Battery.of_percent(4.0, percent, 10.0)
            seen[bool(reach(small, origin, battery, risk=0.1).within[destination])] += 1
    assert seen == {True: 5, False: 5}


def test_on_a_cold_day_a_road_needs_what_a_plan_advises() -> None:
    """The cold cabin takes more on slow roads, so that three ways from each road are judged."""
    car = replace(load_vehicle("nissan-leaf-40"), battery_kwh=4.0)
    day = DrivingConditions(temperature_c=-10.0, parked_minutes=600.0)
    planner = Planner(load_network("denver"), car, conditions=day)
    reserve = Battery.of_percent(4.0, 10.0, 10.0)
    to_there = charge_needed(planner, 40, reserve, risk=0.1)
    for origin in np.random.default_rng(5).choice(planner.network.n_edges, 8).tolist():
        with pytest.raises(NotEnoughChargeError) as refused:
            planner.plan(origin, 40, soc=10, reserve=10)
        assert to_there[origin] == refused.value.start_percent


def test_where_a_full_battery_is_too_little_no_charge_is_needed() -> None:
    car = replace(load_vehicle("nissan-leaf-40"), battery_kwh=0.3)
    planner = Planner(load_network("denver"), car)
    usual, at_risk = (
        charge_needed(planner, 700, Battery.of_percent(0.3, 0.0, 0.0), risk=risk)
        for risk in (None, 0.1)
    )
    assert np.isfinite(usual)[np.isfinite(at_risk)].all()
    assert np.isinf(at_risk).sum() > np.isinf(usual).sum() > 0
    for origin in np.flatnonzero(np.isfinite(usual) & np.isinf(at_risk))[:3].tolist():
        with pytest.raises(NotEnoughChargeError):
            planner.plan(origin, 700, soc=100)


def test_a_battery_larger_by_what_a_full_one_lacks_keeps_the_promise() -> None:
    roads, car = load_network("denver"), load_vehicle("nissan-leaf-40")
    rng, seen = np.random.default_rng(7), 0
    while seen < 4:
        ends = rng.choice(roads.n_edges, 2, replace=False).tolist()
        try:
            Planner(roads, replace(car, battery_kwh=0.3)).plan(*ends, soc=100)
        except NotEnoughChargeError as error:
            lacks = re.search(
                r"A full battery needs ([\d.]+) kWh more than its 0.3 kWh", str(error)
            )
        else:
            continue
        assert lacks
        larger = replace(car, battery_kwh=0.3 + float(lacks[1]))
        assert Planner(roads, larger).plan(*ends, soc=100).chance >= 0.9
        smaller = Planner(roads, replace(car, battery_kwh=larger.battery_kwh - 0.02))
        with pytest.raises(NotEnoughChargeError):
            smaller.plan(*ends, soc=100)
        seen += 1
