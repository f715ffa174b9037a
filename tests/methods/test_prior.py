"""The kernel of a prior, on edges and on turns, in folders and in their beliefs."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from evroute.cli import app
from evroute.energy.vehicle import load_vehicle
from evroute.errors import UnknownNameError
from evroute.learning.belief import load_belief
from evroute.methods.setting import Prior, Setting


@pytest.mark.parametrize("turns", [False, True])
def test_the_kernel_between_contexts_is_the_named_one(hill, turns) -> None:
    """k = s s' (k_G + 1) k_f / 2 at equal lengthscales, k_f a Matérn 3/2 on scaled distances."""
    settings = {
        name: Setting(hill, load_vehicle("reference"), Prior(kernel=name))
        for name in ("matern-3/2", "rbf")
    }
    if turns:
        settings = {name: setting.on_turns() for name, setting in settings.items()}
    arms = settings["rbf"].arms
    ids, features = np.array([0, 3]), arms.features[[0, 3]]
    factors = settings["rbf"].space.lengthscale_factors
    r = np.linalg.norm((features[0] - features[1]) / factors)
    expected = {
        "matern-3/2": (1 + np.sqrt(3) * r) * np.exp(-np.sqrt(3) * r),
        "rbf": np.exp(-(r**2) / 2),
    }
    for name, setting in settings.items():
        kernel = setting.kernel
        of_graph = kernel.graph.block(ids[:1], ids[1:])[0, 0]
        std_wh = setting.prior.std_wh[ids]
        covariance = kernel(ids[:1], features[:1], ids[1:], features[1:])[0, 0]
        by_hand = std_wh[0] * std_wh[1] * 0.5 * (of_graph + 1) * expected[name]
        assert covariance == pytest.approx(by_hand, rel=1e-12)


def test_a_prior_of_an_unknown_kernel_or_spread_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="matern-3/2"):
        Prior(kernel="cubic")
    with pytest.raises(UnknownNameError, match="dissipation"):
        Prior("wide")


def test_runs_are_stored_with_their_kernel_and_their_beliefs_plan_with_it(tmp_path) -> None:
    out = tmp_path / "out"
    run = ("simulate", "--network", "denver", "--trip", "A", "--horizon", "3", "--seeds", "1")
    done = CliRunner().invoke(app, [*run, "--kernel", "matern-3/2", "--out", str(out), "--quiet"])
    assert done.exit_code == 0, done.output
    configuration = json.loads((out / "manifest.json").read_text())["configuration"]
    assert configuration["kernel"] == "matern-3/2"
    belief = load_belief(out)
    assert belief.setting.assumed.kernel == "matern-3/2"
    assert belief.setting.kernel.context_name == "matern-3/2"
    other = CliRunner().invoke(app, [*run, "--out", str(out), "--quiet"])
    assert 'kernel: "matern-3/2" there, "matern-5/2" now' in str(other.exception)
