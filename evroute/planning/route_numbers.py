"""RouteNumbers: energy by cause, time, height and charge of one route."""

from dataclasses import dataclass

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray, IntArray
from evroute.energy.constants import J_PER_WH
from evroute.network.crossings import along_m
from evroute.planning.battery import Battery
from evroute.planning.charge.charge_functions import ChargeFunctions
from evroute.planning.charge.chargers import ChargingStop
from evroute.planning.forecasts.learned import Day
from evroute.planning.plan import PlannedRoute, streets_of
from evroute.planning.recommendation import Saving
from evroute.planning.spaces.arm_space import SearchSpace
from evroute.planning.spaces.arm_states import ROUNDING_WH


@dataclass(frozen=True, slots=True)
class RouteNumbers:
    """Numbers of a arms over n edges, from which those of a route follow.

    Parameters
    ----------
    space
        The arms.
    mean_wh, held_wh
        (a,) expected energy of each arm, and by how much it was raised to the physical minimum, Wh.
    time_s
        (n,) travel time of each edge, s.
    charge
        Charge functions of the arms.
    learned_with_w
        Auxiliary power with which the energies were learned, W; None without a belief.
    """

    space: SearchSpace
    mean_wh: FloatArray
    held_wh: FloatArray
    time_s: FloatArray
    charge: ChargeFunctions
    learned_with_w: float | None

    def of(
        self, route: Route, battery: Battery | None, stops: tuple[ChargingStop, ...]
    ) -> PlannedRoute:
        """Return the numbers of a route, without forecasts.

        Parameters
        ----------
        route
            The route.
        battery
            Charge that it begins with, with the fade of regeneration; None for no charge.
        stops
            Stops to charge.
        """
        network, rows = self.space.edges.network, route.rows
        arms = self.space.arms_of_route(route)
        edge_wh, parts = self.mean_wh[arms], self._parts_wh(route, arms)
        charge = None
        if battery is not None:
            charged = [(stop.after_edges, stop.to_percent) for stop in stops]
            charge = self.charge.follow_stops(battery, arms, charged)
            parts["lost"] = charge.lost_wh
        held_wh = self.held_wh[arms] + self.space.edges.parts.held_wh[rows]
        return PlannedRoute(
            route=route,
            edges=tuple(network.edge_id[row] for row in route.edges),
            streets=streets_of(network, route.edges, edge_wh),
            edge_wh=edge_wh,
            energy_wh=summed(edge_wh) + parts.get("lost", 0.0),
            parts_wh=parts,
            length_m=summed(along_m(network, rows)),
            time_s=summed(self.time_s[rows]) + sum(stop.time_s for stop in stops),
            ascent_m=float(network.ascent_m[rows].sum()),
            descent_m=float(network.descent_m[rows].sum()),
            held_arms=int((held_wh > ROUNDING_WH).sum()),
            held_wh=float(held_wh.sum()),
            charge=charge,
            stops=stops,
        )

    def _parts_wh(self, route: Route, arms: IntArray) -> dict[str, float]:
        """Return the energy of a route by cause, Wh, without lost regeneration."""
        edge_wh, held_wh = self.mean_wh[arms], self.held_wh[arms]
        parts = self.space.parts_wh(route)
        if self.learned_with_w is not None:
            # learned minutes move energy from the learned part to the auxiliary part
            driven_s = self.time_s[route.rows].sum()
            minutes_wh = self.learned_with_w * driven_s / J_PER_WH - parts["auxiliary"]
            parts["auxiliary"] += float(minutes_wh)
            off_wh = ((edge_wh - held_wh) - self.space.reference.prior_mean_wh[arms]).sum()
            parts["learned"] = float(off_wh - minutes_wh)
        if (self.held_wh > ROUNDING_WH).any():
            parts["held"] = parts.get("held", 0.0) + float(held_wh.sum())
        return parts


def summed(numbers: FloatArray) -> float:
    """Return the sum of numbers, added in driving order as matrices and batches add them."""
    return float(np.add.accumulate(numbers)[-1])


def expected_saving(
    day: Day | None, fastest: PlannedRoute, recommended: PlannedRoute
) -> Saving | None:
    """Return the expected saving of the recommended route against the fastest.

    None without a belief, and where they are one route or stop to charge.

    Parameters
    ----------
    day
        Learned energies; None without a belief.
    fastest, recommended
        The two routes.
    """
    if day is None or fastest.route == recommended.route or recommended.stops:
        return None
    arms = (day.space.arms_of_route(each.route) for each in (fastest, recommended))
    saved_wh = fastest.energy_wh - recommended.energy_wh
    return Saving(saved_wh, day.difference_std_wh(*arms))
