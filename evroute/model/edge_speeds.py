"""EdgeSpeeds: eq. 8 at learned speeds; only travel times are learned, not energies.

A passage of edge e takes the time of its assumed speed times ``exp(s_e)``, with independent
slowness ``s_e ~ N(0, slowness_std²)`` and log-normal noise. The model is conjugate in logarithms:
a speed is shrunk to the assumed one and stays positive. The slowness multiplies the time of any
speed that a round assumes. Energy is eq. 8 at the speed of the mean slowness, auxiliary power
included; its deviation is first order, ``dE/ds = auxiliary - 2 drag``.
"""

from typing import cast

import numpy as np
from pydantic import Field

from evroute.arms import Arms, Belief, Feedback
from evroute.arrays import FloatArray
from evroute.energy.regressors import Regressors
from evroute.model.independent import Diagonal
from evroute.model.options import ModelOptions, ModelSetting


class EdgeSpeedsOptions(ModelOptions):
    """Eq. 8 at speeds learned from travel times, edges independent."""

    label = "edge-speeds"
    only_edges = "the speed of an edge is the same however it is entered"

    slowness_std: float = Field(
        default=0.4, gt=0, description="prior deviation of the logarithm of an edge's travel time"
    )
    time_std: float = Field(
        default=0.2, gt=0, description="deviation of the logarithm of one measured travel time"
    )

    def build(self, setting: ModelSetting, rng: np.random.Generator) -> "EdgeSpeeds":
        """Return the model before any trip."""
        return EdgeSpeeds(cast(Regressors, setting.regressors), setting.noise_std_wh, options=self)


class EdgeSpeeds(Diagonal):
    """Eq. 8 at speeds learned from travel times, edges independent.

    Parameters
    ----------
    regressors
        Parts of eq. 8 at a speed.
    noise_std_wh
        (n,) noise deviation of one energy measurement of each edge, Wh.
    options
        Deviations of log travel times. Our prior of 0.4 holds half the speed limit (level of
        service D of the Highway Capacity Manual 2010) within 2 deviations.
    """

    title = "edge speeds"
    prefix = "slowness_"

    def __init__(
        self, regressors: Regressors, noise_std_wh: FloatArray, *, options: EdgeSpeedsOptions
    ) -> None:
        super().__init__(noise_std_wh, np.full(len(noise_std_wh), options.slowness_std**2.0))
        self._regressors = regressors
        self._weight = options.time_std**-2.0

    def posterior(self, arms: Arms) -> Belief:
        """Return eq. 8 at the learned speeds and its deviation to first order, (a,) Wh each."""
        precision = self._precision[arms.id]
        slowness = self._information[arms.id] / precision
        assumed_mps = self._regressors.speed_mps(arms.features)
        learned = self._regressors.parts(arms.id, assumed_mps * np.exp(-slowness))
        change_wh = learned.total_wh - self._regressors.parts(arms.id, assumed_mps).total_wh
        by_slowness_wh = learned.auxiliary_wh - 2.0 * learned.drag_wh
        return Belief(arms.prior_mean_wh + change_wh, np.abs(by_slowness_wh) / np.sqrt(precision))

    def update(self, feedback: Feedback) -> None:
        """Learn the measured travel times; repeats of an edge count each time.

        Raises
        ------
        ValueError
            If a time is not positive.
        """
        timed = ~np.isnan(feedback.travel_s)
        edge, travel_s = feedback.id[timed], feedback.travel_s[timed]
        if np.any(travel_s <= 0):
            raise ValueError(
                f"a trip took {travel_s.min():g} s on an edge; travel times must be positive"
            )
        assumed_s = self._regressors.network.length_m[edge] / self._regressors.speed_mps(
            feedback.features[timed]
        )
        np.add.at(self._precision, edge, self._weight)
        np.add.at(self._information, edge, self._weight * np.log(travel_s / assumed_s))
