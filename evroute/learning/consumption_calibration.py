"""ConsumptionCalibration: one consumption factor of a vehicle, from the totals of its trips.

A display shows the charge before and after a trip, one number for all of its edges. It determines
one factor on the energy that eq. 8 dissipates (`model.factor`); climbs are known.
"""

from evroute.arms import Feedback, Route
from evroute.errors import EvrouteError
from evroute.learning.learned_belief import LearnedBelief
from evroute.methods.method import Method
from evroute.methods.setting import Setting

FACTORS = (0.2, 5.0)


class ConsumptionCalibration:
    """One consumption factor, learned from whole trips in one setting.

    ``belief`` is the belief to plan on, ``trips`` the number of trips learned.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.belief = LearnedBelief.before_trips(Method(model="factor", index="greedy"), setting)
        self.trips = 0

    @property
    def factor(self) -> float:
        """Expected dissipated energy as a multiple of eq. 8's."""
        arms = self.setting.arms
        excess_wh = self.belief.edge_posterior.mean_wh - arms.prior_mean_wh
        return 1.0 + float(excess_wh.sum() / self.setting.prior.dissipated_wh.sum())

    def learn(self, route: Route, energy_wh: float) -> None:
        """Learn that a trip along ``route`` took ``energy_wh`` in all, from an unbounded battery.

        Each edge gets its climb plus its dissipated energy by eq. 8, scaled to the total.

        Raises
        ------
        EvrouteError
            If that is below a fifth or above five times the energy that eq. 8 dissipates.
        """
        rows, prior = route.rows, self.setting.prior
        climb_wh, dissipated_wh = prior.potential_wh[rows], prior.dissipated_wh[rows]
        factor = (energy_wh - float(climb_wh.sum())) / float(dissipated_wh.sum())
        if not FACTORS[0] <= factor <= FACTORS[1]:
            raise EvrouteError(
                f"a trip of {energy_wh / 1000:.2f} kWh would be {factor:.1f} times the "
                "energy by physics of this route without its climb; check the charge, and that "
                "this route was "
                "driven"
            )
        self.belief.update(
            Feedback.of_route(self.setting.arms, route, climb_wh + factor * dissipated_wh)
        )
        self.trips += 1
