"""Contraction hierarchies: the routes of single searches, with a bound of the rounding."""

from itertools import pairwise

import numpy as np
import pytest
from closures import close
from position_properties import both

from evroute.energy.defaults import KINDS_OF_PHYSICS as PHYSICS
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.network import catalog, contraction, store
from evroute.network.catalog import load_network
from evroute.network.road_network import RoadNetwork
from evroute.planning.batch import Energies
from evroute.planning.places import Places
from evroute.planning.planner import Planner
from evroute.planning.searches import cch
from evroute.planning.searches.cch import Contracted, pays

pytest.importorskip("routingkit_cch")
ROUNDING_WH = 1e-9


@pytest.fixture(scope="module")
def denver() -> RoadNetwork:
    return load_network("denver")


def energies(planner: Planner, ends: np.ndarray, monkeypatch, *, contracted: bool) -> Energies:
    monkeypatch.setattr(
        "evroute.planning.searches.least_energies.pays", lambda *_, built: contracted
    )
    return planner.energies(*ends)


@pytest.mark.parametrize("physics", PHYSICS)
def test_routes_between_positions_equal_the_routes_of_the_search(
    denver, physics, monkeypatch
) -> None:
    """Both directions at both ends have offsets at the sources and targets of one hierarchy."""
    planner, rng, requests = Planner(denver, physics=physics), np.random.default_rng(5), []
    for edges in rng.choice(denver.n_edges, (200, 2)).tolist():
        starts, ends = (
            both(denver, edge, float(rng.uniform(0.05, 0.95) * denver.length_m[edge]))
            for edge in edges
        )
        requests.append(Places(starts, (), ends, ("from", "to")))
    found = []
    for contracted in (False, True):
        monkeypatch.setattr(
            "evroute.planning.searches.least_energies.pays",
            lambda *_, built, paid=contracted: paid,
        )
        found.append(planner.least_energies.between(requests))
    exact, fast = found
    reached = np.isfinite(exact.energy_wh)
    assert reached.sum() > 180
    np.testing.assert_array_equal(np.isfinite(fast.energy_wh), reached)
    excess_wh = (fast.energy_wh - exact.energy_wh)[reached]
    assert excess_wh.min() >= -ROUNDING_WH
    assert (excess_wh <= fast.within_wh[reached] + ROUNDING_WH).all()
    assert not exact.within_wh.any()
    edges = np.diff(fast.start)[reached]
    assert (fast.within_wh[reached] <= (edges + 1) / cch.PER_WH + ROUNDING_WH).all()
    assert fast.within_wh.max() > 0


def random_ends(network: RoadNetwork, number: int) -> np.ndarray:
    origin, ahead = np.random.default_rng(3).integers(1, network.n_edges, size=(2, number))
    return np.array([origin, (origin + ahead) % network.n_edges])


@pytest.mark.parametrize(
    ("name", "physics"),
    [
        *(("denver", physics) for physics in PHYSICS),
        pytest.param("monaco", "eq8", marks=pytest.mark.data),
        pytest.param("luxembourg", "driving", marks=pytest.mark.data),
    ],
)
def test_routes_equal_dijkstra_within_the_stated_rounding(name, physics, monkeypatch):
    network = load_network(name)
    car, ends = load_vehicle("reference"), random_ends(network, 1000)
    planner = Planner(network, car, physics=physics)
    exact, found = (energies(planner, ends, monkeypatch, contracted=each) for each in (False, True))
    assert np.isfinite(exact.energy_wh).sum() > 900
    np.testing.assert_array_equal(np.isnan(found.energy_wh), np.isnan(exact.energy_wh))
    assert not exact.within_wh.any()
    reached = np.isfinite(exact.energy_wh)
    excess_wh = (found.energy_wh - exact.energy_wh)[reached]
    assert excess_wh.min() >= -ROUNDING_WH
    assert np.all(excess_wh <= found.within_wh[reached] + ROUNDING_WH)
    turns = np.diff(found.start)[reached] - 1
    assert np.all(found.within_wh[reached] <= turns / cch.PER_WH + ROUNDING_WH)
    legal = {tuple(turn) for turn in network.turns.tolist()}
    for i in np.flatnonzero(reached)[:200]:
        route = found.edges(i).tolist()
        assert (route[0], route[-1]) == tuple(ends[:, i])
        assert legal.issuperset(pairwise(route))
        arms = planner.space.arms_of_routes(found.edges(i), np.zeros(1, int))
        halt_wh = planner.numbers.halt_wh[route[-1]] if physics == "driving" else 0.0
        assert found.energy_wh[i] == pytest.approx(planner.mean_wh[arms].sum() + halt_wh)


def test_closed_edges_are_avoided_and_long_routes_are_searched(denver) -> None:
    search = Planner(denver, load_vehicle("reference"), physics="eq8").search
    origin, destination = random_ends(denver, 60)
    origin -= origin % 7 == 0  # an open edge
    weights = np.random.default_rng(0).exponential(size=denver.n_edges)
    weights[::7] = np.inf
    for scale in (1.0, 1e6):  # the longer routes then exceed the greatest integer
        edge, start, _ = Contracted(denver, search, scale * weights).routes(origin, destination)
        for i, ends in enumerate(zip(origin.tolist(), destination.tolist(), strict=True)):
            found = edge[start[i] : start[i + 1]]
            try:
                expected = search.route(weights, *ends).rows[1:]
            except EvrouteError:
                assert not len(found)
                continue
            assert weights[found[1:]].sum() == pytest.approx(weights[expected].sum(), abs=0.1)


def test_a_negative_cost_is_refused(denver) -> None:
    weights = np.ones(denver.n_edges)
    weights[5] = -1e-9
    with pytest.raises(ValueError, match="The least is -1e-09"):
        Contracted(
            denver, Planner(denver, load_vehicle("reference"), physics="eq8").search, weights
        )


def test_the_order_is_stored_with_a_network_and_left_without_closed_edges(denver, tmp_path) -> None:
    built = catalog.build(denver.with_tables({}), checked=False)
    store.save(built, tmp_path / "built.npz")
    again = store.load(tmp_path / "built.npz")
    order = contraction.stored_order(again)
    np.testing.assert_array_equal(np.sort(order), np.arange(denver.n_edges))
    closed = np.arange(denver.n_edges) == 40
    left = contraction.stored_order(close(again, closed, "shut"))
    np.testing.assert_array_equal(left, order[order != 40] - (order[order != 40] > 40))
    damaged = denver.with_tables({"cch": {"order": np.zeros(denver.n_edges, dtype=np.int64)}})
    assert contraction.stored_order(damaged) is None
    assert len(
        Planner(damaged, load_vehicle("reference"), physics="eq8")
        .energies(*random_ends(denver, 700))
        .energy_wh
    )


def test_a_hierarchy_pays_for_many_requests_of_many_ends(denver) -> None:
    stored = denver.with_tables(contraction.order_tables(denver))
    plain = denver.with_tables({"cch": {}})
    many, few = np.arange(1000), np.arange(60)
    assert pays(plain, many, many, built=False)
    assert not pays(plain, many % 10, many, built=False)
    assert not pays(plain, few, few, built=False)
    assert pays(stored, few, few, built=False)
    assert pays(plain, few, few, built=True)
    assert not pays(plain, 0 * many, many, built=True)
