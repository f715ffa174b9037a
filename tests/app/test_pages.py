"""The pages of the dashboard under Streamlit's own test runner; the map itself is tested in ``test_browser``."""

import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from evroute.errors import EvrouteError
from evroute.network.catalog import load_network
from evroute.planning.planner import plan
from evroute.resources import app_path
from evroute.simulation.runs import RunFolder

PATIENCE_S = 200


@pytest.fixture(autouse=True)
def _main_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo that AppTest makes the page the main module, which processes started later would run."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


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
    assert expected.verdict[1:] in page.success[0].value
    shown = page.table[0].value
    assert shown.loc["least energy", "energy (kWh)"] == pytest.approx(expected.routes["energy"].energy_wh / 1000)


def test_a_battery_adds_the_charge_and_its_profile() -> None:
    page = opened("views/plan.py")
    page.toggle[1].set_value(True).run()
    assert not page.exception
    assert "arrival charge (%)" in page.table[0].value
    assert len(page.get("vega_lite_chart")) == 2


def test_a_time_limit_is_kept() -> None:
    page = opened("views/plan.py")
    page.toggle[0].set_value(True).run()
    page.slider[0].set_value(5).run()
    minutes = page.table[0].value["time (min)"]
    assert minutes.loc["least energy"] <= 1.05 * minutes.min() + 1e-9


def test_what_cannot_be_driven_is_a_sentence_on_the_page() -> None:
    page = opened("views/plan.py")
    page.toggle[1].set_value(True).run()
    page.slider[1].set_value(1).run()
    page.slider[2].set_value(1).run()
    assert not page.exception
    assert "No route keeps 1 %" in page.error[0].value
    assert not page.success


def test_clicks_make_a_trip_and_one_far_away_is_a_sentence() -> None:
    network = load_network("denver")
    lon, lat = network.junction_lon_lat
    near, other = (f"{lat[k]:.6f},{lon[k]:.6f}" for k in (network.head[3], network.head[900]))
    page = opened("views/plan.py")
    page.selectbox[2].set_value("two clicks on the map").run()
    assert "where to start" in page.info[0].value
    page.session_state["places"] = [near]
    page.run()
    assert "where to go" in page.info[0].value
    page.session_state["places"] = [near, other]
    page.run()
    assert page.success
    page.session_state["places"] = [near, "0.000000,0.000000"]
    page.run()
    assert "from the nearest road" in page.error[0].value
    assert not page.exception


def test_a_network_that_is_gone_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened("views/plan.py")

    def gone(name: str) -> None:
        raise EvrouteError(f"there is no network '{name}' any more")

    monkeypatch.setattr("cache.network", gone)
    page.run()
    assert "no network 'denver' any more" in page.error[0].value
    assert not page.exception


@pytest.mark.slow
def test_a_short_simulation_runs_to_its_end_and_is_continued(tmp_path: Path) -> None:
    page = opened("views/learn.py")
    page.multiselect[1].set_value(["BI-TS", "BI-UCB"])
    page.slider[0].set_value(10)
    page.slider[1].set_value(2).run()
    assert "4 runs of 10 trips take about" in page.markdown[0].value
    page.button[0].click().run()
    assert not page.exception
    assert not page.error
    (folder,) = (tmp_path / "runs").iterdir()
    assert len(RunFolder(folder).finished_runs()) == 4
    assert len(page.get("vega_lite_chart")) == 3
    assert set(page.dataframe[0].value["method"]) == {"BI-TS", "BI-UCB"}

    part = next((folder / "parts").glob("*.parquet"))
    kept = {path: path.stat().st_mtime_ns for path in (folder / "parts").iterdir() if path != part}
    part.write_bytes(b"cut off")
    page.run()
    assert "is unreadable" in page.error[0].value
    page.button[0].click().run()
    assert not page.error
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


def test_nothing_chosen_is_asked_for() -> None:
    page = opened("views/learn.py")
    page.multiselect[1].set_value([]).run()
    assert "one method" in page.info[0].value
    assert not page.exception
