"""Rivals of the driven routes of a run: the route by physics alone and the best route of a trip.

Run folders hold their energies. The routes follow from the world, which is built again from the
seed of the run.
"""

from dataclasses import dataclass

from evroute.arms import Route
from evroute.experiments.agents import make_scorers
from evroute.experiments.regret import RegretScorer
from evroute.experiments.runs import Run
from evroute.experiments.streams import streams
from evroute.methods.setting import load_setting
from evroute.worlds.demand.demand import load_demand, vehicles_of
from evroute.worlds.environment import Environment


@dataclass(frozen=True, slots=True)
class Rivals:
    """The world of a run, and its scorers by vehicle.

    Parameters
    ----------
    world
        The world in which the run was driven.
    judges
        Scorers of the regret of routes, by the vehicle names of the trips.
    """

    world: Environment
    judges: dict[str, RegretScorer]

    @classmethod
    def of_run(cls, run: Run) -> "Rivals":
        """Build the world of a run again."""
        setting = load_setting(run.network, run.vehicle, run.assumed)
        seeds = streams(run, setting)
        trips = load_demand(run.trip, setting, seeds.trips)
        world = run.world.build(setting, trips, seeds.world)
        return cls(world, make_scorers(run, ("", *vehicles_of(trips))))

    def at(self, t: int) -> dict[str, Route]:
        """Return the routes of a trip by name: ``physics``, of least prior mean, and ``best``.

        Parameters
        ----------
        t
            Number of the round, from 1.
        """
        request = self.world.observe(t)
        return {
            "physics": self.judges[request.vehicle].physics_route(request),
            "best": self.world.best_route(request),
        }

    def energy_wh(self, t: int, route: Route) -> float:
        """Return the true expected energy of a route in a round, Wh."""
        return self.world.route_wh(self.world.observe(t), route)
