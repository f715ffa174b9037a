"""Page My car: own trips are learned, kept for the car, used in any weather, and undone."""

import csv
import json
import re
import zipfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from shutil import copytree
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from closures import close
from streamlit.testing.v1 import AppTest

from evroute.door.plan import plan
from evroute.energy import vehicle as vehicle_module
from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.learning.belief import load_belief
from evroute.learning.findings import recent
from evroute.learning.learn import learn
from evroute.learning.records.parts import read_parts
from evroute.methods.setting import Setting, load_setting
from evroute.network.catalog import keep, load_network
from evroute.planning.planner import Planner
from evroute.resources import app_path
from evroute.tables import read_columns

PATIENCE_S = 600
FACTOR, SLOWER = 1.5, 1.4


@pytest.fixture
def setting() -> Setting:
    return load_setting("denver", "reference")


def log(path: Path, setting: Setting, trips: range) -> Path:
    """Write trips that dissipate 1.5 times and last 1.4 times as much as by physics."""
    network, prior = setting.network, setting.prior
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["trip", "edge", "energy_wh", "travel_s"])
        for trip in trips:
            route = setting.search.route(network.time_s, 7 * trip, 900 - trip)
            for edge in route.edges:
                energy_wh = FACTOR * prior.dissipated_wh[edge] + setting.potential_wh[edge]
                travel_s = SLOWER * network.time_s[edge]
                rows.writerow([trip, network.edge_id[edge], energy_wh, travel_s])
        rows.writerow(["odd", "nowhere", 1, 1])
    return path


def opened(page: str, **state: Any) -> AppTest:
    """Open a page in a new session."""
    found = AppTest.from_file(str(app_path(f"views/{page}.py")), default_timeout=PATIENCE_S)
    if page == "plan" and "stops" not in state:
        state["trip"] = "A"
    for name, value in state.items():
        found.session_state[f"kept_{name}"] = value
    found.run()
    assert not found.exception
    return found


def add(page: AppTest, path: Path) -> None:
    page.file_uploader[-1].set_value((path.name, path.read_bytes(), "text/csv"))
    next(each for each in page.button if each.label == "Learn these trips").click().run()
    assert not page.exception


def card(page: AppTest) -> dict[str, Any]:
    (shown,) = (
        json.loads(each.proto.json)
        for each in page.get("bidi_component")
        if each.proto.component_name == "evroute_cards"
    )
    assert not page.error
    return dict(shown["cards"][0])


def basis(page: AppTest) -> str:
    """Return the basis of the plans. Before any trip there is nothing to choose."""
    boxes = (str(each.value) for each in page.selectbox if each.label == "Based on")
    return next(boxes, "physics alone")


def least_wh(page: AppTest) -> float:
    return float(page.session_state["last_plan"][1].routes["energy"].energy_wh)


