"""The contract of indices: `check_index`, on a small hilly network with shipped models."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from evroute.arms import Arms, Feedback
from evroute.energy.vehicle import load_vehicle
from evroute.methods.parts import MODELS, made_by, model_options
from evroute.methods.setting import Setting
from evroute.model.base import EnergyModel
from evroute.policy.agent import lacking
from evroute.policy.base import Index, IndexOptions
from evroute.testing.base import ContractError, ensure, equal, hold
from evroute.testing.roads import hill

FIRST = ("exact", "independent")
"""Models that are tried before the others of `MODELS`."""
ROUNDS = (1, 2, 1000)


@dataclass(frozen=True)
class Subject:
    """The part that the checks are run on, and its surroundings.

    Parameters
    ----------
    make
        Makes an index.
    learned
        Makes a model that has learned some trips and meets the needs of the index.
    arms
        The arms of the network.
    """

    make: Callable[[], Index]
    learned: Callable[[], EnergyModel]
    arms: Arms


def check_index(
    options: type[IndexOptions],
    *,
    model: str | None = None,
    values: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Check that the indices of a class of options keep the protocol `Index`.

    Parameters
    ----------
    options
        The class. The return type of its ``build`` names the class of the index.
    model
        Name of a model. By default the first that meets the needs of the index.
    values
        Values of options.

    Raises
    ------
    ContractError
        With the sentence of the protocol that they break.
    """
    setting = Setting(hill(), load_vehicle("reference"))
    chosen = model_for(options) if model is None else model
    learned = partial(_learned, chosen, setting)
    make = partial(_built, options, setting, values)
    hold(CHECKS, Subject(make, learned, setting.arms))


def model_for(options: type[IndexOptions]) -> str:
    """Return the name of a shipped model that meets the needs of an index.

    Raises
    ------
    ContractError
        If the return type of ``build`` is no index, or no model meets its needs.
    """
    try:
        made = made_by(options)
    except (KeyError, NameError) as error:
        raise ContractError("The return type of build names the class of the index.") from error
    ensure(
        isinstance(made, type) and hasattr(made, "needs"),
        "The return type of build names a class that derives from Index.",
    )
    for name in dict.fromkeys((*FIRST, *MODELS)):
        if not lacking(made_by(model_options(name)), made.needs):
            return name
    raise ContractError(f"No model meets the needs of this index: none is {made.needs.__name__}.")


def _built(options: type[IndexOptions], setting: Setting, values: Mapping[str, Any]) -> Index:
    return options.checked(dict(values)).build(setting)


def _learned(name: str, setting: Setting) -> EnergyModel:
    model = model_options(name).checked({}).build(setting, np.random.default_rng(0))
    arms = setting.arms
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rows = rng.integers(0, len(arms), 5)
        energy_wh = arms.prior_mean_wh[rows] + rng.normal(0.0, 30.0, 5)
        prior_wh = arms.prior_mean_wh[rows]
        model.update(Feedback(arms.id[rows], arms.features[rows], prior_wh, energy_wh))
    return model


def finite_for_each_arm(subject: Subject) -> None:
    """An index is a finite energy in float64 for each arm, in every round."""
    index, model = subject.make(), subject.learned()
    some = subject.arms.take(np.array([0, 2, 3, 5]))
    for t in ROUNDS:
        values = index(t, some, model, np.random.default_rng(t))
        ensure(isinstance(values, np.ndarray), f"It is a {type(values).__name__}.")
        ensure(values.shape == (4,), f"Of 4 arms the shape is {values.shape}.")
        ensure(values.dtype == np.float64, f"The type is {values.dtype}.")
        ensure(np.isfinite(values).all(), f"In round {t} a value is not finite.")


def depends_on_the_generator_alone(subject: Subject) -> None:
    """Equal rounds, models and generators give equal indices, to the last bit."""
    one, again = (
        subject.make()(3, subject.arms, subject.learned(), np.random.default_rng(7))
        for _ in range(2)
    )
    equal(one, again, "two calls")


def teaches_the_model_nothing(subject: Subject) -> None:
    """An index changes neither the model nor the arms."""
    index, model = subject.make(), subject.learned()
    before = {name: np.copy(part) for name, part in model.state().items()}
    features, prior_wh = subject.arms.features.copy(), subject.arms.prior_mean_wh.copy()
    index(1, subject.arms, model, np.random.default_rng(1))
    for name, part in model.state().items():
        equal(part, before[name], f"{name} before and after")
    equal(subject.arms.features, features, "the features before and after")
    equal(subject.arms.prior_mean_wh, prior_wh, "the prior means before and after")


def has_diagnostics(subject: Subject) -> None:
    """After a call, beta, multiplier and b_min are numbers, or NaN."""
    index = subject.make()
    index(1, subject.arms, subject.learned(), np.random.default_rng(1))
    for name in ("beta", "multiplier", "b_min"):
        value = getattr(index, name)
        number = isinstance(value, float | int | np.floating)
        ensure(number, f"Here {name} is {value!r}.")
        ensure(math.isnan(value) or value >= 0, f"Here {name} is {value}.")


CHECKS: tuple[Callable[[Subject], None], ...] = (
    finite_for_each_arm,
    depends_on_the_generator_alone,
    teaches_the_model_nothing,
    has_diagnostics,
)
