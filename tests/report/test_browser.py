"""Saved maps and pages in a real browser with the network cut off."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evroute.door.plan import plan
from evroute.experiments.runs import RunFolder
from evroute.network.road_network import RoadNetwork
from evroute.report.colours import ENERGY_CLASSES
from evroute.report.maps.network_maps import route_map, values_map
from evroute.report.pages.run_page import build_page, template

pytestmark = pytest.mark.browser


@pytest.fixture
def opened(browser: Any) -> Iterator[object]:
    """A page without internet; the test fails if it asks for anything but the file, or
    complains.
    """
    context = browser.new_context(offline=True, viewport={"width": 1200, "height": 800})
    page = context.new_page()
    asked, complaints = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on(
        "console",
        lambda message: complaints.append(message.text) if message.type == "error" else None,
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    assert [url[:90] for url in asked if not url.startswith(("file:", "data:"))] == []
    assert complaints == []
    context.close()


def test_a_route_map_draws_offline(opened, denver: RoadNetwork, tmp_path: Path) -> None:
    target = tmp_path / "map.html"
    route_map(denver, plan(denver, trip="A", soc_percent=80)).save(str(target))
    opened.goto(target.as_uri())
    lines = opened.locator("path.leaflet-interactive")
    lines.first.wait_for(state="attached")
    assert lines.count() > 10
    assert opened.locator(".leaflet-control-layers-overlays label").count() == 5
    assert opened.locator(".leaflet-tile").count() == 0
    assert opened.locator(".evroute-strip svg").count() == 2
    # all of the start mark lies in the window: the map is fitted to the routes
    box = opened.locator("path[fill='#ffffff']").bounding_box()
    assert 0 < box["x"] < 1200
    assert 0 < box["y"] < 800


def test_hovering_over_the_route_shows_the_energy_of_a_stretch(
    opened, denver: RoadNetwork, tmp_path: Path
) -> None:
    target = tmp_path / "map.html"
    route_map(denver, plan(denver, trip="A")).save(str(target))
    opened.goto(target.as_uri())
    opened.locator("path.leaflet-interactive").first.wait_for(state="attached")
    colour = ENERGY_CLASSES.colours[1]  # 0 to 200 Wh per km
    middle = opened.locator(f"path.leaflet-interactive[stroke='{colour}']").first.evaluate(
        """path => {
            const point = path.getPointAtLength(path.getTotalLength() /
            2).matrixTransform(path.getScreenCTM()); return [point.x, point.y];
        }"""
    )
    opened.mouse.move(*middle, steps=3)
    assert "Wh per km" in opened.locator(".leaflet-tooltip").inner_text()


def test_a_map_of_values_draws_offline(opened, hill: RoadNetwork, tmp_path: Path) -> None:
    target = tmp_path / "map.html"
    values_map(hill, hill.elevation_m[hill.head], "height (m)").save(str(target))
    opened.goto(target.as_uri())
    opened.locator("path.leaflet-interactive").first.wait_for(state="attached")
    assert opened.locator(".evroute-panel").inner_text().startswith("height (m)")


def test_a_report_shows_its_figures_offline(opened, run_folder: RunFolder, tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    target.write_text(build_page(run_folder).html, encoding="utf-8")
    opened.goto(target.as_uri())
    drawn = opened.evaluate(
        "[...document.images].map(image => image.complete && image.naturalWidth > 100)"
    )
    assert drawn == [True] * 5


def test_the_tables_of_a_page_sort_by_a_heading_and_filter_by_words(opened, tmp_path: Path) -> None:
    rows = [{"first": True, "cells": [f"m{k % 2}", f"{k:,}"]} for k in (1000, 7, *range(20, 40))]
    rows.append({"first": False, "cells": ["m3", ""]})
    table = {"columns": ["method", "regret (Wh)"], "rows": rows}
    manifest = {"regret": "", "configuration": {}, "networks": {}, "vehicle": {}, "versions": {}}
    told = {
        "title": "t",
        "lead": "l",
        "figures": [],
        "notes": [],
        "table": table,
        "n_names": 1,
        "manifest": manifest,
    }
    target = tmp_path / "report.html"
    target.write_text(template("page.html.j2").render(**told), encoding="utf-8")
    opened.goto(target.as_uri())
    heading = opened.locator("th button", has_text="regret")
    seen = []
    for _ in range(2):
        heading.click()
        seen.append(
            [cell.strip() for cell in opened.locator("tbody td:nth-child(2)").all_text_contents()]
        )
    assert (seen[0][0], seen[0][-2:]) == ("7", ["1,000", ""])
    assert (seen[1][0], seen[1][-2:]) == ("1,000", ["7", ""])
    opened.locator("input.filter").fill("m1")
    assert opened.locator("tbody tr:visible").count() == 11
    assert opened.locator("output").text_content() == "11 of 23 rows"