def test_own_trips_of_a_car_are_kept_used_in_any_weather_and_undone(
    tmp_path: Path, setting: Setting
) -> None:
    # a plan by physics before the first trip
    page = opened("car", vehicle="reference", folder="physics alone")
    cold = DrivingConditions(temperature_c=-10.0)
    planned = partial(plan, "denver", trip="A", soc_percent=80, vehicle="reference")
    physics, in_cold = (each.routes["energy"] for each in (planned(), planned(conditions=cold)))
    assert "No trips of this car yet" in page.info[0].value
    add(page, log(tmp_path / "first.csv", setting, range(12)))
    assert page.success[0].value == r"first.csv\: learned 12 trips."
    assert page.dataframe[0].value["trip"].tolist() == ["odd"]
    assert "no edge 'nowhere'" in page.dataframe[0].value["reason"][0]
    (folder,) = (tmp_path / "runs").iterdir()
    rows = read_columns(folder / "trips.parquet")
    assert recent(rows).capitalize() in page.header[0].value.replace("\\", "")
    assert any("Wh/km at your usual speed" in each.value for each in page.markdown)
    assert any("Plans of this car use them" in each.value for each in page.markdown)
    assert any("no saving is measured" in each.value for each in page.markdown)
    (tmp_path / "wrong.csv").write_text("from,to\nA,B\n")
    add(page, tmp_path / "wrong.csv")
    assert page.error[0].value.startswith(r"wrong.csv\: has no column 'trip'")

    later = opened("plan", vehicle="reference")  # another session: a reload
    assert basis(later) == folder.name
    assert least_wh(later) > 1.2 * physics.energy_wh
    (took,) = (each for each in card(later)["numbers"] if " min (" in each)
    low, high = took.split("(")[1].split(")")[0].split("-")
    trip_min = later.session_state["last_plan"][1].recommended_route.time_s / 60
    assert float(low) < trip_min < float(high)
    later.slider(key="temperature/0").set_value(-10).run()
    assert least_wh(later) > in_cold.energy_wh + 0.05 * physics.energy_wh
    later.session_state["kept_vehicle"] = "renault-zoe"
    later.run()
    assert basis(later) == "physics alone"

    add(page, log(tmp_path / "second.csv", setting, range(12, 15)))
    assert read_columns(folder / "trips.parquet").num_rows == 15
    page.button(key="undo").click().run()
    assert not page.exception
    assert str(read_columns(folder / "trips.parquet")) == str(rows)
    page.button(key="forget").click().run()
    assert "No trips of this car yet" in page.info[0].value
    later.session_state["kept_vehicle"] = "reference"
    later.run()
    assert least_wh(later) == pytest.approx(in_cold.energy_wh)
    assert len(list(folder.glob("reset-*/measured/*.parquet"))) == 2, "nothing is lost"


@pytest.mark.parametrize(
    ("driven_wh", "doubt_wh", "verdict"),
    [
        (1700.0, 210.0, "within the 90 % band of the plan, {low} to {high} kWh"),
        (
            2080.0,
            210.0,
            "outside the 90 % band of the plan, {low} to {high} kWh, by less than the doubt of the "
            "reading",
        ),
        (2080.0, 30.0, "outside the 90 % band of the plan, {low} to {high} kWh"),
    ],
)
def test_a_drive_outside_the_band_is_not_within_it(
    driven_wh: float, doubt_wh: float, verdict: str
) -> None:
    """The band of the charge, 50 % less 1.41 to 1.96 kWh of a battery of 10 kWh, by hand."""
    from after_trip import judgement

    charge = SimpleNamespace(charge_wh=np.array([5000.0, 5000.0 - 1680.0]))
    forecast = SimpleNamespace(band_percent=np.array([[50.0, 50.0], [30.4, 35.9]]))
    planned: Any = SimpleNamespace(energy_wh=1680.0, charge=charge, charge_forecast=forecast)
    _, shown = judgement(planned, 10_000.0, driven_wh, doubt_wh)
    assert shown == verdict.format(low="1.41", high="1.96")


def test_a_trip_entered_after_the_drive_is_learned_unless_it_is_impossible(
    tmp_path: Path,
) -> None:
    page = opened("plan", vehicle="reference", with_temperature=True, temperature=0, soc=60)
    before = least_wh(page)
    page.session_state["tab"] = "Arrived"
    page.run()
    assert page.button(key="add_trip").disabled, "nothing was entered"
    page.number_input(key="drove").set_value(900.0).run()
    page.button(key="add_trip").click().run()
    assert "impossible" in page.error[0].value
    assert page.error[0].value.startswith("A road of"), "no id of an edge"
    assert not list((tmp_path / "runs").glob("*/measured/*.parquet"))
    planned_wh = page.session_state["last_plan"][1].recommended_route.energy_wh
    page.number_input(key="drove").set_value(0.5)
    page.button(key="add_trip").click().run()
    assert not page.exception
    assert basis(page).startswith("my-reference-denver")
    assert least_wh(page) > before
    assert len(page.success) == 1, "green is for the trip, not for its numbers"
    kept = " ".join(each.value for each in page.markdown).replace("\\", "")
    assert f"Planned {planned_wh / 1000:.2f} kWh, driven 0.50 ± 0.03 kWh" in kept, (
        "as it was planned"
    )
    assert re.search(r"(Within|Outside) the 90 % band of the plan, -?[\d.]+ to [\d.]+ kWh", kept)
    page.button(key="add_another").click().run()
    page.number_input(key="drove").set_value(None)
    page.number_input(key="arrived").set_value(60).run()
    page.button(key="add_trip").click().run()  # by the charge, which fell by less than a step
    (part, coarse) = sorted((tmp_path / "runs").glob("*/measured/*.parquet"))
    columns = read_columns(part)
    assert sum(columns["energy_wh"].to_pylist()) == pytest.approx(500)
    assert columns["temperature_c"][0].as_py() == 0
    assert columns["soc_percent"][0].as_py() == pytest.approx(60)
    step_wh = page.session_state["last_plan"][1].battery.capacity_wh / 100
    assert read_columns(coarse)["known_variance_wh2"][0].as_py() == pytest.approx(step_wh**2 / 6)


