"""Hostile names in a real browser: saved map, report, and every page of the dashboard."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from evroute.energy.vehicle import load_vehicle
from evroute.experiments.experiment import Experiment, simulate
from evroute.network import store
from evroute.network.catalog import keep
from evroute.network.road_network import RoadNetwork
from evroute.network.source import Source
from evroute.planning.battery import Battery
from evroute.planning.planner import Planner
from evroute.report.maps.network_maps import route_map, values_map
from evroute.report.pages.run_page import template

pytestmark = pytest.mark.browser

PATIENCE_MS = 120_000
STILL = """() =>
  document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'
  && !document.querySelector('[data-testid=stSpinner]')"""
NETWORK_FIELDS = (
    *("edge_id", "street", "road_class", "junction_id", "kind", "files", "attribution"),
    *("elevation", "notes"),
)
RUN_FIELDS = ("run", "network", "method", "model", "index", "search", "trip", "world", "prior")
RUN_FIELDS += ("vehicle", "vehicle.name", "configuration key", "configuration", "folder")
ELEMENTS = "x-probe, img[src='x'], [onerror], a[href^='javascript'], img[alt='b']"

expect.set_options(timeout=PATIENCE_MS)


def hostile(network: RoadNetwork, text: Callable[[str], str], **columns: str) -> RoadNetwork:
    """Return the network with a text in each of `NETWORK_FIELDS`, ends of lines included."""
    ids = {
        name: tuple(f"{text(name)}{row}" for row in range(len(getattr(network, name))))
        for name in NETWORK_FIELDS[:4]
    }
    source = {name: f"{text(name)}\nb" for name in ("kind", "attribution", "elevation")}
    notes = {name: (text(name),) for name in ("files", "notes")}
    return replace(network, source=Source(**source, **notes), **(ids | columns))


class Watched:
    """A browser in which nothing may run, ask for another address, or open a dialog."""

    def __init__(self, browser: Any, allowed: tuple[str, ...]) -> None:
        self.wrong: list[str] = []
        self.allowed = (*allowed, "data:", "blob:")
        self.context = browser.new_context(
            viewport={"width": 1300, "height": 1300}, accept_downloads=True
        )
        self.context.set_default_timeout(PATIENCE_MS)
        self.context.route("**/*", self._only_here)
        self.context.on("dialog", self._refuse)

    def _only_here(self, route: Any, request: Any) -> None:
        if request.url.startswith(self.allowed):
            route.continue_()
        else:
            self.wrong.append(f"asked for {request.url}")
            route.abort()

    def _refuse(self, dialog: Any) -> None:
        self.wrong.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def check(self, page: Page) -> None:
        """Check that no text became an element or ran, in any frame of a page."""
        for frame in page.frames:
            assert frame.evaluate("typeof window.__ran") == "undefined"
            found = "e => [...document.querySelectorAll(e)].map(e => e.outerHTML)"
            assert frame.evaluate(found, ELEMENTS) == []
        assert self.wrong == []


@pytest.fixture
def watched(browser: Any) -> Iterator[Callable[..., Watched]]:
    """Offer a browser that may open the given addresses alone."""
    opened: list[Watched] = []

    def watch(*allowed: str) -> Watched:
        opened.append(Watched(browser, allowed))
        return opened[-1]

    yield watch
    for each in opened:
        each.context.close()


def shown(frame: Page, selector: str = "body") -> str:
    """Return the text that is shown, without spaces and word joiners."""
    return re.sub(r"[\s\u2060]", "", "\n".join(frame.locator(selector).all_inner_texts()))


def bare(text: str) -> str:
    return "".join(text.split())


MIDDLE = """path => {
    const at = path.getPointAtLength(path.getTotalLength() / 2);
    const there = at.matrixTransform(path.getScreenCTM());
    return [there.x, there.y];
}"""
OPEN_TOOLTIPS = """() => {
    const maps = Object.values(window).filter(each => window.L && each instanceof L.Map);
    for (const map of maps) map.eachLayer(layer => layer.getTooltip?.() && layer.openTooltip());
    return maps.length;
}"""


def test_a_saved_map_shows_hostile_names_as_text(
    watched: Callable[..., Watched], hill: RoadNetwork, payload: Any
) -> None:
    network = hostile(hill, payload.long)
    car = replace(load_vehicle("reference"), name=payload.long("vehicle"))
    plan = Planner(network, car, physics="eq8").plan(
        0, 5, battery=Battery.of_percent(car.battery_kwh, 50, 1), risk="mean"
    )
    route_map(network, plan).save("map.html")
    browser = watched("file:")
    page = browser.context.new_page()
    page.goto(Path("map.html").resolve().as_uri())
    page.locator("path.leaflet-interactive").first.wait_for(state="attached")
    assert page.evaluate(OPEN_TOOLTIPS) >= 1
    payload.tried("saved map in a browser", "vehicle", *NETWORK_FIELDS)
    browser.check(page)
    assert bare(payload.long("street")) in shown(page, ".leaflet-tooltip")
    assert bare(payload.long("attribution")) in shown(page, ".leaflet-control-attribution")


def test_a_saved_map_of_values_shows_a_hostile_title_as_text(
    watched: Callable[..., Watched], hill: RoadNetwork, payload: Any
) -> None:
    values_map(hill, np.arange(7.0), payload.long("title")).save("map.html")
    browser = watched("file:")
    page = browser.context.new_page()
    page.goto(Path("map.html").resolve().as_uri())
    page.locator("path.leaflet-interactive").first.wait_for(state="attached")
    payload.tried("saved map in a browser", "title")
    browser.check(page)
    for place_of_title in (".evroute-panel", ".leaflet-control-layers-overlays"):
        assert bare(payload.long("title")) in shown(page, place_of_title)


def test_a_report_shows_hostile_names_as_text(
    watched: Callable[..., Watched], payload: Any, tmp_path: Path
) -> None:
    fields = ("title", "lead", "note", "column", "cell", "method", "run", "regret", "key", "value")
    text = {field: payload.long(f"report {field}") for field in fields}
    rows = [{"first": True, "cells": [text["cell"], f"{k}"]} for k in range(20)]
    table = {"columns": [text["column"], "Wh"], "rows": rows}
    about = {text["key"]: text["value"]}
    html = template("page.html.j2").render(
        title=text["title"],
        lead=text["lead"],
        figures=[],
        notes=[text["note"]],
        table=table,
        n_names=1,
        learned=[{"method": text["method"], "run": text["run"], "tables": [table]}],
        manifest=dict.fromkeys(("configuration", "networks", "vehicle", "versions"), about)
        | {"regret": text["regret"]},
    )
    (tmp_path / "report.html").write_text(html, encoding="utf-8")
    browser = watched("file:")
    page = browser.context.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    page.locator("th button").first.click()
    page.locator("input.filter").first.fill("b")
    payload.tried("report in a browser", *(f"report {field}" for field in fields))
    browser.check(page)
    page_text = shown(page)
    for field in set(fields) - {"key", "value"}:
        assert bare(text[field]) in page_text, field


@pytest.fixture(scope="module")
def dashboard_folder(
    tmp_path_factory: pytest.TempPathFactory,
    run_folder: Callable[..., Path],
    hostile_text: Any,
    toy_hill: RoadNetwork,
) -> Iterator[Path]:
    """A dashboard's folder: a kept network, a belief about it and a run folder, all hostile."""
    folder = tmp_path_factory.mktemp("dashboard")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("EVROUTE_CACHE_DIR", str(folder / "cache"))
        network = hostile(toy_hill, hostile_text.long, name="hostile")
        keep(network)
        store.save(replace(network, name="elsewhere"), folder / "upload.npz")
        start, end = network.edge_id[0], network.edge_id[5]
        table = {"trips": {"hostile": [f"{start} to {end}"]}, "methods": ["gp-ts"]}
        simulate(Experiment.model_validate(table | {"horizon": 3, "seeds": 1}), Path("runs/own"))
        hostile_runs = Path("runs", hostile_text.short("folder"))
        run_folder(toy_hill, hostile_runs, hostile_text.long, hostile_text.short)
        yield folder


