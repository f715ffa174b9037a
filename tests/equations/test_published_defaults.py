"""Defaults of engines and bounds, as their papers and specifications give them."""

import pytest

from evroute.model.sparse.bkb import BBKBOptions, BKBOptions, CBBKBOptions, CBKBOptions
from evroute.model.sparse.ek import EKOptions
from evroute.policy.bounds import AMMOptions, AYOptions, CMMOptions, DMMOptions, IGPOptions

EVERY_ROUND = {"refresh_every": 1}  # bounds of the round alone, made in it


@pytest.mark.parametrize(
    ("make", "defaults"),
    [
        (BKBOptions, {"ridge": 1.0, "q_bar": 2.0}),
        (BBKBOptions, {"ridge": 1.0, "q_bar": 2.0, "stop_rule": "local", "threshold": 2.0}),
        (CBKBOptions, {"q_bar": 10.0}),  # Zenati et al. 2022: ten times C, and C = 1
        (CBBKBOptions, {"threshold": 10.0}),  # the C of their main figures
        (EKOptions, {"eps": 0.5, "gamma": 1.0, "mu": None}),
        (CMMOptions, {"B": 5.0, "sigma": 1.0, "delta": 0.05, "c": "mixture"} | EVERY_ROUND),
        (DMMOptions, {"B": 5.0, "sigma": 1.0, "delta": 0.05} | EVERY_ROUND),
        (AMMOptions, {"B": 5.0, "sigma": 1.0, "delta": 0.05} | EVERY_ROUND),
        (AYOptions, {"B": 5.0, "sigma": 1.0, "delta": 0.05} | EVERY_ROUND),
        (IGPOptions, {"B": 5.0, "sigma": 1.0, "delta": 0.05} | EVERY_ROUND),
    ],
)
def test_defaults_are_the_published_ones(make, defaults) -> None:
    found = make.model_fields
    assert {name: found[name].default for name in defaults} == defaults