def test_after_a_trip_the_planned_positions_are_learned(tmp_path: Path) -> None:
    from own_trips import add_planned

    planner = Planner(load_network("denver"), "reference")
    planned = planner.plan("39.7421,-104.9813", "39.7537,-104.9928").fastest
    assert planned.route.start_m > 1.0
    learned = add_planned(
        planner.network,
        planner,
        planned,
        start_percent=60.0,
        energy_wh=500.0,
        known_variance_wh2=4.0,
        travel_s=400.0,
    )
    (part,) = sorted((tmp_path / "runs").glob("*/measured/*.parquet"))
    columns = read_columns(part).to_pydict()
    assert {*columns["start_m"]} == {planned.route.start_m}
    assert {*columns["end_m"]} == {planned.route.end_m}
    assert (sum(columns["energy_wh"]), sum(columns["travel_s"])) == pytest.approx((500.0, 400.0))
    (row,) = learned.trips.to_pylist()
    assert row["length_m"] == pytest.approx(planned.length_m)
    assert row["predicted_wh"] == pytest.approx(planned.energy_wh, rel=0.3)


def test_a_road_on_which_the_car_charges_is_learned_once(tmp_path: Path) -> None:
    from own_trips import add_planned

    roads = load_network("denver")
    lat, lon = 39.7437, -104.9850
    table = {
        "name": ("post",),
        "lon": np.array([lon]),
        "lat": np.array([lat]),
        "kw": np.array([22]),
    }
    roads = roads.with_tables({"chargers": table | {"socket": ("ac",), "assumed": ("",)}})
    planner = Planner(roads, replace(load_vehicle("reference"), battery_kwh=3.0, ac_kw=22.0))
    ends = "39.7421,-104.9813", "39.762,-104.978"
    planned = planner.plan(*ends, soc=4.5, reserve=2, charge=True, risk="mean").fastest
    (pause,) = planned.route.pauses
    trip = {"start_percent": 60.0, "energy_wh": 500.0, "known_variance_wh2": 4.0, "travel_s": 400.0}
    back = replace(planned.route, pauses=(pause._replace(from_m=1.0),))
    with pytest.raises(EvrouteError, match="turns round at a charging station"):
        add_planned(roads, planner, replace(planned, route=back), **trip)
    add_planned(roads, planner, planned, **trip)
    (part,) = sorted((tmp_path / "runs").glob("*/measured/*.parquet"))
    columns = read_columns(part).to_pydict()
    assert len(columns["edge"]) == len(planned.edges) - 1
    assert sum(columns["energy_wh"]) == pytest.approx(500)


def test_the_recent_trips_are_counted_by_hand(tmp_path: Path, setting: Setting) -> None:
    learned = learn(log(tmp_path / "a.csv", setting, range(25)), tmp_path / "runs" / "a")
    late = learned.trips.to_pandas().tail(20)
    error = (late["energy_wh"] - late["predicted_wh"]).abs().sum() / late["energy_wh"].sum()
    of_physics = (late["energy_wh"] - late["eq8_wh"]).abs().sum() / late["energy_wh"].sum()
    held = np.sum(late["energy_wh"].between(late["low90_wh"], late["high90_wh"]))
    assert recent(learned.trips) == (
        f"forecasts are {100 * error:.0f} % off, physics alone {100 * of_physics:.0f} % "
        f"(last 20 trips), 90 % intervals held {held} of 20"
    )


