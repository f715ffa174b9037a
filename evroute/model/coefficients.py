"""Coefficients: models that learn only a few numbers common to all roads, and their posterior.

Bayesian linear regression: Bishop, *Pattern Recognition and Machine Learning*, eqs. 3.50-3.51.
Inside, columns are multiplied by the prior deviations, so that the prior precision is the identity.

`PhysicsRegression` learns the parameters of eq. 8, and nothing else: ``y_e - E_e = sum_j x_ej b_j +
noise`` with the derivatives x of eq. 8 (`energy.regressors`). A coefficient learned on one road
holds on all roads. Residuals that no coefficient explains are never learned.

`ConsumptionFactor` has one coefficient: ``f_e = p_e + c w_e`` with ``p_e = m g dz`` and dissipated
energy ``w_e = E_e - p_e >= 0`` by eq. 8. The factor does not scale p_e: a downhill road of negative
energy would otherwise return more where the vehicle takes more. So ``y_e - E_e = (c - 1) w_e +
noise`` with ``c ~ N(1, factor_std²)``. There is one factor per belief. Vehicles with separate
beliefs have separate factors.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from pydantic import Field
from scipy.linalg import cho_solve, solve_triangular

from evroute.arms import Arms, Belief, Feedback, Total
from evroute.arrays import FloatArray, IntArray, freeze
from evroute.energy.regressors import Derivatives
from evroute.errors import require
from evroute.model.base import (
    ModelOptions,
    ModelSetting,
    State,
    check_noise,
    check_state,
    lower_factor,
)


@dataclass(frozen=True, slots=True, eq=False)
class Coefficients:
    """Posterior of p deviations from the values assumed by the prior mean, 0 before any trip.

    The coefficients absorb other departures from the prior mean as far as they can. ``std`` does
    not account for that.

    Parameters
    ----------
    names, units
        p names and units.
    mean, std
        (p,) posterior mean and deviation, in these units.
    prior_std
        (p,) prior deviation, in these units.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    mean: FloatArray
    std: FloatArray
    prior_std: FloatArray

    def __post_init__(self) -> None:
        shape = (len(self.names),)
        freeze(
            self,
            **{
                name: (getattr(self, name), np.float64, shape)
                for name in ("mean", "std", "prior_std")
            },
        )


@runtime_checkable
class HasCoefficients(Protocol):
    """A model with such coefficients."""

    def coefficients(self) -> Coefficients:
        """Return the current posterior of the coefficients."""


class CoefficientModel(ABC):
    """``y_e - E_e = sum_j x_ej b_j + noise`` with ``b_j ~ N(0, prior_std_j²)``: conjugate, exact.

    Parameters
    ----------
    prior_std
        (p,) prior deviations of the coefficients, in their units.
    noise_std_wh
        (n,) noise deviation of one measurement of each edge, Wh.

    Raises
    ------
    ValueError
        If a deviation is not positive.
    """

    title: str
    """Name of the model in messages."""
    names: tuple[str, ...]
    units: tuple[str, ...]

    def __init__(self, prior_std: FloatArray, noise_std_wh: FloatArray) -> None:
        check_noise(noise_std_wh, len(noise_std_wh))
        require(
            np.all((prior_std > 0) & (prior_std < np.inf)),
            "prior deviations of coefficients must be positive numbers",
            ValueError,
        )
        self._noise_std = np.asarray(noise_std_wh, dtype=np.float64)
        self._prior_std = np.asarray(prior_std, dtype=np.float64)
        self._precision = np.eye(len(prior_std))
        self._information = np.zeros(len(prior_std))

    @abstractmethod
    def _columns(
        self, edge: IntArray, features: FloatArray, prior_mean_wh: FloatArray
    ) -> FloatArray:
        """Return the regressors of a list of edges, (k, p) Wh per unit of a coefficient."""

    def posterior(self, arms: Arms) -> Belief:
        """Return the posterior mean and deviation of each arm, (a,) Wh each."""
        columns = self._columns_of(arms)
        # without BLAS: the result of an arm does not depend, to the last bit, on the other arms
        mean_wh = arms.prior_mean_wh + (columns * self._mean()).sum(axis=1)
        spread = (columns[:, :, np.newaxis] * self._root().T).sum(axis=1)
        return Belief(mean_wh, np.sqrt((spread**2).sum(axis=1)))

    def noise_std(self, arms: Arms) -> FloatArray:
        """Return the noise deviation of one measurement of each arm, (a,) Wh."""
        return self._noise_std[arms.id]

    def update(self, feedback: Feedback) -> None:
        """Learn the measurements of one trip or of several trips."""
        columns = self._columns(feedback.id, feedback.features, feedback.prior_mean_wh)
        noise_wh = self._noise_std[feedback.id]
        scaled = columns * self._prior_std / noise_wh[:, np.newaxis]
        self._precision += scaled.T @ scaled
        self._information += scaled.T @ ((feedback.energy_wh - feedback.prior_mean_wh) / noise_wh)

    def update_total(self, total: Total) -> None:
        """Learn one measurement of a weighted sum of arms."""
        columns = self._columns(total.id, total.features, total.prior_mean_wh)
        noise_wh = total.noise_wh2(self._noise_std) ** 0.5
        scaled = total.weight @ columns * self._prior_std / noise_wh
        self._precision += np.outer(scaled, scaled)
        self._information += scaled * total.residual_wh / noise_wh

    def covariance(self, arms: Arms) -> FloatArray:
        """Return the posterior covariance of the arms, (a, a) Wh², of rank p at most."""
        spread = self._columns_of(arms) @ self._root().T
        covariance: FloatArray = spread @ spread.T
        return 0.5 * (covariance + covariance.T)

    def sample_many(self, arms: Arms, rng: np.random.Generator, size: int) -> FloatArray:
        """Draw the expected energies ``size`` times, (size, a) Wh.

        Parameters
        ----------
        arms
            The a arms.
        rng
            Source of randomness.
        size
            Number of draws.
        """
        coefficients = (
            self._mean() + rng.standard_normal((size, len(self._prior_std))) @ self._root()
        )
        return arms.prior_mean_wh + coefficients @ self._columns_of(arms).T

    def state(self) -> State:
        """Return precision (p, p), information (p,) and prior deviations (p,)."""
        return {
            "precision": self._precision.copy(),
            "information": self._information.copy(),
            "prior_std": self._prior_std.copy(),
        }

    def restore(self, state: State) -> None:
        """Restore a state.

        Raises
        ------
        ValueError
            If the state is not of such a model with the same prior.
        """
        what = f"a {self.title} model of {len(self._noise_std)} edges"
        check_state(state, {name: part.shape for name, part in self.state().items()}, what)
        require(
            np.array_equal(state["prior_std"], self._prior_std),
            f"this is not the state of {what} with these prior deviations",
            ValueError,
        )
        self._precision = np.array(state["precision"], dtype=np.float64)
        self._information = np.array(state["information"], dtype=np.float64)

    def coefficients(self) -> Coefficients:
        """Return the posterior of the coefficients."""
        return Coefficients(
            self.names,
            self.units,
            self._mean(),
            np.sqrt((self._root() ** 2).sum(axis=0)),
            self._prior_std,
        )

    def _mean(self) -> FloatArray:
        """Return the posterior mean of the coefficients, (p,)."""
        return self._prior_std * cho_solve((self._factor(), True), self._information)

    def _root(self) -> FloatArray:
        """Return R (p, p) with ``R' R`` the posterior covariance of the coefficients."""
        return solve_triangular(self._factor(), np.diag(self._prior_std), lower=True)

    def _factor(self) -> FloatArray:
        return lower_factor(self._precision, "the precision of the coefficients")

    def _columns_of(self, arms: Arms) -> FloatArray:
        return self._columns(arms.id, arms.features, arms.prior_mean_wh)


