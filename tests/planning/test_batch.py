"""Batches: the same routes as one by one, whichever end is shared."""

from itertools import pairwise

import numpy as np
import pytest

from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError, NoRouteError
from evroute.network.catalog import load_network
from evroute.planning.planner import Planner


@pytest.fixture(scope="module")
def denver() -> Planner:
    return Planner(load_network("denver"), load_vehicle("reference"), physics="eq8")


def one_by_one(planner: Planner, origin: int, destination: int) -> tuple[float, float, float]:
    try:
        route = planner.plan(origin, destination).routes["energy"]
    except NoRouteError:
        return (np.nan, np.nan, np.nan)
    return route.energy_wh, route.length_m, route.time_s


@pytest.mark.parametrize(
    ("origins", "destinations"), [(40, 40), (3, 40), (40, 3)], ids=["free", "depots", "goals"]
)
def test_every_answer_equals_a_single_plan(denver, origins, destinations) -> None:
    rng = np.random.default_rng(0)
    n = denver.network.n_edges
    origin = rng.choice(n, origins, replace=False)[rng.integers(origins, size=60)]
    destination = rng.choice(n, destinations, replace=False)[rng.integers(destinations, size=60)]
    apart = origin != destination
    origin, destination = origin[apart], destination[apart]
    told = denver.energies(origin, destination)
    pairs = list(zip(origin.tolist(), destination.tolist(), strict=True))
    expected = np.array([one_by_one(denver, *ends) for ends in pairs])
    np.testing.assert_allclose(told.energy_wh, expected[:, 0], atol=1e-6)
    turns = {tuple(turn) for turn in denver.network.turns.tolist()}
    for i, ends in enumerate(pairs):
        edges = told.edges(i).tolist()
        if np.isnan(told.energy_wh[i]):
            assert edges == []
            continue
        assert (edges[0], edges[-1]) == ends
        assert turns.issuperset(pairwise(edges))
        assert told.length_m[i] == pytest.approx(denver.network.length_m[edges].sum())
        assert told.time_s[i] == pytest.approx(denver.time_s[edges].sum())


def test_no_requests_have_no_answers(denver) -> None:
    assert len(denver.energies([], []).energy_wh) == 0


def test_a_request_that_ends_where_it_begins_is_refused(denver) -> None:
    with pytest.raises(EvrouteError, match="request 1: origin and destination are the same edge"):
        denver.energies([1, 2], [2, 2])
