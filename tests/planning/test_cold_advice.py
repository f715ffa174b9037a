"""Following a refusal's advice works after a cold start too, where the warm-up takes charge."""

import re

import numpy as np
import pytest

import evroute
from evroute import DrivingConditions, RoadNetwork
from evroute.errors import NotEnoughChargeError

COLD = DrivingConditions(temperature_c=-10.0, parked_minutes=600.0)


def refusal(network: RoadNetwork, ends: list[str], soc: float, **wishes: float) -> str | None:
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
        advised = int(re.findall(r"start with at least (\d+) %", text)[0])
        assert refusal(network, ends, advised, **wishes) is None, text
        if advised - 1 > soc:
            assert refusal(network, ends, advised - 1, **wishes), text
        followed += 1
