"""Time of one update and of all predictions: Algorithm 3, its optimum, the exact model.

All at the same number of driven edges D in the same run, with one thread:

    OMP_NUM_THREADS=1 EVROUTE_DATA_DIR=... python -m pytest studies/test_svgp.py
    --benchmark-enable

and on a busy machine with ``--benchmark-timer=time.process_time``, which leaves out the time of
others.
"""

import numpy as np
import pytest

from evroute.arms import Feedback
from evroute.energy.defaults import PAPER_VEHICLE as REFERENCE
from evroute.methods.parts import model_options
from evroute.methods.setting import Setting, load_setting

pytestmark = [pytest.mark.data, pytest.mark.slow]

TRIP_EDGES = 50


@pytest.fixture(scope="module")
def luxembourg_setting(request, data_dir) -> Setting:
    if not request.config.getoption("benchmark_enable"):
        pytest.skip("minutes of work that tests nothing; run with --benchmark-enable")
    return load_setting("luxembourg", REFERENCE)


def trip(setting: Setting, edge: np.ndarray, rng: np.random.Generator) -> Feedback:
    mean_wh = setting.arms.prior_mean_wh[edge]
    return Feedback(
        edge, setting.arms.features[edge], mean_wh, mean_wh + rng.normal(0.0, 10.0, len(edge))
    )


@pytest.mark.parametrize("way", ["svgp-gpytorch", "svgp", "exact"])
@pytest.mark.parametrize("driven", [100, 300, 600])
def test_one_round(benchmark, luxembourg_setting, driven, way):
    setting, rng = luxembourg_setting, np.random.default_rng(0)
    model = model_options(way)().build(setting, rng)
    model.update(trip(setting, np.arange(driven), rng))
    benchmark.group = f"D = {driven}"

    def one_round(feedback: Feedback) -> None:
        model.update(feedback)
        model.posterior(setting.arms)

    benchmark.pedantic(
        one_round,
        setup=lambda: ((trip(setting, rng.choice(driven, TRIP_EDGES, replace=False), rng),), {}),
        rounds=15 if way in ("svgp", "exact") else 4,
        warmup_rounds=1,
    )
