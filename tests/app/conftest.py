"""The dashboard's own modules are found beside its main script, as Streamlit does."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from evroute.network.catalog import keep, load_network
from evroute.network.sources.chargers import add_chargers
from evroute.resources import app_path


@pytest.fixture(autouse=True)
def _beside_the_main_script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(app_path()))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVROUTE_PROFILE", str(tmp_path / "profile.json"))


@pytest.fixture
def other_city(tmp_path: Path) -> Iterator[str]:
    """Name of a second network: the roads of Denver with a station to charge."""
    roads, table = load_network("denver"), tmp_path / "stations.csv"
    lon, lat = (each[40] for each in roads.junction_lon_lat)
    table.write_text(f"name,lat,lon,socket,kw\nDepot,{lat},{lon},ac,11\n")
    path = keep(add_chargers(replace(roads, name="other-city"), table)[0])
    yield "other-city"
    path.unlink()


@pytest.fixture
def open_plan(browser: Any, dashboard: str) -> Iterator[Callable[[str, int], Any]]:
    """Function of a query and a patience in ms: the page Plan of a browser, with its cards."""
    contexts = []

    def opened(query: str, patience_ms: int) -> Any:
        context = browser.new_context(viewport={"width": 1400, "height": 900})
        contexts.append(context)
        context.set_default_timeout(patience_ms)
        page = context.new_page()
        page.goto(f"{dashboard}/?{query}")
        page.locator(".evroute-cards button").first.wait_for()
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture
def asked() -> Callable[[AppTest, str, str], Any]:
    """Function of a page, a kind of widget and an input: its widget, also one that was set anew."""

    def asked(page: AppTest, kind: str, name: str) -> Any:
        return next(each for each in page.get(kind) if str(each.key).startswith(f"{name}/"))

    return asked
