"""SparseVariationalGP: Algorithm 3 of Sandberg et al. as printed, in GPyTorch.

After every trip the M most visited arms (edges in contexts) become the inducing points, followed by
edges never driven. Their slots are sorted anew, their contexts put back, and the variational
distribution stays in its slots: the belief about one arm passes to another. Then one
natural-gradient step, with one Adam step on the inducing contexts, is taken on a random batch. The
optimum for given points is model ``svgp`` (`model.sparse.svgp`), in closed form.
"""

import json
import logging
from collections.abc import Mapping
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from evroute.arms import Arms, Belief, Feedback
from evroute.arrays import FloatArray, IntArray
from evroute.errors import require
from evroute.model.arm_slots import ArmSlots
from evroute.model.base import (
    ModelOptions,
    ModelSetting,
    State,
    check_noise,
    check_state,
    lower_factor,
)
from evroute.model.kernels.arms import EdgeContextKernel
from evroute.model.variational import DivergedError, Inducing, Variational

log = logging.getLogger(__name__)


class SVGPStepsOptions(ModelOptions):
    """Sparse variational Gaussian process by the steps of Algorithm 3, in GPyTorch."""

    label = "SVGP steps"
    has_kernel = True
    short: ClassVar[Mapping[str, str]] = {
        "inducing_points": "m",
        "batch_size": "n",
        "device": "",
    }

    inducing_points: int = Field(
        default=1000, ge=1, description="largest number of inducing points"
    )
    batch_size: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="measurements drawn for a step; none: all of them"
    )
    steps: int = Field(default=1, ge=1, description="optimiser steps after each trip")
    natural_rate: float = Field(
        default=1.0,
        gt=0,
        le=1,
        description="step size of the variational distribution. 1 with all measurements is its "
        "optimum, smaller ones lag behind it",
    )
    adam_rate: float = Field(
        default=0.0, ge=0, description="step size of the inducing contexts. 0 keeps them"
    )
    device: str = Field(default="cpu", description="device: cpu, cuda")

    def build(self, setting: ModelSetting, rng: np.random.Generator) -> "SparseVariationalGP":
        """Return the model before any trip."""
        return SparseVariationalGP(
            setting.kernel, setting.arms, setting.noise_std_wh, rng, options=self
        )


PLAIN = SVGPStepsOptions()


