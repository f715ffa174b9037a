"""Defaults of engines and bounds, as their papers and specifications give them."""

from inspect import signature

import pytest

from evroute.model.nystrom.bbkb import bbkb
from evroute.model.nystrom.bkb import bkb, cbbkb, cbkb
from evroute.model.nystrom.ek import ek_ucb
from evroute.policy.bounds import amm_ucb, ay_gp_ucb, cmm_ucb, dmm_ucb, igp_ucb

EVERY_ROUND = {"running": False, "refresh_every": 1}  # bounds of the round alone, made in it


@pytest.mark.parametrize(
    ("make", "defaults"),
    [
        (bkb, {"ridge": 1.0, "q_bar": 2.0}),
        (bbkb, {"ridge": 1.0, "q_bar": 2.0, "stop_rule": "local", "threshold": 2.0}),
        (cbkb, {"q_bar": 10.0}),  # Zenati et al. 2022: ten times C, and C = 1
        (cbbkb, {"threshold": 10.0}),  # the C of their main figures
        (ek_ucb, {"eps": 0.5, "gamma": 1.0, "mu": None}),
        (cmm_ucb, {"B": 5.0, "sigma": 1.0, "delta": 0.05, "c": "mixture"} | EVERY_ROUND),
        (dmm_ucb, {"B": 5.0, "sigma": 1.0, "delta": 0.05, "clip_prior": False} | EVERY_ROUND),
        (amm_ucb, {"B": 5.0, "sigma": 1.0, "delta": 0.05, "clip_prior": False} | EVERY_ROUND),
        (ay_gp_ucb, {"B": 5.0, "sigma": 1.0, "delta": 0.05, "clip_prior": False} | EVERY_ROUND),
        (igp_ucb, {"B": 5.0, "sigma": 1.0, "delta": 0.05, "clip_prior": False} | EVERY_ROUND),
    ],
)
def test_defaults_are_the_published_ones(make, defaults) -> None:
    found = signature(make).parameters
    assert {name: found[name].default for name in defaults} == defaults
