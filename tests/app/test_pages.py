"""The pages of the dashboard under Streamlit's own test runner; the map itself is tested in
``test_browser``.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from evroute.errors import EvrouteError
from evroute.experiments.experiment import Experiment, simulate
from evroute.experiments.runs import RunFolder
from evroute.network.catalog import keep, load_network
from evroute.network.road_network import RoadNetwork
from evroute.planning.planner import plan
from evroute.resources import app_path, data_path

LIMITED = "least energy within 15% extra time"
PATIENCE_S = 200


def opened(page: str) -> AppTest:
    return AppTest.from_file(str(app_path(page)), default_timeout=PATIENCE_S).run()


def test_the_main_script_opens_on_the_plan() -> None:
    page = opened("streamlit_app.py")
    assert not page.exception
    assert page.selectbox[0].label == "Network"


def test_the_plan_page_shows_what_evroute_plans() -> None:
    page = opened("views/plan.py")
    expected = plan("denver", trip="A")
    assert not page.exception
    assert expected.verdict[1:] in page.success[0].value.replace("\\", "")
    shown = page.table[0].value["energy (kWh)"]
    assert expected.recommended == "energy-limited"
    for name, label in (("energy", "least energy"), (expected.recommended, LIMITED)):
        assert shown.loc[label] == pytest.approx(expected.routes[name].energy_wh / 1000)


def test_departure_and_money_are_those_of_the_plan() -> None:
    page = opened("views/plan.py")
    page.text_input(key="kept_depart").set_value("08:15")
    page.number_input(key="kept_price").set_value(0.35).run()
    page.number_input(key="kept_time_value").set_value(12.0).run()
    expected = plan("denver", trip="A", depart="08:15", price=0.35, time_value=12.0)
    assert not page.exception
    shown = page.table[0].value.iloc[0]
    assert shown["cost with time"] == pytest.approx(expected.cost("cost"))
    assert shown["arrival"] == expected.arrival_time("cost")


def test_a_battery_adds_the_charge_and_its_profile() -> None:
    page = opened("views/plan.py")
    page.toggle(key="kept_charged").set_value(True).run()
    assert not page.exception
    assert "arrival charge (%)" in page.table[0].value
    assert len(page.get("vega_lite_chart")) == 3


def test_a_time_limit_is_kept() -> None:
    page = opened("views/plan.py")
    page.toggle(key="kept_limited").set_value(True).run()
    page.slider(key="kept_extra").set_value(5).run()
    minutes = page.table[0].value["time (min)"]
    assert minutes.loc["least energy"] <= 1.05 * minutes.min() + 1e-9


def test_what_cannot_be_driven_is_a_sentence_on_the_page() -> None:
    page = opened("views/plan.py")
    page.toggle(key="kept_charged").set_value(True).run()
    page.slider(key="kept_soc").set_value(1).run()
    page.slider(key="kept_reserve").set_value(1).run()
    assert not page.exception
    assert "No route keeps 1 %" in page.error[0].value
    assert not page.success


def test_clicks_make_a_trip_and_one_far_away_is_a_sentence() -> None:
    network = load_network("denver")
    lon, lat = network.junction_lon_lat
    near, other = (f"{lat[k]:.6f},{lon[k]:.6f}" for k in (network.head[3], network.head[900]))
    page = opened("views/plan.py")
    page.selectbox(key="kept_by").set_value("clicks on the map").run()
    assert "Click the start" in page.info[0].value
    page.session_state["kept_places"] = near
    page.run()
    assert "Click the destination" in page.info[0].value
    page.session_state["kept_places"] = f"{near};{other}"
    page.run()
    assert page.success
    page.session_state["kept_places"] = f"{near};0.000000,0.000000"
    page.run()
    assert "from the nearest road" in page.error[0].value
    assert not page.exception


def test_places_may_be_written_with_others_between() -> None:
    network = load_network("denver")
    page = opened("views/plan.py")
    page.selectbox(key="kept_by").set_value("names or coordinates").run()
    assert "a start and a destination" in page.info[0].value
    ids = [network.edge_id[row] for row in (3, 500, 900)]
    for field, place in zip(("from", "via", "to"), ids, strict=True):
        page.text_input(key=f"kept_{field}").set_value(place)
    page.run()
    expected = plan("denver", waypoints=ids)
    shown_kwh = page.table[0].value["energy (kWh)"].iloc[0]
    assert shown_kwh == pytest.approx(expected.recommended_route.energy_wh / 1000)


def test_conditions_tell_what_they_cost() -> None:
    page = opened("views/plan.py")
    page.toggle(key="kept_weather").set_value(True).run()
    page.slider(key="kept_temperature").set_value(-10).run()
    page.slider(key="kept_payload").set_value(300).run()
    assert not page.exception
    assert len([each for each in page.caption if "kWh** on this route" in each.value]) == 2


def test_a_full_start_that_wastes_regeneration_is_warned_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = load_network("denver")
    high, low = (
        int(network.elevation_m[network.tail].argmax()),
        int(network.elevation_m[network.head].argmin()),
    )
    page = opened("views/plan.py")
    page.selectbox(key="kept_by").set_value("names or coordinates").run()
    page.text_input(key="kept_from").set_value(network.edge_id[high])
    page.text_input(key="kept_to").set_value(network.edge_id[low])
    page.toggle(key="kept_charged").set_value(True).run()
    assert not page.warning
    page.slider(key="kept_soc").set_value(100).run()
    wasted = plan(
        "denver", waypoints=(network.edge_id[high], network.edge_id[low]), soc_percent=100.0
    )
    assert bool(page.warning) == (wasted.routes["energy"].charge.lost_wh > 5)


def test_the_actual_charge_corrects_the_plan_until_it_is_forgotten() -> None:
    page = opened("views/plan.py")
    before = page.table[0].value.loc[LIMITED, "energy (kWh)"]
    used = next(each for each in page.number_input if each.label == "Energy used (kWh)")
    used.set_value(float(before) + 0.05).run()
    button = next(each for each in page.button if each.label == "Learn from it")
    button.click().run()
    assert not page.exception
    assert page.table[0].value.loc[LIMITED, "energy (kWh)"] > before + 0.01
    assert any("times the energy by physics" in each.value for each in page.markdown)
    next(each for each in page.button if each.label == "Forget the correction").click().run()
    assert page.table[0].value.loc[LIMITED, "energy (kWh)"] == before


def test_a_link_reopens_its_plan() -> None:
    first = opened("views/plan.py")
    first.toggle(key="kept_limited").set_value(True).run()
    first.slider(key="kept_extra").set_value(35).run()
    first.toggle(key="kept_charged").set_value(True).run()
    first.slider(key="kept_soc").set_value(55).run()
    again = AppTest.from_file(str(app_path("views/plan.py")), default_timeout=PATIENCE_S)
    for name, value in first.query_params.items():
        again.query_params[name] = value
    again.run()
    assert not again.exception
    assert again.table[0].value.equals(first.table[0].value)
    assert again.slider(key="kept_soc").value == 55


def test_a_link_of_nonsense_opens_the_default_plan() -> None:
    page = AppTest.from_file(str(app_path("views/plan.py")), default_timeout=PATIENCE_S)
    for name, value in {
        "network": "../../etc",
        "soc": "900",
        "extra": "x",
        "trip": "Z",
        "folder": "../..",
    }.items():
        page.query_params[name] = value
    page.run()
    assert not page.exception
    assert page.success


def test_a_network_whose_cache_was_deleted_meanwhile_is_a_sentence() -> None:
    path = keep(replace(load_network("denver"), name="mine"))
    page = AppTest.from_file(str(app_path("views/plan.py")), default_timeout=PATIENCE_S)
    page.query_params["network"] = "mine"
    page.run()
    assert page.selectbox(key="kept_network").value == "mine"
    path.unlink()
    page.run()
    assert "There is no network 'mine'. This is denver." in page.warning[0].value
    assert not page.error
    assert not page.exception


def test_a_goal_that_cannot_be_reached_is_a_sentence(
    make_network: Callable[..., RoadNetwork],
) -> None:
    page = AppTest.from_file(str(app_path("views/plan.py")), default_timeout=PATIENCE_S)
    page.session_state["uploaded"] = make_network(
        [("there", 0, 1), ("on", 1, 2)], [(0, 0, 0), (900, 0, 0), (900, 900, 0)]
    )
    page.session_state["kept_network"] = "toy"
    page.session_state["kept_by"] = "names or coordinates"
    page.run()
    page.text_input(key="kept_from").set_value("on")
    page.text_input(key="kept_to").set_value("there").run()
    assert page.error[0].value.startswith("No legal way leads from road at ")
    assert not page.exception


@pytest.mark.slow
def test_a_short_simulation_runs_to_its_end_and_is_continued(tmp_path: Path) -> None:
    page = opened("views/learn.py")
    page.multiselect(key="kept_methods").set_value(["BI-TS", "BI-UCB"])
    page.slider(key="kept_horizon").set_value(10)
    page.slider(key="kept_seeds").set_value(2).run()
    assert "4 runs of 10 trips take about" in page.markdown[0].value
    run_to_the_end(page)
    (folder,) = (tmp_path / "runs").iterdir()
    assert len(RunFolder(folder).finished_runs()) == 4
    assert len(page.get("vega_lite_chart")) == 3
    assert set(page.dataframe[0].value["method"]) == {"BI-TS", "BI-UCB"}

    part = next((folder / "parts").glob("*.parquet"))
    kept = {path: path.stat().st_mtime_ns for path in (folder / "parts").iterdir() if path != part}
    part.write_bytes(b"cut off")
    page.run()
    assert "is unreadable" in page.error[0].value
    run_to_the_end(page)
    assert not page.error
    assert {path: path.stat().st_mtime_ns for path in kept} == kept

    runs = opened("views/runs.py")
    assert not runs.exception
    assert not runs.error
    assert set(runs.dataframe[0].value["method"]) == {"BI-TS", "BI-UCB"}
    planned = opened("views/plan.py")
    planned.selectbox(key="kept_folder").set_value(folder.name).run()
    assert not planned.exception
    assert "90 % of the trips" in " ".join(each.value for each in planned.markdown)
    assert not any(
        each.label == "Interval with a guarantee" for each in opened("views/plan.py").toggle
    )
    network = opened("views/network.py")
    network.selectbox(key="kept_folder").set_value(folder.name).run()
    assert "learned minus physics (Wh per km)" in network.selectbox(key="kept_layer").options
    assert "difference (Wh)" in network.dataframe[0].value


def run_to_the_end(page: AppTest) -> None:
    page.button(key="go").click().run()
    for _ in range(PATIENCE_S):
        if page.button(key="stop").disabled:
            break
        time.sleep(0.5)
        page.run()
    assert not page.exception
    assert page.button(key="stop").disabled


def test_a_broken_folder_of_runs_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "runs" / "odd" / "parts").mkdir(parents=True)
    (tmp_path / "runs" / "odd" / "manifest.json").write_text("{")
    (tmp_path / "runs" / "odd" / "parts" / "some.parquet").write_bytes(b"nothing")
    page = opened("views/runs.py")
    assert not page.exception
    assert "is unreadable" in page.error[0].value


def test_runs_with_a_battery_show_whether_the_reserve_was_kept(tmp_path: Path) -> None:
    table = {
        "trips": {"denver": ["A"]},
        "methods": ["gp-ts"],
        "horizon": 60,
        "seeds": 1,
        "soc": 20,
        "reserve": 10,
    }
    simulate(Experiment.model_validate(table | {"world": "physics"}), tmp_path / "runs" / "charged")
    page = opened("views/runs.py")
    assert not page.exception
    shown = [each.value for each in page.dataframe if "never below (%)" in each.value]
    assert shown[0]["never below (%)"].tolist() == [100.0], (
        "trips of 0.1 kWh from 7 kWh with a reserve of 3.5"
    )


def test_without_runs_the_page_says_how_to_get_some() -> None:
    page = opened("views/runs.py")
    assert "No run is saved yet" in page.info[0].value


def test_the_network_page_shows_layers_and_the_source() -> None:
    page = opened("views/network.py")
    assert not page.exception
    assert page.selectbox(key="kept_layer").options[0] == "incline (%)"
    assert any("1,330 edges" in each.value for each in page.markdown)


def test_an_upload_is_read_by_its_ending_and_never_by_its_path(tmp_path: Path) -> None:
    from cache import read_upload

    stored = Path(str(data_path("denver", "network.npz"))).read_bytes()
    assert read_upload("../../roads.npz", stored).n_edges == 1330
    with pytest.raises(EvrouteError, match="has no ending of a road file"):
        read_upload("roads.exe", stored)
    with pytest.raises(EvrouteError):
        read_upload("roads.osm", b"<osm")


def test_no_page_reads_or_writes_files_outside_its_folders(tmp_path: Path) -> None:
    from simulations import folder_name, own_world

    page = opened("views/learn.py")
    page.text_input(key="kept_own_trip").set_value("/etc/trips.csv").run()
    assert "is a file" in page.error[0].value
    with pytest.raises(EvrouteError, match="physics or sampled-gp"):
        own_world(b'kind = "replay"\nfolder = "/etc"')
    with pytest.raises(EvrouteError, match="not TOML"):
        own_world(b"kind")
    assert own_world(b'kind = "physics"\nwind_mps = 8').label == "physics-windmps8"
    trips = {"denver": ("../../../etc to ..",)}
    experiment = Experiment(trips=trips, methods=("bi-ts",))
    assert (tmp_path / folder_name(experiment)).resolve().parent == tmp_path.resolve()
    link = AppTest.from_file(str(app_path("views/network.py")), default_timeout=PATIENCE_S)
    for name, value in {
        "kept_network": "../../../etc/passwd",
        "kept_folder": "../../..",
        "kept_run": "../x",
    }.items():
        link.session_state[name] = value
    link.run()
    assert link.selectbox(key="kept_network").value == "denver"
    assert link.selectbox(key="kept_folder").value == "physics alone"
    assert not link.exception


def test_nothing_chosen_is_asked_for() -> None:
    page = opened("views/learn.py")
    page.multiselect(key="kept_methods").set_value([]).run()
    assert "one method" in page.info[0].value
    assert not page.exception
