"""SparseGP: the one sparse Gaussian process of arm energies, in closed form.

It is conditioned on a dictionary of measured arms, its inducing points. A `Rule` states when the
dictionary changes and which arms it holds, the radius of confidence bounds, and the delay until
measurements are learned. Nothing else differs between SVGP at its optimum, BKB, BBKB and EK-UCB.

Whitened, scaled numbers become watt-hours here alone: the deviation of an arm is
``noise_std * sqrt(ridge) * sigma`` with sigma the papers' scaled deviation.
"""

import json
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from pydantic import Field

from evroute.arms import Arms, Belief, Feedback
from evroute.arrays import FloatArray, IntArray
from evroute.errors import require
from evroute.model.base import CovarianceSetting, ModelOptions, State, check_noise
from evroute.model.kernels.arms import Covariance
from evroute.model.sparse.all_edges_cache import AllEdgesCache
from evroute.model.sparse.posterior import SparsePosterior
from evroute.model.sparse.radius import Form


class Rule(Protocol):
    """When the dictionary changes, and which measured arms it holds."""

    def planned(
        self,
        posterior: SparsePosterior,
        arms: Arms,
        everywhere: AllEdgesCache,
        rng: np.random.Generator,
    ) -> bool:
        """Register arms about to be measured. Return whether the belief changed.

        By default plans are ignored, and every measurement is learned at once.

        Parameters
        ----------
        posterior
            The posterior.
        arms
            The distinct arms of the trip.
        everywhere
            All reference arms.
        rng
            Source of randomness.
        """
        return False

    def learn(
        self,
        posterior: SparsePosterior,
        slots: IntArray,
        whitened: FloatArray,
        rng: np.random.Generator,
    ) -> None:
        """Learn measurements.

        Parameters
        ----------
        posterior
            The posterior to update.
        slots
            (k,) slots of the measured arms.
        whitened
            (k,) residuals over noise deviations.
        rng
            Source of randomness.
        """

    @property
    def waits(self) -> bool:
        """Whether planning must wait until all planned arms are measured."""
        return False

    def radius(
        self, posterior: SparsePosterior, form: Form, norm_bound: float, delta: float
    ) -> float:
        """Return the multiplier of the scaled deviation for a form of ``radius.FORMS``.

        Parameters
        ----------
        posterior
            The posterior.
        form
            One of ``radius.FORMS``.
        norm_bound
            F, of the whitened residuals.
        delta
            Failure probability.
        """

    def diagnostics(self) -> dict[str, float]:
        """Return the rule's numbers for the log of a round."""

    def state(self) -> State:
        """Return the rule's state."""

    def restore(self, state: State) -> None:
        """Restore a state. Raise KeyError or ValueError for a state of another rule."""


@dataclass(frozen=True, slots=True, eq=False)
class Inducing:
    """Inducing points and the posterior q(u) = N(m, S) of the residuals there.

    Parameters
    ----------
    id
        (m,) arms.
    features
        (m, d) contexts.
    mean_wh
        (m,) posterior mean of the energy above the prior mean, Wh.
    covariance_wh2
        (m, m) posterior covariance, Wh².
    """

    id: IntArray
    features: FloatArray
    mean_wh: FloatArray
    covariance_wh2: FloatArray


class SparseOptions(ModelOptions):
    """Options of a sparse process. A subclass adds the options of its rule."""

    has_kernel = True
    engine: ClassVar[str]
    """Name of the engine, stored in states."""

    ridge: float = Field(
        default=1.0, gt=0, description="lambda over the noise variance. Larger means fewer points"
    )

    def rule(self) -> Rule:
        """Return a new rule of the dictionary."""
        raise NotImplementedError

    def build(self, setting: CovarianceSetting, rng: np.random.Generator) -> "SparseGP":
        """Return the model before any trip."""
        return SparseGP(
            setting.kernel,
            setting.arms,
            setting.noise_std_wh,
            rng,
            rule=self.rule(),
            ridge=self.ridge,
            name=self.engine,
        )


