"""SUMO on Monaco: the same drive for the same seed, on our limits, and energies near eq. 8."""

from pathlib import Path

import numpy as np
import pytest
from numpy.random import SeedSequence, default_rng

from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.methods.setting import Setting
from evroute.network.catalog import source_path
from evroute.worlds.sumo_drive import STEP_S, SumoDrive, simulation
from evroute.worlds.trace_energy import energy_wh, incline_sin

libsumo = pytest.importorskip("libsumo")


@pytest.fixture(scope="module")
def setting(monaco) -> Setting:
    return Setting(monaco, load_vehicle("reference"))


@pytest.fixture
def sumo(monaco) -> SumoDrive:
    return simulation(monaco, source_path("monaco"))


@pytest.fixture
def route(setting):
    return setting.search.route(setting.prior.dissipated_wh, *setting.ends("B")).rows


@pytest.mark.data
def test_drives_of_one_seed_do_not_depend_on_earlier_drives(sumo, monaco, route) -> None:
    first, other, again = (
        sumo.drive(route, monaco.speed_mps, 0.1, SeedSequence(seed)) for seed in (1, 2, 1)
    )
    assert np.array_equal(first.speed_mps, again.speed_mps)
    assert np.array_equal(first.place, again.place)
    assert len(first.speed_mps) != len(other.speed_mps)


@pytest.mark.data
def test_limits_hold_for_one_drive_alone(sumo, monaco, route) -> None:
    free, slow, free_again = (
        sumo.drive(route, limits, 0.0, SeedSequence(1))
        for limits in (monaco.speed_mps, np.full(monaco.n_edges, 3.0), monaco.speed_mps)
    )
    assert slow.speed_mps.max() <= 3.0 + 1e-9
    assert np.array_equal(free.speed_mps, free_again.speed_mps)


@pytest.mark.data
def test_a_trace_has_the_lengths_and_climbs_of_the_route(sumo, monaco, route) -> None:
    trace = sumo.drive(route, monaco.speed_mps, 0.1, SeedSequence(1))
    driven_m = trace.speed_mps * STEP_S
    assert driven_m.sum() == pytest.approx(monaco.length_m[route].sum(), rel=0.03)
    rise_m = monaco.elevation_m[monaco.head[route[-1]]] - monaco.elevation_m[monaco.tail[route[0]]]
    assert (driven_m * incline_sin(trace, monaco)).sum() == pytest.approx(rise_m, abs=0.01)
    assert trace.travel_s(monaco.length_m[route]).sum() == pytest.approx(len(driven_m) * STEP_S)


@pytest.mark.data
def test_route_energies_follow_eq_8(sumo, setting) -> None:
    rng, driven, predicted, network = default_rng(0), [], [], setting.network
    for seed in range(8):
        rows = setting.search.route(
            setting.prior.dissipated_wh, *rng.integers(network.n_edges, size=2).tolist()
        ).rows
        trace = sumo.drive(rows, network.speed_mps, 0.1, SeedSequence(seed))
        driven.append(
            energy_wh(trace, network, setting.vehicle, np.zeros(network.n_edges), 1.2).sum()
        )
        predicted.append(setting.prior.mean_wh[rows].sum())
    assert np.corrcoef(driven, predicted)[0, 1] > 0.98


def test_a_source_of_other_roads_is_refused_in_one_line(hill, tmp_path) -> None:
    with pytest.raises(
        EvrouteError, match=r"none\.net\.xml does not exist. Give the \.net\.xml of 'hill'"
    ):
        SumoDrive(hill, Path(tmp_path, "none.net.xml"))
