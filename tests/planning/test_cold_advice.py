"""Following a refusal's advice works after a cold start too, where the warm-up takes charge."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evroute
from evroute import DrivingConditions, RoadNetwork
from evroute.errors import NotEnoughChargeError
from evroute.network.sources.chargers import add_chargers

COLD = DrivingConditions(temperature_c=-10.0, parked_minutes=600.0)


STATIONS = """name,lat,lon,socket,kw
Blake Street garage,39.7530,-104.9960,type2,22
East garage,39.7440,-104.9800,chademo,50
"""


def refusal(network: RoadNetwork, ends: list[str], soc: float, **wishes: Any) -> str | None:
    """Return the refusal of a cold plan, or None."""
    try:
        evroute.plan(network, *ends, soc=soc, conditions=COLD, **wishes)
    except NotEnoughChargeError as error:
        return str(error)
    return None


@pytest.mark.parametrize("wishes", [{}, {"reserve": 1.5}, {"risk": 0.05}], ids=str)
def test_the_advised_start_suffices_and_a_point_less_does_not(wishes: dict[str, float]) -> None:
    network, rng = evroute.load_network("denver"), np.random.default_rng(20261122)
    followed = 0
    while followed < 8:
        ends = [network.edge_id[int(row)] for row in rng.integers(network.n_edges, size=2)]
        soc = float(rng.uniform(1.5, 2.5))
        text = refusal(network, ends, soc, **wishes)
        if text is None:
            continue
        assert f"starting with {soc:.4g} %" in text
        advised = int(re.findall(r"[Ss]tart with at least (\d+) %", text)[0])
        assert refusal(network, ends, advised, **wishes) is None, text
        if advised - 1 > soc:
            assert refusal(network, ends, advised - 1, **wishes), text
        followed += 1


def advised_starts(text: str, *, charge: bool) -> list[tuple[int, bool]]:
    """Return the per cents that a refusal advises, and whether they are with charging stops."""
    found = re.findall(r"(start with|or with|without a stop) at least (\d+) %", text)
    words = {"start with": charge, "or with": True, "without a stop": False}
    return [(int(percent), words[word]) for word, percent in found]


@pytest.mark.parametrize("risk", [0.05, 0.3])
def test_every_start_that_a_refusal_with_stations_advises_at_a_risk_suffices(
    risk: float, tmp_path: Path
) -> None:
    (tmp_path / "stations.csv").write_text(STATIONS)
    network = add_chargers(evroute.load_network("denver"), tmp_path / "stations.csv")[0]
    rng, seen = np.random.default_rng(20261123), Counter[str]()
    wishes = {"reserve": 1.5, "risk": risk}
    while seen["refused"] < 8:
        ends = [network.edge_id[int(row)] for row in rng.integers(network.n_edges, size=2)]
        soc = float(rng.uniform(2, 5))
        for charge in (True, False):
            text = refusal(network, ends, soc, charge=charge, **wishes)
            if text is None:
                continue
            seen["refused"] += 1
            stops = "(--charge)" in text
            if stops and " to " in text.split(" or charge at ")[-1]:
                seen["stops"] += 1
                assert refusal(network, ends, soc, charge=True, **wishes) is None, text
            for percent, stopping in advised_starts(text, charge=charge):
                seen["with stops" if stopping else "without"] += 1
                assert refusal(network, ends, percent, charge=stopping, **wishes) is None, text
                if percent - 1 > soc:
                    assert refusal(network, ends, percent - 1, charge=stopping, **wishes), text
    assert seen["with stops"] >= 2, seen
    assert seen["without"] >= 1, seen
