"""Fields in weight space: features by hand, equal to a dense Gaussian process, and evidence."""

import numpy as np
import pytest

from evroute.energy.driving import DrivingConditions
from evroute.energy.prior import EQ8_CONDITIONS
from evroute.energy.vehicle import load_vehicle
from evroute.learning.measured import MeasuredTrip
from evroute.learning.roads.known_roads import KnownRoads
from evroute.learning.trips import landmarks
from evroute.learning.trips.energies import TripEnergies
from evroute.learning.trips.fields import has_heights, junction_height
from evroute.learning.trips.landmarks import Landmarks
from evroute.learning.trips.regression import TripRegression
from evroute.learning.trips.terms import TURNING, UP, coefficient_prior
from evroute.learning.trips.trip_belief import TripBelief
from evroute.methods.setting import Setting
from evroute.planning.planner import Planner

CAR = load_vehicle("renault-zoe")
USUAL = {"auxiliary_w": CAR.auxiliary_w}
WEIGHT_WH_PER_M = CAR.mass_kg * 9.82 / 3600


@pytest.fixture
def grid(make_network):
    """A level grid of 6 by 6 junctions 400 m apart, both directions of each road."""
    places = [(400.0 * x, 400.0 * y, 0.0) for x in range(6) for y in range(6)]
    pairs = [(k, k + 6) for k in range(30)] + [(k, k + 1) for k in range(36) if k % 6 < 5]
    edges = [(f"{a}>{b}", a, b) for a, b in pairs] + [(f"{b}>{a}", b, a) for a, b in pairs]
    return make_network(edges, places, name="grid")


def test_a_measured_road_informs_its_way_back_and_its_neighbour(make_network) -> None:
    """A to B takes 500 Wh; all three junctions are far apart."""
    places = [(0, 0, 0), (1e5, 0, 0), (0, 1e5, 0)]
    far = make_network([("ab", 0, 1), ("ba", 1, 0), ("ac", 0, 2)], places)
    field = Landmarks(junction_height(KnownRoads(far)))
    field.admit(np.arange(3))
    a, b, c = field.features(np.arange(3))
    regression = TripRegression(np.zeros(3), np.full(3, 300.0))
    assert regression.variance(b - a) == pytest.approx(2 * 300.0**2)
    regression.update(b - a, 500.0, 1e-6)
    there, back, aside = (
        (end - start) @ regression.mean for start, end in ((a, b), (b, a), (a, c))
    )
    assert (there, back, aside) == pytest.approx((500.0, -500.0, 250.0), rel=1e-4)


def test_routes_between_the_same_ends_have_the_same_potential(grid) -> None:
    energies = TripEnergies(Setting(grid, CAR), physics="eq8")
    routes = (["0>1", "1>7", "7>8"], ["0>6", "6>7", "7>8"], ["0>1", "1>7", "7>6", "6>0"])
    trips = [
        MeasuredTrip(str(i), np.array([grid.row_of[e] for e in edges]), np.ones(1), np.ones(1))
        for i, edges in enumerate(routes)
    ]
    energies.belief.widen(energies.places.admit_ends(trips[0].edge))
    one, two, loop = (energies.row(trip)[TURNING:] for trip in trips)
    assert np.abs(one).max() > 0.5
    np.testing.assert_allclose(one, two, atol=1e-12)
    np.testing.assert_allclose(loop, np.zeros(len(one)), atol=1e-12)
    # edge by edge, as a search adds them up
    day = energies.under(EQ8_CONDITIONS)
    along = day.rows.of(trips[0].edge)[:, TURNING:]
    np.testing.assert_allclose(along.sum(axis=0), one, atol=1e-12)


def walk(network, rng, steps: int) -> np.ndarray:
    """Return a random walk over the edges."""
    edges = [int(rng.integers(network.n_edges))]
    for _ in range(steps - 1):
        after = network.turns[network.turns[:, 0] == edges[-1], 1]
        edges.append(int(rng.choice(after)))
    return np.array(edges)


