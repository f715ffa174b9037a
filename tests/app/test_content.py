"""What the dashboard shows follows from what is in the files now, not from their names."""

import ast
import csv
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from evroute import physics_belief
from evroute.energy.vehicle import load_vehicle
from evroute.learning.learn import learn
from evroute.methods.setting import load_setting
from evroute.network import store
from evroute.network.catalog import cache_dir, keep, load_network
from evroute.planning.planner import Planner
from evroute.resources import app_path, data_path

PATIENCE_S = 600


def opened(page: str, **link: str) -> AppTest:
    found = AppTest.from_file(str(app_path(page)), default_timeout=PATIENCE_S)
    for name, value in link.items():
        found.query_params[name] = value
    return found.run()


def least_kwh(page: AppTest) -> float:
    assert not page.exception
    assert not page.error
    _, plan = page.session_state["last_plan"]
    return float(plan.routes["energy"].energy_wh) / 1000


def measured(path: Path, trips: range, factor: float) -> Path:
    """Write trips that dissipate a multiple of eq. 8."""
    setting = load_setting("denver", "reference")
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["trip", "edge", "energy_wh"])
        for trip in trips:
            route = setting.search.route(setting.network.time_s, 7 * trip, 900 - trip)
            for edge in route.edges:
                energy_wh = factor * setting.prior.dissipated_wh[edge] + setting.potential_wh[edge]
                rows.writerow([trip, setting.network.edge_id[edge], energy_wh])
    return path


def test_a_plan_follows_a_belief_that_learned_more_trips(tmp_path: Path) -> None:
    out = tmp_path / "runs" / "own"
    learn(measured(tmp_path / "a.csv", range(3), 1.1), out, model="factor")
    page = opened("views/plan.py")
    page.selectbox(key="folder/0").set_value("own").run()
    before = least_kwh(page)
    assert least_kwh(page.run()) == before
    learn(measured(tmp_path / "b.csv", range(3, 33), 1.6), out, model="factor")
    assert least_kwh(page.run()) > 1.1 * before


def test_a_plan_follows_a_network_that_was_built_again_under_its_name() -> None:
    roads = replace(load_network("denver"), name="mine")
    path = keep(roads)
    try:
        page = AppTest.from_file(str(app_path("views/plan.py")), default_timeout=PATIENCE_S)
        page.query_params["network"] = "mine"
        page.query_params["from"], page.query_params["to"] = roads.edge_id[3], roads.edge_id[900]
        before = least_kwh(page.run())
        keep(replace(roads, speed_mps=1.5 * roads.speed_mps))
        assert least_kwh(page.run()) > 1.005 * before
    finally:
        path.unlink()


def test_networks_that_differ_in_names_or_shapes_alone_are_told_apart() -> None:
    from cache import BY_DIGEST

    roads = load_network("denver")
    (digest_of,) = BY_DIGEST.values()
    others = [
        replace(roads, name="other"),
        replace(roads, shape_x_m=roads.shape_x_m + 1.0),
        replace(roads, street=("Other street", *roads.street[1:])),
    ]
    assert len({digest_of(each) for each in (roads, *others)}) == 4
    assert len({each.digest for each in (roads, *others)}) == 1


@pytest.mark.parametrize("name", ["denver", "kept"])
def test_an_upload_named_like_a_network_that_is_here_is_refused_in_one_line(
    tmp_path: Path, name: str
) -> None:
    roads = load_network("denver")
    path = keep(replace(roads, name="kept"))
    try:
        store.save(replace(roads, name=name, speed_mps=np.full(1330, 5.0)), tmp_path / "a.npz")
        page = opened("views/plan.py")
        content = (tmp_path / "a.npz").read_bytes()
        page.file_uploader[0].set_value(("a.npz", content, "application/zip")).run()
        assert not page.exception
        assert page.error[0].value.startswith(f"The file holds a network '{name}', and one of that")
        assert "\n" not in page.error[0].value
        assert least_kwh(page.run()) > 0
        assert "uploaded" not in page.session_state
    finally:
        path.unlink()


def test_an_upload_of_a_new_name_is_planned_on(tmp_path: Path, asked: Any) -> None:
    content = data_path("denver", "network.npz").read_bytes()
    path = tmp_path / "a.npz"
    path.write_bytes(content)
    flat = np.zeros_like(store.load(path).elevation_m)
    store.save(replace(store.load(path), name="valley", elevation_m=flat), path)
    page = opened("views/plan.py")
    page.file_uploader[0].set_value(("a.npz", path.read_bytes(), "application/zip")).run()
    assert not page.exception
    assert asked(page, "selectbox", "network").value == "valley"
    assert "no heights" in page.warning[0].value
    assert any("until a reload" in each.value for each in page.caption)
    page.button(key="keep_network").click().run()
    try:
        assert not page.exception
        again = opened("views/plan.py", network="valley")
        assert asked(again, "selectbox", "network").value == "valley"
    finally:
        (cache_dir() / "networks" / "valley.npz").unlink()


def test_minutes_of_a_plan_with_stops_lie_in_their_interval(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(app_path("")))
    from cards import time_interval

    driven = SimpleNamespace(numbers=lambda: {"low90_s": 240.0, "high90_s": 600.0})
    stops = [SimpleNamespace(time_s=330.0), SimpleNamespace(time_s=390.0)]
    route = SimpleNamespace(energy_forecast=driven, stops=stops)
    made = SimpleNamespace(routes={"charge": route}, minutes_from="trips")
    assert time_interval(made, route) == (16.0, 22.0)


PAGES = [app_path("streamlit_app.py"), *sorted(app_path("views").glob("*.py"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_no_bare_string_that_streamlit_would_write(page: Path) -> None:
    _, *others = ast.parse(page.read_text(encoding="utf-8")).body
    bare = [each.value for each in others if isinstance(each, ast.Expr)]
    assert [each.lineno for each in bare if isinstance(each, ast.Constant)] == []


def test_rows_of_one_route_share_a_card_before_the_first_trip(make_network) -> None:
    from cards import cards_of, distinct_rows

    line = make_network(
        [(f"{k}", k, k + 1) for k in range(3)], [(1000.0 * k, 0.0, 0.0) for k in range(4)]
    )
    planner = Planner(line, load_vehicle(), uncertainty=physics_belief(line, load_vehicle()))
    plan = planner.plan("0", "2", soc=40)
    assert plan.recommended_route.charge_forecast is not None
    assert list(distinct_rows(plan)) == [plan.recommended]
    (card,) = cards_of(line, plan, [plan.recommended], plan.recommended)
    assert card["title"] == "Recommended, also the fastest and the shortest"
    assert card["reason"] == "No route is faster or takes less energy."
    (card,) = cards_of(line, plan, [plan.recommended], plan.recommended, refuses=True)
    assert card["title"] == "Recommended, also the shortest"
    assert card["reason"] == "No route that keeps the charge is faster or takes less energy."
    itself = replace(plan, recommended="time", routes={"time": plan.routes["time"]})
    (card,) = cards_of(line, itself, ["time"], "time")
    assert card["title"] == "Recommended, also the fastest"