def place(network: RoadNetwork, edge: int) -> str:
    """Return the middle of a straight edge as LAT,LON."""
    points = slice(network.shape_start[edge], network.shape_start[edge + 1])
    lon, lat = (float(each[points].mean()) for each in network.lon_lat)
    return f"{lat:.6f},{lon:.6f}"


def still(page: Page) -> None:
    page.wait_for_timeout(400)
    page.wait_for_function(STILL)


def drawn(page: Page) -> Locator:
    """Return the map of a page once it is drawn."""
    board = page.locator(".evroute-map")
    board.locator(".leaflet-container").wait_for()
    expect(board).to_have_attribute("data-drawn", re.compile(r"\d+"))
    still(page)
    return board


def hovered(page: Page) -> str:
    """Return the text of the tooltips over the selected route and the pins."""
    board = drawn(page)
    for path in board.locator("path.evroute-selected").all():
        x, y = path.evaluate(MIDDLE)  # a pin may stand there
        page.mouse.move(x, y)
        page.mouse.move(x + 1, y)
        page.wait_for_timeout(250)
        if board.locator(".leaflet-tooltip").count():
            break
    expect(board.locator(".leaflet-tooltip").first).to_be_visible()
    titles = [str(each.get_attribute("title")) for each in board.locator("[title]").all()]
    return shown(page, ".leaflet-tooltip") + bare(" ".join(titles))


