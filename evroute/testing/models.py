"""The contract of models of edge energy: `check_model`, on a small hilly network."""

import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from evroute.arms import Arms, Feedback
from evroute.energy.vehicle import load_vehicle
from evroute.methods.setting import Setting
from evroute.model.base import EnergyModel, HasJoint, ModelOptions
from evroute.testing.base import close, ensure, equal, hold, refuses
from evroute.testing.roads import hill

MAKE = Callable[[], EnergyModel]


@dataclass(frozen=True)
class Subject:
    """The part that the checks are run on, and its surroundings.

    Parameters
    ----------
    make
        Makes a model before any trip.
    setting
        Network, vehicle and prior of the model.
    own_prior
        Whether the model's prior deviations are its own instead of the setting's.
    low_rank
        Whether its covariances are of low rank.
    single_precision
        Whether its kernel is kept in single precision.
    """

    make: MAKE
    setting: Setting
    own_prior: bool = False
    low_rank: bool = False
    single_precision: bool = False

    @property
    def arms(self) -> Arms:
        """The arms of the network."""
        return self.setting.arms


def check_model(
    options: type[ModelOptions],
    *,
    own_prior: bool = False,
    low_rank: bool = False,
    single_precision: bool = False,
    **values: Any,
) -> None:
    """Check that the models of a class of options keep the protocol `EnergyModel`.

    Parameters
    ----------
    options
        The class.
    own_prior, low_rank, single_precision
        As in `Subject`.
    **values
        Values of options with which theory makes an approximate model exact.

    Raises
    ------
    ContractError
        With the sentence of the protocol that they break.
    """
    setting = Setting(hill(), load_vehicle("reference"))
    build = partial(_built, options, setting, values)
    hold(CHECKS, Subject(build, setting, own_prior, low_rank, single_precision))


def _built(options: type[ModelOptions], setting: Setting, values: dict[str, Any]) -> EnergyModel:
    return options.checked(values).build(setting, np.random.default_rng(0))


def _trip(arms: Arms, seed: int, k: int = 5) -> Feedback:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, len(arms), k)
    energy_wh = arms.prior_mean_wh[rows] + rng.normal(0.0, 30.0, k)
    return Feedback(arms.id[rows], arms.features[rows], arms.prior_mean_wh[rows], energy_wh)


def _learned(subject: Subject, n_trips: int = 6) -> EnergyModel:
    model = subject.make()
    for seed in range(n_trips):
        model.update(_trip(subject.arms, seed))
    return model


def _congested(arms: Arms) -> Arms:
    """Halve the second feature of some arms and raise their prior means."""
    features, prior_mean_wh = arms.features.copy(), arms.prior_mean_wh.copy()
    features[1:4, 1] /= 2
    prior_mean_wh[1:4] += 25.0
    return Arms(arms.id, features, prior_mean_wh)


def has_the_methods(subject: Subject) -> None:
    """A model has the methods of EnergyModel."""
    model = subject.make()
    missing = [name for name in dir(EnergyModel) if name[0] != "_" and not hasattr(model, name)]
    ensure(not missing, f"{type(model).__name__} lacks {', '.join(missing)}.")


def believes_the_physics_first(subject: Subject) -> None:
    """Before any trip the mean and the deviation are the prior's."""
    for arms in (subject.arms, _congested(subject.arms)):
        belief = subject.make().posterior(arms)
        equal(belief.mean_wh, arms.prior_mean_wh, "the means and the prior means")
        if not subject.own_prior:
            rtol = 1e-6 if subject.single_precision else 1e-12
            expected = np.sqrt(subject.setting.prior_variance_wh2)
            close(belief.std_wh, expected, "the deviations", rtol=rtol)


def asking_changes_nothing(subject: Subject) -> None:
    """A question changes no number of the state."""
    model = _learned(subject)
    before = {name: np.copy(part) for name, part in model.state().items()}
    model.posterior(_congested(subject.arms))
    model.noise_std(subject.arms)
    if isinstance(model, HasJoint):
        model.covariance(subject.arms)
        model.sample_many(subject.arms, np.random.default_rng(0), 1)
    after = model.state()
    ensure(before.keys() == after.keys(), "The names of the state change.")
    for name, part in before.items():
        equal(part, after[name], f"{name} before and after")


def nothing_teaches_nothing(subject: Subject) -> None:
    """A trip without edges teaches nothing."""
    model = subject.make()
    model.update(_trip(subject.arms, 0, k=0))
    equal(model.posterior(subject.arms).mean_wh, subject.arms.prior_mean_wh, "the means")


def closed_edges_change_no_others(subject: Subject) -> None:
    """The belief of an arm does not depend on which other arms are asked about."""
    model, open_rows = _learned(subject), np.array([0, 2, 3, 6])
    some = subject.arms.take(open_rows)
    whole, part = model.posterior(subject.arms), model.posterior(some)
    # a matrix product of another size may round differently, depending on the processor
    close(part.mean_wh, whole.mean_wh[open_rows], "the means of some arms", rtol=1e-12)
    close(part.std_wh, whole.std_wh[open_rows], "the deviations of some arms", rtol=1e-12)
    noise = subject.setting.noise_std_wh
    equal(model.noise_std(some), noise[open_rows], "the noises and the setting's")


