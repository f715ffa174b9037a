"""Every layer of the dashboard's map under the same tests.

A layer that is added to `LAYERS` of `app/layers` is tested here on network ``denver``.
"""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from evroute.energy.vehicle import load_vehicle
from evroute.learning.physics_belief import physics_belief
from evroute.network.catalog import load_network
from evroute.network.road_network import RoadNetwork
from evroute.planning.places import load_trips
from evroute.planning.planner import Planner
from evroute.planning.request import PlanRequest, entries
from evroute.resources import app_path

with pytest.MonkeyPatch.context() as path:
    path.syspath_prepend(str(app_path()))
    from layers import LAYERS

WISHES = {
    "soc": 12.0,
    "reserve": 5.0,
    "risk": 0.05,
    "charge": True,
    "max_extra_time": 0.3,
    "alternatives": 2,
    "avoid": ("Broadway",),
    "depart": "08:00",
    "price": 0.3,
}
"""Another value of each wish that a planner does not hold."""


@pytest.fixture(autouse=True)
def _beside_the_main_script(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.syspath_prepend(str(app_path()))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVROUTE_PROFILE", str(tmp_path / "profile.json"))


@pytest.fixture(scope="module")
def roads() -> RoadNetwork:
    return load_network("denver")


@pytest.fixture(scope="module")
def planner(roads: RoadNetwork) -> Planner:
    car = load_vehicle()
    uncertainty = physics_belief(roads, car, "driving")
    return Planner(roads, car, physics="driving", uncertainty=uncertainty)


@pytest.fixture
def request_with(roads: RoadNetwork) -> Callable[..., Any]:
    """Return a function that makes the inputs of page Plan with some of them changed."""
    from map_layers import asked_of
    from request import Request

    car, trip = load_vehicle(), load_trips("denver")["A"]
    usual = {"vehicle": car, "soc": 14.0, "reserve": 10.0}

    def request_with(places: tuple[str, ...] | None = None, **wishes: Any) -> Any:
        request = Request(
            network=roads,
            vehicle=car,
            usual=car,
            places=places or (trip.origin, trip.destination),
            example=False,
            wishes=PlanRequest.without_places(usual | wishes),
            layers=tuple(LAYERS),
            folder="",
            run="",
        )
        if wishes:
            (changed,) = wishes
            assert getattr(request.wishes, changed) != usual.get(changed)
        return asked_of(request)

    return request_with


def contents(name: str, asked: Any, planner: Planner) -> tuple[Any, str]:
    """Return the layer's contents as the map reads them, and its words."""
    from layers import layer_named
    from map_layers import contents_of

    shown = contents_of(planner.network, layer_named(name).draw(asked, planner))
    return json.loads(shown.contents), shown.words


def test_names_are_words_and_labels_differ() -> None:
    from address import _NUMBERS, _TEXTS
    from layers import layer_named

    assert all(name.isidentifier() and name.islower() for name in LAYERS)
    assert not LAYERS.keys() & {*entries(), *_TEXTS, *_NUMBERS}
    labels = [layer_named(name).label for name in LAYERS]
    assert len(set(labels)) == len(labels)
    assert all(label[0].isupper() for label in labels)


@pytest.mark.parametrize("name", LAYERS)
def test_its_contents_lie_on_the_network(name, request_with, planner, roads) -> None:
    drawn, words = contents(name, request_with(), planner)
    at = [point["at"] for point in drawn["points"]]
    at += [end for each in drawn["classes"] for line in each["lines"] for end in line]
    lon, lat = roads.lon_lat
    for low, high, values in zip(
        (lat.min(), lon.min()), (lat.max(), lon.max()), np.reshape(at, (-1, 2)).T, strict=True
    ):
        assert np.all((values >= low - 0.01) & (values <= high + 0.01))
    assert all(point["text"] for point in drawn["points"])
    assert at or words, "a layer without contents says so"
    assert not words.endswith(".")


@pytest.mark.parametrize("name", LAYERS)
def test_a_legend_explains_its_colours(name, request_with, planner) -> None:
    from layers import layer_named
    from map_layers import contents_of

    drawn = layer_named(name).draw(request_with(), planner)
    colours = {each["colour"] for each in contents(name, request_with(), planner)[0]["classes"]}
    legends = contents_of(planner.network, drawn).legends
    assert colours <= {entry[0] for legend in legends for entry in legend["entries"]}


@pytest.mark.parametrize("name", LAYERS)
def test_it_is_drawn_without_places(name, request_with, planner) -> None:
    contents(name, request_with(places=("", "")), planner)


@pytest.mark.parametrize("changed", [*WISHES, "places"])
@pytest.mark.parametrize("name", LAYERS)
def test_contents_change_only_with_the_inputs_it_names(
    name, changed, request_with, planner
) -> None:
    from layers import layer_named

    layer, usual = layer_named(name), request_with()
    other = request_with(places=(load_trips("denver")["C"].origin, ""))
    if changed in WISHES:
        other = request_with(**{changed: WISHES[changed]})
    if layer.depends(usual) == layer.depends(other):
        assert contents(name, usual, planner) == contents(name, other, planner)
    assert layer.depends(usual) == layer.depends(request_with())
    assert contents(name, usual, planner) == contents(name, request_with(), planner)


@pytest.mark.parametrize("name", LAYERS)
def test_the_page_shows_it_by_its_link_and_hides_it_by_its_switch(name) -> None:
    page = AppTest.from_file(str(app_path("views/plan.py")), default_timeout=200)
    page.query_params[name] = "True"
    page.run()
    assert not page.exception
    (layer,) = (each for each in layers_of(page) if each["shown"])
    assert layer["name"] == name
    assert layer["url"]
    assert page.query_params[name] == "True"
    page.session_state[f"kept_{name}"] = False
    page.run()
    assert not any(each["shown"] or each["url"] for each in layers_of(page))
    assert name not in page.query_params


def layers_of(page: AppTest) -> list[dict[str, Any]]:
    """Return the layers in the data of the page's map."""
    maps = (json.loads(each.proto.json) for each in page.get("bidi_component"))
    (found,) = (data["layers"] for data in maps if "layers" in data)
    return found