class CoefficientOptions(ModelOptions):
    """Options of models that learn the coefficients of eq. 8."""

    coefficient_scale: float = Field(
        default=1.0,
        gt=0,
        description="factor of the prior deviations of mass, rolling, drag, auxiliary power and "
        "wind",
    )

    def prior_std(self, regressors: Derivatives) -> FloatArray:
        """Return the prior deviations of the coefficients, (p,) in their units."""
        return self.coefficient_scale * np.array(regressors.prior_std)


class PhysicsOptions(CoefficientOptions):
    """Eq. 8 with mass, rolling, drag, auxiliary power and wind learned by regression."""

    label = "physics"

    def build(self, setting: ModelSetting, rng: np.random.Generator) -> "PhysicsRegression":
        """Return the model before any trip."""
        return PhysicsRegression(
            setting.regressors, setting.noise_std_wh, self.prior_std(setting.regressors)
        )


class PhysicsRegression(CoefficientModel):
    """Eq. 8 with mass, rolling, drag, auxiliary power and wind learned by regression.

    Parameters
    ----------
    regressors
        Derivatives of eq. 8 by its parameters.
    noise_std_wh
        (n,) noise deviation of one measurement of each edge, Wh.
    prior_std
        (p,) prior deviations of the coefficients, in their units.

    Raises
    ------
    ValueError
        If a deviation is not positive.
    """

    title = "physics regression"

    def __init__(
        self, regressors: Derivatives, noise_std_wh: FloatArray, prior_std: FloatArray
    ) -> None:
        super().__init__(prior_std, noise_std_wh)
        self._regressors = regressors
        self.names, self.units = regressors.names, regressors.units

    def _columns(
        self, edge: IntArray, features: FloatArray, prior_mean_wh: FloatArray
    ) -> FloatArray:
        return self._regressors.of(edge, features)


class FactorOptions(ModelOptions):
    """Eq. 8 with one learned consumption factor, common to all roads."""

    label = "factor"

    factor_std: float = Field(default=0.25, gt=0, description="prior deviation of the factor")

    def build(self, setting: ModelSetting, rng: np.random.Generator) -> "ConsumptionFactor":
        """Return the model before any trip."""
        return ConsumptionFactor(
            setting.potential_wh, setting.noise_std_wh, factor_std=self.factor_std
        )


class ConsumptionFactor(CoefficientModel):
    """Eq. 8 with one learned consumption factor c. Its coefficient is ``c - 1``.

    Parameters
    ----------
    potential_wh
        (n,) ``m g dz``, Wh.
    noise_std_wh
        (n,) noise deviation of one measurement, Wh.
    factor_std
        Prior standard deviation of the factor, positive. 0.25 is also the prior share of single
        edges.
    """

    names = ("consumption",)
    units = ("share",)
    title = "consumption factor"

    def __init__(
        self, potential_wh: FloatArray, noise_std_wh: FloatArray, *, factor_std: float
    ) -> None:
        super().__init__(np.array([factor_std]), noise_std_wh)
        self._potential_wh = potential_wh

    def _columns(
        self, edge: IntArray, features: FloatArray, prior_mean_wh: FloatArray
    ) -> FloatArray:
        return (prior_mean_wh - self._potential_wh[edge])[:, np.newaxis]
