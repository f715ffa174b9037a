"""Search problems on small networks."""

from collections.abc import Callable

import numpy as np
import pytest

from evroute.arrays import FloatArray
from evroute.energy.longitudinal import potential_wh
from evroute.energy.vehicle import load_vehicle
from evroute.network.line_graph import LineGraph
from evroute.network.road_network import RoadNetwork
from evroute.planning.charge.charge_functions import ChargeFunctions
from evroute.planning.searches.legs import Legs
from evroute.planning.searches.search import Search
from evroute.planning.searches.search_problem import SearchProblem


@pytest.fixture(params=[True, False], ids=["compiled", "scipy"])
def problem_of(request: pytest.FixtureRequest) -> Callable[..., SearchProblem]:
    """Return a function that makes the search problem of a request over the edges of a network."""
    if request.param:
        pytest.importorskip("numba")

    def make(network: RoadNetwork, energy_wh: FloatArray, *stops: int) -> SearchProblem:
        height_wh = potential_wh(load_vehicle("reference"), network.elevation_m)
        search = Search(LineGraph.from_network(network), compiled=request.param)
        return SearchProblem(
            Legs.over(search, stops, lambda route: route.rows),
            network.time_s,
            network.length_m,
            ChargeFunctions.of_one_step(energy_wh),
            lambda: np.ones(network.n_edges),
            height_wh[network.tail],
            height_wh[network.head],
        )

    return make
