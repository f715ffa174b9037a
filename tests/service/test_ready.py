"""What the service has loaded before it says that it is ready."""

import json
import subprocess
import sys

import pytest

LATER = """
import gc, json
from numba.core.dispatcher import Dispatcher
from evroute.door.warm import _both, warm
from evroute.errors import NoRouteError
from evroute.learning.physics_belief import physics_belief
from evroute.network.catalog import load_network
from evroute.planning.planner import Planner
from evroute.planning.battery import Battery
from evroute.planning.reach import charge_needed, reach

def loaded():
    found = [each for each in gc.get_objects() if isinstance(each, Dispatcher)]
    return {each.py_func.__qualname__: len(each.signatures) for each in found}

network = load_network("denver")
warm(network)
before = loaded()
planner = Planner(_both(network)[1], uncertainty=physics_belief)
ends = 0, network.n_edges // 2
for soc in (4.0, 60.0):
    for wishes in ({}, {"risk": 0.05}, {"charge": True}, {"charge": True, "risk": 0.05},
                   {"alternatives": 2}, {"via": [network.edge_id[9]]}):
        try:
            planner.plan(*ends, soc=soc, reserve=3.0, **wishes)
        except NoRouteError:
            pass
battery = Battery.of_percent(planner.vehicle.battery_kwh, 3.0, 2.0)
reach(planner, 0, battery)
reach(planner, 0, battery, risk=0.05)
charge_needed(planner, 0, battery)
planner.energies([0, 0, 0, 5], [7, 8, 9, 6])
print(json.dumps([before, loaded()]))
"""


def test_later_requests_load_no_more_compiled_code() -> None:
    pytest.importorskip("numba")
    done = subprocess.run([sys.executable, "-c", LATER], capture_output=True, text=True, check=True)
    before, after = json.loads(done.stdout)
    assert before["settle"] == before["settle_stops"] == before["_route"] == 1
    assert after == before
