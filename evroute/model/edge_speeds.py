"""EdgeSpeeds: eq. 8 at the speeds that trips were seen to drive; measured energies play no part.

The time that a passage of edge e takes is that of its assumed speed times ``exp(s_e)``, with the
slowness ``s_e ~ N(0, slowness_std²)`` of each edge on its own, and log-normal noise; conjugate in
logarithms, so that a speed is shrunk to the assumed one and stays positive. The slowness multiplies
the time of whatever speed a round assumes. Energy is eq. 8 at the speed of the mean slowness,
auxiliary power included; its deviation goes by the derivative, ``dE/ds = auxiliary - 2 drag``.
"""

import numpy as np

from evroute.arms import Arms, Belief, Feedback
from evroute.arrays import FloatArray
from evroute.energy.regressors import Regressors
from evroute.model.base import State
from evroute.model.diagonal import Diagonal


class EdgeSpeeds(Diagonal):
    """Eq. 8 at speeds learned from travel times, each edge on its own.

    noise_std_wh: (n,) of one measurement of the energy, Wh.  slowness_std: prior standard deviation
    of the logarithm of an edge's travel time; 0.4 holds half the speed limit within 2 deviations,
    what the Highway Capacity Manual 2010 calls level of service D.  time_std: of the logarithm of
    one measured time. Both positive, both ours.
    """

    def __init__(
        self,
        regressors: Regressors,
        noise_std_wh: FloatArray,
        *,
        slowness_std: float = 0.4,
        time_std: float = 0.2,
    ) -> None:
        for name, value, what in (
            ("slowness_std", slowness_std, "prior deviation of log travel times"),
            ("time_std", time_std, "deviation of one measured log travel time"),
        ):
            if not 0 < value < np.inf:
                raise ValueError(f"{name} is {value:g}; it must be positive: the {what}")
        super().__init__(noise_std_wh)
        self._regressors = regressors
        self._weight = time_std**-2.0
        self._precision = np.full(len(noise_std_wh), slowness_std**-2.0)
        self._information = np.zeros(len(noise_std_wh))

    def posterior(self, arms: Arms) -> Belief:
        """Return eq. 8 at the learned speeds and its deviation to first order."""
        precision = self._precision[arms.id]
        slowness = self._information[arms.id] / precision
        assumed_mps = self._regressors.speed_mps(arms.features)
        learned = self._regressors.parts(arms.id, assumed_mps * np.exp(-slowness))
        change_wh = learned.total_wh - self._regressors.parts(arms.id, assumed_mps).total_wh
        by_slowness_wh = learned.auxiliary_wh - 2.0 * learned.drag_wh
        return Belief(arms.prior_mean_wh + change_wh, np.abs(by_slowness_wh) / np.sqrt(precision))

    def update(self, feedback: Feedback) -> None:
        """Learn the travel times that were measured; repeats of an edge count each time.

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

    def state(self) -> State:
        """Return precision and information of each slowness, (n,)."""
        return {
            "slowness_precision": self._precision.copy(),
            "slowness_information": self._information.copy(),
        }

    def restore(self, state: State) -> None:
        """Take over a state.

        Raises
        ------
        ValueError
            If it is not the state of such a model on as many edges.
        """
        n = len(self._noise_std)
        names = {"slowness_precision", "slowness_information"}
        if set(state) != names or any(part.shape != (n,) for part in state.values()):
            raise ValueError(f"this is not the state of an edge speeds model of {n} edges")
        self._precision = np.array(state["slowness_precision"], dtype=np.float64)
        self._information = np.array(state["slowness_information"], dtype=np.float64)
