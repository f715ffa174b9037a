"""What every model of edge energy must do, on a small hilly network (`evroute.testing.models`).

The sparse variational model is asked with steps of size one, where theory makes it exact.
"""

from functools import partial
from typing import Any

import numpy as np
import pytest

from evroute.energy.vehicle import load_vehicle
from evroute.methods.method import Method, make_model
from evroute.methods.parts import MODELS
from evroute.methods.setting import Setting
from evroute.testing.base import hold
from evroute.testing.models import CHECKS, Subject

METHODS = [{"model": model} for model in MODELS]
FEW_NUMBERS = {"factor", "physics"}
"""Models of few numbers: their covariances are of low rank."""
OWN_PRIOR = FEW_NUMBERS | {"physics+gp"}
"""Models whose prior deviations are not those of the setting."""
SINGLE_PRECISION = {"regional"}
"""Models whose kernel is kept in single precision."""


@pytest.fixture(params=METHODS, ids=lambda fields: "-".join(map(str, fields.values())))
def subject(request: pytest.FixtureRequest, hill: Any) -> Subject:
    setting, name = Setting(hill, load_vehicle("reference")), request.param["model"]
    method = Method(index="ts", **request.param)
    exact_steps = {"natural_rate": 1.0, "adam_rate": 0.0}
    return Subject(
        partial(_made, method, setting, exact_steps),
        setting,
        own_prior=name in OWN_PRIOR,
        low_rank=name in FEW_NUMBERS,
        single_precision=name in SINGLE_PRECISION,
    )


def _made(method: Method, setting: Setting, options: dict[str, float]) -> Any:
    return make_model(method, setting, np.random.default_rng(0), options)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_it_keeps_the_protocol(subject: Subject, check: Any) -> None:
    hold([check], subject)
