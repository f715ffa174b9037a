"""Places that no trip can begin or end at: one line each, with the name of the road."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from evroute.errors import EvrouteError
from evroute.network.coordinates import WGS84, transformer
from evroute.network.road_network import RoadNetwork
from evroute.planning.planner import Planner

X_M, Y_M = 500_000.0, 4_800_000.0


@pytest.fixture
def levels(make_network: Callable[..., RoadNetwork]) -> RoadNetwork:
    """A bridge from west to east over a road to the north, a ramp between, and a one-way end.

    The bridge and the road cross at (500, 0) without a turn.
    """
    ends = {
        "bridge": (0, 1), "bridge back": (1, 0), "valley": (2, 3), "valley back": (3, 2),
        "ramp": (1, 3), "ramp back": (3, 1), "quay": (2, 4),
    }  # fmt: skip
    at_m = [(0, 0, 20), (1000, 0, 20), (500, -500, 0), (500, 500, 0), (500, -900, 0)]
    network = make_network(
        [(name, *pair) for name, pair in ends.items()],
        [(X_M + x, Y_M + y, z) for x, y, z in at_m],
    )
    streets = "High Bridge", "High Bridge", "Low Road", "Low Road", "Ramp", "Ramp", "The Quay"
    return replace(network, street=streets)


def place(east_m: float, north_m: float) -> str:
    lon, lat = transformer("EPSG:32632", WGS84).transform(X_M + east_m, Y_M + north_m)
    return f"{lat:.8f},{lon:.8f}"


def refused(network: RoadNetwork, *places: str, **wishes: Any) -> str:
    """Return the message of a refused plan, which is one line."""
    with pytest.raises(EvrouteError) as error:
        Planner(network, single=True).plan(*places, **wishes)
    message = str(error.value)
    assert "\n" not in message
    return message


def test_a_point_off_the_network_has_its_distance(levels: RoadNetwork) -> None:
    for places in ((place(-2000, 0), "valley"), ("valley", place(-2000, 0))):
        assert "lies 2.0 km from the nearest road of network 'toy' (at most 500 m)" in refused(
            levels, *places
        )


@pytest.mark.parametrize(
    ("east_m", "north_m", "road"), [(497, 2, "High Bridge"), (502, 3, "Low Road")]
)
def test_between_two_levels_the_nearer_road_is_meant_and_named(
    levels: RoadNetwork, east_m: float, north_m: float, road: str
) -> None:
    found = Planner(levels, single=True).plan(place(east_m, north_m), place(900, 2))
    assert found.titles[0] == road
    # without the ramp no way leads from one level to the other
    other = place(500, 300) if road == "High Bridge" else place(900, 2)
    message = refused(levels, place(east_m, north_m), other, avoid=["Ramp"])
    assert message.startswith(f"no legal way leads from {road} to ")


def test_nothing_leads_back_from_the_tip_of_a_one_way_road(levels: RoadNetwork) -> None:
    message = refused(levels, place(500, -900), place(900, 2))
    assert message.startswith("no legal way leads from ")
    assert message.endswith(" to High Bridge")
    behind = refused(levels, place(500, -800), place(500, -600))
    assert behind == "no legal way leads from The Quay to The Quay"


def test_an_avoided_road_is_named_where_a_trip_begins_or_ends_on_it(levels: RoadNetwork) -> None:
    message = refused(levels, place(500, 300), place(300, 0), avoid=["High Bridge"])
    assert message == "no legal way leads from Low Road to High Bridge without the roads to avoid"


def test_both_ends_at_one_point_are_refused_in_one_line_at_a_junction_too(
    levels: RoadNetwork,
) -> None:
    assert refused(levels, place(300, 0), place(300, 0)) == (
        "origin and destination are one point of High Bridge. Choose two places"
    )
    corner = "High Bridge & Ramp"
    assert "'. Choose places further apart" in refused(levels, corner, corner)