class SparseGP:
    """Sparse Gaussian process on n arms and their contexts.

    Parameters
    ----------
    kernel
        Prior covariance of arms.
    arms
        All arms 0..n-1 in their reference contexts.
    noise_std_wh
        (n,) noise deviation of one measurement of each arm, Wh.
    rng
        Draws the dictionary.
    rule
        Maintains the dictionary.
    ridge
        lambda over the noise variance, positive.
    name
        Name of the engine, stored in states.
    """

    def __init__(
        self,
        kernel: Covariance,
        arms: Arms,
        noise_std_wh: FloatArray,
        rng: np.random.Generator,
        *,
        rule: Rule,
        ridge: float,
        name: str,
    ) -> None:
        n = len(arms)
        require(
            np.array_equal(arms.id, np.arange(n)),
            "the reference arms must be all edges of the kernel's network",
            ValueError,
        )
        check_noise(noise_std_wh, n)  # without noise nothing regularises the dictionary
        self._reference = arms
        self._noise_std = np.asarray(noise_std_wh, dtype=np.float64)
        self._rng = rng
        self._name = name
        self.rule = rule
        self.sparse = SparsePosterior(kernel, self._noise_std, arms.features.shape[1], ridge)
        self._everywhere = AllEdgesCache(self.sparse, arms)
        self.sparse.kappa2 = float(self._everywhere.prior.max())
        self._known: tuple[FloatArray, FloatArray] | None = None

    def posterior(self, arms: Arms) -> Belief:
        """Return mean and standard deviation of each arm under the projected process."""
        mean, variance = np.empty(len(arms)), np.empty(len(arms))
        elsewhere = np.any(arms.features != self._reference.features[arms.id], axis=1)
        here = np.flatnonzero(~elsewhere)
        if len(here):
            if self._known is None:
                self._known = self._believe(self._everywhere.embed(), self._everywhere.prior)
            mean[here], variance[here] = (numbers[arms.id[here]] for numbers in self._known)
        away = np.flatnonzero(elsewhere)
        if len(away):
            edge, features = arms.id[away], arms.features[away]
            prior = self.sparse.kernel.diagonal(edge, features)
            mean[away], variance[away] = self._believe(self.sparse.embed(edge, features), prior)
        noise = self._noise_std[arms.id]
        return Belief(
            arms.prior_mean_wh + noise * mean, noise * np.sqrt(self.sparse.ridge * variance)
        )

    def noise_std(self, arms: Arms) -> FloatArray:
        """Return the noise deviation of one measurement of each arm, (a,) Wh."""
        return self._noise_std[arms.id]

    def anticipate(self, arms: Arms) -> None:
        """Register the arms that are about to be measured."""
        if self.rule.planned(self.sparse, arms, self._everywhere, self._rng):
            self._known = None

    @property
    def waits(self) -> bool:
        """Whether planning must wait until all planned arms are measured."""
        return self.rule.waits

    def update(self, feedback: Feedback) -> None:
        """Update with the measurements of one trip or several. Repeated arms count each time."""
        if not len(feedback.id):
            return
        slots = self.sparse.slots(feedback.id, feedback.features)
        whitened = (feedback.energy_wh - feedback.prior_mean_wh) / self._noise_std[feedback.id]
        self.rule.learn(self.sparse, slots, whitened, self._rng)
        self._known = None

    def covariance(self, arms: Arms) -> FloatArray:
        """Return the posterior covariance of the arms, (a, a) Wh², exactly symmetric."""
        noise = self._noise_std[arms.id]
        prior = self.sparse.kernel(arms.id, arms.features, arms.id, arms.features)
        z = self.sparse.embed(arms.id, arms.features)
        covariance = (
            self.sparse.ridge * self.sparse.covariance(z, prior) * noise[:, np.newaxis] * noise
        )
        return 0.5 * (covariance + covariance.T)

    def sample_many(self, arms: Arms, rng: np.random.Generator, size: int) -> FloatArray:
        """Draw the expected energies ``size`` times, (size, a) Wh.

        Weights of the features are drawn jointly, the unexplained part of each arm independently,
        as in Thompson sampling with sketched features (SOFUL-TS). Marginals equal `posterior`, and
        a city needs no covariance of all arms.

        Parameters
        ----------
        arms
            The a arms.
        rng
            Source of randomness.
        size
            Number of draws.
        """
        sparse, noise = self.sparse, self._noise_std[arms.id]
        z = sparse.embed(arms.id, arms.features)
        rest = np.sqrt(sparse.unexplained(z, sparse.kernel.diagonal(arms.id, arms.features)))
        weights = np.sqrt(sparse.ridge) * sparse.weight_draws(rng.standard_normal((size, len(z))))
        draws: FloatArray = weights @ z + rest * rng.standard_normal((size, len(arms)))
        return arms.prior_mean_wh + noise * (sparse.mean(z) + draws)

    def inducing(self) -> Inducing:
        """Return the inducing points with q(u). Arms that the others span are left out."""
        sparse = self.sparse
        mean, covariance = sparse.basis_belief()
        rows = sparse.arms.id[sparse.basis]
        noise = self._noise_std[rows]
        return Inducing(
            rows,
            sparse.arms.features[sparse.basis],
            noise * mean,
            noise[:, np.newaxis] * covariance * noise,
        )

    def elbo(self) -> float:
        """Return the evidence lower bound of all measurements at q(u), in nats.

        It is at most the log marginal likelihood, and equal to it where every measured arm is an
        inducing point.
        """
        sparse = self.sparse
        return sparse.elbo() - float(sparse.count @ np.log(self._noise_std[sparse.arms.id]))

    def radius(self, form: Form, norm_bound: float, delta: float) -> float:
        """Return the multiplier of the standard deviation in the engine's confidence bound.

        Parameters
        ----------
        form
            One of ``radius.FORMS``.
        norm_bound
            F, of the residuals in the kernel's Hilbert space.
        delta
            Failure probability.
        """
        return self.rule.radius(self.sparse, form, norm_bound, delta) / float(
            np.sqrt(self.sparse.ridge)
        )

    def diagnostics(self) -> dict[str, float]:
        """Return the size of the dictionary and its effective dimension, for the log of a round.

        The effective dimension is NaN after the cap has cut the dictionary.
        """
        sparse, of_rule = self.sparse, self.rule.diagnostics()
        own = {
            "dictionary_size": float(len(sparse.dictionary)),
            "distinct_arms": float(len(sparse.observed)),
            "measurements": float(sparse.count.sum()),
            "effective_dimension": np.nan
            if of_rule.get("capped")
            else sparse.effective_dimension(),
        }
        return own | of_rule

    def state(self) -> State:
        """Return the belief and the random stream of the dictionary."""
        return (
            self.sparse.state()
            | {f"rule_{name}": part for name, part in self.rule.state().items()}
            | {"rng": np.array(json.dumps(self._rng.bit_generator.state))}
        )

    def restore(self, state: State) -> None:
        """Restore a state.

        Raises
        ------
        ValueError
            If the state is not of such a model on as many arms and features.
        """
        of_rule = {
            name.removeprefix("rule_"): part
            for name, part in state.items()
            if name.startswith("rule_")
        }
        own = {
            name: part
            for name, part in state.items()
            if not name.startswith("rule_") and name != "rng"
        }
        shapes = {name: part.shape for name, part in own.items()}
        if (
            shapes != self.sparse.shapes(own)
            or "rng" not in state
            or {name: part.ndim for name, part in of_rule.items()}
            != {name: part.ndim for name, part in self.rule.state().items()}
            or np.any(own["edge"] >= len(self._reference))
        ):
            raise ValueError(
                f"this is not the state of a {self._name} model of {len(self._reference)} edges"
            )
        self.sparse.restore(own)
        self.rule.restore(of_rule)
        self._rng.bit_generator.state = json.loads(str(state["rng"]))
        self._everywhere.forget()
        self._known = None

    def _believe(self, z: FloatArray, prior: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self.sparse.mean(z), self.sparse.variance(z, prior)
