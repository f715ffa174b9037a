"""Properties of plans between positions, on a network of hills made by a formula."""

import numpy as np
import position_properties as properties
import pytest

from evroute.planning.planner import Planner


@pytest.fixture(scope="module", params=["eq8", "driving"])
def planner(request: pytest.FixtureRequest) -> Planner:
    return Planner(properties.hills(), "reference", physics=request.param)


def test_hills_have_the_heights_of_the_formula(planner: Planner) -> None:
    network = planner.network
    x_m, y_m = network.x_m[7], network.y_m[7]
    assert network.elevation_m[7] == pytest.approx(properties.height_m(x_m, y_m))
    slopes = np.abs(network.climb_m) / network.length_m
    assert np.quantile(slopes, 0.9) > 0.05
    assert network.ascent_m.sum() > 1.2 * np.maximum(network.climb_m, 0).sum()


def test_a_moved_end_changes_no_row_by_more_than_the_piece(planner: Planner) -> None:
    most, compared = properties.moved(planner, 60)
    assert compared >= 50
    if planner.physics == "eq8":
        assert most.max() <= 1e-9
    else:  # speeds change within the moved piece too
        assert most[1:].max() <= 1e-9
        assert most[0] <= 5.0


def test_two_points_of_one_block_take_the_sum_of_the_pieces_between() -> None:
    steady = Planner(properties.hills(), "reference", physics="eq8")
    assert properties.same_block(steady, 100) <= 1e-9
