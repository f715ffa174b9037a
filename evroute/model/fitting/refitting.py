"""Refitting: any model of edge energy, with hyper-parameters refitted to its trips during the run.

After 10, 30, 100, 300, ... trips the numbers of the kernel and the noise are fitted
(``model.hyperparameters``), and the wrapped model learns all its trips again with the result.
"""

import json
import logging
from collections.abc import Callable
from typing import cast

import numpy as np

from evroute.arms import Arms, Belief, Feedback
from evroute.arrays import FloatArray
from evroute.model.base import EnergyModel, HasJoint, State
from evroute.model.fitting.evidence import Driven
from evroute.model.fitting.hyperparameters import Fit, Hyperparameters, fit
from evroute.model.kernels.arms import EdgeContextKernel

FIRST_FITS = (10, 30)
"""Trips after the first fits. The next fits follow after ten times as many trips."""
PRIOR_LOG_STD = 1.0
"""Deviation of the log-normal prior around the start of every fit, for few trips."""

log = logging.getLogger(__name__)


class Refitting:
    """A model that is rebuilt by ``make(kernel, noise_std_wh)`` after each fit.

    Parameters
    ----------
    make
        Builds the wrapped model from a kernel and (n,) noise deviations, Wh.
    kernel
        Start of every fit.
    noise_std_wh
        (n,) noise deviations at the start of every fit, Wh.

    Attributes
    ----------
    fits
        Results of the fits, by the number of trips.
    """

    def __init__(
        self,
        make: Callable[[EdgeContextKernel, FloatArray], EnergyModel],
        kernel: EdgeContextKernel,
        noise_std_wh: FloatArray,
    ) -> None:
        self._make = make
        self._kernel = kernel
        self._noise_std_wh = noise_std_wh
        self._trips: list[Feedback] = []
        self._numbers = Hyperparameters.of(kernel)
        self._model = make(kernel, noise_std_wh)
        self.fits: dict[int, Fit] = {}

    def posterior(self, arms: Arms) -> Belief:
        """Return the posterior mean and deviation of each arm, (a,) Wh each."""
        return self._model.posterior(arms)

    def noise_std(self, arms: Arms) -> FloatArray:
        """Return the fitted noise deviation of one measurement of each arm, (a,) Wh."""
        return self._model.noise_std(arms)

    def update(self, feedback: Feedback) -> None:
        """Learn the measurements of one trip or of a fleet. Fit if a fit is due."""
        self._trips.append(feedback)
        self._model.update(feedback)
        if _is_time(len(self._trips)):
            self._fit()

    def covariance(self, arms: Arms) -> FloatArray:
        """Return the posterior covariance of the arms, (a, a) Wh²."""
        return self._joint.covariance(arms)

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
        return self._joint.sample_many(arms, rng, size)

    def state(self) -> State:
        """Return the state of the model, the hyper-parameters and all trips."""
        measured = [
            np.column_stack([t.id, t.prior_mean_wh, t.energy_wh, t.features]) for t in self._trips
        ]
        trips = {
            "trips": np.concatenate(measured)
            if measured
            else np.empty((0, 3 + self._kernel.lengthscales.shape[1])),
            "trip_edges": np.array([len(trip.id) for trip in self._trips], dtype=np.int64),
            "numbers": np.array(json.dumps(self._numbers.to_json())),
        }
        return trips | {f"model.{name}": part for name, part in self._model.state().items()}

    def restore(self, state: State) -> None:
        """Restore a state. `fits` is not part of it.

        Raises
        ------
        ValueError
            If the state is not of a refitting model, or its inner part not of the wrapped model.
        """
        inside = {
            name.removeprefix("model."): part
            for name, part in state.items()
            if name.startswith("model.")
        }
        if len(state) != len(inside) + 3 or not {"trips", "trip_edges", "numbers"} <= state.keys():
            n = len(self._noise_std_wh)
            raise ValueError(f"this is not the state of a refitting model of {n} edges")
        numbers = Hyperparameters.from_json(json.loads(str(state["numbers"])))
        model = self._made(numbers)
        model.restore(inside)
        self._model, self._numbers = model, numbers
        rows = np.split(state["trips"], np.cumsum(state["trip_edges"]))[:-1]
        self._trips = [Feedback(r[:, 0].astype(np.int64), r[:, 3:], r[:, 1], r[:, 2]) for r in rows]

    @property
    def _joint(self) -> HasJoint:
        return cast(HasJoint, self._model)

    def _made(self, numbers: Hyperparameters) -> EnergyModel:
        return self._make(numbers.applied(self._kernel), numbers.noise_factor * self._noise_std_wh)

    def _fit(self) -> None:
        result = fit(
            self._kernel,
            self._noise_std_wh,
            Driven.of(self._trips),
            prior_log_std=PRIOR_LOG_STD,
        )
        self.fits[len(self._trips)] = result
        log.info(
            "hyper-parameters after %d trips: log likelihood from %.1f to %.1f",
            len(self._trips),
            result.start_log_likelihood,
            result.log_likelihood,
        )
        if not result.failed:
            self._numbers = result.found
            self._model = self._made(result.found)
            for trip in self._trips:
                self._model.update(trip)  # one by one: a variational model takes a step for each


def _is_time(trips: int) -> bool:
    while trips > max(FIRST_FITS) and trips % 10 == 0:
        trips //= 10
    return trips in FIRST_FITS
