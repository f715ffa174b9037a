"""Objects in notebooks: their numbers, and names that stay text."""

import re
from dataclasses import replace
from html import unescape
from importlib.util import find_spec
from pathlib import Path

import pytest

from evroute import optional
from evroute.energy.vehicle import load_vehicle
from evroute.experiments.runs import RunFolder
from evroute.folder import Folder
from evroute.learning.learned_belief import LearnedBelief
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.method import Method
from evroute.methods.setting import Setting
from evroute.network.road_network import RoadNetwork
from evroute.network.source import Source
from evroute.planning.planner import Planner
from evroute.report.pages import html

HOSTILE = "<img src=x onerror=alert(1)>{{ 6021023 * 7 }}`${alert(2)}"
FRAME = re.compile('srcdoc="([^"]*)"')


@pytest.fixture
def hostile(hill: RoadNetwork) -> RoadNetwork:
    source = Source(HOSTILE, (HOSTILE,), "", HOSTILE, HOSTILE)
    ids = tuple(f"{HOSTILE}{edge}" for edge in hill.edge_id)
    return replace(hill, source=source, edge_id=ids, street=(HOSTILE,) * hill.n_edges)


def test_a_plan_is_a_table_of_routes_and_a_map(hill: RoadNetwork) -> None:
    plan = Planner(hill, load_vehicle("reference"), physics="eq8").plan("in", "out")
    shown = plan._repr_html_()
    assert f"<td>{plan.routes['energy'].length_m / 1000:.2f}</td>" in shown
    (frame,) = FRAME.findall(shown)
    assert set(re.findall('(?:src|href)="(.{5})', unescape(frame))) == {"data:"}
    assert "RoadNetwork" not in repr(plan)


def test_a_large_network_is_not_drawn(hill: RoadNetwork, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "7 edges, 6 junctions," in hill._repr_html_()
    assert FRAME.search(hill._repr_html_())
    monkeypatch.setattr(html, "MOST_DRAWN", 6)
    assert "7 edges, 6 junctions," in hill._repr_html_()
    assert not FRAME.search(hill._repr_html_())


def test_a_folder_of_runs_shows_its_final_table(run_folder: RunFolder) -> None:
    shown = Folder(run_folder.path)._repr_html_()
    assert "<th>GP-TS</th>" in shown
    assert "<td>35.00</td>" in shown  # mean of 50 and 20 Wh lost in two worlds
    for path in (run_folder.path / "parts").iterdir():
        path.unlink()
    assert "no run in" in run_folder._repr_html_()


def test_a_belief_of_trips_shows_coefficients_and_a_belief_of_edges_shows_roads(
    hill: RoadNetwork,
) -> None:
    setting = Setting(hill, load_vehicle("reference"))
    of_trips = TripEnergies(setting, physics="eq8")
    mean, std = of_trips.belief.prior.mean[1], of_trips.belief.prior.std[1]
    shown = of_trips._repr_html_()
    assert "belief of 0 trips" in shown
    assert shown.count(f"<td>{mean:.3g} ± {std:.2g}</td>") == 2
    of_edges = LearnedBelief.before_trips(Method(model="independent", index="greedy"), setting)
    shown = of_edges._repr_html_()
    assert all(f"<th>{edge}</th>" in shown for edge in hill.edge_id)
    assert f"<td>{setting.edges.reference.prior_mean_wh[0]:,.2f}</td>" in shown


def test_names_stay_text(hostile: RoadNetwork, tmp_path: Path) -> None:
    car = replace(load_vehicle("reference"), name=HOSTILE)
    setting = Setting(hostile, car)
    method = Method(model="independent", index="greedy")
    plan, network, folder, of_trips, of_edges = (
        each._repr_html_()
        for each in (
            Planner(hostile, car, physics="eq8").plan(0, 5),
            hostile,
            Folder(tmp_path / HOSTILE),
            TripEnergies(setting, physics="eq8"),
            LearnedBelief.before_trips(method, setting),
        )
    )
    maps = [unescape(frame) for each in (plan, network) for frame in FRAME.findall(each)]
    assert len(maps) == 2
    for each in (plan, network, folder, of_trips, of_edges, *maps):
        assert "<img src=x" not in each
        assert "42147161" not in each
    assert not any("${alert" in each for each in maps)
    for each in (network, folder, of_trips, of_edges):
        assert "&lt;img src=x onerror=alert(1)&gt;{{ 6021023 * 7 }}" in each


def test_without_the_extra_a_notebook_shows_the_text(
    hill: RoadNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = {"folium": None, "pandas": None}
    monkeypatch.setattr(optional, "find_spec", lambda name: there.get(name, find_spec(name)))
    assert hill._repr_html_() is None
    assert (
        TripEnergies(Setting(hill, load_vehicle("reference")), physics="eq8")._repr_html_() is None
    )
