"""Deviations of single roads: sections, a fitted deviation, and the same posterior by hand."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from evroute.energy.driving import DrivingConditions
from evroute.energy.prior import EQ8_CONDITIONS
from evroute.energy.vehicle import load_vehicle
from evroute.learning.measured import MeasuredTrip
from evroute.learning.roads.road_features import RoadFeatures
from evroute.learning.roads.sections import RoadSections
from evroute.learning.trips.energies import TripEnergies
from evroute.learning.trips.kept_trips import ROAD
from evroute.learning.trips.noise import TripNoiseScale
from evroute.learning.trips.scales import Scales
from evroute.methods.setting import Setting

CAR = load_vehicle("renault-zoe")
USUAL = {"auxiliary_w": CAR.auxiliary_w}
LENGTH_M = np.array([100.0, 300.0, 500.0, 1000.0, 2000.0])


@pytest.fixture
def grid(make_network):
    """A grid of 6 by 6 junctions 400 m apart with heights, both directions of each road."""
    places = [
        (400.0 * x, 400.0 * y, 30.0 * np.sin(6.0 * x + y)) for x in range(6) for y in range(6)
    ]
    pairs = [(k, k + 6) for k in range(30)] + [(k, k + 1) for k in range(36) if k % 6 < 5]
    edges = [(f"{a}>{b}", a, b) for a, b in pairs] + [(f"{b}>{a}", b, a) for a, b in pairs]
    return make_network(edges, places, name="grid")


def walk(network, rng: np.random.Generator, n: int) -> np.ndarray:
    """Return a random walk over n edges."""
    edges = [int(rng.integers(network.n_edges))]
    while len(edges) < n:
        follow = network.turns[network.turns[:, 0] == edges[-1], 1]
        edges.append(int(rng.choice(follow)))
    return np.array(edges)


def drive(network, seed: int, road_wh: float, trips: int = 100) -> TripEnergies:
    """Return a belief after trips of physics with roads that differ, and noise of 20 Wh."""
    rng = np.random.default_rng(seed)
    deviation = road_wh * rng.standard_normal(network.n_edges) * np.sqrt(network.length_m / 1000)
    energies = TripEnergies(Setting(network, CAR), physics="eq8")
    mean_wh = energies.under(EQ8_CONDITIONS).mean_wh + deviation
    for i in range(trips):
        edge = walk(network, rng, int(rng.integers(5, 15)))
        wh = mean_wh[edge] + rng.normal(0.0, 20.0) / len(edge)
        energies.learn(MeasuredTrip(str(i), edge, wh, np.full(len(edge), np.nan), **USUAL))
    return energies


def sections_of(driven: list[np.ndarray]) -> RoadFeatures:
    """Return the sections of trips over whole roads."""
    shares = [np.ones(len(each)) for each in driven]
    return RoadSections(SimpleNamespace(length_m=LENGTH_M)).chosen(
        RoadFeatures.none(), driven, shares
    )


def test_roads_that_the_same_trips_drove_are_one_section() -> None:
    driven = [np.array([0, 1, 2]), np.array([1, 0, 3]), np.array([0, 1, 2, 2])]
    sections = sections_of(driven)
    by_road = sections.of(np.arange(5), np.ones(5))
    of = by_road.argmax(axis=1)
    assert of[0] == of[1]
    assert len({*of[[0, 2, 3]].tolist()}) == 3
    assert sections.has(np.arange(5)).tolist() == [True] * 4 + [False]
    features = sections.of_trips(driven, [np.ones(3), np.ones(3), np.array([1, 1, 1, 0.5])])
    np.testing.assert_allclose(features[:, of[0]], np.sqrt(0.4))
    np.testing.assert_allclose(features[:, of[2]], np.sqrt(0.5) * np.array([1.0, 0.0, 1.5]))
    # features times roots of lengths are kilometres
    root_km = by_road.sum(axis=0)
    np.testing.assert_allclose(features @ root_km, [0.9, 1.4, 1.15])
    np.testing.assert_allclose(by_road[[0, 1, 2]].sum(axis=0), features[0])
    assert not by_road[4].any()


def test_a_limited_number_of_sections_are_those_driven_most(monkeypatch) -> None:
    monkeypatch.setattr("evroute.learning.roads.sections.MOST", 2)
    driven = [np.array([0, 1]), np.array([0, 3]), np.array([0, 2]), np.array([0, 2])]
    # km times passages .4 .3 1.0 1.0
    np.testing.assert_array_equal(sections_of(driven).edge, [2, 3])


def test_no_trips_make_no_section() -> None:
    sections = sections_of([])
    assert len(sections) == 0
    assert sections.of(np.arange(2), np.ones(2)).shape == (2, 0)


def test_one_trip_narrows_its_road_by_hand_and_leaves_another_as_it_is(grid) -> None:
    """Two trips of one road that deviates by 20 Wh per root of a km, coefficients known."""
    energies = TripEnergies(Setting(grid, CAR), physics="eq8")
    belief = energies.belief
    belief.scales = Scales(TripNoiseScale(10.0, 30.0, 0.0), 0.0, 20.0)
    belief.prior = replace(belief.prior, std=np.full(len(belief.prior.std), 1e-9))
    belief._rebuild()
    edges, other = np.array([0, 1]), np.array([50, 51])
    km = grid.length_m[edges].sum() / 1000
    other_km = grid.length_m[other].sum() / 1000

    def trip(edge: np.ndarray, wh: float = 0.0) -> MeasuredTrip:
        return MeasuredTrip("x", edge, np.full(2, wh / 2), np.full(2, np.nan), **USUAL)

    mean_wh = energies.expect(trip(edges)).energy.mean_wh
    before = energies.expect(trip(edges)).energy.sd_wh ** 2
    assert before == pytest.approx(10.0**2 + 30.0**2 * km, rel=1e-6)
    other_wh2 = energies.expect(trip(other)).energy.sd_wh ** 2
    energies.learn(trip(edges, mean_wh + 30.0))
    after = energies.expect(trip(edges)).energy
    road, noise = 400.0 * km, 100.0 + 900.0 * km
    assert after.mean_wh == pytest.approx(mean_wh + 30.0 * road / (road + noise), rel=1e-6)
    assert after.sd_wh**2 == pytest.approx(noise + road * noise / (road + noise), rel=1e-6)
    assert energies.expect(trip(other)).energy.sd_wh ** 2 == pytest.approx(other_wh2, rel=1e-6)
    assert other_wh2 == pytest.approx(100.0 + 900.0 * other_km, rel=1e-6)


def test_the_deviation_of_roads_follows_the_evidence(grid) -> None:
    alike = [drive(grid, seed, 0.0).belief.scales.roads for seed in range(4)]
    differing = [drive(grid, seed, 80.0) for seed in range(4)]
    assert np.mean(alike) < 25.0, alike
    assert [each.belief.scales.roads for each in differing] == pytest.approx([80.0] * 4, rel=0.4)
    for each in differing:
        assert (each.belief.column == ROAD).sum() == len(each.places.roads) > 0


def test_the_difference_of_routes_equals_the_joint_posterior_of_their_edges(grid) -> None:
    """Against sums over edges with samples of roads without a section."""
    energies = drive(grid, 0, 80.0, trips=11)
    day = energies.under(EQ8_CONDITIONS)
    ways = [walk(grid, np.random.default_rng(seed), 9) for seed in (1, 2)]
    driven = np.unique(np.concatenate(ways))
    other = ~energies.places.roads.has(driven)
    assert 0 < other.sum() < len(driven)
    rng, size = np.random.default_rng(3), 40_000
    root = energies.belief.regression.root[day.columns]
    sampled_wh = day.rows.of(driven) @ root @ rng.standard_normal((root.shape[1], size))
    own_wh = energies.belief.scales.roads * np.sqrt(grid.length_m[driven[other]] / 1000)
    sampled_wh[other] += own_wh[:, np.newaxis] * rng.standard_normal((other.sum(), size))
    times = [np.bincount(np.searchsorted(driven, way), minlength=len(driven)) for way in ways]
    expected = ((times[0] - times[1]) @ sampled_wh).std()
    assert day.difference_std_wh(*ways) == pytest.approx(expected, rel=4 / np.sqrt(2 * size))


def test_the_forecast_along_a_route_ends_with_the_forecast_of_the_trip(grid) -> None:
    energies = drive(grid, 1, 80.0, trips=30)
    day = energies.under(EQ8_CONDITIONS)
    edge = walk(grid, np.random.default_rng(4), 12)
    route = day.along(edge, None, day.rows.whole(edge))
    forecast = day.forecast(edge, day.mean_wh[edge])
    covariance = forecast.reached_wh2
    assert covariance[-1, -1] == pytest.approx(forecast.std_wh**2)
    assert np.linalg.eigvalsh(covariance).min() > -1e-6 * covariance[-1, -1]
    km = grid.length_m[edge].sum() / 1000
    season_wh = day.season_wh_per_minute * day.time_s[edge].sum() / 60
    off_wh2 = energies.places.unknown_wh2(edge, energies.belief.scales.heights)[-1, -1]
    new_km = grid.length_m[edge[~energies.places.roads.has(edge)]].sum() / 1000
    off_wh2 += energies.belief.scales.roads**2 * new_km
    left_wh2 = energies.belief.noise.variance(km, season_wh**2 + off_wh2)
    spread = energies.belief.regression.variance(route.row)
    assert forecast.std_wh**2 == pytest.approx(spread + left_wh2)


@pytest.mark.parametrize("level", [False, True])
def test_deviations_along_a_tree_equal_the_deviations_of_single_trips(grid, level) -> None:
    """A tree that branches, with roads with a column and without, with heights and without."""
    network = replace(grid, elevation_m=np.zeros(36)) if level else grid
    energies = drive(network, 1, 80.0, trips=8)
    day = energies.under(EQ8_CONDITIONS)
    rng, ways, before = np.random.default_rng(6), [(0,)], [-1]
    while len(ways) < 60:
        parent = int(rng.integers(len(ways)))
        follow = network.turns[network.turns[:, 0] == ways[parent][-1], 1]
        ways.append((*ways[parent], int(rng.choice(follow))))
        before.append(parent)
    edges = np.array([each[-1] for each in ways])
    learned = energies.places.roads.has(edges)
    assert 0 < learned.sum() < len(edges)
    half_full_wh = np.full(len(edges), CAR.battery_kwh * 500.0)
    reached = day.reached_std_wh(edges, np.array(before), half_full_wh)
    for each, std_wh in zip(ways, reached, strict=True):
        arms = np.array(each)
        single = day.forecast(arms, day.mean_wh[arms]).std_wh
        assert std_wh == pytest.approx(single, rel=1e-10)


@pytest.mark.parametrize("level", [False, True])
def test_a_belief_with_roads_comes_back_bit_for_bit(grid, level) -> None:
    network = replace(grid, elevation_m=np.zeros(36)) if level else grid
    energies = drive(network, 1, 80.0, trips=28)
    assert energies.belief.scales.roads > 0
    again = TripEnergies(Setting(network, CAR), physics="eq8")
    again.restore(energies.state())
    rng = np.random.default_rng(7)
    for i in range(4):  # past the fit at 30 trips
        edge = walk(network, rng, 7)
        trip = MeasuredTrip(f"more {i}", edge, rng.normal(60.0, 30.0, 7), np.full(7, 60.0))
        assert again.expected(trip) == energies.expected(trip)
        for each in (again, energies):
            each.learn(trip)
    for name, array in energies.state().items():
        assert np.array_equal(array, again.state()[name]), name


def test_roads_that_no_trip_drove_widen_the_forecast_by_their_length(grid) -> None:
    """Roads in the south are driven. In the north each km has the fitted variance beside noise."""
    rng, energies = np.random.default_rng(7), TripEnergies(Setting(grid, CAR), physics="eq8")
    north = np.flatnonzero(np.minimum(grid.y_m[grid.tail], grid.y_m[grid.head]) > 1100.0)
    driven = 0
    while driven < 30:
        edge = walk(grid, rng, 8)
        if not np.isin(edge, north).any():
            driven += 1
            wh = np.full(8, rng.normal(60.0, 20.0))
            energies.learn(MeasuredTrip(str(driven), edge, wh, np.full(8, np.nan), **USUAL))
    assert not energies.places.roads.has(north).any()
    route = walk(grid, rng, 5)
    while not (np.isin(route, north).all() and len(set(route.tolist())) == 5):
        route = walk(grid, rng, 5)
    trip = MeasuredTrip("probe", route, np.zeros(5), np.full(5, np.nan), **USUAL)
    row, belief, km = energies.row(trip), energies.belief, grid.length_m[route].sum() / 1000
    alone = belief.regression.variance(row) + float(belief.noise.variance(row[0]))
    expected = alone + belief.scales.roads**2 * km
    assert energies.expect(trip).energy.sd_wh ** 2 == pytest.approx(expected)
    day = energies.under(DrivingConditions(**USUAL))
    forecast = day.forecast(route, day.mean_wh[route])
    assert forecast.std_wh**2 == pytest.approx(expected)
    assert forecast.reached_wh2[-1, -1] == pytest.approx(expected)
    along = day.reached_std_wh(route, np.arange(-1, 4), np.full(5, 20_000.0))
    assert along == pytest.approx(np.sqrt(np.diag(forecast.reached_wh2)))
    assert belief.scales.roads > 0.0