def test_features_of_landmarks_are_their_covariance(grid) -> None:
    covariance = junction_height(KnownRoads(grid))
    field = Landmarks(covariance)
    assert field.admit(np.array([0, 7, 0, 35])) == 3
    assert field.admit(np.array([7, 1])) == 1
    assert field.places.tolist() == [0, 7, 35, 1]
    features = field.features(field.places)
    np.testing.assert_allclose(features @ features.T, covariance(field.places, field.places))
    # a landmark does not depend on those that came later
    assert np.abs(np.triu(features, 1)).max() < 1e-12
    # elsewhere features and rest make up the variance, and far away all is rest
    places = np.array([2, 30])
    others = field.features(places)
    rest = field.rest(places)
    np.testing.assert_allclose(others @ others.T + rest, covariance(places, places), atol=1e-12)
    assert rest[1, 1] > 0.5


def test_a_place_beside_a_landmark_is_none(make_network) -> None:
    near = make_network([("e", 0, 1), ("f", 1, 2)], [(0, 0, 0), (5, 0, 0), (900, 0, 0)])
    field = Landmarks(junction_height(KnownRoads(near)))
    assert field.admit(np.array([0, 1, 2])) == 2
    assert field.places.tolist() == [0, 2]


def test_landmarks_are_few(grid, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landmarks, "MOST", 4)
    field = Landmarks(junction_height(KnownRoads(grid)))
    assert field.admit(np.arange(grid.n_junctions)) == 4


def test_joint_learning_equals_a_dense_gaussian_process(grid) -> None:
    """Coefficients and heights in weight space against one covariance matrix of all trips."""
    rng = np.random.default_rng(4)
    energies = TripEnergies(Setting(grid, CAR), physics="eq8", roads="none")
    assert not has_heights(grid)
    trips, rows, ends, energy_wh = [], [], [], []
    for i in range(9):  # no refit later than that of the third trip
        edge = walk(grid, rng, 8)
        wh = rng.normal(500.0, 200.0)
        trip = MeasuredTrip(str(i), edge, np.full(8, wh / 8), np.full(8, np.nan))
        rows.append(energies.row(trip)[energies.belief.column[: len(energies.row(trip))] == 0])
        ends.append((grid.tail[edge[0]], grid.head[edge[-1]]))
        energy_wh.append(wh)
        trips.append(trip)
        energies.learn(trip)
    prior = coefficient_prior(CAR)
    tail, head = np.array(ends).T
    field = junction_height(KnownRoads(grid))
    std_wh = energies.belief.scales.heights  # fitted at the third trip

    def dense(rows_a, ends_a, rows_b, ends_b):
        (tail_a, head_a), (tail_b, head_b) = ends_a, ends_b
        between = field(head_a, head_b) + field(tail_a, tail_b)
        between = between - field(head_a, tail_b) - field(tail_a, head_b)
        return (rows_a * prior.std**2) @ rows_b.T + std_wh**2 * between

    known = np.array(rows)
    noise_wh2 = energies.belief.noise.variance(known[:, 0])
    gram = dense(known, (tail, head), known, (tail, head)) + np.diag(noise_wh2)
    route = walk(grid, rng, 12)
    probe = MeasuredTrip("probe", route, np.zeros(12), np.full(12, np.nan))
    row = energies.row(probe)[energies.belief.column == 0][np.newaxis]
    its_ends = np.array([grid.tail[route[:1]], grid.head[route[-1:]]])
    cross = dense(row, its_ends, known, (tail, head))[0]
    gain = np.linalg.solve(gram, cross)
    mean_wh = float(row[0] @ prior.mean + gain @ (energy_wh - known @ prior.mean))
    variance = float(dense(row, its_ends, row, its_ends)[0, 0] - gain @ cross)
    # the belief's mean before it is held to the cone
    full = energies.row(probe)
    assert full @ energies.belief.regression.mean == pytest.approx(mean_wh, rel=1e-8)
    unknown_wh2 = energies.places.unknown_wh2(route, std_wh)[-1, -1]  # of ends that no trip had
    found = energies.belief.regression.variance(full) + unknown_wh2
    assert found == pytest.approx(variance, rel=1e-8)
    day = energies.under(DrivingConditions(**USUAL))
    forecast = day.forecast(route, day.mean_wh[route])
    noise = float(energies.belief.noise.variance(row[0, 0]))
    assert forecast.std_wh**2 == pytest.approx(variance + noise, rel=1e-8)


