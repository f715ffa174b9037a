"""IndependentNormal: the conjugate normal update of each edge (Bayesian-inference baseline, BI).

Sandberg et al., section 4: there is no kernel, so a measurement informs its edge only. The
context does not matter either: a residual, measured energy minus prior mean, counts the same in
all contexts.
"""

import numpy as np

from evroute.arms import Arms, Belief, Feedback
from evroute.arrays import FloatArray
from evroute.model.diagonal import Diagonal
from evroute.model.options import ModelOptions, ModelSetting


class IndependentNormal(Diagonal):
    """Normal belief of the expected residual of each of n edges.

    Parameters
    ----------
    prior_variance_wh2
        (n,) prior variances, Wh²; the diagonal of the kernel in comparisons with a Gaussian
        process.
    noise_std_wh
        (n,) noise deviation of one measurement, Wh.

    Raises
    ------
    ValueError
        If a number is not positive or the lengths differ.
    """

    title = "independent"

    def __init__(self, prior_variance_wh2: FloatArray, noise_std_wh: FloatArray) -> None:
        if not np.all((prior_variance_wh2 > 0) & (prior_variance_wh2 < np.inf)):
            raise ValueError("prior variances must be positive numbers")
        if prior_variance_wh2.shape != noise_std_wh.shape:
            raise ValueError(
                f"{len(prior_variance_wh2)} prior variances but {len(noise_std_wh)} noise "
                "deviations"
            )
        super().__init__(noise_std_wh, prior_variance_wh2)

    def posterior(self, arms: Arms) -> Belief:
        """Return the posterior: mean ``information / precision``, variance ``1 / precision``."""
        precision = self._precision[arms.id]
        return Belief(
            arms.prior_mean_wh + self._information[arms.id] / precision, 1.0 / np.sqrt(precision)
        )

    def update(self, feedback: Feedback) -> None:
        """Add precision and information of each measurement to its edge; repeats count."""
        weight = self._noise_std[feedback.id] ** -2.0
        np.add.at(self._precision, feedback.id, weight)
        np.add.at(
            self._information, feedback.id, weight * (feedback.energy_wh - feedback.prior_mean_wh)
        )


class IndependentOptions(ModelOptions):
    """Independent normal belief of each edge (Bayesian inference, BI)."""

    label = "BI"

    def build(self, setting: ModelSetting, rng: np.random.Generator) -> IndependentNormal:
        """Return the model before any trip."""
        return IndependentNormal(setting.prior_variance_wh2, setting.noise_std_wh)
