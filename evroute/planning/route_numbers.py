"""RouteNumbers: energy by cause, time, height and charge of one route."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.energy.constants import J_PER_WH
from evroute.planning.battery import Battery
from evroute.planning.charge.chargers import ChargingStop
from evroute.planning.forecasts.heating import DayHeating
from evroute.planning.forecasts.learned import Day
from evroute.planning.plan import PlannedRoute
from evroute.planning.recommendation import Saving
from evroute.planning.spaces.arm_numbers import ArmNumbers, DrivenArms
from evroute.planning.spaces.arm_states import ROUNDING_WH

WARM_UP = "warm-up"
"""Name of the warm-up among the parts of a route's energy."""


@dataclass(frozen=True)
class RouteNumbers:
    """Numbers of the routes of a day.

    Parameters
    ----------
    numbers
        Numbers of the arms.
    heating
        Heating and cooling of the day.
    learned_with_w
        Auxiliary power with which the energies were learned, W, or None without a belief.
    """

    numbers: ArmNumbers
    heating: DayHeating
    learned_with_w: float | None

    @cached_property
    def _raises(self) -> bool:
        """Whether an arm is raised to its physical minimum."""
        return bool((self.numbers.held_wh > ROUNDING_WH).any())

    def of(
        self,
        route: Route,
        driven: DrivenArms,
        battery: Battery | None,
        stops: tuple[ChargingStop, ...],
    ) -> PlannedRoute:
        """Return the numbers of a route, without forecasts.

        Parameters
        ----------
        route, driven
            The route and its arms.
        battery
            Charge that it begins with, with the fade of regeneration, or None for no charge.
        stops
            Stops to charge.
        """
        network, space = self.numbers.network, self.numbers.space
        length_m, parts = driven.length_m, self._parts_wh(route, driven)
        gained_m, lost_m = self._heights(route, driven)
        charge, functions = None, self.numbers.warmed(driven)
        driven_s = float(driven.time_s.sum())
        if self.numbers.warm_up.whole_wh:
            parts[WARM_UP] = float(self.numbers.warm_up.after(driven_s))
        if battery is not None:
            charged = [(stop.after_edges, stop.to_percent) for stop in stops]
            charge = functions.along(battery, charged)
            parts["lost"] = charge.lost_wh
        held_wh = driven.share * (
            self.numbers.held_wh[driven.arms] + space.edges.parts.held_wh[route.rows]
        )
        return PlannedRoute(
            route=route,
            edges=tuple(network.edge_id[row] for row in route.edges),
            roads=network,
            stretches=driven.stretches,
            edge_m=length_m,
            edge_wh=functions.energy_wh,
            energy_wh=summed(functions.energy_wh) + parts.get("lost", 0.0),
            parts_wh=parts,
            length_m=summed(length_m),
            time_s=summed(driven.time_s) + sum(stop.time_s for stop in stops),
            ascent_m=gained_m,
            descent_m=lost_m,
            held_arms=int((held_wh > ROUNDING_WH).sum()),
            held_wh=float(held_wh.sum()),
            charge=charge,
            stops=stops,
            heating_wh=float(self.heating.total_wh(driven_s / 60.0)),
        )

    def _heights(self, route: Route, driven: DrivenArms) -> tuple[float, float]:
        """Return the height gained and the height lost along a route, m."""
        network, rows = self.numbers.network, route.rows
        gained_m, lost_m = network.ascent_m[rows], network.descent_m[rows]
        cut = np.flatnonzero(driven.share != 1.0)
        if len(cut):
            gained_m[cut], lost_m[cut] = driven.stretches[cut].heights(network)
        return float(gained_m.sum()), float(lost_m.sum())

    def _parts_wh(self, route: Route, driven: DrivenArms) -> dict[str, float]:
        """Return the energy of a route by cause, Wh, without lost regeneration."""
        space, held_wh = self.numbers.space, driven.share * self.numbers.held_wh[driven.arms]
        driven_parts = [part for part in route.parts if len(part) > 1 or part.start_m != part.end_m]
        each = [space.parts_wh(part) for part in driven_parts]
        parts = {name: sum(of_part[name] for of_part in each) for name in each[0]}
        if self.learned_with_w is not None:
            # learned minutes move energy from the learned part to the auxiliary part
            driven_s = driven.time_s.sum()
            minutes_wh = self.learned_with_w * driven_s / J_PER_WH - parts["auxiliary"]
            parts["auxiliary"] += float(minutes_wh)
            prior_wh = space.whole_wh[driven.arms] * (driven.share > 0.0)
            cut = np.flatnonzero((driven.share != 1.0) & (driven.share > 0.0))
            if len(cut):
                prior_wh[cut] = space.stretch_wh(driven.arms[cut], driven.stretches[cut])
            prior_wh += driven.stretches.halts * space.halt_wh[route.rows]
            off_wh = ((driven.energy_wh - held_wh) - prior_wh).sum()
            parts["learned"] = float(off_wh - minutes_wh)
        if self._raises:
            parts["held"] = parts.get("held", 0.0) + float(held_wh.sum())
        return parts


def summed(numbers: FloatArray) -> float:
    """Return the sum of numbers, added in driving order as matrices and batches add them."""
    return float(np.add.accumulate(numbers)[-1])


class Routes(dict[str, PlannedRoute]):
    """Routes by row. ``charge``, a name of earlier versions, is another name of ``time``."""

    def __missing__(self, name: str) -> PlannedRoute:
        """Return the route of a row by its other name."""
        if name == "charge" and any(route.stops for route in self.values()):
            return self["time"]
        raise KeyError(name)


def expected_saving(
    day: Day | None, fastest: PlannedRoute, recommended: PlannedRoute
) -> Saving | None:
    """Return the expected saving of the recommended route against the fastest.

    None without a belief, and where they are one route or stop to charge.

    Parameters
    ----------
    day
        Learned energies, or None without a belief.
    fastest, recommended
        The two routes.
    """
    if day is None or fastest.route == recommended.route or fastest.stops or recommended.stops:
        return None
    one, other = (day.space.arms_of_route(each.route) for each in (fastest, recommended))
    saved_wh = fastest.energy_wh - recommended.energy_wh
    driven = fastest.stretches, recommended.stretches
    return Saving(saved_wh, day.difference_std_wh(one, other, driven))
