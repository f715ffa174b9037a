"""The physics world, one effect after the other, against numbers worked out from first principles.

The reference vehicle: 1830 kg, rolling 0.01, drag 0.35 on 2.6 m², efficiencies 0.98 and 0.96, no
auxiliary load.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.random import SeedSequence, default_rng

from evroute.arms import Route
from evroute.energy.longitudinal import energy_parts
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.methods.setting import Prior, Setting
from evroute.worlds.conditions import warm_cabin_w
from evroute.worlds.demand.trips import Repeated
from evroute.worlds.physics import Physics
from evroute.worlds.world import load_world

MASS, G, ROLLING, DRAG_AREA, RHO = 1830.0, 9.82, 0.01, 0.35 * 2.6, 1.2
OVER = ("in", "up", "down", "out")
ROUND_IT = ("in", "east", "west", "out")


def battery_wh(work_j: float) -> float:
    return (work_j / 0.98 if work_j >= 0 else work_j * 0.96) / 3600


def route_of(network, ids) -> Route:
    return Route(tuple(network.row_of[e] for e in ids))


@pytest.fixture
def build(hill):
    """Return a function that builds a world of some options on the hill (or another network)."""

    def build(*, network=hill, seed=0, origin=None, destination=None, **options) -> Physics:
        ends = (network.row_of[origin or "in"], network.row_of[destination or "out"])
        world = load_world({"kind": "physics", **options})
        return world.build(
            Setting(network, load_vehicle("reference")), Repeated(*ends), SeedSequence(seed)
        )

    return build


@pytest.fixture
def two_roads(make_network):
    """Two level roads of 1 km, east at 10 m/s then north at 20 m/s, and a slow loop of 4 m/s."""
    edges = [("e", 0, 1), ("n", 1, 2), ("loop", 1, 3), ("join", 3, 1)]
    positions = [(0, 0, 0), (1000, 0, 0), (1000, 1000, 0), (1500, -300, 0)]
    return make_network(edges, positions, speed_mps=[10.0, 20.0, 4.0, 4.0])


def test_without_any_effect_the_truth_is_eq8_exactly(build, hill, denver) -> None:
    for network, ends in (
        (hill, {}),
        (denver, {"origin": denver.edge_id[0], "destination": denver.edge_id[9]}),
    ):
        world = build(network=network, **ends)
        request = world.observe(1)
        eq8_wh = energy_parts(
            load_vehicle("reference"), network.length_m, network.climb_m, network.speed_mps
        ).total_wh
        np.testing.assert_allclose(world.expected_wh(request), eq8_wh, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(request.arms.prior_mean_wh, eq8_wh)
        np.testing.assert_array_equal(world.travel_s(request), network.time_s)
        route = world.best_route(request)
        feedback = world.drive(request, route)
        np.testing.assert_allclose(feedback.energy_wh, eq8_wh[route.rows], atol=1e-12)
        np.testing.assert_array_equal(feedback.travel_s, network.time_s[route.rows])
        assert world.route_wh(request, route) == pytest.approx(eq8_wh[route.rows].sum(), abs=1e-12)


def test_payload_climbs_and_rolls(build, hill) -> None:
    world = build(payload_kg=400)
    level_m = np.sqrt(1001**2 - 40**2)
    drag_j = 0.5 * DRAG_AREA * RHO * 1001 * 10**2
    weight_n = (MASS + 400) * G
    truth = world.expected_wh(world.observe(1))
    up = weight_n * 40 + weight_n * ROLLING * level_m + drag_j
    down = -weight_n * 40 + weight_n * ROLLING * level_m + drag_j
    assert truth[hill.row_of["up"]] == pytest.approx(battery_wh(up))
    assert truth[hill.row_of["down"]] == pytest.approx(battery_wh(down))
    assert down < 0


def test_rolling_and_drag_have_factors(build, hill) -> None:
    request = build().observe(1)
    rolling_j, drag_j = MASS * G * ROLLING * 1000, 0.5 * DRAG_AREA * RHO * 1000 * 10**2
    row = hill.row_of["in"]
    assert build(rolling_factor=1.3).expected_wh(request)[row] == pytest.approx(
        battery_wh(1.3 * rolling_j + drag_j)
    )
    assert build(drag_factor=0.7).expected_wh(request)[row] == pytest.approx(
        battery_wh(rolling_j + 0.7 * drag_j)
    )


@pytest.mark.parametrize(
    ("wind_mps", "wind_from_deg", "air_east_mps", "air_north_mps"),
    [
        (8, 90, 18, 20),  # from the east: against the road to the east, across the one to the north
        (8, 0, 10, 28),
        (8, 270, 2, 20),
        (12, 270, -2, 20),  # faster than the car: pushes it
        (8, 45, 10 + 8 / np.sqrt(2), 20 + 8 / np.sqrt(2)),
    ],
)
def test_drag_counts_the_wind_along_the_bearing_of_the_road(
    build, two_roads, wind_mps, wind_from_deg, air_east_mps, air_north_mps
) -> None:
    world = build(
        network=two_roads,
        origin="e",
        destination="n",
        wind_mps=wind_mps,
        wind_from_deg=wind_from_deg,
    )
    truth = world.expected_wh(world.observe(1))
    for edge, air_mps in (("e", air_east_mps), ("n", air_north_mps)):
        drag_j = 0.5 * DRAG_AREA * RHO * 1000 * air_mps * abs(air_mps)
        assert truth[two_roads.row_of[edge]] == pytest.approx(
            battery_wh(MASS * G * ROLLING * 1000 + drag_j)
        )


def test_wind_that_drives_the_vehicle_is_refused(build, two_roads) -> None:
    with pytest.raises(
        EvrouteError, match=r"a tail wind drives vehicle 'reference' on 1 edges. Lower wind_mps"
    ):
        build(network=two_roads, origin="e", destination="n", wind_mps=40, wind_from_deg=180)


def test_temperature_thickens_the_air_and_heats_the_cabin(build, hill) -> None:
    truth = build(temperature_c=-10).expected_wh(build().observe(1))
    rho = 101_325 / (287.05 * 263.15)
    drag_j = 0.5 * DRAG_AREA * rho * 1000 * 10**2
    heating_wh = warm_cabin_w(-10, load_vehicle("reference")) * 100 / 3600  # 100 s
    expected = battery_wh(MASS * G * ROLLING * 1000 + drag_j) + heating_wh
    assert truth[hill.row_of["in"]] == pytest.approx(expected)


def test_auxiliary_load_goes_by_the_true_travel_time(build, hill) -> None:
    free, slow = (
        build(auxiliary_w=900),
        build(auxiliary_w=900, zones=1, zone_radius_m=1e6, zone_speed_factor=0.5),
    )
    request, row = free.observe(1), hill.row_of["in"]
    rolling_j = MASS * G * ROLLING * 1000
    for world, speed_mps in ((free, 10), (slow, 5)):
        drag_j = 0.5 * DRAG_AREA * RHO * 1000 * speed_mps**2
        expected = battery_wh(rolling_j + drag_j) + 900 * 1000 / speed_mps / 3600
        assert world.expected_wh(request)[row] == pytest.approx(expected)
        assert world.travel_s(request)[row] == pytest.approx(1000 / speed_mps)


def test_zones_slow_the_edges_whose_middle_they_hold(build, hill) -> None:
    middle_m = 0.5 * np.column_stack(
        [hill.x_m[hill.tail] + hill.x_m[hill.head], hill.y_m[hill.tail] + hill.y_m[hill.head]]
    )
    seen = set()
    for seed in range(20):
        world = build(seed=seed, zones=1, zone_radius_m=700, zone_speed_factor=0.5)
        slow = world.travel_s(world.observe(1)) > 1.5 * hill.time_s
        near = np.hypot(*(middle_m[:, np.newaxis] - middle_m).transpose(2, 0, 1)) <= 700
        assert any(np.array_equal(slow, row) for row in near)
        seen.add(tuple(slow))
    assert len(seen) > 2


def test_zones_have_hours_and_the_learner_knows_them_only_if_told(build, hill) -> None:
    options = {
        "zones": 1,
        "zone_radius_m": 1e6,
        "zone_speed_factor": 0.5,
        "zone_hours": [[7, 9], [16.5, 24]],
    }
    unknown, known = build(**options), build(**options, congestion_known=True)
    congested = {8, 9, 18, 19, 20, 21, 22, 23, 24}  # trip t departs at t - 1 o'clock
    free = build().observe(1).arms
    for t in range(1, 50):
        request, told = unknown.observe(t), known.observe(t)
        slow = (t - 1) % 24 + 1 in congested
        np.testing.assert_array_equal(unknown.travel_s(request), hill.time_s * (2 if slow else 1))
        np.testing.assert_array_equal(known.expected_wh(told), unknown.expected_wh(request))
        np.testing.assert_array_equal(request.arms.features, free.features)
        np.testing.assert_array_equal(request.arms.prior_mean_wh, free.prior_mean_wh)
        np.testing.assert_allclose(
            told.arms.features[:, 1], free.features[:, 1] * (0.5 if slow else 1)
        )
        np.testing.assert_array_equal(told.arms.features[:, [0, 2]], free.features[:, [0, 2]])
        np.testing.assert_allclose(told.arms.prior_mean_wh, known.expected_wh(told), atol=1e-12)
    assert known.observe(8).arms is known.observe(9).arms


def test_known_congestion_tells_speeds_and_nothing_else(build) -> None:
    world = build(zones=1, zone_radius_m=1e6, congestion_known=True, payload_kg=500)
    request = world.observe(1)
    assert np.all(world.expected_wh(request) - request.arms.prior_mean_wh != 0)


def test_kinetic_energy_by_hand(build, two_roads) -> None:
    world = build(network=two_roads, origin="e", destination="n", kinetic=True)
    request, row_of = world.observe(1), two_roads.row_of
    rolling_j = MASS * G * ROLLING * 1000
    fast_j = rolling_j + 0.5 * DRAG_AREA * RHO * 1000 * 20**2
    first = battery_wh(rolling_j + 0.5 * DRAG_AREA * RHO * 1000 * 10**2)
    from_e = battery_wh(fast_j + 0.5 * MASS * (20**2 - 10**2))
    from_join = battery_wh(fast_j + 0.5 * MASS * (20**2 - 4**2))
    assert world.route_wh(request, route_of(two_roads, ("e", "n"))) == pytest.approx(first + from_e)
    # an edge by itself: the mean over what may come before it; the first road has nothing before it
    truth = world.expected_wh(request)
    assert truth[row_of["n"]] == pytest.approx((from_e + from_join) / 2)
    assert truth[row_of["e"]] == pytest.approx(first)
    energy_wh = world.drive(request, route_of(two_roads, ("e", "n"))).energy_wh
    np.testing.assert_allclose(energy_wh, [first, from_e])


def test_braking_gives_back_at_the_efficiency_of_recuperation(build, two_roads) -> None:
    world = build(network=two_roads, origin="e", destination="loop", kinetic=True)
    request, loop = world.observe(1), route_of(two_roads, ("e", "loop"))
    length_m = two_roads.length_m[two_roads.row_of["loop"]]
    steady_j = MASS * G * ROLLING * length_m + 0.5 * DRAG_AREA * RHO * length_m * 4**2
    expected = battery_wh(steady_j + 0.5 * MASS * (4**2 - 10**2))
    assert world.drive(request, loop).energy_wh[1] == pytest.approx(expected)


def test_braking_for_a_turn_loses_energy_by_the_efficiencies(build, two_roads) -> None:
    options = {"network": two_roads, "origin": "e", "destination": "n", "kinetic": True}
    rolling, braking = build(**options), build(**options, turn_braking=True)
    request, turn = rolling.observe(1), route_of(two_roads, ("e", "n"))
    # a right angle is an arc of 8 m, at 5.5 m/s² 6.6 m/s; it is entered at 10 m/s
    lost_wh = 0.5 * MASS * (10**2 - 5.5 * 8) * (1 / 0.98 - 0.96) / 3600
    assert braking.route_wh(request, turn) - rolling.route_wh(request, turn) == pytest.approx(
        lost_wh
    )


def test_a_standing_start_costs_the_kinetic_energy_of_the_first_edge(build) -> None:
    rolling_start, standing = build(kinetic=True), build(kinetic=True, from_standstill=True)
    request, route = rolling_start.observe(1), Route((0, 1, 2, 5))
    more_wh = standing.route_wh(request, route) - rolling_start.route_wh(request, route)
    assert more_wh == pytest.approx(0.5 * MASS * 10**2 / 0.98 / 3600)


def test_no_round_trip_gains_energy(denver, build) -> None:
    rng = default_rng(8)
    world = build(
        network=denver,
        origin=denver.edge_id[0],
        destination=denver.edge_id[1],
        kinetic=True,
        turn_braking=True,
        wind_mps=12,
        wind_from_deg=300,
        zones=30,
        zone_radius_m=100,
    )
    turns: dict[int, list[int]] = {}
    for a, b in denver.turns.tolist():
        turns.setdefault(a, []).append(b)
    request = world.observe(1)
    lowest = np.inf
    for _ in range(50):
        walk, last = [int(rng.integers(denver.n_edges))], {}
        for _ in range(400):
            walk.append(int(rng.choice(turns[walk[-1]])))
            if walk[-1] in last:
                closed = Route(tuple(walk[last[walk[-1]] :]))
                one = world.route_wh(request, Route(closed.edges[:1]))
                lowest = min(lowest, world.route_wh(request, closed) - one)
            last[walk[-1]] = len(walk) - 1
    assert 0 < lowest < np.inf


def test_the_best_route_equals_bellman_and_ford(denver, build) -> None:
    for seed, options in enumerate(
        [
            {"kinetic": True, "turn_braking": True},
            {"kinetic": True, "closed_share": 0.05},
            {"wind_mps": 10},
        ]
    ):
        world = build(
            network=denver,
            seed=seed,
            origin=denver.edge_id[3],
            destination=denver.edge_id[700],
            payload_kg=300,
            zones=10,
            zone_radius_m=150,
            **options,
        )
        request = world.observe(1)
        is_open = set(request.arms.id.tolist())
        pairs = [(a, b) for a, b in denver.turns.tolist() if {a, b} <= is_open]
        wh = np.array(
            [
                world.route_wh(request, Route(pair)) - world.route_wh(request, Route(pair[:1]))
                for pair in pairs
            ]
        )
        source, target = np.array(pairs).T
        cost = np.full(denver.n_edges, np.inf)
        cost[request.origin] = world.route_wh(request, Route((request.origin,)))
        for _ in range(denver.n_edges):
            before = cost.copy()
            np.minimum.at(cost, target, before[source] + wh)
            if np.array_equal(before, cost):
                break
        best = world.best_route(request)
        assert (best.edges[0], best.edges[-1]) == (request.origin, request.destination)
        assert set(best.edges) <= is_open
        assert set(pairwise(best.edges)) <= set(pairs)
        assert world.route_wh(request, best) == pytest.approx(cost[request.destination])


def test_noise_has_a_size_for_each_edge_and_a_share_for_the_trip(build, hill) -> None:
    world = build(noise_share=0.2, noise_spread=0.6, trip_std=0.1, time_std=0.05)
    request, route = world.observe(1), route_of(hill, OVER)
    potential_wh = MASS * G * hill.climb_m / 3600
    dissipated = (world.expected_wh(request) - potential_wh)[route.rows]
    n = 4000
    drives = [world.drive(world.observe(t), route) for t in range(1, n + 1)]
    shares = (
        np.array([drive.energy_wh - world.expected_wh(request)[route.rows] for drive in drives])
        / dissipated
    )
    covariance = np.cov(shares.T)
    sizes = world.noise_share[route.rows]
    expected = 0.1**2 + np.diag(sizes**2)
    error = np.sqrt((np.outer(expected.diagonal(), expected.diagonal()) + expected**2) / n)
    assert np.all(np.abs(covariance - expected) < 5 * error)
    assert np.all(np.abs(shares.mean(axis=0)) < 5 * np.sqrt(expected.diagonal() / n))
    factors = np.array([drive.travel_s / hill.time_s[route.rows] for drive in drives])
    assert np.ptp(factors, axis=1).max() < 1e-12  # one for the whole trip
    assert np.log(factors[:, 0]).std() == pytest.approx(0.05, rel=5 / np.sqrt(2 * n))


def test_noise_levels_are_log_normal_around_their_share(build, denver) -> None:
    ends = {"origin": denver.edge_id[0], "destination": denver.edge_id[9]}
    levels = build(network=denver, **ends, noise_share=0.2, noise_spread=0.6).noise_share
    n = denver.n_edges
    assert np.log(levels).std() == pytest.approx(0.6, rel=5 / np.sqrt(2 * n))
    assert levels.mean() == pytest.approx(0.2, rel=5 * np.sqrt(np.expm1(0.6**2) / n))
    assert np.ptp(build(network=denver, **ends, noise_share=0.2).noise_share) == 0


def test_worlds_of_one_seed_are_equal_after_any_trips(build, hill) -> None:
    options = {
        "zones": 2,
        "zone_radius_m": 300,
        "zone_hours": [[0, 12]],
        "noise_share": 0.2,
        "noise_spread": 0.5,
        "trip_std": 0.1,
        "time_std": 0.1,
    }
    one, other = build(seed=3, **options), build(seed=3, **options)
    over, round_it = route_of(hill, OVER), route_of(hill, ROUND_IT)
    for t, (a, b) in enumerate([(over, round_it), (round_it, over), (over, over)] * 6, start=1):
        first, second = one.drive(one.observe(t), a), other.drive(other.observe(t), b)
        other.drive(other.observe(t), a)  # asked twice
        np.testing.assert_array_equal(first.energy_wh[[0, -1]], second.energy_wh[[0, -1]])
        np.testing.assert_array_equal(first.travel_s[[0, -1]], second.travel_s[[0, -1]])
    np.testing.assert_array_equal(first.energy_wh, second.energy_wh)
    assert not np.any(
        build(seed=4, **options).drive(one.observe(1), over).energy_wh == first.energy_wh
    )


def test_closures_belong_to_their_round_and_leave_the_truth_alone(build) -> None:
    world, whole = build(closed_share=0.3, kinetic=True), build(kinetic=True)
    sizes = set()
    for t in range(1, 20):
        request = world.observe(t)
        sizes.add(tuple(request.arms.id))
        truth = whole.expected_wh(whole.observe(t))[request.arms.id]
        np.testing.assert_array_equal(world.expected_wh(request), truth)
        assert len(world.travel_s(request)) == len(request.arms)
    assert len(sizes) > 1


def test_trips_may_name_their_vehicle(hill, build) -> None:
    class Vans:
        def trip(self, t: int):
            return replace(Repeated(0, 5).trip(t), vehicle="renault-zoe" if t == 2 else "reference")

    setting = Setting(hill, load_vehicle("reference"))
    world = load_world({"kind": "physics", "payload_kg": 100}).build(
        setting, Vans(), SeedSequence(0)
    )
    van = load_vehicle("renault-zoe")
    own, other = world.observe(1), world.observe(2)
    assert other.vehicle == "renault-zoe"
    eq8_wh = energy_parts(van, hill.length_m, hill.climb_m, hill.speed_mps).total_wh
    np.testing.assert_array_equal(other.arms.prior_mean_wh, eq8_wh)
    assert np.all(world.expected_wh(other) != world.expected_wh(own))
    assert world.drive(other, Route((0, 1, 2, 5))).vehicle == "renault-zoe"


def test_every_trip_meets_a_temperature_of_its_own_which_its_contexts_tell(build, hill) -> None:
    world = build(temperature_c=5, temperature_std_k=10)
    row, met_c = hill.row_of["in"], []
    for t in range(1, 201):
        request = world.observe(t)
        told = request.arms.features[:, 3]
        assert np.ptp(told) == 0
        temperature_c = 21 + 10 * told[0]
        drag_j = 0.5 * DRAG_AREA * 101_325 / (287.05 * (temperature_c + 273.15)) * 1000 * 10**2
        heating_wh = warm_cabin_w(temperature_c, load_vehicle("reference")) * 100 / 3600
        expected_wh = battery_wh(MASS * G * ROLLING * 1000 + drag_j) + heating_wh
        assert world.expected_wh(request)[row] == pytest.approx(expected_wh)
        met_c.append(temperature_c)
    assert len(set(met_c)) == 200
    assert np.mean(met_c) == pytest.approx(5, abs=4 * 10 / np.sqrt(200))
    assert np.std(met_c) == pytest.approx(10, rel=4 / np.sqrt(400))
    again = world.observe(1)
    assert 21 + 10 * again.arms.features[0, 3] == met_c[0], "the same however late it is asked for"
    assert build(temperature_c=5).observe(1).arms.features.shape[1] == 3


def test_models_of_a_setting_that_tells_temperature_are_kernels_of_it(hill) -> None:
    setting = Setting(hill, load_vehicle("reference"), Prior(temperature=True))
    arms = setting.arms
    warmer = arms.features + np.array([0, 0, 0, 1.0])  # by 10 K
    same = setting.kernel(arms.id[:1], arms.features[:1], arms.id[:1], arms.features[:1])
    other = setting.kernel(arms.id[:1], arms.features[:1], arms.id[:1], warmer[:1])
    root5 = np.sqrt(5)
    assert other / same == pytest.approx((1 + root5 + 5 / 3) * np.exp(-root5))


def test_temperatures_that_differ_need_one_to_differ_from() -> None:
    with pytest.raises(EvrouteError, match="temperature_std_k does nothing without temperature_c"):
        load_world({"kind": "physics", "temperature_std_k": 5})