def test_a_saving_is_measured_where_both_routes_were_driven_and_else_expected(
    tmp_path: Path, setting: Setting
) -> None:
    """Two trips on each of two routes, of which the second takes 100 Wh more by hand."""
    from savings import savings

    network = setting.network
    ends = 7, 900
    routes = [setting.search.route(each, *ends) for each in (network.time_s, network.length_m)]
    assert routes[0].edges != routes[1].edges
    path, learned = tmp_path / "log.csv", []
    for order in ((0, 0, 0, 0), (0, 0, 1, 1)):
        with path.open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["trip", "edge", "energy_wh"])
            for trip, k in enumerate(order):
                for edge in routes[k].edges:
                    energy_wh = (1500.0 + 100.0 * k) / len(routes[k].edges)
                    rows.writerow([trip, network.edge_id[edge], energy_wh])
        folder = tmp_path / f"learned-{order[-1]}"
        learn(path, folder, vehicle="reference")
        belief = load_belief(folder, network=network)
        trips = list(read_parts(folder, network).values())
        planner = Planner(network, "reference", belief)
        learned.append(savings(planner, belief, trips))
    (expected,), (measured,) = learned
    assert "(4 times)" in expected
    assert "expected" in expected
    assert "measured +100 ± 0 Wh" in measured


def test_departures_are_compared_by_the_trips_that_were_driven_at_them(
    tmp_path: Path, setting: Setting
) -> None:
    """In the morning the roads take three times as long as at night, by hand."""
    from departures import UNKNOWN, departures

    network = setting.network
    route = setting.search.route(network.time_s, 7, 900)
    ends = network.edge_id[7], network.edge_id[900]
    path = tmp_path / "log.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["trip", "edge", "energy_wh", "travel_s", "departed_s"])
        for trip in range(12):
            hour, slower = ((9, 3.0), (3, 1.0))[trip % 2]
            for edge in route.edges:
                travel_s = slower * network.time_s[edge]
                rows.writerow([trip, network.edge_id[edge], 50.0, travel_s, 3600 * hour])
    learn(path, tmp_path / "learned", vehicle="reference")
    alone = Planner(network, "reference")
    assert departures(alone, alone.plan(*ends)) == UNKNOWN
    planner = Planner(network, "reference", load_belief(tmp_path / "learned", network=network))
    words = departures(planner, planner.plan(*ends))
    minutes = [float(each) for each in re.findall(r"([0-9.]+) min", words)]
    assert len(minutes) == 4
    night, morning, afternoon, evening = minutes
    assert night < afternoon == evening < morning, "no trip was driven after noon"


def trips_shown(page: AppTest) -> int:
    """Return the number of trips that the heading of a changed car, or its table, has."""
    return len(page.dataframe[0].value)


