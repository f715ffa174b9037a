import os
from pathlib import Path

import numpy as np
import pytest
from numpy.random import SeedSequence, default_rng

from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.network.catalog import load_network
from evroute.network.sumo_copy import write_copy
from evroute.simulation.setting import load_setting
from evroute.simulation.sumo_drive import STEP_S, SumoDrive

libsumo = pytest.importorskip("libsumo")


@pytest.mark.data
@pytest.mark.slow
def test_sumo_climbs_between_our_heights_and_its_energy_follows_eq_8(tmp_path):
    setting = load_setting("monaco", "reference")
    network = setting.network
    source = Path(os.environ["EVROUTE_DATA_DIR"], "monaco", "most.net.xml.gz")
    sumo = SumoDrive(network, source, load_vehicle(), tmp_path)
    rng, driven, predicted = default_rng(0), [], []
    try:
        while len(driven) < 5:
            route = setting.search.route(setting.prior.dissipated_wh, *rng.integers(network.n_edges, size=2).tolist())
            drive = sumo.drive(route.rows, SeedSequence(len(driven)))
            climbed_m = float((drive.slope * drive.speed_mps).sum() * STEP_S)
            rise_m = (
                network.elevation_m[network.head[route.edges[-1]]] - network.elevation_m[network.tail[route.edges[0]]]
            )
            assert climbed_m == pytest.approx(rise_m, abs=10)
            driven.append(drive.energy_wh.sum())
            predicted.append(setting.prior.mean_wh[route.rows].sum())
    finally:
        sumo.close()
    assert np.corrcoef(driven, predicted)[0, 1] > 0.95


def test_networks_not_from_sumo_are_refused_in_one_line(tmp_path):
    with pytest.raises(EvrouteError, match="SUMO cannot drive network 'denver'"):
        write_copy(tmp_path / "any.net.xml", load_network("denver"), tmp_path / "copy.net.xml")