class SparseVariationalGP:
    """Sparse variational Gaussian process on n edges and their contexts.

    Parameters
    ----------
    kernel
        Prior covariance of arms.
    arms
        All edges 0..n-1 in their reference contexts.
    noise_std_wh
        (n,) noise deviation of one measurement of each edge, Wh.
    rng
        Draws the batches.
    options
        Inducing points, steps and device.

    Raises
    ------
    EvrouteError
        If the device is missing.
    ValueError
        If the arms are not all edges, or the noise not positive.
    """

    def __init__(
        self,
        kernel: EdgeContextKernel,
        arms: Arms,
        noise_std_wh: FloatArray,
        rng: np.random.Generator,
        *,
        options: SVGPStepsOptions = PLAIN,
    ) -> None:
        n = kernel.graph.n_edges
        require(
            np.array_equal(arms.id, np.arange(n)),
            f"the reference arms must be all {n} edges of the kernel's network",
            ValueError,
        )
        check_noise(noise_std_wh, n)
        self._kernel = kernel
        self._noise_std = np.asarray(noise_std_wh, dtype=np.float64)
        self._reference = _points(arms.id, arms.features)
        self._most = min(options.inducing_points, n)
        self._options = options
        self._rng = rng
        self._variational = Variational(
            kernel,
            natural_rate=options.natural_rate,
            adam_rate=options.adam_rate,
            device=options.device,
        )
        self._start()

    def _start(self) -> None:
        d = self._reference.shape[1]
        self._met = ArmSlots(d - 1)  # A driven arms, in order of first drive
        self._seen = np.empty(0, dtype=np.int64)  # (N,) arm of each measurement
        self._measured = np.empty(0)  # (N,) residual, in prior standard deviations of its edge
        self._held = np.empty(0, dtype=np.int64)  # arm of each slot; -1 - e is edge e, never driven
        self._inducing = Inducing.at(np.empty((0, d)))
        self._updates = 0

    def posterior(self, arms: Arms) -> Belief:
        """Return the posterior mean and deviation of each arm under q, (a,) Wh each."""
        if not len(self._inducing):
            return Belief(
                arms.prior_mean_wh, np.sqrt(self._kernel.diagonal(arms.id, arms.features))
            )
        mean, variance = self._variational.predict(self._inducing, _points(arms.id, arms.features))
        unit_wh = self._kernel.std_wh[arms.id]
        return Belief(
            arms.prior_mean_wh + unit_wh * mean, unit_wh * np.sqrt(np.maximum(variance, 0.0))
        )

    def noise_std(self, arms: Arms) -> FloatArray:
        """Return the noise deviation of one measurement of each arm, (a,) Wh."""
        return self._noise_std[arms.id]

    def update(self, feedback: Feedback) -> None:
        """Learn the measurements of one trip or of a fleet (Algorithm 3).

        A step that diverges is skipped and logged.
        """
        if not len(feedback.id):
            return
        self._remember(feedback)
        self._updates += 1
        try:
            self._place()
            for _ in range(self._options.steps):
                self._inducing = self._variational.step(self._inducing, *self._batch())
        except DivergedError as error:
            log.warning(
                "update %d of the variational model diverged, the last good state kept: %s",
                self._updates,
                error,
            )

    def covariance(self, arms: Arms) -> FloatArray:
        """Return the posterior covariance of the arms, (a, a) Wh², exactly symmetric."""
        if not len(self._inducing):
            prior = self._kernel(arms.id, arms.features, arms.id, arms.features)
            return 0.5 * (prior + prior.T)
        covariance = self._variational.covariance(self._inducing, _points(arms.id, arms.features))
        unit_wh = self._kernel.std_wh[arms.id]
        covariance *= unit_wh
        covariance *= unit_wh[:, np.newaxis]
        return 0.5 * (covariance + covariance.T)

    def sample_many(self, arms: Arms, rng: np.random.Generator, size: int) -> FloatArray:
        """Draw the expected energies ``size`` times, (size, a) Wh. Seconds for all edges of a city.

        Parameters
        ----------
        arms
            The a arms.
        rng
            Source of randomness.
        size
            Number of draws.
        """
        factor = lower_factor(
            self.covariance(arms), "the posterior covariance of the arms", overwrite=True
        )
        return (rng.standard_normal((size, len(arms))) @ factor.T) + self.posterior(arms).mean_wh

    def state(self) -> State:
        """Return measurements, inducing points, q, optimiser moments and the state of ``rng``."""
        return {
            "arms": _points(self._met.id, self._met.features),
            "seen": self._seen.copy(),
            "measured": self._measured.copy(),
            "held": self._held.copy(),
            "points": self._inducing.points.copy(),
            "information": self._inducing.information.copy(),
            "precision": self._inducing.precision.copy(),
            "moments": self._inducing.moments.copy(),
            "counts": np.array([self._updates, self._inducing.adam_steps]),
            "rng": np.array(json.dumps(self._rng.bit_generator.state)),
        }

    def restore(self, state: State) -> None:
        """Restore a state.

        Raises
        ------
        ValueError
            If the state is not of a variational model of as many features, or its generator is of
            another kind.
        """
        d = self._reference.shape[1]
        n_arms, n_seen = len(state.get("arms", ())), len(state.get("seen", ()))
        m = len(state.get("held", ()))
        expected = {
            "arms": (n_arms, d),
            "seen": (n_seen,),
            "measured": (n_seen,),
            "held": (m,),
            "points": (m, d),
            "information": (m,),
            "precision": (m, m),
            "moments": (2, m, d),
            "counts": (2,),
            "rng": (),
        }
        what = f"a variational model of {len(self._reference)} edges"
        check_state(state, expected, what)
        require(
            np.all(state["arms"][:, 0] < len(self._reference)),
            f"this is not the state of {what}",
            ValueError,
        )
        self._start()
        self._met.append(state["arms"][:, 0].astype(np.int64), state["arms"][:, 1:])
        self._seen = state["seen"].copy()
        self._measured = state["measured"].copy()
        self._held = state["held"].copy()
        self._updates, adam_steps = state["counts"].tolist()
        self._inducing = Inducing(
            state["points"].copy(),
            state["information"].copy(),
            state["precision"].copy(),
            state["moments"].copy(),
            adam_steps,
        )
        self._rng.bit_generator.state = json.loads(str(state["rng"]))

    def _remember(self, feedback: Feedback) -> None:
        new = self._met.unmet(feedback.id, feedback.features)
        self._met.append(feedback.id[new], feedback.features[new])
        residual = (feedback.energy_wh - feedback.prior_mean_wh) / self._kernel.std_wh[feedback.id]
        self._seen = np.concatenate([self._seen, self._met.of(feedback.id, feedback.features)])
        self._measured = np.concatenate([self._measured, residual])

    def _place(self) -> None:
        """Assign slots to the most visited arms (Algorithm 3, line 2)."""
        visits = np.bincount(self._seen, minlength=len(self._met))
        driven = np.argsort(-visits, kind="stable")[: self._most]
        undriven = np.setdiff1d(np.arange(len(self._reference)), self._met.id)
        held = np.concatenate([driven, -1 - undriven[: self._most - len(driven)]])
        arms = _points(self._met.id, self._met.features)
        points = np.concatenate([arms[driven], self._reference[-1 - held[held < 0]]])
        m = len(self._held)
        self._inducing = self._inducing.relabelled(points[:m])
        if len(held) > m:
            self._inducing = self._inducing.extended(points[m:])
        self._held = held

    def _batch(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the arms of a random batch, the mean of each and its scaled precision.

        The scale is the number of all measurements over the number in the batch.
        """
        n = len(self._seen)
        drawn = (
            np.arange(n)
            if self._options.batch_size is None or n <= self._options.batch_size
            else self._rng.choice(n, self._options.batch_size, replace=False)
        )
        arm, place = np.unique(self._seen[drawn], return_inverse=True)
        count = np.bincount(place)
        edge = self._met.id[arm]
        noise = self._noise_std[edge] / self._kernel.std_wh[edge]
        mean = np.bincount(place, self._measured[drawn]) / count
        return _points(edge, self._met.features[arm]), mean, (n / len(drawn)) * count / noise**2


def _points(edge: IntArray, features: FloatArray) -> FloatArray:
    """Return arms as rows (edge, context), (a, 1 + d). -0.0 and 0.0 are the same context."""
    return np.column_stack([edge, features + 0.0])
