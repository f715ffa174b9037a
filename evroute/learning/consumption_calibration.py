"""ConsumptionCalibration: what the totals of a user's own trips say of a vehicle, where no edge was measured on its own.

A display tells the charge before and after a trip, one number for all of its edges. What it teaches
is one factor on what eq. 8 dissipates (``model.factor``); climbs are known.
"""

from evroute.arms import Feedback, Route
from evroute.errors import EvrouteError
from evroute.learning.learned_belief import LearnedBelief
from evroute.methods.method import Method
from evroute.methods.setting import Setting

FACTORS = (0.2, 5.0)


class ConsumptionCalibration:
    """One factor of consumption, learned from whole trips in one setting.

    belief: to plan on.  trips: number of trips learned.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.belief = LearnedBelief.before_trips(Method(model="factor", index="greedy"), setting)
        self.trips = 0

    @property
    def factor(self) -> float:
        """What is believed to be dissipated, in multiples of eq. 8."""
        arms = self.setting.arms
        excess_wh = self.belief.edge_posterior.mean_wh - arms.prior_mean_wh
        return 1.0 + float(excess_wh.sum() / self.setting.prior.dissipated_wh.sum())

    def learn(self, route: Route, energy_wh: float) -> None:
        """Learn that a trip along ``route`` took ``energy_wh`` in all, from an unbounded battery.

        Every edge gets its climb, and what it dissipates in eq. 8 times what makes the total right.

        Raises
        ------
        EvrouteError
            If that would be less than a fifth or more than five times of what eq. 8 dissipates.
        """
        rows, prior = route.rows, self.setting.prior
        climb_wh, dissipated_wh = prior.potential_wh[rows], prior.dissipated_wh[rows]
        factor = (energy_wh - float(climb_wh.sum())) / float(dissipated_wh.sum())
        if not FACTORS[0] <= factor <= FACTORS[1]:
            raise EvrouteError(
                f"a trip of {energy_wh / 1000:.2f} kWh would be {factor:.1f} times what physics says of this route "
                "beside its climb; check the charge, and that this route was driven"
            )
        self.belief.update(
            Feedback.of_route(self.setting.arms, route, climb_wh + factor * dissipated_wh)
        )
        self.trips += 1
