"""The real size of a battery: by hand, for made cars, from a log, and in plans."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import evroute
from evroute.arms import Route
from evroute.energy.prior import EQ8_CONDITIONS
from evroute.energy.vehicle import load_vehicle
from evroute.learning.battery_size import BatterySize
from evroute.learning.measured import MeasuredTrip
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.setting import Setting
from evroute.planning.battery import Battery
from evroute.planning.planner import Planner
from evroute.planning.reach import reach

CAR = load_vehicle("nissan-leaf-40")
ROOT = Path(__file__).parents[2]


def test_one_trip_by_hand() -> None:
    """4 kWh of 40 take 12 %: precisions of the prior and of the reading are weighed."""
    size = BatterySize()
    size.learn(4000.0, 12.0, 40.0)
    noise = 0.01**2 / 6 + (0.02 * 0.1) ** 2
    precision = 1 / 0.1**2 + 0.1**2 / noise
    assert size.used == pytest.approx((1 / 0.1**2 + 0.1 * 0.12 / noise) / precision)
    assert size.variance == pytest.approx(1 / precision)
    assert size.kwh(40.0) == pytest.approx(40.0 / size.used)


def test_a_size_is_stated_once_its_doubt_fell_by_a_fifth() -> None:
    size = BatterySize()
    size.learn(300.0, 1.0, 40.0)
    assert size.std_share > 0.08
    assert size.sentence(40.0) == ""
    size = BatterySize()
    size.learn(4000.0, 12.0, 40.0)
    assert size.sentence(40.0).endswith("by 1 trip with per cent and kWh")


def test_trips_without_both_teach_nothing_and_a_charge_on_the_way_is_no_size() -> None:
    size = BatterySize()
    for energy_wh, fall in ((4000.0, np.nan), (-100.0, -1.0), (6000.0, -30.0)):
        size.learn(energy_wh, fall, 40.0)
    assert (size.trips, size.used, size.std_share) == (0, 1.0, 0.0)
    assert size.kwh(40.0) == 40.0
    assert size.sentence(40.0) == ""


def test_a_battery_ages_between_trips() -> None:
    size = BatterySize()
    for _ in range(200):
        size.learn(4000.0, 10.0, 40.0)
    now_kwh, share = size.kwh(40.0), size.std_share
    size.learn(0.0, np.nan, 40.0, days=365.0)
    assert size.kwh(40.0) == pytest.approx(now_kwh / 1.02, rel=0.001)
    assert size.std_share > share
    again = BatterySize()
    again.restore(size.state())
    assert (again.used, again.variance, again.trips) == (size.used, size.variance, 200)


def test_sizes_of_made_cars_are_found_within_their_deviations() -> None:
    """Health of 75 to 100 %, whole per cents on the display: errors are as large as stated."""
    rng, scores = np.random.default_rng(35), []
    for health in rng.uniform(0.75, 1.0, 100):
        size = BatterySize()
        for _ in range(60):
            wh, start = rng.uniform(800.0, 4000.0), rng.uniform(50.0, 100.0)
            fall = np.round(start) - np.round(start - 100.0 * wh / (health * 39_000.0))
            size.learn(wh, float(fall), 39.0)
        scores.append((39.0 * health - size.kwh(39.0)) / (size.kwh(39.0) * size.std_share))
    assert np.mean(np.abs(scores) < 1.64) > 0.8
    assert abs(np.mean(scores)) < 0.5


def trips_of(setting: Setting, health: float, rng: np.random.Generator, n: int):
    """Yield trips of a car whose battery has this share of its size, with whole per cents."""
    network, ways = setting.network, (("in", "up", "down", "out"), ("in", "east", "west", "out"))
    for i in range(n):
        edge = np.array([network.row_of[name] for name in ways[i % 2]])
        wh = setting.arms.prior_mean_wh[edge] * rng.normal(1.3, 0.05)
        wh = wh * 2500.0 / wh.sum() * rng.uniform(0.5, 1.5)
        start = rng.uniform(60.0, 100.0)
        end = start - 100.0 * wh.sum() / (health * CAR.battery_kwh * 1000)
        yield MeasuredTrip(
            str(i),
            edge,
            wh,
            1.5 * network.time_s[edge],
            departed_s=1.7e9 + 86_400.0 * i,
            soc_percent=float(np.round(start)),
            soc_end_percent=float(np.round(end)),
        )


@pytest.fixture
def long_hill(hill):
    """The hill with roads of several kilometres, so that trips take some per cents."""
    far = {"x_m": 40.0 * hill.x_m, "y_m": 40.0 * hill.y_m, "length_m": 40.0 * hill.length_m}
    shape = {"shape_x_m": 40.0 * hill.shape_x_m, "shape_y_m": 40.0 * hill.shape_y_m}
    return replace(hill, **far, **shape)


def test_plans_use_the_learned_size_and_its_doubt(long_hill) -> None:
    setting = Setting(long_hill, CAR)
    belief = TripEnergies(setting)
    for trip in trips_of(setting, 0.8, np.random.default_rng(1), 80):
        belief.learn(trip)
    assert belief.car.battery_kwh == pytest.approx(0.8 * CAR.battery_kwh, rel=0.04)
    assert belief.vehicle == CAR
    assert "of the vehicle file's" in belief.battery.sentence(CAR.battery_kwh)
    planner = Planner(long_hill, CAR, belief)
    assert planner.vehicle == belief.car
    for vehicle in (None, CAR.name, CAR, belief.car):
        plan = evroute.plan(long_hill, "in", "out", belief=belief, soc=80, vehicle=vehicle)
        route = plan.routes["energy"]
        used = 100.0 * route.energy_wh / (1000.0 * belief.car.battery_kwh)
        forecast = route.charge_forecast
        assert forecast.arrival_percent == pytest.approx(80.0 - used, abs=0.2)
    # its deviation widens the band of the charge, not the interval of the energy
    rows = tuple(long_hill.row_of[name] for name in ("in", "up", "down", "out"))
    day = belief.under(EQ8_CONDITIONS)
    arms = day.space.arms_of_route(Route(rows))
    battery = Battery.of_percent(belief.car.battery_kwh, 80.0, 10.0)
    trace = planner.charge.take(arms).along(battery)
    forecast = day.forecast(arms, planner.mean_wh[arms], trace)
    sure = replace(forecast, battery_share=0.0)
    assert forecast.interval_wh() == sure.interval_wh()
    low, high = forecast.prediction.spread.interval(0.9)
    used_wh = battery.start_wh - trace.charge_wh[-1]
    sd_wh = np.hypot(np.sqrt(forecast.reached_wh2[-1, -1]), belief.battery.std_share * used_wh)
    ends = (
        battery.percent(trace.charge_wh[-1] - high * sd_wh),
        battery.percent(trace.charge_wh[-1] - low * sd_wh),
    )
    assert forecast.charge(battery, trace).arrival_interval_percent == pytest.approx(ends)
    narrow = sure.charge(battery, trace).arrival_interval_percent
    assert ends[0] < narrow[0] < narrow[1] < ends[1]


def test_a_range_at_a_risk_has_the_doubt_of_the_battery(long_hill) -> None:
    """Roads within it are those whose single forecasts keep the reserve; some only if sure."""
    setting, risk = Setting(long_hill, CAR), 0.05
    belief = TripEnergies(setting)
    for trip in trips_of(setting, 0.8, np.random.default_rng(1), 60):
        belief.learn(trip)
    belief.battery.variance = 0.8**2  # as great as the noise of these trips
    planner = Planner(long_hill, CAR, belief)
    lost = 0
    for percent in np.arange(15.0, 40.0, 0.5):
        battery = planner.fading(Battery.of_percent(belief.car.battery_kwh, percent, 10.0))
        found = reach(planner, "in", battery, risk=risk)
        start = battery.start_wh
        for target in np.flatnonzero(np.isfinite(found.charge_percent[0.5])).tolist():
            edge = long_hill.edge_id[target]
            if edge == "in":
                continue
            best = planner.plan("in", edge, battery=battery, risk="mean").routes["energy"]
            energy, charge = planner.forecasts.of_route(best.route, battery)
            assert found.within[target] == (charge.never_below_reserve >= 1 - risk), edge
            sure = replace(energy, battery_share=0.0).charge(battery, best.charge)
            lost += sure.never_below_reserve >= 1 - risk > charge.never_below_reserve
            # by hand: the deviation of the size moves the charge used
            used_wh = start - float(best.charge.charge_wh[-1])
            sd_wh = np.hypot(energy.std_wh, belief.battery.std_share * used_wh)
            deviates = (energy.interval_wh(0.8)[1] - energy.mean_wh) / energy.std_wh
            least = battery.percent(start - used_wh - deviates * sd_wh)
            assert found.charge_percent[0.9][target] == pytest.approx(least, abs=1e-6)
    assert lost > 0


def test_the_size_is_kept_in_the_folder_and_goes_with_the_car(long_hill, tmp_path: Path) -> None:
    setting = Setting(long_hill, CAR)
    belief = TripEnergies(setting)
    for trip in trips_of(setting, 0.9, np.random.default_rng(2), 12):
        belief.learn(trip)
    other = replace(long_hill, name="other", speed_mps=1.1 * long_hill.speed_mps)
    moved = belief.on(other, belief.car)
    assert moved.car.battery_kwh == belief.car.battery_kwh != CAR.battery_kwh


def test_a_log_with_a_meter_and_per_cents_has_the_charge_at_both_ends(tmp_path: Path) -> None:
    """The example of LeafSpy with 5 % used where the meter read 385 Wh."""
    from evroute.learning.readers.formats import read_measured
    from evroute.methods.setting import load_setting

    zoe = load_setting("denver", "renault-zoe")
    lines = (ROOT / "data/examples/points.csv").read_text().splitlines()
    percent = np.linspace(80.0, 75.0, len(lines) - 1)
    rows = [f"{line},{soc:.2f}" for line, soc in zip(lines[1:], percent, strict=True)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join([lines[0] + ",soc_percent", *rows]))
    (trip,) = read_measured(path, zoe, ["renault-zoe"]).trips
    assert trip.soc_percent - trip.soc_end_percent == pytest.approx(
        5.0 * trip.energy_wh.sum() / 385.0, rel=0.1
    )
    assert abs(trip.soc_percent - 80.0) < 1.0
    charge = read_measured(ROOT / "data/examples/percent.csv", zoe, ["renault-zoe"])
    assert np.isnan(charge.trips[0].soc_end_percent)
    assert any("per cents of the vehicle file's usable battery" in note for note in charge.notes)
