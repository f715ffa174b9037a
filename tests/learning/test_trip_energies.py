"""Beliefs of whole trips on a network: rows by hand, departure, disk, and plans."""

from dataclasses import replace

import numpy as np
import pytest

from evroute.arms import Route
from evroute.door.planners import Planner
from evroute.energy.driving import DrivingConditions, air_density_kgpm3
from evroute.energy.prior import EQ8_CONDITIONS
from evroute.energy.vehicle import CHARGING, load_vehicle
from evroute.errors import EvrouteError
from evroute.learning import belief
from evroute.learning.measured import MeasuredTrip
from evroute.learning.trips.energies import TripEnergies
from evroute.learning.trips.sentences import refusals
from evroute.learning.trips.terms import (
    AUXILIARY,
    BY_TEMPERATURE,
    COOLING,
    DOWN,
    DRAG,
    FADE,
    HEATING,
    LEVEL,
    MINUTES,
    UP,
    WARM_UP,
    coefficient_prior,
)
from evroute.learning.trips.trip_belief import KM
from evroute.methods.setting import Setting
from evroute.planning.answers import document
from evroute.planning.battery import Battery, follow
from evroute.planning.forecasts.heating import DayHeating
from evroute.planning.reach import charge_needed, reach

CAR = replace(load_vehicle("reference"), auxiliary_w=600.0, battery_kwh=10.0)
OVER, ROUND = ("in", "up", "down", "out"), ("in", "east", "west", "out")


@pytest.fixture
def setting(hill):
    return Setting(hill, CAR)


def trip_of(network, edges, energy_wh=1000.0, travel_s=np.nan, **known) -> MeasuredTrip:
    rows = np.array([network.row_of[edge] for edge in edges])
    share = np.full(len(rows), energy_wh / len(rows))
    return MeasuredTrip(
        "-".join(edges), rows, share, np.full(len(rows), travel_s / len(rows)), **known
    )


