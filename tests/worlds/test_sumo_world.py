"""The world that SUMO drives, on Monaco, with a survey too short to cover it."""

import numpy as np
import pytest
from numpy.random import SeedSequence

from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.methods.setting import Prior, Setting
from evroute.network.turn_table import TurnTable
from evroute.worlds import sumo_survey
from evroute.worlds.demand.trips import Repeated
from evroute.worlds.environment import best_by_edges
from evroute.worlds.sumo_survey import Passages
from evroute.worlds.sumo_world import SumoWorld
from evroute.worlds.world import load_world

SURVEY = 20


@pytest.fixture(scope="module")
def setting(monaco) -> Setting:
    return Setting(monaco, load_vehicle("reference"), Prior("dissipation"))


@pytest.fixture
def build(setting):
    """Return a function that builds a world of some options."""
    pytest.importorskip("libsumo")

    def build(seed=0, **options) -> SumoWorld:
        options = {"kind": "sumo", "survey_trips": SURVEY, "truth_drives": 2, **options}
        return load_world(options).build(setting, Repeated(*setting.ends("B")), SeedSequence(seed))

    return build


def eq8_route(setting, request):
    return best_by_edges(request, request.arms.prior_mean_wh, setting.potential_wh, setting.search)


@pytest.mark.data
def test_a_round_is_the_same_whatever_was_driven_before(build, setting) -> None:
    one, other = build(), build()
    route = eq8_route(setting, one.observe(1))
    one.drive(one.observe(2), route)
    first, again = (world.drive(world.observe(1), route) for world in (one, other))
    assert np.array_equal(first.energy_wh, again.energy_wh)
    assert np.array_equal(first.travel_s, again.travel_s)
    assert not np.array_equal(first.energy_wh, one.drive(one.observe(2), route).energy_wh)


@pytest.mark.data
def test_each_option_changes_the_same_drive_as_it_should(build, setting) -> None:
    plain = build()
    request = plain.observe(1)
    route = eq8_route(setting, request)
    base = plain.drive(request, route)
    idle = build(auxiliary_w=1000.0).drive(request, route)
    assert idle.energy_wh - base.energy_wh == pytest.approx(1000 * base.travel_s / 3600)
    slow = build(zones=2000, zone_speed_factor=0.5).drive(request, route)
    assert slow.travel_s.sum() > 1.5 * base.travel_s.sum()
    for options in ({"wind_mps": 20.0}, {"temperature_c": -20.0}, {"payload_kg": 500.0}):
        assert not np.array_equal(build(**options).drive(request, route).energy_wh, base.energy_wh)


@pytest.mark.data
def test_a_damaged_survey_is_driven_again_with_one_warning(
    build, tmp_path, monkeypatch, caplog
) -> None:
    monkeypatch.setenv("EVROUTE_CACHE_DIR", str(tmp_path / "cache"))
    world = build()
    expected_wh = world.expected_wh(world.observe(1))
    (kept,) = (tmp_path / "cache" / "sumo").iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(whole[: len(whole) // 2])
    again = build()
    assert np.array_equal(again.expected_wh(again.observe(1)), expected_wh)
    assert kept.read_bytes() == whole
    assert [text for text in caplog.messages if f"{kept} is damaged" in text]


@pytest.mark.data
def test_the_best_route_is_no_worse_than_eq_8_and_the_truth_is_repeatable(build, setting) -> None:
    world, again = build(zones=20, zone_speed_factor=0.2), build(zones=20, zone_speed_factor=0.2)
    request = world.observe(1)
    eq8, best = eq8_route(setting, request), world.best_route(request)
    assert world.route_wh(request, best) <= world.route_wh(request, eq8)
    assert again.route_wh(request, eq8) == world.route_wh(request, eq8)
    assert np.array_equal(again.expected_wh(request), world.expected_wh(request))
    assert world.expected_wh(request) is world.expected_wh(request)


def test_a_survey_passes_every_edge_of_a_small_network_and_keeps_sums(hill) -> None:
    setting = Setting(hill, load_vehicle("reference"))
    table, eight = TurnTable.from_network(hill), setting.on_turns().space.energy
    rows = np.arange(len(table))
    truth_wh = eight.mean_wh(rows, hill.speed_mps) + 7.0

    def drive(edges, seeds):
        return truth_wh[table.rows_along(edges)], hill.time_s[edges]

    passages = sumo_survey.drive_everywhere(drive, table, setting.search, hill.time_s, 100)
    found = sumo_survey.surveyed(passages, eight, hill.speed_mps)
    assert found.passed.all()
    assert found.turn_wh == pytest.approx(
        truth_wh
    )  # the excess of 7 Wh reaches turns that nobody took
    assert found.time_s == pytest.approx(hill.time_s)


def test_without_a_survey_the_truth_is_the_physics_of_turns(hill) -> None:
    energy = Setting(hill, load_vehicle("reference")).on_turns().space.energy
    none = Passages(*np.zeros((3, len(energy.table))))
    found = sumo_survey.surveyed(none, energy, hill.speed_mps)
    assert found.turn_wh == pytest.approx(
        energy.mean_wh(np.arange(len(energy.table)), hill.speed_mps)
    )
    assert not found.passed.any()


def test_networks_without_a_source_are_refused_in_one_line(hill, monkeypatch) -> None:
    monkeypatch.delenv("EVROUTE_DATA_DIR", raising=False)
    with pytest.raises(
        EvrouteError, match=r"no \.net\.xml of network 'hill' is at hand. Set EVROUTE_DATA_DIR"
    ):
        load_world("sumo").build(
            Setting(hill, load_vehicle("reference")), Repeated(0, 1), SeedSequence(0)
        )


def test_options_that_do_nothing_are_refused() -> None:
    with pytest.raises(EvrouteError, match="zone_radius_m does nothing without zones"):
        load_world({"kind": "sumo", "zone_radius_m": 100})