def test_a_corrected_number_and_a_closed_road_lose_no_trip(
    tmp_path: Path, setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    roads = replace(setting.network, name="mine")
    kept = keep(roads)
    try:
        page = opened("car", vehicle="reference", network="mine", folder="physics alone")
        add(page, log(tmp_path / "first.csv", setting, range(5)))
        (folder,) = (tmp_path / "runs").iterdir()
        assert folder.name == "my-reference-mine"
        driven = {row for path in folder.glob("routes/*") for row in driven_rows(path)}
        unused = next(row for row in range(roads.n_edges) if row not in driven)
        closed = np.arange(roads.n_edges) == unused
        keep(close(roads, closed, "mine"))
        corrected = replace(load_vehicle("reference"), mass_kg=1800.0)
        cars = vehicle_module.catalogue() | {"reference": corrected}
        monkeypatch.setattr(vehicle_module, "catalogue", lambda: cars)

        later = opened("car", vehicle="reference", network="mine")
        assert "5 trips of this car" in later.header[0].value
        assert trips_shown(later) == 5
        plan_page = opened("plan", vehicle="reference", network="mine")
        assert basis(plan_page) == "physics alone"
        assert any("wait on the page My car" in each.value for each in plan_page.caption)
        later.button(key="renew").click().run()
        assert not later.exception
        assert read_columns(folder / "trips.parquet").num_rows == 5
        assert any("Plans of this car use them" in each.value for each in later.markdown)
        assert basis(opened("plan", vehicle="reference", network="mine")) == folder.name
        assert len(list(folder.glob("renewed-*/beliefs/*.npz"))) == 1, "nothing is lost"
    finally:
        kept.unlink()


def test_trips_go_with_the_car_over_a_closed_road_and_to_another_city(
    tmp_path: Path, setting: Setting
) -> None:
    roads = setting.network
    kept = [keep(replace(roads, name=name)) for name in ("mine", "other")]
    try:
        page = opened("car", vehicle="reference", network="mine", folder="physics alone")
        add(page, log(tmp_path / "first.csv", setting, range(12)))
        (folder,) = (tmp_path / "runs").iterdir()
        row = driven_rows(next(folder.glob("routes/*")))[0]
        places = {"stops": [roads.edge_id[30], roads.edge_id[900]]}
        keep(close(roads, np.arange(roads.n_edges) == row, "mine"))
        for name in ("mine", "other"):
            shown = opened("plan", vehicle="reference", network=name, **places)
            assert not shown.error
            assert basis(shown) == folder.name
            _, with_trips = shown.session_state["last_plan"]
            here = load_network(name)
            belief = load_belief(folder, network=here)
            expected = plan(
                here,
                waypoints=places["stops"],
                vehicle="reference",
                belief=belief,
                soc_percent=80,
                reserve_percent=10,
            )
            found_wh = with_trips.routes["energy"].energy_wh
            assert found_wh == pytest.approx(expected.routes["energy"].energy_wh)
            assert with_trips.routes["energy"].energy_forecast is not None
        later = opened("car", vehicle="reference", network="mine")
        assert not later.error
        assert len(later.dataframe[0].value) == 12
    finally:
        for path in kept:
            path.unlink()


def driven_rows(path: Path) -> list[int]:
    return read_columns(path)["edge"].to_pylist()


def test_a_number_that_the_driver_changes_makes_another_car(setting: Setting) -> None:
    from own_trips import folder_of

    usual = load_vehicle("reference")
    with_box = replace(usual, drag=usual.drag + 0.1)
    names = {folder_of(setting.network, car).path.name for car in (usual, with_box)}
    assert names == {"my-reference-denver", f"my-reference-drag-{with_box.drag:g}-denver"}


LOCKED = Path(__file__).parents[1] / "compat" / "locked" / "departed"
"""A folder of an earlier version that a trip with an odd number locked."""


def own_folder(place: Path) -> Path:
    """Return a copy of the locked folder as that of the default car on Denver."""
    return copytree(LOCKED, place / "runs" / "my-nissan-leaf-40-denver")


def undone(folder: Path) -> list[str]:
    return [path.name for path in folder.glob("reset-*/measured/*.parquet")]


def test_an_archive_is_learned_and_one_that_unpacks_too_far_is_refused(
    tmp_path: Path, setting: Setting
) -> None:
    table = log(tmp_path / "log.csv", setting, range(4))
    for name, content in {"logs.zip": table.read_text(), "bomb.zip": "0" * 40_000_000}.items():
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("logs/a.csv", content)
    page = opened("car", vehicle="reference")
    add(page, tmp_path / "logs.zip")
    assert [each.value for each in page.success if "learned 4 trips" in each.value]
    add(page, tmp_path / "bomb.zip")
    (refused,) = (each.value for each in page.error)
    assert "bomb.zip unpacks to" in refused
    assert "/" not in refused  # the temporary folder


def test_a_locked_folder_of_an_earlier_version_is_healed_by_an_upload(
    tmp_path: Path, setting: Setting
) -> None:
    folder = own_folder(tmp_path)
    page = opened("car", vehicle="nissan-leaf-40", folder="physics alone")
    add(page, log(tmp_path / "next.csv", setting, range(2)))
    assert page.success[0].value == r"next.csv\: learned 5 trips."
    assert any("Departed" in each.value for each in page.caption)
    names = read_columns(folder / "trips.parquet")["trip"].to_pylist()
    assert names == ["A", "odd", "later", "0", "1"]
    page.button(key="undo").click().run()
    assert not page.exception
    assert undone(folder) == ["0004.parquet"]
    assert read_columns(folder / "trips.parquet")["trip"].to_pylist() == ["A", "odd", "later"]


def test_undo_of_a_locked_folder_learns_the_others_and_its_button_stays(tmp_path: Path) -> None:
    folder = own_folder(tmp_path)
    page = opened("car", vehicle="nissan-leaf-40", folder="physics alone")
    for left in (["A", "odd"], ["A"]):
        page.button(key="undo").click().run()
        assert not page.exception
        assert read_columns(folder / "trips.parquet")["trip"].to_pylist() == left
    page.button(key="undo").click().run()
    assert not page.exception
    assert "No trips of this car yet" in page.info[0].value
    # each call recorded the trips left again, with their lines
    assert set(undone(folder)) == {"0001.parquet", "0002.parquet", "0003.parquet"}
    assert not list((folder / "measured").iterdir())


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "trips.parquet").unlink(),
        lambda folder: (folder / "manifest.json").write_text("{"),
        lambda folder: (folder / "measured" / "0003.parquet").write_bytes(b""),
        lambda folder: (folder / "beliefs" / "denver-learned.npz").write_bytes(b""),
    ],
    ids=["trips", "manifest", "measured", "belief"],
)
def test_a_damaged_folder_is_learned_again_by_a_button(tmp_path: Path, damage) -> None:
    folder = own_folder(tmp_path)
    damage(folder)
    page = opened("car", vehicle="nissan-leaf-40", folder="physics alone")
    if page.error:
        page.button(key="again").click().run()
        assert not page.exception
    else:  # the page does not need the file
        add(page, folder / "measured" / "0001.parquet")
        assert f"evroute learn --repair {Path('runs') / folder.name}" in plain(page.error[0].value)
        page.button(key="undo").click().run()
    names = read_columns(folder / "trips.parquet")["trip"].to_pylist()
    assert names[:2] == ["A", "odd"]


