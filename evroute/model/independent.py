"""IndependentNormal: each edge learns for itself by the conjugate normal update (Bayesian-inference baseline, BI).

Sandberg et al., section 4: no kernel, so nothing learned on one edge says anything about another. The context of an
edge does not matter either: a residual, measured energy minus prior mean, counts the same in all.
"""

import numpy as np

from evroute.arms import Arms, Belief, Feedback
from evroute.arrays import FloatArray
from evroute.model.base import State


class IndependentNormal:
    """Normal belief of the expected residual of each of n edges.

    prior_variance_wh2: (n,) Wh², the diagonal of the kernel where compared with a Gaussian process.
    noise_std_wh: (n,) Wh, of one measurement.
    """

    def __init__(self, prior_variance_wh2: FloatArray, noise_std_wh: FloatArray) -> None:
        for name, values in (("prior variances", prior_variance_wh2), ("noise deviations", noise_std_wh)):
            if not np.all((values > 0) & (values < np.inf)):
                raise ValueError(f"{name} must be positive numbers")
        if prior_variance_wh2.shape != noise_std_wh.shape:
            raise ValueError(f"{len(prior_variance_wh2)} prior variances but {len(noise_std_wh)} noise deviations")
        self._noise_std = np.asarray(noise_std_wh, dtype=np.float64)
        self._precision = 1.0 / prior_variance_wh2
        self._information = np.zeros(len(prior_variance_wh2))

    def posterior(self, arms: Arms) -> Belief:
        """Return the posterior of each arm: mean ``information / precision``, variance ``1 / precision``."""
        precision = self._precision[arms.edge]
        return Belief(arms.prior_mean_wh + self._information[arms.edge] / precision, 1.0 / np.sqrt(precision))

    def noise_std(self, arms: Arms) -> FloatArray:
        """Return the standard deviation of one measurement of each arm, (a,) Wh."""
        noise_std: FloatArray = self._noise_std[arms.edge]
        return noise_std

    def update(self, feedback: Feedback) -> None:
        """Add the precision and the information of each measurement to its edge; repeats count each time."""
        weight = self._noise_std[feedback.edge] ** -2.0
        np.add.at(self._precision, feedback.edge, weight)
        np.add.at(self._information, feedback.edge, weight * (feedback.energy_wh - feedback.prior_mean_wh))

    def covariance(self, arms: Arms) -> FloatArray:
        """Return the posterior covariance, (a, a) Wh²: diagonal."""
        return np.diag(1.0 / self._precision[arms.edge])

    def sample(self, arms: Arms, rng: np.random.Generator) -> FloatArray:
        """Draw the expected energies of all arms, (a,) Wh."""
        draw: FloatArray = self.sample_many(arms, rng, 1)[0]
        return draw

    def sample_many(self, arms: Arms, rng: np.random.Generator, size: int) -> FloatArray:
        """Draw them ``size`` times, (size, a) Wh."""
        belief = self.posterior(arms)
        return rng.normal(belief.mean_wh, belief.std_wh, size=(size, len(arms)))

    def state(self) -> State:
        """Return precision (n,) 1/Wh² and information (n,) 1/Wh."""
        return {"precision": self._precision.copy(), "information": self._information.copy()}

    def restore(self, state: State) -> None:
        """Take over a state.

        Raises
        ------
        ValueError
            If it is not the state of such a model on as many edges.
        """
        n = len(self._noise_std)
        if set(state) != {"precision", "information"} or any(part.shape != (n,) for part in state.values()):
            raise ValueError(f"this is not the state of an independent model of {n} edges")
        self._precision = np.array(state["precision"], dtype=np.float64)
        self._information = np.array(state["information"], dtype=np.float64)