def a_measurement_counts_by_its_noise(subject: Subject) -> None:
    """A measurement draws the mean towards it and sharpens it, as of normal distributions."""
    model, arm = subject.make(), subject.arms.take(np.array([4]))
    before = model.posterior(arm)
    model.update(Feedback(arm.id, arm.features, arm.prior_mean_wh, arm.prior_mean_wh + 40.0))
    after = model.posterior(arm)
    variance, noise = before.std_wh**2, subject.setting.noise_std_wh[4] ** 2
    drawn = 40.0 * variance / (variance + noise)
    close(after.mean_wh - before.mean_wh, drawn, "the change of the mean", rtol=1e-7)
    close(after.std_wh**-2, 1 / variance + 1 / noise, "the precision after it", rtol=1e-7)


def certain_after_many(subject: Subject) -> None:
    """An edge that is driven often becomes certain, at its measured energy."""
    model, arm = subject.make(), subject.arms.take(np.array([2]))
    truth_wh, often = arm.prior_mean_wh + 17.0, np.zeros(50, dtype=int)
    for _ in range(20):
        features, prior = arm.features[often], arm.prior_mean_wh[often]
        model.update(Feedback(arm.id[often], features, prior, truth_wh[often]))
    belief, most = model.posterior(arm), subject.setting.noise_std_wh[2] / np.sqrt(1000)
    ensure(belief.std_wh[0] <= most, f"The deviation is {belief.std_wh[0]:.3g} Wh.")
    close(belief.mean_wh, truth_wh, "the mean", rtol=1e-7, atol=0.1)


def equal_trips_give_equal_beliefs(subject: Subject) -> None:
    """Equal trips give equal beliefs, to the last bit."""
    one, other = (_learned(subject).posterior(subject.arms) for _ in range(2))
    equal(one.mean_wh, other.mean_wh, "the means")
    equal(one.std_wh, other.std_wh, "the deviations")


def continues_to_the_last_bit(subject: Subject) -> None:
    """A model that is restored continues as the one that was saved, to the last bit."""
    model, other = _learned(subject), subject.make()
    buffer = io.BytesIO()
    np.savez(buffer, **dict[str, Any](model.state()))
    buffer.seek(0)
    other.restore(dict(np.load(buffer)))
    for seed in range(50, 60):
        for each in (model, other):
            each.update(_trip(_congested(subject.arms), seed))
    for arms in (subject.arms, _congested(subject.arms)):
        equal(model.posterior(arms).mean_wh, other.posterior(arms).mean_wh, "the means")
        equal(model.posterior(arms).std_wh, other.posterior(arms).std_wh, "the deviations")


def refuses_other_states(subject: Subject) -> None:
    """A state of something else is refused by a ValueError that says so."""
    own = _learned(subject).state()
    wrong = {name: np.ones((3, 3)) for name in own if name.endswith("precision")}
    states: list[dict[str, Any]] = [{}, own | {"unknown": np.ones(3)}]
    if wrong:
        states.append(own | wrong)
    for state in states:
        model = subject.make()
        message = refuses(partial(model.restore, state), ValueError)
        ensure("this is not the state of a" in message, f"It says: {message}")


def joint_has_the_marginals(subject: Subject) -> None:
    """A joint posterior is symmetric, has the marginals on its diagonal, and is positive."""
    model = _learned(subject)
    if not isinstance(model, HasJoint):
        return
    for arms in (subject.arms, _congested(subject.arms), subject.arms.take(np.array([1, 5]))):
        covariance = model.covariance(arms)
        equal(covariance, covariance.T, "the two halves")
        close(covariance.diagonal(), model.posterior(arms).std_wh ** 2, "the variances")
        eigenvalues = np.linalg.eigvalsh(covariance)
        least = -1e-12 * eigenvalues.max() if subject.low_rank else 0.0
        ensure(eigenvalues.min() > least, f"The least eigenvalue is {eigenvalues.min():.3g}.")


def draws_depend_on_the_generator(subject: Subject) -> None:
    """Joint draws depend on the generator alone, and have a row for each draw."""
    model, arms = _learned(subject), subject.arms
    if not isinstance(model, HasJoint):
        return
    one, again = (model.sample_many(arms, np.random.default_rng(8), 1) for _ in range(2))
    equal(one, again, "two draws of one generator")
    shape = model.sample_many(arms, np.random.default_rng(8), 3).shape
    ensure(shape == (3, len(arms)), f"Three draws have the shape {shape}.")


CHECKS: tuple[Callable[[Subject], None], ...] = (
    has_the_methods,
    believes_the_physics_first,
    asking_changes_nothing,
    nothing_teaches_nothing,
    closed_edges_change_no_others,
    a_measurement_counts_by_its_noise,
    certain_after_many,
    equal_trips_give_equal_beliefs,
    continues_to_the_last_bit,
    refuses_other_states,
    joint_has_the_marginals,
    draws_depend_on_the_generator,
)
