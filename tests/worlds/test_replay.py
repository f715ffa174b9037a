"""Replay: energies are the user's own, drawn again; means and roads that nobody measured."""

import numpy as np
import pytest
from numpy.random import SeedSequence

from evroute.arms import Route
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.learning.measured import Measured, MeasuredTrip
from evroute.methods.setting import Setting
from evroute.worlds.demand.trips import Repeated
from evroute.worlds.replay import Replay
from evroute.worlds.world import load_world

OVER = Route((0, 1, 2, 5))


@pytest.fixture
def setting(hill) -> Setting:
    return Setting(hill, load_vehicle("reference"))


def trip(name, edges, energy_wh, hour=0.0, travel_s=np.nan):
    return MeasuredTrip(
        name,
        np.array(edges),
        np.array(energy_wh, float),
        np.full(len(edges), travel_s),
        departed_s=hour * 3600,
    )


def world(setting, trips, seed=0):
    return Replay(
        Measured(trips=trips),
        setting=setting,
        trips=Repeated(0, 5),
        seeds=SeedSequence(seed),
    )


def test_the_truth_is_the_mean_and_drives_return_the_measurements(setting) -> None:
    replay = world(
        setting,
        [trip("a", OVER.edges, [100, 200, -50, 90]), trip("b", OVER.edges, [140, 260, -30, 90])],
    )
    np.testing.assert_allclose(
        replay.expected_wh(replay.observe(1))[list(OVER.edges)], [120, 230, -40, 90]
    )
    assert replay.route_wh(replay.observe(1), OVER) == pytest.approx(400)
    driven = np.array([replay.drive(replay.observe(t), OVER).energy_wh for t in range(1, 201)])
    for column, values in zip(
        driven.T, [(100, 140), (200, 260), (-50, -30), (90, 90)], strict=True
    ):
        assert set(column) == set(values)
    # 200 draws of two values: six standard deviations of their mean
    np.testing.assert_allclose(driven.mean(axis=0), [120, 230, -40, 90], atol=6 * 30 / np.sqrt(200))


def test_draws_of_an_edge_do_not_depend_on_the_rest_of_the_route(setting) -> None:
    trips = [trip("a", OVER.edges, [100 + k, 200 + k, -50 + k, 90 + k]) for k in range(20)]
    replay, again = world(setting, trips), world(setting, trips)
    whole = replay.drive(replay.observe(3), OVER).energy_wh
    part = again.drive(again.observe(3), Route((1, 2))).energy_wh
    np.testing.assert_array_equal(part, whole[1:3])
    assert np.any(world(setting, trips, seed=1).drive(replay.observe(3), OVER).energy_wh != whole)


def test_roads_that_nobody_measured_take_the_median_multiple_of_eq_8(setting) -> None:
    dissipated, climb = setting.prior.dissipated_wh, setting.potential_wh
    edges = list(OVER.edges)
    replay = world(
        setting, [trip("a", edges, climb[edges] + [1.1, 1.3, 1.3, 2.0] * dissipated[edges])]
    )
    request = replay.observe(1)
    others = [3, 4, 6]
    np.testing.assert_allclose(
        replay.expected_wh(request)[others], climb[others] + 1.3 * dissipated[others]
    )
    round_way = Route((0, 3, 4, 5))
    np.testing.assert_allclose(
        replay.drive(request, round_way).energy_wh[1:3], replay.expected_wh(request)[[3, 4]]
    )


def test_travel_times_are_means_of_measured_times(setting) -> None:
    replay = world(
        setting,
        [trip("a", OVER.edges, [1, 2, 3, 4], travel_s=50), trip("b", [0], [1], travel_s=70)],
    )
    times = replay.travel_s(replay.observe(1))
    assert times[[0, 1, 3]].tolist() == [60, 50, setting.network.time_s[3]]


def test_the_best_route_has_the_least_mean(setting) -> None:
    trips = [
        trip("over", OVER.edges, [100, 400, 300, 90]),
        trip("round", [0, 3, 4, 5], [100, 200, 200, 90]),
    ]
    replay = world(setting, trips)
    assert replay.best_route(replay.observe(1)).edges == (0, 3, 4, 5)


def test_a_replay_has_the_name_of_its_table_and_reports_unmeasured_roads(setting, tmp_path) -> None:
    table = tmp_path / "own.csv"
    table.write_text(
        "trip,edge,energy_wh\n"
        + "".join(f"a,{edge},150\n" for edge in ("in", "east", "west", "out"))
    )
    replay = load_world({"kind": "replay", "table": str(table)})
    assert replay.provenance(setting)["note"].startswith(
        "1 trips measured 4 of 7 edges. The others"
    )
    assert replay.build(setting, Repeated(0, 5), SeedSequence(0)).observe(1).origin == 0
    with pytest.raises(EvrouteError, match="table"):
        load_world({"kind": "replay"})
    with pytest.raises(EvrouteError, match=r"gone\.csv does not exist"):
        load_world({"kind": "replay", "table": "gone.csv"}).provenance(setting)