@pytest.mark.slow
def test_the_dashboard_shows_hostile_names_as_text(
    watched: Callable[..., Watched],
    dashboard: str,
    dashboard_folder: Path,
    payload: Any,
    toy_hill: RoadNetwork,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(dashboard_folder)
    browser = watched(dashboard)
    page = browser.context.new_page()
    ends = {"from": place(toy_hill, 0), "to": place(toy_hill, 5)}
    run = next(iter((dashboard_folder / "runs/own/parts").iterdir())).stem
    link = {"network": "hostile", "soc": 50, "folder": "own", "run": run}
    page.goto(f"{dashboard}/?{urlencode(ends | link)}")
    still(page)
    expect(page.locator(".evroute-cards button").first).to_be_visible()
    tips = hovered(page)
    page.get_by_role("combobox", name="From").fill(payload.long("street"))
    page.get_by_role("option").first.wait_for()
    payload.tried("page Plan", "belief run", *NETWORK_FIELDS)
    browser.check(page)
    assert bare(payload.long("street")) in tips
    assert bare(payload.long("attribution")) in shown(page, ".evroute-source")
    text = shown(page)
    assert bare(payload.long("street")) in text
    assert bare(payload.long("edge_id")) not in text + tips, "a driver reads no ids"
    page.keyboard.press("Escape")

    page.get_by_role("link", name="Advanced").click()
    expect(page.get_by_text("Data source and its gaps")).to_be_visible()
    expect(page.get_by_text("Roads that differ most from physics")).to_be_visible()
    drawn(page)
    payload.tried("page Network", "belief run", *NETWORK_FIELDS)
    browser.check(page)
    text = shown(page)
    for field in ("kind", "files", "attribution", "elevation", "notes"):
        assert bare(payload.long(field)) in text, field
    assert bare(payload.long("attribution")) in shown(page, ".evroute-source")

    page.get_by_role("link", name="Learn").click()
    expect(page.get_by_role("heading", name="Watch it learn")).to_be_visible()
    still(page)
    page.get_by_role("button", name="With my trip").click()
    page.get_by_text("Methods and worlds").click()
    own = page.get_by_role("textbox", name="Trips as a text")
    own.fill(f"{payload.long('own trip')} to {payload.long('own goal')}")
    own.press("Enter")
    expect(page.get_by_test_id("stAlertContentError").first).to_be_visible()
    still(page)
    payload.tried("page Learn", "own trip", "own goal", *NETWORK_FIELDS)
    browser.check(page)
    assert bare(payload.long("own trip")) in shown(page)

    expect(page.get_by_role("heading", name="Saved runs")).to_be_visible()
    still(page)
    for folder in ("own", payload.short("folder")):
        if not page.get_by_test_id("stMain").get_by_text(folder).count():
            page.get_by_role("combobox", name="Saved runs").click()
            page.get_by_role("option", name=folder, exact=True).click()
            page.keyboard.press("Escape")
            still(page)
    hover_over_a_chart(page, bare(payload.long("method")))
    payload.tried("saved runs", *RUN_FIELDS)
    payload.tried("tooltip of a chart", "method")
    browser.check(page)
    assert bare(payload.long("method")) in shown(page, "#vg-tooltip-element")
    text = shown(page)
    assert bare(payload.long("method")) in text
    assert bare(payload.short("folder")) in text


def hover_over_a_chart(page: Page, text: str) -> None:
    """Open the tooltip of the curve that has a text in it."""
    curves = page.locator("[data-testid=stVegaLiteChart] path[aria-roledescription='line mark']")
    for row in range(curves.count()):
        curves.nth(row).scroll_into_view_if_needed()
        for k in range(10):
            x, y = curves.nth(row).evaluate(MIDDLE)
            page.mouse.move(x + k % 3, y)
            page.wait_for_timeout(250)
            if text in shown(page, "#vg-tooltip-element"):
                return
    pytest.fail("no tooltip over the chart has the text")


@pytest.mark.slow
def test_an_uploaded_network_shows_hostile_names_as_text(
    watched: Callable[..., Watched],
    dashboard: str,
    dashboard_folder: Path,
    payload: Any,
    toy_hill: RoadNetwork,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(dashboard_folder)
    browser = watched(dashboard)
    page = browser.context.new_page()
    ends = {"from": place(toy_hill, 0), "to": place(toy_hill, 5)}
    link = {"network": payload.long("link"), "via": payload.long("t")}
    page.goto(f"{dashboard}/?{urlencode(ends | link)}")
    still(page)
    payload.tried("page Plan", "link network", "link via")
    browser.check(page)
    assert bare(payload.long("t")) in shown(page)
    assert bare(payload.long("link")) in shown(page)
    page.get_by_role("button", name="Denver").click()
    page.get_by_text("Bring your own roads").click()
    upload = page.get_by_test_id("stFileUploaderDropzoneInput").first
    upload.set_input_files("upload.npz")
    page.get_by_role("button", name="Keep this network").click()
    expect(page.get_by_role("button", name="Keep this network")).to_have_count(0)
    still(page)
    browser.check(page)
    page.goto(f"{dashboard}/?{urlencode(ends | {'network': 'elsewhere'})}")
    payload.tried("upload", *NETWORK_FIELDS)
    expect(page.locator(".evroute-cards button").first).to_be_visible()
    assert bare(payload.long("street")) in hovered(page)
    browser.check(page)
    page.get_by_role("link", name="Advanced").click()
    with page.expect_download() as taken:
        page.get_by_role("button", name="Routes (GeoJSON)").click()
    assert re.fullmatch(r"[\w.-]+\.geojson", taken.value.suggested_filename)
    payload.tried("download", *NETWORK_FIELDS)
    features = json.loads(Path(taken.value.path()).read_text(encoding="utf-8"))
    assert features["attribution"] == f"{payload.long('attribution')}\nb"
