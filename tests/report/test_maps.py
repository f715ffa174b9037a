"""Maps: what is in the saved page, and what is not. What a browser makes of it is in
``test_browser``.
"""

import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from evroute import optional
from evroute.door.plan import plan
from evroute.errors import MissingPackageError
from evroute.network.road_network import RoadNetwork
from evroute.report.charts.profile import profiles
from evroute.report.colours import ENERGY_CLASSES, visit_classes
from evroute.report.lines import route_line, thin_lines
from evroute.report.maps.leaflet import embedded
from evroute.report.maps.network_maps import class_lines, route_map, stretches, values_map

LOADED = re.compile(r"""(?:src|href)\s*=\s*["']([^"'#][^"']*)["']""")


def saved(chart, tmp_path: Path) -> str:
    chart.save(str(tmp_path / "map.html"))
    return (tmp_path / "map.html").read_text(encoding="utf-8")


def test_a_route_map_loads_nothing_from_elsewhere(denver: RoadNetwork, tmp_path: Path) -> None:
    page = saved(route_map(denver, plan(denver, trip="A")), tmp_path)
    assert [address[:5] for address in LOADED.findall(page)] == ["data:", "data:"]
    assert len(page) < 600_000


def test_a_route_map_has_routes_units_and_verdict(denver: RoadNetwork, tmp_path: Path) -> None:
    made = plan(denver, trip="A")
    page = saved(route_map(denver, made), tmp_path)
    for text in (
        "least energy: ",
        "fastest: ",
        "shortest: ",
        "Wh per km",
        "height (m)",
        made.verdict,
        "ODbL",
    ):
        assert text in page


def test_routes_that_are_one_are_drawn_once(make_network, tmp_path: Path) -> None:
    only = make_network([("a", 0, 1), ("b", 1, 2)], [(0, 0, 0), (500, 0, 0), (900, 0, 0)])
    page = saved(route_map(only, plan(only, waypoints=("a", "b"))), tmp_path)
    assert "least energy, fastest, shortest: " in page


def test_the_lowest_charge_on_the_way_is_marked(hill: RoadNetwork, tmp_path: Path) -> None:
    end_high = plan(hill, waypoints=("in", "out"), soc_percent=50)
    best = end_high.recommended_route
    page = saved(route_map(hill, end_high), tmp_path)
    assert ("lowest charge" in page) == (best.charge.lowest < len(best.route))
    assert "charge (%)" in page


def test_names_of_streets_are_text_and_never_markup(make_network, tmp_path: Path) -> None:
    from dataclasses import replace

    network = make_network([("a", 0, 1), ("b", 1, 2)], [(0, 0, 0), (500, 0, 0), (900, 0, 0)])
    evil = replace(network, street=("<img src=x onerror=alert(1)>", "`+alert(2)+`${alert(3)}\\"))
    page = saved(route_map(evil, plan(evil, waypoints=("a", "b"))), tmp_path)
    for part in ("<img src=x", "`+alert", "${alert", "}\\"):
        assert part not in page


def test_roads_that_no_route_drove_are_left_out(hill: RoadNetwork) -> None:
    visits = np.array([9, 5, 5, 4, 4, 9, 0])
    classes = visit_classes(9)
    drawn = class_lines(hill, np.where(visits > 0, visits, np.nan), classes)
    shown = [
        label for colour, _, _ in drawn for label in [classes.labels[classes.colours.index(colour)]]
    ]
    assert shown == ["4 to 5", "9"]
    assert class_lines(hill, np.full(7, np.nan), classes) == []


def test_the_embedded_style_holds_its_images() -> None:
    from base64 import b64decode

    style = b64decode(embedded()[1].partition(",")[2]).decode()
    assert "url(images/" not in style
    assert style.count("url(data:image/png;base64,") == 3


def test_the_reserve_is_drawn_only_where_the_charge_comes_near_it(hill: RoadNetwork) -> None:
    def layers(reserve: float) -> int:
        """The band, the charge, and the reserve where it is near."""
        made = plan(
            hill, waypoints=("in", "out"), soc_percent=50, reserve_percent=reserve, risk="mean"
        )
        return len(profiles(hill, made)["charge"].to_dict().get("layer", [None]))

    assert layers(0) == 2
    assert layers(49) == 3


def test_a_missing_folium_names_the_package_to_install(
    hill: RoadNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        optional, "find_spec", lambda name: None if name == "folium" else find_spec(name)
    )
    with pytest.raises(MissingPackageError, match=r"pip install 'evroute\[report\]'"):
        values_map(hill, np.zeros(hill.n_edges), "zero")


def test_values_are_drawn_with_their_legend_and_gaps_stay_grey(
    hill: RoadNetwork, tmp_path: Path
) -> None:
    values = np.linspace(-8.0, 12.0, hill.n_edges)
    values[0] = np.nan
    page = saved(values_map(hill, values, "incline (%)"), tmp_path)
    assert "incline (%)" in page
    assert "below" in page


def test_stretches_cover_the_route_in_order(hill: RoadNetwork) -> None:
    planned = plan(hill, waypoints=("in", "out")).recommended_route
    pieces = list(stretches(hill, planned))
    line = route_line(hill, planned.stretches)
    joined = [point for _, piece, _ in pieces for point in piece]
    assert [point for k, point in enumerate(joined) if k == 0 or point != joined[k - 1]] == line
    assert {colour for colour, _, _ in pieces} <= set(ENERGY_CLASSES.colours)


def test_lines_of_classes_leave_out_edges_without_a_value(hill: RoadNetwork) -> None:
    values = np.full(hill.n_edges, np.nan)
    values[[0, 2]] = 50.0, 250.0
    drawn = class_lines(hill, values, ENERGY_CLASSES)
    assert [(colour, lines) for colour, _, lines in drawn] == [
        (ENERGY_CLASSES.colours[1], thin_lines(hill, np.array([0]))),
        (ENERGY_CLASSES.colours[2], thin_lines(hill, np.array([2]))),
    ]
