"""Contract suites catch wrong siblings by the sentence that they break, and pass right ones."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evroute.arms import Belief, Feedback
from evroute.errors import EvrouteError
from evroute.learning.readers.edges import READER
from evroute.model.base import ModelOptions
from evroute.model.context_kernels.rbf import RBF
from evroute.model.independent import IndependentNormal, IndependentOptions
from evroute.policy.base import Index, IndexOptions
from evroute.resources import data_path
from evroute.testing import (
    ContractError,
    check_index,
    check_kernel,
    check_model,
    check_reader,
    check_world,
)
from evroute.worlds.conditions import Conditions
from evroute.worlds.world import World

EXAMPLE = data_path("examples", "edges.csv")


class Fading(RBF):
    def __call__(self, x, y, lengthscales):
        return 0.9 * super().__call__(x, y, lengthscales)


class Lopsided(RBF):
    def __call__(self, x, y, lengthscales):
        kernel = super().__call__(x, y, lengthscales)
        return kernel + 0.01 * np.triu(np.ones(kernel.shape), 1)


class Blind(RBF):
    def __call__(self, x, y, lengthscales):
        return super().__call__(x, y, np.ones_like(lengthscales))


class OffPitch(RBF):
    def spectral_draw(self, n_features, size, rng):
        return 1.2 * super().spectral_draw(n_features, size, rng)


class Stretched(RBF):
    def torch_kernel(self, lengthscales):
        return super().torch_kernel(1.1 * lengthscales)


class Crashing(RBF):
    def __call__(self, x, y, lengthscales):
        raise ZeroDivisionError("no\nkernel")


KERNELS = {
    Fading: "The kernel of a context with itself is 1.",
    Lopsided: "The matrix of a kernel is symmetric",
    Blind: "The kernel depends on the lengthscales",
    OffPitch: "Cosines at frequencies of the spectral density average",
    Stretched: "The form for gpytorch is the same kernel",
    Crashing: "itself is 1. It raises ZeroDivisionError: no kernel",
}


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_a_wrong_kernel_is_caught(kernel: type[RBF]) -> None:
    with pytest.raises(ContractError) as broken:
        check_kernel(kernel)
    assert KERNELS[kernel] in str(broken.value)
    check_kernel(RBF)


class Mean(Index):
    """The mean of the belief."""

    def __call__(self, t, arms, model, rng):
        return model.posterior(arms).mean_wh


class Undefined(Mean):
    def __call__(self, t, arms, model, rng):
        return np.where(arms.id == 3, np.nan, super().__call__(t, arms, model, rng))


class Total(Mean):
    def __call__(self, t, arms, model, rng):
        return super().__call__(t, arms, model, rng).sum()


class Narrow(Mean):
    def __call__(self, t, arms, model, rng):
        return super().__call__(t, arms, model, rng).astype(np.float32)


class Moody(Mean):
    calls = 0

    def __call__(self, t, arms, model, rng):
        Moody.calls += 1
        return super().__call__(t, arms, model, rng) + Moody.calls


class Meddling(Mean):
    def __call__(self, t, arms, model, rng):
        values = super().__call__(t, arms, model, rng)
        model.update(Feedback(arms.id, arms.features, arms.prior_mean_wh, values))
        return values


class Boasting(Mean):
    @property
    def multiplier(self):
        return "very sure"


INDICES = {
    Undefined: "An index is a finite energy in float64 for each arm, in every round. In round 1",
    Total: "An index is a finite energy in float64 for each arm",
    Narrow: "for each arm, in every round. The type is float32.",
    Moody: "Equal rounds, models and generators give equal indices",
    Meddling: "An index changes neither the model nor the arms.",
    Boasting: "After a call, beta, multiplier and b_min are numbers, or NaN.",
}


def options_of(index: type[Index]) -> type[IndexOptions]:
    class Options(IndexOptions):
        """Options of a test."""

        def build(self, setting: Any) -> Index:
            return index()

    Options.build.__annotations__["return"] = index
    return Options


@pytest.mark.parametrize("index", INDICES, ids=lambda index: index.__name__)
def test_a_wrong_index_is_caught(index: type[Index]) -> None:
    with pytest.raises(ContractError) as broken:
        check_index(options_of(index))
    assert INDICES[index] in str(broken.value)
    check_index(options_of(Mean))


def test_an_index_without_the_type_of_build_is_caught() -> None:
    class Options(IndexOptions):
        """Options of a test."""

        def build(self, setting):
            return Mean()

    with pytest.raises(ContractError, match="The return type of build names the class"):
        check_index(Options)


class Gloomy(IndependentNormal):
    def posterior(self, arms):
        belief = super().posterior(arms)
        return Belief(belief.mean_wh + 1, belief.std_wh)


class Noisy(IndependentNormal):
    def noise_std(self, arms):
        return 2 * super().noise_std(arms)


class Doubtful(IndependentNormal):
    def posterior(self, arms):
        belief = super().posterior(arms)
        return Belief(belief.mean_wh, 1.1 * belief.std_wh)


class Eager(IndependentNormal):
    def update(self, feedback):
        super().update(feedback)
        super().update(feedback)


class Deaf(IndependentNormal):
    def update(self, feedback):
        pass


class Forgetful(IndependentNormal):
    def restore(self, state):
        super().restore({name: 0 * part for name, part in state.items()})


class Credulous(IndependentNormal):
    def restore(self, state):
        if state.keys() == self.state().keys():
            super().restore(state)


MODELS = {
    Gloomy: "the prior's. Here the means and the prior means differ.",
    Doubtful: "the prior's. Here the deviations are",
    Noisy: "The belief of an arm does not depend on which other arms are asked about.",
    Eager: "A measurement draws the mean towards it and sharpens it",
    Deaf: "A measurement draws the mean towards it and sharpens it",
    Forgetful: "A model that is restored continues as the one that was saved",
    Credulous: "A state of something else is refused by a ValueError",
}


def model_of(wrong: type[IndependentNormal]) -> type[ModelOptions]:
    class Options(IndependentOptions):
        """Options of a test."""

        def build(self, setting: Any, rng: np.random.Generator) -> IndependentNormal:
            model = super().build(setting, rng)
            model.__class__ = wrong
            return model

    return Options


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_a_wrong_model_is_caught(model: type[IndependentNormal]) -> None:
    with pytest.raises(ContractError) as broken:
        check_model(model_of(model))
    assert MODELS[model] in str(broken.value)
    check_model(IndependentOptions)


@dataclass
class Wrapped:
    """An environment of which a test changes one answer."""

    true: Any
    seeds: Any
    drives: int = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.true, name)


class Tiring(Wrapped):
    def drive(self, request, route):
        self.drives += 1
        feedback = self.true.drive(request, route)
        return replace(feedback, energy_wh=feedback.energy_wh + self.drives)


class Seedless(Wrapped):
    def drive(self, request, route):
        feedback = self.true.drive(request, route)
        noise = np.random.default_rng(request.t).normal(0, 1, len(feedback.energy_wh))
        return replace(feedback, energy_wh=feedback.energy_wh + noise)


class Learning(Wrapped):
    def drive(self, request, route):
        self.drives += 1
        return self.true.drive(request, route)

    def expected_wh(self, request):
        return self.true.expected_wh(request) + self.drives


class Timeless(Wrapped):
    def travel_s(self, request):
        return 0 * self.true.travel_s(request)


class Halting(Wrapped):
    def drive(self, request, route):
        feedback = self.true.drive(request, route)
        first = slice(0, 1)
        kept = ("id", "features", "prior_mean_wh", "energy_wh", "travel_s")
        return replace(feedback, **{name: getattr(feedback, name)[first] for name in kept})


class Flattering(Wrapped):
    def route_wh(self, request, route):
        return 0.9 * self.true.route_wh(request, route)


WORLDS = {
    Tiring: "A round depends on the seed and its number alone",
    Seedless: "Other seeds make other measurements.",
    Learning: "The expectation of a round does not depend on the route driven in it.",
    Timeless: "Every open edge has a travel time above 0",
    Halting: "A drive measures each edge of its route, in order.",
    Flattering: "Measurements average to the expected energy of their route.",
}


def world_of(wrong: type[Wrapped]) -> World:
    class Changed(Conditions):
        """A world of a test."""

        def build(self, setting, trips, seeds):
            return wrong(super().build(setting, trips, seeds), seeds)

    return Changed()


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.__name__)
def test_a_wrong_world_is_caught(world: type[Wrapped]) -> None:
    with pytest.raises(ContractError) as broken:
        check_world(world_of(world), has_noise=world is Seedless)
    assert WORLDS[world] in str(broken.value)


def test_a_right_world_passes() -> None:
    check_world(Conditions, has_noise=False)


def trips_of(change: Callable[[Any], Any]) -> Callable[..., Any]:
    def trips(log, setting, names):
        measured = READER.trips(log, setting, names)
        measured.trips[:] = [change(trip) for trip in measured.trips]
        return measured

    return trips


def anybodys(log, setting, names):
    return READER.trips(log, setting, [*names, "lorry"])


def unread(path: Path) -> Any:
    try:
        return READER.log(path)
    except EvrouteError:
        raise ValueError("no") from None


READERS = {
    "silent": (replace(READER, about="?"), "A reader has one sentence on its format."),
    "shy": (replace(READER, accepts=lambda headers: False), "A reader accepts its files"),
    "in kWh": (
        replace(
            READER, trips=trips_of(lambda trip: replace(trip, energy_wh=trip.energy_wh / 1000))
        ),
        "A trip is a legal route whose energy is between a fifth of eq. 8",
    ),
    "backwards": (
        replace(READER, trips=trips_of(lambda trip: replace(trip, edge=trip.edge[::-1].copy()))),
        "A trip is a legal route",
    ),
    "nameless": (
        replace(READER, trips=trips_of(lambda trip: replace(trip, trip=""))),
        "Every trip has a name of its own.",
    ),
    "anybody's": (replace(READER, trips=anybodys), "Trips of another vehicle are set aside"),
    "crashing": (
        replace(READER, log=unread),
        "A file that is missing, empty or noise is an EvrouteError",
    ),
}


@pytest.mark.parametrize("name", READERS)
def test_a_wrong_reader_is_caught(name: str) -> None:
    reader, sentence = READERS[name]
    with pytest.raises(ContractError) as broken:
        check_reader(reader, EXAMPLE)
    assert sentence in str(broken.value)
    assert "\n" not in str(broken.value)
    check_reader(READER, EXAMPLE)