def test_a_hill_that_the_map_does_not_know_is_learned(make_network) -> None:
    """A lies 100 m above B; 30 trips there and back."""
    edges = [("start", 0, 1), ("down", 1, 2), ("end", 2, 3), ("up", 2, 1), ("back", 1, 0)]
    network = make_network(edges, [(0, 0, 0), (200, 0, 0), (2200, 0, 0), (2400, 0, 0)])
    energies, rng = TripEnergies(Setting(network, CAR), physics="eq8"), np.random.default_rng(0)
    level_wh = energies.under(EQ8_CONDITIONS).mean_wh
    assert (level_wh > 0).all()
    down, up = ([network.row_of[e] for e in way] for way in (("down",), ("up",)))
    rise_wh = 100.0 * WEIGHT_WH_PER_M
    for i in range(30):
        edge, sign = (down, -1.0) if i % 2 else (up, 1.0)
        wh = level_wh[edge].sum() + sign * rise_wh + rng.normal(0.0, 20.0)
        energies.learn(MeasuredTrip(str(i), np.array(edge), np.array([wh]), np.array([np.nan])))
    true_wh = level_wh[down].sum() - rise_wh
    assert true_wh < -200
    day = energies.under(EQ8_CONDITIONS)
    planner = Planner(network, CAR, energies)
    route = planner.plan("start", "end").routes["energy"]
    assert day.mean_wh[down[0]] < 0
    assert planner.numbers.held_wh.max() < 1e-6  # the search counts what was learned
    assert route.edge_wh[1] == pytest.approx(day.mean_wh[down[0]])
    assert route.energy_forecast.mean_wh == pytest.approx(route.energy_wh)
    posterior = day.posterior()
    off = abs(day.mean_wh[down[0]] - true_wh)
    assert off < 2 * posterior.std_wh[down[0]] + 2 * 20 / np.sqrt(15)
    learned = energies.belief.coefficients
    assert (
        energies.row(MeasuredTrip("d", np.array(down), np.zeros(1), np.full(1, np.nan))) @ learned
        < 0
    )


def test_columns_of_a_field_do_not_change_the_posterior() -> None:
    prior = coefficient_prior(CAR)
    plain, wide = TripBelief(prior), TripBelief(prior, heights=100.0)
    rng = np.random.default_rng(3)
    for i in range(12):
        km = rng.uniform(1, 9)
        row = np.zeros(TURNING)
        row[0], row[UP], row[3] = km, 10 * km, 2 * km
        wh = rng.normal(150 * km, 30)
        plain.learn(row, wh)
        wide.widen(1 if i % 3 == 0 else 0)
        wide.learn(np.append(row, np.zeros(len(wide.column) - TURNING)), wh)
        mean, root = wide.regression.mean, wide.regression.root
        np.testing.assert_allclose(mean[:TURNING], plain.regression.mean, rtol=1e-9)
        assert mean[TURNING:] == pytest.approx(np.zeros(len(mean) - TURNING))
        covariance = (root @ root.T)[TURNING:, TURNING:]
        assert covariance == pytest.approx(100.0**2 * np.eye(len(mean) - TURNING))


def test_asking_about_a_trip_to_new_places_changes_nothing(grid) -> None:
    """Against the dense belief: one whose landmarks the ends of the trip are already."""
    rng = np.random.default_rng(5)
    energies, admitted = (TripEnergies(Setting(grid, CAR), physics="eq8") for _ in range(2))
    for i in range(6):
        edge = walk(grid, rng, 8)
        wh = np.full(8, rng.normal(60.0, 20.0))
        trip = MeasuredTrip(str(i), edge, wh, np.full(8, 40.0), start_m=50.0, end_m=100.0)
        before = {name: np.copy(part) for name, part in energies.state().items()}
        expected = energies.expected(trip)
        for name, part in energies.state().items():
            np.testing.assert_array_equal(part, before[name], err_msg=name)
        admitted.belief.widen(admitted.places.admit_ends(edge))
        of_admitted = admitted.expected(trip)
        assert [*expected.values()] == pytest.approx([*of_admitted.values()], rel=1e-9)
        energies.learn(trip)
        admitted.learn(trip)
    assert len(energies.places.junctions) >= 4