def learned(setting, seed=0, trips=30) -> TripEnergies:
    """Return the belief of trips that take 1.4 times eq. 8, give or take a tenth."""
    rng = np.random.default_rng(seed)
    energies = TripEnergies(setting, physics="eq8")
    eq8_wh = setting.arms.prior_mean_wh
    for edges in rng.permutation([OVER, ROUND] * (trips // 2)).tolist():
        rows = [setting.network.row_of[edge] for edge in edges]
        factor = 1.4 * (1 + 0.1 * rng.standard_normal())
        trip = trip_of(setting.network, edges, factor * eq8_wh[rows].sum(), travel_s=600.0)
        energies.learn(trip)
    return energies


def test_a_row_is_the_sum_over_edges_at_the_pace_of_the_map_times_its_factor(setting) -> None:
    row = TripEnergies(setting, physics="eq8").row(trip_of(setting.network, OVER))
    length_m = 1000.0 + 1001.0 + 1001.0 + 1000.0
    area = 0.5 * 1.2 * CAR.drag * CAR.front_m2
    expected = {
        KM: length_m / 1000,
        UP: 40.0,
        DOWN: -40.0,
        MINUTES: 1.6 * length_m / 10.0 / 60,  # 10 m/s on the map
        DRAG: area * length_m * (10.0 / 1.6) ** 2 / 3600,
        FADE: 0.0,
        AUXILIARY: 0.0,
    }
    np.testing.assert_allclose(row[:7], [expected[k] for k in range(7)])


def test_minutes_come_from_earlier_trips(setting) -> None:
    energies = TripEnergies(setting, physics="eq8")
    energies.learn(trip_of(setting.network, OVER, travel_s=4000.0))
    # 1,000 s an edge, and the map's pass at (3 x 1.6 + 4,000 / 400.2) / 4 times its time
    factor = (3 * 1.6 + 4000 / 400.2) / 4
    expected_s = sum((factor * m / 10 + 1000.0) / 2 for m in (1000.0, 1001.0, 1001.0, 1000.0))
    row = energies.row(trip_of(setting.network, OVER))
    assert row[MINUTES] == pytest.approx(expected_s / 60)


def test_power_and_payload_at_departure_enter_the_row(setting) -> None:
    energies = TripEnergies(setting, physics="eq8")
    plain = energies.row(trip_of(setting.network, ROUND))
    known = {"auxiliary_w": CAR.auxiliary_w + 1200.0, "payload_kg": CAR.mass_kg / 2}
    row = energies.row(trip_of(setting.network, ROUND, **known))
    assert row[AUXILIARY] == pytest.approx(1200.0 / 60 * plain[MINUTES])
    np.testing.assert_allclose(row[[KM, UP, DOWN]], 1.5 * plain[[KM, UP, DOWN]])


def test_the_temperature_of_a_trip_sets_the_air_density_and_its_heating(setting) -> None:
    energies = TripEnergies(setting, physics="eq8")
    plain = energies.row(trip_of(setting.network, ROUND))
    for parked_minutes, warm_up_k in ((600.0, 28.0), (20.0, 0.0)):
        stood = {"parked_minutes": parked_minutes}
        cold = energies.row(trip_of(setting.network, ROUND, temperature_c=-10.0, **stood))
        expected = plain.copy()
        expected[DRAG] *= air_density_kgpm3(-10.0) / 1.2
        minutes = plain[MINUTES]
        assert minutes > 8
        # by physics 1.5 Wh per K and minute and 10 Wh per K; the heater has 5 kW
        left_wh = (5000 / 60 - 28.0 * 1.5) * minutes
        expected[HEATING] = 28.0 * minutes
        expected[WARM_UP] = min(warm_up_k, left_wh / 10.0)
        prior = energies.belief.prior.mean
        expected[LEVEL] = expected[:LEVEL] @ prior[:LEVEL]
        np.testing.assert_allclose(cold, expected)
    hot = energies.row(trip_of(setting.network, ROUND, temperature_c=30.0))
    assert hot[COOLING] == pytest.approx(7.0 * plain[MINUTES])
    assert hot[HEATING] == hot[WARM_UP] == 0.0


def test_a_known_power_includes_heating_and_cooling(setting) -> None:
    energies = TripEnergies(setting, physics="eq8")
    known = {"temperature_c": -10.0, "auxiliary_w": CAR.auxiliary_w + 600.0}
    row = energies.row(trip_of(setting.network, ROUND, **known))
    mean = energies.belief.prior.mean
    added_wh = row[AUXILIARY] + row[BY_TEMPERATURE] @ mean[BY_TEMPERATURE]
    assert added_wh == pytest.approx(10.0 * row[MINUTES])  # 600 W, whatever the temperature
    assert row[HEATING] > 0.0
    mild = energies.row(trip_of(setting.network, ROUND, **known | {"temperature_c": 20.0}))
    assert mild[AUXILIARY] == pytest.approx(10.0 * mild[MINUTES])
    for hour in (0.0, 2.0):  # a warm start, and a cold one by a plan
        day = DrivingConditions(**known, parked_minutes=60.0 * hour)
        forecast = energies.under(day)
        route = [setting.network.row_of[edge] for edge in ROUND]
        stood = trip_of(setting.network, ROUND, **known, parked_minutes=60.0 * hour)
        expected = energies.expect(stood).energy.mean_wh
        planned = forecast.forecast(np.array(route), forecast.mean_wh[route]).mean_wh
        assert planned == pytest.approx(expected, rel=1e-9)
        assert DayHeating.of(CAR, day, forecast).total_wh(30.0) == 0.0


def test_trips_of_another_vehicle_are_named_and_learned_by_its_numbers(hill) -> None:
    """Trips of a bus under the name of a Twizy are refused. Following the sentence, none is."""
    bus, twizy = (
        TripEnergies(Setting(hill, load_vehicle(name)), physics="eq8")
        for name in ("byd-k9", "renault-twizy")
    )
    trips = [trip_of(hill, edges, travel_s=600.0) for edges in (OVER, ROUND, OVER, ROUND)]
    for trip in trips:
        wh = bus.anew().expect(trip).energy.mean_wh
        driven = replace(trip, energy_wh=np.full(len(trip.edge), wh / len(trip.edge)))
        for energies in (bus, twizy):
            energies.learn(driven)
    names = [trip.trip for trip in trips]
    assert "--vehicle NAME --out OTHER" in list(refusals(twizy.belief, names))[1]
    assert not list(refusals(bus.belief, names))
    assert bus.belief.trips == len(trips)


def test_a_mean_power_teaches_heating_and_is_in_no_forecast(setting) -> None:
    """By hand: one row of heating, warm-up, cooling and level beside the row of the trip."""
    cold = {"temperature_c": -10.0, "parked_minutes": 600.0}
    plain, heated = (TripEnergies(setting, physics="eq8") for _ in range(2))
    trip = trip_of(setting.network, ROUND, **cold)
    measured = replace(trip, auxiliary_mean_w=CAR.auxiliary_w + 1000.0)
    assert heated.expect(measured).energy.mean_wh == plain.expect(trip).energy.mean_wh
    assert heated.expect(measured).energy.sd_wh == plain.expect(trip).energy.sd_wh
    row = plain.row(trip)
    plain.learn(trip)
    heated.learn(measured)
    prior = plain.belief.prior.mean
    part = np.zeros(len(plain.belief.column))
    part[BY_TEMPERATURE] = row[BY_TEMPERATURE]
    part[LEVEL] = part[: len(prior)] @ prior
    hours = row[MINUTES] / 60  # its times were not measured
    variance = (150.0 * hours) ** 2 + (0.15 * 1000.0 * hours) ** 2
    before = plain.belief.regression
    gain = before.covariance @ part / (part @ before.covariance @ part + variance)
    expected = before.mean + gain * (1000.0 * hours - part @ before.mean)
    np.testing.assert_allclose(heated.belief.regression.mean, expected, rtol=1e-9)
    heated.belief._rebuild()
    np.testing.assert_allclose(heated.belief.regression.mean, expected, rtol=1e-7)
    unknown = replace(measured, temperature_c=np.nan)
    assert heated._departures.heating_wh(unknown, CAR, 10.0).variance_wh2 == 0.0


@pytest.mark.parametrize("physics", ["eq8", "driving"])
def test_a_driven_and_a_planned_trip_have_the_same_mean_and_deviation(hill, physics) -> None:
    """Logs and plans under 30 random conditions, with and without temperature and power."""
    setting, rng = Setting(hill, CAR), np.random.default_rng(4)
    energies = TripEnergies(setting, physics=physics)

    def maybe(value: float) -> float:
        return value if rng.uniform() < 0.6 else np.nan

    for number in range(30):
        edges = (OVER, ROUND)[number % 2]
        known = {
            "temperature_c": maybe(rng.uniform(-25.0, 35.0)),
            "auxiliary_w": maybe(rng.uniform(200.0, 4000.0)),
            "payload_kg": maybe(rng.uniform(0.0, 200.0)),
            "parked_minutes": rng.uniform(0.0, 200.0),
        }
        trip = trip_of(hill, edges, 900.0 + 100.0 * rng.standard_normal(), **known)
        prediction = energies.expect(trip).energy
        day = {name: value for name, value in known.items() if not np.isnan(value)}
        planner = Planner(hill, CAR, energies, conditions=DrivingConditions(**day))
        planned = planner.describe(Route(tuple(hill.row_of[edge] for edge in edges)))
        forecast = planned.energy_forecast
        assert forecast.mean_wh == pytest.approx(prediction.mean_wh, abs=1e-9)
        assert forecast.std_wh == pytest.approx(prediction.sd_wh, abs=1e-9)
        assert planned.energy_wh == pytest.approx(prediction.mean_wh, abs=1e-9)
        assert planned.edge_wh.sum() == pytest.approx(planned.energy_wh, abs=1e-9)
        assert sum(planned.parts_wh.values()) == pytest.approx(planned.energy_wh, abs=1e-9)
        energies.learn(trip)


@pytest.mark.parametrize("learns", [False, True], ids=["physics", "belief"])
def test_a_cold_start_costs_its_warm_up_in_energy_charge_and_range(setting, learns) -> None:
    """At -2 °C physics takes 10 Wh/K for a warm-up, 0.2 kWh, and 30 Wh a minute."""
    hill, battery = setting.network, Battery(10_000.0, 6_000.0, 1_000.0)
    belief = TripEnergies(setting, physics="driving") if learns else None
    ends = hill.row_of["in"], hill.row_of["out"]
    day = DrivingConditions(temperature_c=-2.0, speed_factor=0.8)
    cold = Planner(hill, CAR, belief, conditions=day)
    warm = Planner(hill, CAR, belief, conditions=replace(day, parked_minutes=20.0))
    plan, other = cold.plan(*ends, battery=battery), warm.plan(*ends, battery=battery)
    for name in ("energy", "time"):
        route, mild = plan.routes[name], other.routes[name]
        minutes = route.time_s / 60.0
        assert minutes > 8
        warm_up_wh = min(200.0, (5000 / 60 - 30.0) * minutes)
        heating_wh = 30.0 * minutes
        assert route.heating_wh == pytest.approx(warm_up_wh + heating_wh)
        assert mild.heating_wh == pytest.approx(30.0 * minutes)
        more_wh = route.heating_wh - mild.heating_wh
        assert route.energy_wh - mild.energy_wh == pytest.approx(more_wh)
        assert mild.charge.charge_wh[-1] - route.charge.charge_wh[-1] == pytest.approx(more_wh)
        assert route.charge.charge_wh[0] == mild.charge.charge_wh[0] == 6_000.0
    kwh = plan.recommended_route.heating_wh / 1000
    undated = learns * "; no date is given: as if on the day of the last learned trip"
    assert plan.assumed == f"cold start at -2 °C: heating {kwh:.2f} kWh{undated}"
    assert document(plan)["assumed"] == plan.assumed
    dated = Planner(hill, CAR, belief, conditions=replace(day, date="2026-01-01"))
    assert dated.plan(*ends).assumed == f"cold start at -2 °C: heating {kwh:.2f} kWh"
    assert other.assumed.startswith("warm start at -2 °C: heating 0.")
    hot = Planner(hill, CAR, belief, conditions=DrivingConditions(temperature_c=30.0))
    assert hot.plan(*ends).assumed.startswith("at 30 °C: cooling 0.")
    unknown = Planner(hill, CAR, belief).plan(*ends).assumed
    in_doubt = "no temperature is given: heating and cooling are left out, and in doubt"
    assert unknown == learns * f"{in_doubt}{undated}"
    # the warm-up of each road of a reach by its minutes, and of a need at most all of it
    far, farther = (reach(each, ends[0], battery).charge_percent[0.5] for each in (cold, warm))
    known = np.isfinite(far) & np.isfinite(farther)
    assert 0.5 < (farther - far)[known].min() < (farther - far)[known].max() < 4.0 + 1e-9
    end = hill.row_of["out"]
    assert (farther - far)[end] == pytest.approx(
        (plan.routes["energy"].heating_wh - other.routes["energy"].heating_wh) / 100.0
    )
    need, less = (charge_needed(each, ends[1], battery) for each in (cold, warm))
    known = np.isfinite(need)
    assert np.all((need - less)[known] > 0.0)
    assert np.all((need - less)[known] <= 4.0 + 1e-9)
    rows = np.array([ends[0]]), np.array([ends[1]])
    sums = cold.energies(*rows), warm.energies(*rows)
    more_wh = plan.routes["energy"].heating_wh - other.routes["energy"].heating_wh
    assert sums[0].energy_wh[0] - sums[1].energy_wh[0] == pytest.approx(more_wh)


def test_heating_is_learned_from_trips_at_many_temperatures(setting) -> None:
    """A car that heats with 200 W/K, 1.7 times physics, and takes 40 Wh/K to warm up."""
    energies, rng = TripEnergies(setting, physics="eq8"), np.random.default_rng(2)
    physics = coefficient_prior(CAR).mean
    truth = physics.copy()
    truth[[HEATING, WARM_UP]] = 200.0 / 60.0, 40.0
    for number in range(120):
        known = {
            "temperature_c": rng.uniform(-15.0, 25.0),
            "parked_minutes": (30.0, 300.0)[number % 2],
        }
        trip = trip_of(setting.network, (OVER, ROUND)[number // 2 % 2], travel_s=900.0, **known)
        row = energies.row(trip)
        wh = np.full(4, (row[: len(truth)] @ truth + rng.normal(0.0, 50.0)) / 4)
        energies.learn(replace(trip, energy_wh=wh))
    b = energies.belief.coefficients
    sd = np.sqrt(np.diag(energies.belief.regression.covariance))
    assert abs(b[HEATING] - truth[HEATING]) < 3 * sd[HEATING] < 1.0
    assert abs(b[WARM_UP] - truth[WARM_UP]) < 3 * sd[WARM_UP] < 15.0


def test_without_a_temperature_nothing_is_guessed_and_the_season_is_in_doubt(setting) -> None:
    energies = TripEnergies(setting, physics="eq8")
    unknown = energies.expect(trip_of(setting.network, ROUND))
    mild = energies.expect(trip_of(setting.network, ROUND, temperature_c=20.0))
    assert unknown.row[BY_TEMPERATURE].tolist() == [0.0, 0.0, 0.0]
    by_air = [DRAG, LEVEL]
    np.testing.assert_allclose(np.delete(unknown.row, by_air), np.delete(mild.row, by_air))
    # 1.5 Wh per K and minute, and 10 ± 9 °C over the year
    at_c = np.random.default_rng(0).normal(10.0, 9.0, 200_000)
    heating = 1.5 * np.maximum(18.0 - at_c, 0.0) + 1.7 * np.maximum(at_c - 23.0, 0.0)
    season_wh = heating.std() * unknown.row[MINUTES]
    plain = energies.belief.expect(unknown.row)
    assert unknown.energy.sd_wh**2 - plain.sd_wh**2 == pytest.approx(season_wh**2, rel=0.03)


def test_the_charge_on_the_way_follows_expected_energies(setting) -> None:
    energies = TripEnergies(setting, physics="eq8")
    edges = [setting.network.row_of[edge] for edge in OVER]
    mean_wh = energies.under(EQ8_CONDITIONS).mean_wh[edges]
    assert mean_wh[2] < 0
    assert (mean_wh[[0, 1, 3]] > 0).all()
    row = energies.row(trip_of(setting.network, OVER, soc_percent=99.0))
    before_percent = 99.0 - (mean_wh[0] + mean_wh[1]) / 100  # 100 Wh per per cent
    assert row[FADE] == pytest.approx((before_percent - 85.0) / 10 * -mean_wh[2])
    assert energies.row(trip_of(setting.network, OVER, soc_percent=60.0))[FADE] == 0.0


def test_expectations_equal_the_belief_and_rest_on_earlier_trips(setting) -> None:
    energies = learned(setting)
    trip = trip_of(setting.network, OVER, known_variance_wh2=400.0)
    numbers = energies.expected(trip)
    prediction = energies.belief.expect(energies.row(trip), 400.0 + season_wh2(energies, trip))
    assert numbers["predicted_wh"] == prediction.mean_wh
    assert (numbers["low90_wh"], numbers["high90_wh"]) == prediction.interval(0.9)
    assert (numbers["low50_wh"], numbers["high50_wh"]) == prediction.interval(0.5)
    assert prediction.trips == 30


def season_wh2(energies, trip) -> float:
    """Return the variance of a trip at an unknown temperature, for `expect` of the belief."""
    known = energies.expect(replace(trip, auxiliary_w=CAR.auxiliary_w)).energy
    return energies.expect(trip).energy.sd_wh ** 2 - known.sd_wh**2


def test_a_belief_comes_back_from_disk_bit_for_bit(setting, tmp_path) -> None:
    energies = learned(setting)
    path = tmp_path / "beliefs" / "one.npz"
    energies.save(path)
    again = belief.continued(path, setting)
    assert isinstance(again, TripEnergies)
    assert again.trips == 30
    trip = trip_of(setting.network, OVER, travel_s=500.0, soc_percent=95.0)
    assert again.expected(trip) == energies.expected(trip)
    for each in (energies, again):
        each.learn(trip)
    assert again.expected(trip) == energies.expected(trip)


def test_a_belief_keeps_the_charging_of_its_car(hill, tmp_path) -> None:
    powers = {"ac_kw": 7.0, "dc_kw": 50.0, "charging_curve": ((0.0, 50.0), (100.0, 5.0))}
    car = replace(CAR, **powers, dc_plug="chademo")
    TripEnergies(Setting(hill, car), physics="eq8").save(tmp_path / "beliefs" / "hill-learned.npz")
    kept = belief.load_belief(tmp_path, network=hill).vehicle
    assert [getattr(kept, name) for name in CHARGING] == [*powers.values(), "chademo"]


def test_a_change_forgets_speeds_and_roads_but_no_coefficient_and_no_spread(
    setting, tmp_path
) -> None:
    """From trip 61 on the other way takes more; the errors are large enough to be refused."""
    energies, rng = TripEnergies(setting, physics="eq8"), np.random.default_rng(5)
    for t in range(75):
        edges, sign = (OVER, 1) if t % 2 else (ROUND, -1)
        extra_wh = sign * (250.0 if t < 60 else -150.0 - 25.0 * (t - 60))
        extra_wh += 60.0 * rng.standard_normal()
        known = {"travel_s": 600.0, "temperature_c": 20.0}
        trip = trip_of(setting.network, edges, 2000.0 + extra_wh, **known)
        if t > 60:
            unchanged = TripEnergies(setting, physics="eq8")
            unchanged.restore(energies.state())
        energies.learn(trip)
        if energies.changed_after:
            break
    assert 60 < energies.changed_after < 75
    assert energies.times.pace.trips == 0
    spread = energies.belief.expect(energies.row(trip_of(setting.network, OVER))).spread
    assert spread.effective_trips > 20
    terms = energies.belief.column == 0
    now = energies.belief.coefficients
    unchanged.take(trip, unchanged.expect(trip))  # learns without the change
    b = unchanged.belief.coefficients
    np.testing.assert_allclose(now[terms], b[: sum(terms)], rtol=1e-6)
    for edges in (OVER, ROUND):  # no road has a deviation any more
        row = energies.row(trip_of(setting.network, edges))
        assert row @ now == pytest.approx(row[terms] @ now[terms])
    path = tmp_path / "beliefs" / "one.npz"
    energies.save(path)
    again, trip = belief.continued(path, setting), trip_of(setting.network, OVER, travel_s=600.0)
    for each in (energies, again):
        each.learn(trip)
    assert again.expected(trip) == energies.expected(trip)


def test_a_belief_is_about_its_network_and_vehicle(setting, hilly) -> None:
    energies = TripEnergies(setting, physics="eq8")
    energies.check(setting.network, CAR)
    with pytest.raises(EvrouteError, match="not about 'toy'"):
        energies.check(hilly(0), CAR)
    with pytest.raises(EvrouteError, match="with these numbers"):
        energies.check(setting.network, replace(CAR, mass_kg=900.0))


def test_no_edge_takes_less_than_its_rise_of_the_potential(hilly) -> None:
    for seed in range(20):
        network = hilly(seed)
        energies = TripEnergies(Setting(network, CAR), physics="eq8")
        energies.belief.roads = None  # of the terms; searches hold deviations of roads at the rise
        rng = np.random.default_rng(seed)
        for edge in range(network.n_edges):
            rows = np.array([edge])
            wh = np.array([rng.normal(0.0, 100.0)])  # nothing that physics would expect
            energies.learn(MeasuredTrip(str(edge), rows, wh, np.array([np.nan])))
        day = energies.under(EQ8_CONDITIONS)
        states = day.space.states
        assert np.all(day.mean_wh - (states.head_wh - states.tail_wh) >= -1e-9)


def test_conditions_of_the_day_are_terms_of_the_day(setting) -> None:
    energies = learned(setting)
    b, prior = energies.belief.coefficients, energies.belief.prior.mean
    b = b[: len(prior)] + b[LEVEL] * prior  # the level is a share of the prior
    usual = energies.under(EQ8_CONDITIONS)
    every = np.arange(setting.network.n_edges)
    cold = energies.under(DrivingConditions(temperature_c=-5.0))
    minutes, drag = usual.rows.of(every)[:, [MINUTES, DRAG]].T
    denser = cold.space.conditions.air_density_kgpm3 / 1.2
    added_wh = b[HEATING] * 23.0 * minutes + b[DRAG] * (denser - 1) * drag
    np.testing.assert_allclose(cold.mean_wh - usual.mean_wh, added_wh)
    np.testing.assert_allclose(cold.heating_wh, b[BY_TEMPERATURE])
    known = energies.under(DrivingConditions(auxiliary_w=2600.0))
    np.testing.assert_allclose(known.mean_wh - usual.mean_wh, b[AUXILIARY] * 2000.0 / 60 * minutes)
    slow = energies.under(DrivingConditions(speed_factor=0.5))
    np.testing.assert_allclose(slow.rows.of(every)[:, MINUTES], 2 * minutes)


def test_plans_on_a_belief_show_the_forecast_of_the_trip(setting) -> None:
    hill, energies = setting.network, learned(setting)
    battery = Battery(10_000.0, 3_000.0, 1_000.0)
    planner = Planner(hill, CAR, energies)
    plan = planner.plan(hill.row_of["in"], hill.row_of["out"], battery=battery)
    for name in ("energy", "time"):
        route = plan.routes[name]
        prediction = energies.expect(trip_of(hill, route.edges)).energy
        forecast = route.energy_forecast
        assert forecast.mean_wh == pytest.approx(route.energy_wh)
        assert forecast.mean_wh == pytest.approx(prediction.mean_wh)
        assert forecast.std_wh == pytest.approx(prediction.sd_wh)
        assert forecast.interval_wh() == pytest.approx(prediction.interval(0.9))
        minutes = energies.times.expect(np.array([hill.row_of[edge] for edge in route.edges]))
        assert minutes["mean_s"] == pytest.approx(route.time_s)
        assert forecast.numbers() == pytest.approx(prediction.numbers() | minutes, rel=1e-12)
        low_wh, high_wh = prediction.interval(0.9)
        arrival = route.charge_forecast.arrival_interval_percent
        assert arrival == pytest.approx((30.0 - high_wh / 100, 30.0 - low_wh / 100))
        assert route.charge_forecast.arrives_above_reserve == pytest.approx(
            prediction.below(2000.0)
        )
    over = planner.describe(Route(tuple(hill.row_of[edge] for edge in OVER)), battery)
    # the charge is lowest on the hilltop, where the trip is two edges long
    top = energies.expect(trip_of(hill, OVER[:2])).energy
    assert over.charge_forecast.never_below_reserve <= top.below(2000.0) + 1e-12


def test_a_full_battery_changes_energies_table_and_forecast(hill) -> None:
    fading = replace(CAR, full_battery_fade=0.8, battery_kwh=5.0)
    energies = learned(Setting(hill, fading))
    planner = Planner(hill, fading, energies)
    over = Route(tuple(hill.row_of[edge] for edge in OVER))
    full, half = (
        planner.describe(over, Battery.of_percent(5.0, percent, 0.0)) for percent in (99.0, 60.0)
    )
    fade = energies.under(EQ8_CONDITIONS).full_battery_fade
    assert fade == pytest.approx(0.8)  # no trip has said otherwise
    mean_wh = full.edge_wh
    before = 99.0 - (mean_wh[0] + mean_wh[1]) / 50  # 50 Wh per per cent
    limit = 85.0 + 10.0 / fade
    after = limit - (limit - before) * np.exp(fade * mean_wh[2] / 500)
    assert full.parts_wh["lost"] == pytest.approx(-mean_wh[2] - 50 * (after - before))
    assert full.energy_wh == pytest.approx(half.energy_wh + full.parts_wh["lost"])
    assert half.parts_wh["lost"] == 0.0
    assert full.energy_forecast.mean_wh == pytest.approx(full.energy_wh)
    # the share that is lost is uncertain, so a full battery is less certain than half a one
    assert full.energy_forecast.std_wh > half.energy_forecast.std_wh


def test_the_fade_of_a_full_battery_is_learned_from_charges_at_departure(hill) -> None:
    """A car loses 0.8 of recuperation per 10 % above 85 %; trips begin at 60 to 98 %."""
    car = replace(CAR, battery_kwh=5.0)
    energies, rng = TripEnergies(Setting(hill, car), physics="eq8"), np.random.default_rng(1)
    over = np.array([hill.row_of[edge] for edge in ("up", "down", "out")])
    mean_wh = energies.under(EQ8_CONDITIONS).mean_wh[over]
    for i in range(60):
        percent = float(rng.uniform(60.0, 98.0))
        battery = Battery(5_000.0, 50.0 * percent, 0.0, 85.0, 0.8)
        energy_wh = -np.diff(follow(battery, mean_wh).charge_wh) + rng.normal(0.0, 3.0, 3)
        known = {"soc_percent": percent}
        energies.learn(MeasuredTrip(str(i), over, energy_wh, np.full(3, np.nan), **known))
    fade = energies.under(EQ8_CONDITIONS).full_battery_fade
    assert fade == pytest.approx(0.8, abs=0.2)
    full, half = (
        energies.expected(
            MeasuredTrip("x", over, mean_wh, np.full(3, np.nan), soc_percent=percent)
        )["predicted_wh"]
        for percent in (97.0, 60.0)
    )
    lost_wh = follow(Battery(5_000.0, 4_850.0, 0.0, 85.0, 0.8), mean_wh).lost_wh
    assert lost_wh > 50
    assert full - half == pytest.approx(lost_wh, rel=0.25)


def test_a_departure_plans_on_the_speeds_of_its_quarter_of_the_day(setting) -> None:
    """The hill is fast in the morning and jammed at noon; the way round is always the same."""
    hill, energies = setting.network, TripEnergies(setting, physics="eq8")
    for travel_s, hour in ((300.0, 8), (1500.0, 13)) * 6:
        for edges, taken_s in ((OVER, travel_s), (ROUND, 700.0)):
            day = {"departed_s": hour * 3600.0}
            energies.learn(trip_of(hill, edges, travel_s=taken_s, **day))
    planner, ends = Planner(hill, CAR, energies), (hill.row_of["in"], hill.row_of["out"])
    plans = {depart: planner.plan(*ends, depart=depart) for depart in (None, "08:00", "13:10")}
    chosen = {depart: plan.routes["time"].edges for depart, plan in plans.items()}
    assert chosen == {None: ROUND, "08:00": OVER, "13:10": ROUND}
    for depart, departed_s in (("08:00", 28_800.0), ("13:10", 47_400.0)):
        route = plans[depart].routes["time"]
        known = energies.row(trip_of(hill, route.edges, departed_s=departed_s))
        forecast = route.energy_forecast
        assert forecast.mean_wh == pytest.approx(energies.belief.expect(known).mean_wh)
        assert forecast.numbers()["mean_s"] == pytest.approx(route.time_s)
    over = planner.describe(Route(tuple(hill.row_of[edge] for edge in OVER)))
    assert over.time_s == pytest.approx(planner.time_s[list(over.route.edges)].sum())
    fast_s, mean_s = plans["08:00"].routes["time"].time_s, over.time_s
    assert fast_s < 0.7 * mean_s
    night = planner.plan(*ends, depart="02:00").routes["time"]
    assert night.time_s == pytest.approx(plans[None].routes["time"].time_s)
