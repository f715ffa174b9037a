"""What is left of a plan follows from what the drive took so far."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import evroute
from evroute.errors import EvrouteError
from evroute.network.heights.stretches import Stretches
from evroute.planning.ahead import ahead_of
from evroute.planning.forecasts.forecast import RouteForecast
from evroute.planning.forecasts.rest import DrivenPart, rest
from evroute.planning.plan import Plan
from evroute.planning.planner import Planner
from evroute.planning.track import Track, progress

ARMS = 30


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return means, a covariance that arms share, their own variances and a factor of the trip."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(ARMS, 4))
    return rng.uniform(5, 40, ARMS), root @ root.T, rng.uniform(1, 9, ARMS), rng.uniform(1, 3, ARMS)


@pytest.mark.parametrize(("seed", "driven"), [(0, 10), (1, 1), (2, 29), (3, 17)])
def test_the_rest_is_block_conditioning_of_the_energies_of_arms(seed: int, driven: int) -> None:
    mean, shared, own, factor = drawn(seed)
    of_reading, of_display, read = 50.0, 12.0, 1.2 * mean[:driven].sum()
    arms = shared + np.diag(own) + np.outer(factor, factor)
    some, left = np.arange(ARMS) < driven, np.arange(ARMS) >= driven
    # y = sum of the driven arms + readings, written for the vector of the arms that are left
    variance = arms[np.ix_(some, some)].sum() + of_reading + of_display
    gain = arms[np.ix_(left, some)].sum(axis=1) / variance
    moved = mean[left] + gain * (read - mean[:driven].sum())
    narrowed = arms[np.ix_(left, left)] - np.outer(gain, gain) * variance
    reached = arms.cumsum(axis=0).cumsum(axis=1) + of_reading
    part = DrivenPart(driven, 0.0, driven, read, of_display)
    found = rest(np.cumsum(mean), reached, of_reading, part)
    np.testing.assert_allclose(found.mean, np.cumsum(moved), rtol=1e-9)
    expected = narrowed.cumsum(axis=0).cumsum(axis=1) + of_reading
    np.testing.assert_allclose(found.covariance, expected, rtol=1e-9, atol=1e-9)
    assert found.driven_mean == pytest.approx(mean[:driven].sum())
    assert found.driven_std == pytest.approx(np.sqrt(variance - of_display))


def test_ninety_per_cent_of_drawn_trips_lie_in_the_interval_of_their_rest() -> None:
    mean, shared, own, factor = drawn(4)
    covariance = shared + np.diag(own) + np.outer(factor, factor)
    forecast, rng, held = RouteForecast(mean, covariance), np.random.default_rng(5), 0
    for trip in rng.multivariate_normal(mean, covariance, 2000):
        part = DrivenPart(12.0, 0.0, 12.0, trip[:12].sum())
        low, high = forecast.rest(part, mean)[0].interval_wh()
        held += low <= trip[12:].sum() <= high
    assert 0.88 <= held / 2000 <= 0.92


@pytest.fixture(scope="module")
def plan() -> Plan:
    return evroute.plan("denver", trip="C", soc=40, reserve=5)


@pytest.fixture(scope="module")
def place(plan: Plan) -> Callable[[float], tuple[float, float]]:
    """Return the position at a share of the way, by the junctions between the edges."""
    roads, best = plan.roads, plan.recommended_route
    end_m = np.append(0.0, np.cumsum(best.edge_m))

    def at(share: float) -> tuple[float, float]:
        number = int(np.abs(end_m[1:] - share * end_m[-1]).argmin())
        lon, lat = roads.junction_lon_lat
        return float(lat[roads.head[best.route.edges[number]]]), float(
            lon[roads.head[best.route.edges[number]]]
        )

    return at


def expected_wh(plan: Plan, lat: float, lon: float) -> float:
    """Return the expected energy up to a junction of the route, Wh."""
    roads, best = plan.roads, plan.recommended_route
    lons, lats = roads.junction_lon_lat
    heads = roads.head[best.route.rows]
    number = int(np.flatnonzero((lats[heads] == lat) & (lons[heads] == lon))[0])
    return float(best.edge_wh[: number + 1].sum())


def test_a_part_driven_as_expected_leaves_the_rest(plan: Plan, place: Callable) -> None:
    lat, lon = place(0.5)
    wh = expected_wh(plan, lat, lon)
    left = plan.after(Track.at(lat, lon, energy_wh=wh))
    total_wh = plan.recommended_route.edge_wh.sum()
    assert left.energy.mean_wh == pytest.approx(total_wh - wh, abs=0.5)
    assert left.energy.std_wh < plan.recommended_route.energy_forecast.std_wh
    assert left.driven_m + left.left_m == pytest.approx(plan.recommended_route.length_m)


def test_a_part_that_took_more_raises_the_rest_and_lowers_the_arrival(
    plan: Plan, place: Callable
) -> None:
    lat, lon = place(0.6)
    wh = expected_wh(plan, lat, lon)
    usual, dear = (plan.after(Track.at(lat, lon, energy_wh=f * wh)) for f in (1.0, 1.5))
    assert dear.energy.mean_wh > 1.1 * usual.energy.mean_wh
    lost_wh = 0.5 * wh + dear.energy.mean_wh - usual.energy.mean_wh
    assert usual.arrive_wh - dear.arrive_wh == pytest.approx(lost_wh, abs=0.5)
    assert dear.chance is not None


def test_a_whole_per_cent_of_a_large_battery_tells_little(plan: Plan, place: Callable) -> None:
    lat, lon = place(0.3)
    left = plan.after(Track.at(lat, lon, percent=39))
    assert "so far it tells little" in " ".join(left.sentences)
    finely = plan.after(Track.at(lat, lon, percent=39, step_percent=0.01))
    assert finely.energy.std_wh < left.energy.std_wh
    assert finely.coarse == ""
    unread = plan.after(Track.at(lat, lon))
    assert left.energy.interval_wh() == unread.energy.interval_wh(), "the band does not narrow"
    assert left.used_wh is not None, "what was read is shown"
    fallen = plan.after(Track.at(lat, lon, percent=30))
    assert fallen.coarse == "", "ten steps where less than one was expected tell much"
    assert fallen.energy.mean_wh > 1.5 * left.energy.mean_wh


def test_a_shown_charge_has_the_doubt_of_its_step(plan: Plan, place: Callable) -> None:
    lat, lon = place(0.3)
    capacity_wh = 1000.0 * evroute.load_vehicle(plan.vehicle).battery_kwh
    left = plan.after(Track.at(lat, lon, percent=39, step_percent=1.0))
    assert left.charge is not None
    low, high = left.charge.arrival_interval_percent
    low_wh, high_wh = left.energy.interval_wh()
    doubt = 100.0 * np.hypot(left.energy.std_wh, 0.01 * capacity_wh / np.sqrt(12)) / capacity_wh
    expected = doubt * (high_wh - low_wh) / left.energy.std_wh
    assert high - low == pytest.approx(expected, rel=1e-6)


def test_a_shown_charge_has_that_doubt_also_beside_a_meter_of_energy(
    plan: Plan, place: Callable
) -> None:
    lat, lon = place(0.3)
    capacity_wh = 1000.0 * evroute.load_vehicle(plan.vehicle).battery_kwh
    wh = expected_wh(plan, lat, lon)
    left = plan.after(Track.at(lat, lon, percent=39, energy_wh=wh, step_percent=2.0))
    assert left.used_wh == wh
    assert left.coarse == "", "the energy is the meter's, however coarse the charge is shown"
    assert left.charge is not None
    low, high = left.charge.arrival_interval_percent
    low_wh, high_wh = left.energy.interval_wh()
    doubt = 100.0 * np.hypot(left.energy.std_wh, 0.02 * capacity_wh / np.sqrt(12)) / capacity_wh
    expected = doubt * (high_wh - low_wh) / left.energy.std_wh
    assert high - low == pytest.approx(expected, rel=1e-6)
    metered = plan.after(Track.at(lat, lon, energy_wh=wh))
    assert metered.charge is not None
    low, high = metered.charge.arrival_interval_percent
    assert high - low == pytest.approx(
        100.0 * (metered.energy.interval_wh()[1] - metered.energy.interval_wh()[0]) / capacity_wh
    )


def test_minutes_follow_the_elapsed_time_and_a_halt_changes_nothing(
    plan: Plan, place: Callable
) -> None:
    lat, lon = place(0.5)
    half_s = plan.recommended_route.time_s / 2
    quick, slow = (plan.after(Track.at(lat, lon, elapsed_s=f * half_s)) for f in (1.0, 1.6))
    assert slow.left_s > quick.left_s
    assert slow.energy.mean_wh == quick.energy.mean_wh
    lats, lons = np.transpose([place(share) for share in (0.1, 0.3, 0.5)])
    times_s, nothing = np.array([0.0, 60.0, 120.0]), np.full(3, np.nan)
    moving = Track(lats, lons, times_s, nothing, nothing)
    halted = Track(
        lats[[0, 1, 1, 2]],
        lons[[0, 1, 1, 2]],
        np.array([0.0, 60.0, 960.0, 1020.0]),
        np.full(4, np.nan),
        np.full(4, np.nan),
    )
    assert plan.after(halted).left_s == pytest.approx(plan.after(moving).left_s)


def test_one_odd_fix_changes_nothing_and_three_plan_anew(plan: Plan, place: Callable) -> None:
    shares = (0.1, 0.2, 0.3)
    on = [place(share) for share in shares]
    odd = (on[-1][0] + 0.004, on[-1][1])

    def drive(*fixes: tuple[float, float]) -> Track:
        lat, lon = np.transpose(fixes)
        nothing = np.full(len(fixes), np.nan)
        percent = np.linspace(40, 39, len(fixes))
        return Track(lat, lon, 60.0 * np.arange(len(fixes)), nothing, percent, 0.1)

    assert plan.after(drive(*on, odd, place(0.4))).off == ""
    away = plan.after(drive(*on, odd, odd, odd))
    assert away.off.startswith("Off the planned route")
    assert away.route.route != plan.recommended_route.route
    assert away.battery is not None
    assert away.battery.percent(away.battery.start_wh) == pytest.approx(39)
    assert away.route.route.edges[-1] == plan.recommended_route.route.edges[-1]


def test_a_road_driven_twice_is_told_apart_by_what_was_driven_before() -> None:
    line = np.array([[0.0, 0.0], [0.01, 0.0], [0.01, 0.01], [0.0, 0.0], [0.01, 0.0]])
    along_m = np.array([0.0, 1000.0, 2000.0, 3400.0, 4400.0])
    lon, lat = (
        np.array([0.002, 0.01, 0.01, 0.004, 0.002, 0.006]),
        np.array([0, 0, 0.008, 0.004, 0, 0]),
    )
    nothing = np.full(6, np.nan)
    made = progress(Track(lat, lon, nothing, nothing, nothing), line, along_m)
    assert made.on.all()
    assert (np.diff(made.along_m) >= 0).all()
    assert made.along_m[0] == pytest.approx(200, abs=2)
    assert made.along_m[-1] == pytest.approx(4000, abs=2)


ROUTE_M = np.array([[0.0, 0.0], [300.0, 0.0], [300.0, 300.0], [300.0, 0.0], [600.0, 0.0]])
"""A route in a plane: 300 m east, 300 m north, back again, and 300 m east."""
DEGREE_M = 111_195.0


def steps(*corners_m: tuple[float, float], step_m: float = 10.0) -> np.ndarray:
    """Return positions along a way of straight lines, a step apart."""
    found = [np.array(corners_m[0])]
    for begin, end in pairwise(np.array(corners_m)):
        count = round(float(np.hypot(*(end - begin))) / step_m)
        found += [begin + (end - begin) * k / count for k in range(1, count + 1)]
    return np.array(found)


def off_since(fixes_m: np.ndarray, noise_m: float = 0.0) -> int | None:
    """Return the first fix off `ROUTE_M`, with a noise of the positions."""
    fixes_m = fixes_m + np.random.default_rng(0).normal(0.0, noise_m, fixes_m.shape)
    line, nothing = ROUTE_M / DEGREE_M, np.full(len(fixes_m), np.nan)
    along_m = np.append(0.0, np.cumsum(np.hypot(*np.diff(ROUTE_M, axis=0).T)))
    track = Track(*fixes_m.T[::-1] / DEGREE_M, nothing, nothing, nothing)
    made = progress(track, line, along_m)
    assert (np.diff(made.along_m) >= 0).all()
    return made.off_since


@pytest.mark.parametrize(
    ("turn", "way"),
    [
        (15, [(0, 0), (150, 0), (150, 45)]),  # a side street
        (30, [(0, 0), (300, 0), (345, 0)]),  # straight on, where the route turns
        (20, [(0, 0), (200, 0), (130, 0)]),  # back on the same street
    ],
)
def test_a_turn_that_the_route_does_not_take_is_off_it_within_fifty_metres(
    turn: int, way: list[tuple[float, float]]
) -> None:
    fixes_m = steps(*way)
    assert off_since(fixes_m[: turn + 2]) is None
    since = off_since(fixes_m)
    assert since is not None
    assert turn < since <= turn + 4
    assert off_since(fixes_m, noise_m=2.0) is not None
    assert off_since(fixes_m[::7]) is None  # 70 m apart they tell no turn


def test_the_turns_of_the_route_are_on_it_also_back_on_the_same_street() -> None:
    fixes_m = steps(*ROUTE_M, step_m=8.0)
    for number in range(1, len(fixes_m) + 1):
        assert off_since(fixes_m[:number]) is None
        assert off_since(fixes_m[:number], noise_m=2.0) is None


@pytest.mark.parametrize("aside", [(0.0, 45.0), (45.0, 0.0), (-45.0, 0.0), (0.0, 400.0)])
def test_one_odd_fix_is_no_turn(aside: tuple[float, float]) -> None:
    fixes_m = steps((0, 0), (250, 0))
    fixes_m[12] += aside
    for number in range(13, len(fixes_m) + 1):
        assert off_since(fixes_m[:number]) is None


def test_a_car_that_comes_to_the_route_is_not_off_it() -> None:
    assert off_since(steps((100, -45), (100, 0), (140, 0))) is None


def test_a_car_that_took_another_turn_is_planned_anew_from_there(plan: Plan) -> None:
    roads, route = plan.roads, plan.recommended_route.route
    where = np.column_stack(roads.junction_lon_lat)
    scale = np.array([np.cos(np.radians(where[0, 1])), 1.0]) * DEGREE_M
    ways = (where[roads.head] - where[roads.tail]) * scale
    ways /= np.hypot(*ways.T)[:, np.newaxis]
    came, turns = next(
        (came, int(other))
        for came, goes in pairwise(route.rows[4:-4])
        for other in np.flatnonzero(roads.tail == roads.head[came])
        if abs(ways[other] @ ways[goes]) < 0.2 and abs(ways[other] @ ways[came]) < 0.2
    )
    fixes_m = np.vstack([np.arange(-60, 0, 10)[:, None] * ways[came], steps((0, 0), (40, 0))])
    fixes_m[6:] = fixes_m[6:, :1] * ways[turns]
    lon, lat = (where[roads.head[came]] + fixes_m / scale).T
    nothing = np.full(len(lon), np.nan)
    track = Track(lat, lon, np.arange(len(lon)) * 1.0, nothing, np.full(len(lon), 39.0), 0.1)
    assert plan.after(track.until(7)).off == ""
    left = plan.after(track)
    assert left.off.startswith("Off the planned route")
    assert left.route.route.edges[-1] == route.edges[-1]


class Listening:
    """A planner that keeps the parts of edges whose forecast is asked for."""

    def __init__(self, planner: Planner) -> None:
        self.planner, self.asked = planner, list[Stretches]()
        self.uncertain = self

    def __getattr__(self, name: str) -> object:
        return getattr(self.planner, name)

    def forecast(self, arms, energy_wh, expected, stretches):
        self.asked.append(stretches)
        return self.planner.uncertain.forecast(arms, energy_wh, expected, stretches)


def beside(plan: Plan, edge: int) -> Track:
    """Return a drive to the end of an edge of the route, and then away from it."""
    roads = plan.roads
    lons, lats = roads.junction_lon_lat
    heads = roads.head[plan.recommended_route.route.rows[: edge + 1]]
    lon, lat = np.append(lons[heads], 3 * [lons[heads[-1]]]), np.append(lats[heads], np.zeros(3))
    lat[-3:] = lats[heads[-1]] + 0.004
    nothing = np.full(len(lon), np.nan)
    percent = np.linspace(40, 39, len(lon))
    return Track(lat, lon, 60.0 * np.arange(len(lon)), nothing, percent, 0.1)


def test_a_route_planned_anew_halts_at_its_end_alone() -> None:
    plan = evroute.plan("denver", trip="C", soc=40, reserve=5, physics="driving")
    assert isinstance(plan.planner, Planner)
    planner, best, driven = Listening(plan.planner), plan.recommended_route, 6
    left = ahead_of(plan, beside(plan, driven - 1), planner)
    (asked,) = planner.asked
    new = left.route.route
    assert tuple(asked.edge) == (*best.route.edges[:driven], *new.edges)
    halts = np.flatnonzero(asked.halts)
    assert halts.tolist() == [len(asked) - 1], "the car does not halt where it left the route"
    assert asked.to_m[driven - 1] == plan.roads.length_m[best.route.edges[driven - 1]]


def test_a_via_point_ahead_is_kept_and_one_behind_is_not_driven_again(plan: Plan) -> None:
    edges = plan.recommended_route.edges
    half = len(edges) // 2
    waypoints = [edges[0], edges[half], edges[-1]]
    via = evroute.plan("denver", waypoints=waypoints, soc=40, reserve=5)
    ahead = via.recommended_route.edges.index(edges[half])
    before, after = beside(via, ahead // 2), beside(via, ahead + 1)
    assert edges[half] in via.after(before).route.edges
    assert edges[half] not in via.after(after).route.edges


def test_a_charge_on_the_way_is_no_energy_that_was_used(plan: Plan, place: Callable) -> None:
    fixes = [place(share) for share in (0.1, 0.2, 0.3, 0.4)]
    lat, lon = np.transpose(fixes)
    nothing, times_s = np.full(4, np.nan), 60.0 * np.arange(4)
    kwh = evroute.load_vehicle(plan.vehicle).battery_kwh
    charged = Track(lat, lon, times_s, nothing, np.array([40.0, 39.8, 60.0, 59.7]), 0.1)
    left = plan.after(charged)
    assert left.used_wh == pytest.approx((0.2 + 0.3) / 100 * kwh * 1000)
    assert left.battery is not None
    assert left.battery.percent(left.battery.start_wh) == pytest.approx(59.7)


def test_a_stop_that_the_charge_makes_needless_is_named() -> None:
    plan = evroute.plan("denver", trip="C", soc=8, reserve=5)
    best = plan.recommended_route
    assert plan.planner is not None
    made = _stop(len(best.edges) // 2)
    stopped = replace(plan, routes=plan.routes | {plan.recommended: replace(best, stops=(made,))})
    roads = plan.roads
    lon, lat = roads.junction_lon_lat
    head = roads.head[best.route.edges[2]]
    track = Track.at(float(lat[head]), float(lon[head]), percent=60)
    left = ahead_of(stopped, track, plan.planner)
    assert left.needless == ("Station",)
    assert left.stops == ()
    assert "The stop at Station is no longer needed" in left.sentences


def _stop(after: int):
    from evroute.planning.charge.chargers import ChargingStop

    return ChargingStop("Station", "type2", 22.0, after, 60.0, 7.0, 20, 600.0, 4000.0, 4400.0)


def test_positions_are_in_no_answer(plan: Plan, place: Callable) -> None:
    lat, lon = place(0.4)
    text = str(plan.after(Track.at(lat, lon, percent=39.5)).document())
    assert f"{lat:.3f}" not in text
    assert f"{abs(lon):.3f}" not in text


@pytest.mark.parametrize(
    ("track", "words"),
    [
        (lambda: Track.at(0.0, 0.0, percent=30), "within 50 m of the planned route"),
        (lambda: Track.at(95.0, 0.0), "not on the earth"),
        (lambda: Track.at(39.7, -104.9, percent=130), "expected 0 to 100"),
    ],
)
def test_a_drive_elsewhere_is_refused_in_a_line(plan: Plan, track: Callable, words: str) -> None:
    with pytest.raises(EvrouteError, match=words):
        plan.after(track())


def test_nothing_is_left_on_arrival(plan: Plan, place: Callable) -> None:
    with pytest.raises(EvrouteError, match="arrived"):
        plan.after(Track.at(*place(1.0), percent=39))


def test_no_belief_is_changed(plan: Plan, place: Callable) -> None:
    lat, lon = place(0.5)
    again = evroute.plan("denver", trip="C", soc=40, reserve=5)
    before = plan.recommended_route.energy_forecast.numbers()
    plan.after(Track.at(lat, lon, energy_wh=900.0))
    after = evroute.plan("denver", trip="C", soc=40, reserve=5)
    assert after.recommended_route.energy_forecast.numbers() == before
    assert again.recommended_route.energy_wh == after.recommended_route.energy_wh
