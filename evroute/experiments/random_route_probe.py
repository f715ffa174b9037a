"""Random routes, hidden from the learner, to measure its errors on routes that it did not choose.

A policy chooses routes with a low predicted energy, so the errors of its belief differ between
chosen and other routes.
"""

import math

from numpy.random import SeedSequence, default_rng

from evroute.arms import Round
from evroute.arrays import FloatArray
from evroute.experiments.battery_log import COLUMNS, BatteryLog
from evroute.planning.search import Search
from evroute.policy.agent import Agent
from evroute.policy.baselines import Random
from evroute.worlds.environment import Environment, best_by_edges, child

EVERY = 10


class RandomRouteProbe:
    """Drives a route of the index `Random` every tenth round, in the conditions of that round.

    Parameters
    ----------
    search
        Search over all edges.
    potential_wh
        (n,) ``m g dz`` of every edge, Wh.
    seeds
        Seeds of the routes; that of a round depends on nothing else.
    """

    def __init__(self, *, search: Search, potential_wh: FloatArray, seeds: SeedSequence) -> None:
        self.search = search
        self.potential_wh = potential_wh
        self.seeds = seeds

    def row(
        self,
        agent: Agent,
        environment: Environment,
        request: Round,
        charge: BatteryLog | None = None,
        widened: float = 1.0,
    ) -> dict[str, float]:
        """Return measured and predicted energy of a random route, Wh; NaN in the rounds between.

        Parameters
        ----------
        agent
            Agent whose predictions are tested.
        environment
            World in which the route is driven.
        request
            Request of the round.
        charge
            Battery log for further columns; None for none.
        widened
            Factor of the predicted deviations (`BatteryLog.row`).
        """
        of_charge = dict.fromkeys(COLUMNS, math.nan) if charge else {}
        measured_wh = predicted_wh = predicted_sd_wh = math.nan
        if request.t % EVERY == 0:
            index_wh = Random(self.potential_wh)(
                request.t, request.arms, agent.model, default_rng(child(self.seeds, request.t))
            )
            route = best_by_edges(request, index_wh, self.potential_wh, self.search)
            predicted_wh, predicted_sd_wh = agent.predict(request, route)
            feedback = environment.drive(request, route)
            measured_wh = float(feedback.energy_wh.sum())
            if charge:
                of_charge = charge.row(
                    agent, request, route, feedback, expected_wh=predicted_wh, widened=widened
                )
        return {
            "audit_wh": measured_wh,
            "audit_predicted_wh": predicted_wh,
            "audit_predicted_sd_wh": predicted_sd_wh,
            **{f"audit_{name}": value for name, value in of_charge.items()},
        }