def plain(shown: str) -> str:
    return shown.replace("\\", "")


def test_a_belief_about_a_car_of_a_file_is_named_and_physics_plans(
    tmp_path: Path, setting: Setting
) -> None:
    out = tmp_path / "runs" / "mine"
    learn(log(tmp_path / "a.csv", setting, range(3)), out, vehicle="reference", model="factor")
    manifest = out / "manifest.json"
    text = manifest.read_text(encoding="utf-8")
    manifest.write_text(
        text.replace('"name": "reference"', '"name": "own-twizy"'), encoding="utf-8"
    )
    page = opened("plan", folder="mine")
    assert not page.exception
    assert not page.error
    captions = " ".join(each.value for each in page.caption).replace("\\", "")
    assert "The trips of mine are of 'own-twizy', a car of its own file" in captions


def wheel_log(path: Path) -> Path:
    """Write five drives at 10 m/s under names of nobody's, without positions."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["moment", "speed (km/h)", "power (W)"])
        for trip in range(5):
            for second in range(301):
                rows.writerow([1.7e9 + 7200 * trip + second, 36, 1500 + 20 * trip])
    return path


def test_headers_and_totals_are_chosen_on_the_page(tmp_path: Path) -> None:
    page = opened("car")
    path = wheel_log(tmp_path / "wheel.csv")
    add(page, path)
    assert any("It lacks times and positions" in each.value for each in page.error)
    next(each for each in page.checkbox if each.label == "Totals without positions").check()
    text_of(page, "Columns by their headers").set_value("moment")
    add(page, path)
    assert any("Give NAME=HEADER" in each.value for each in page.error)
    next(each for each in page.checkbox if each.label == "Totals without positions").check()
    text_of(page, "Columns by their headers").set_value("time=moment")
    add(page, path)
    assert any("learned 5 trips" in each.value for each in page.success)


def text_of(page: AppTest, label: str) -> Any:
    return next(each for each in page.text_input if each.label == label)
