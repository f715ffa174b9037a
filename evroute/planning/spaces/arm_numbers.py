"""ArmNumbers: expected energy, time and charge of all arms of a day, and of parts of their edges.

A trip may begin and end inside an edge. An arm of whose edge only a part is driven takes the
energy by physics of that part, with its own pieces of the profile and the whole energy of its turn,
plus the share of the edge that is driven of what is learned or raised beyond physics. A trip by the
driver's physics ends at standstill: its last arm has a last step, which returns kinetic energy.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray, IntArray
from evroute.energy.heating import NO_WARM_UP, WarmUp
from evroute.network.crossings import along_m, lanes_m
from evroute.network.heights.stretches import Stretches
from evroute.network.road_network import RoadNetwork
from evroute.planning.charge.charge_functions import ChargeFunctions
from evroute.planning.charge.piece_steps import OverPieces, StepsOnDemand
from evroute.planning.spaces.arm_space import SearchSpace
from evroute.planning.spaces.arm_states import ArmStates
from evroute.planning.spaces.request_arrays import SharedArrays

MOST_KEPT = 1000
"""Number of parts of edges whose energies are kept."""


@dataclass(frozen=True, slots=True, eq=False)
class DrivenArms:
    """Arms by the parts of their edges that are driven, such as the arms of a route.

    Parameters
    ----------
    arms
        (k,) rows of the arms.
    stretches
        The part of the edge of each that is driven.
    share
        (k,) share of the edge that it is.
    length_m, time_s
        (k,) length as driven, m, and travel time, s.
    charge
        Their charge functions, with their expected energies.
    """

    arms: IntArray
    stretches: Stretches
    share: FloatArray
    length_m: FloatArray
    time_s: FloatArray
    charge: ChargeFunctions

    @property
    def energy_wh(self) -> FloatArray:
        """(k,) expected energy of each arm, Wh."""
        return self.charge.energy_wh


@dataclass(frozen=True, slots=True, eq=False)
class ArmNumbers:
    """Numbers of a arms over n edges.

    Parameters
    ----------
    space
        The arms.
    states
        Their potential.
    mean_wh, held_wh
        (a,) expected energy of each arm, and by how much it was raised to the physical minimum, Wh.
    noise_std_wh
        Function that returns the standard deviation of one measurement of each arm, (a,) Wh.
    length_m
        (a,) length of each arm as driven, m.
    time_s
        (n,) travel time of each edge, s.
    charge
        Charge functions of the arms.
    halt_wh
        (n,) energy of coming to a standstill at the end of each edge, Wh.
    whole_wh, stretch_wh
        (a,) energy of the arms without the deviations that are learned for each arm, and the
        function that returns it for parts of edges, (k,), Wh.
    warm_up
        Energy of warming up over the time driven, which no arm includes.
    kept
        Energy and steps of the charge function, Wh, of the last parts, by arm and metres.
    arrays
        Arrays over the arms, for the requests.
    """

    space: SearchSpace
    states: ArmStates
    mean_wh: FloatArray
    held_wh: FloatArray
    noise_std_wh: Callable[[], FloatArray]
    length_m: FloatArray
    time_s: FloatArray
    charge: ChargeFunctions
    halt_wh: FloatArray
    whole_wh: FloatArray
    stretch_wh: Callable[[IntArray, Stretches], FloatArray]
    warm_up: WarmUp = NO_WARM_UP
    kept: dict[tuple[int, float, float], tuple[float, FloatArray]] = field(default_factory=dict)
    arrays: SharedArrays = field(default_factory=SharedArrays)

    @property
    def network(self) -> RoadNetwork:
        """The roads."""
        return self.space.edges.network

    def driven(self, route: Route) -> DrivenArms:
        """Return the arms of a route by the parts of its edges that are driven.

        Parameters
        ----------
        route
            A route of k edges.
        """
        parts, network = route.parts, self.network
        arms = np.concatenate([self.space.arms_of_route(part) for part in parts])
        driven = self.of_parts(arms, Stretches.of_route(network, route, halts=self.space.halts))
        if self.space is not self.space.edges:  # a turn has its own length
            return driven
        shares = np.split(driven.share, [pause.after for pause in route.pauses])
        pairs = zip(parts, shares, strict=True)
        length_m = [along_m(network, part.rows, share) for part, share in pairs]
        return replace(driven, length_m=np.concatenate(length_m))

    def warmed(self, driven: DrivenArms, first: IntArray | None = None) -> ChargeFunctions:
        """Return the charge functions of the arms of trips, with the warm-up of each trip.

        Parameters
        ----------
        driven
            The k arms of trips, one trip after the other.
        first
            (r,) position of the first arm of each trip, or None for one trip.
        """
        if not self.warm_up.whole_wh:
            return driven.charge
        trips = np.split(driven.time_s, [] if first is None else first[1:])
        drawn_wh = np.concatenate([self.warm_up.along(time_s) for time_s in trips])
        return driven.charge.beginning(drawn_wh)

    def driven_by(self, routes: Sequence[Route]) -> tuple[DrivenArms, IntArray]:
        """Return the arms of routes, one route after the other, and the first of each, (r,).

        Parameters
        ----------
        routes
            The r routes, one or more.
        """
        parts = [part.rows for route in routes for part in route.parts]
        start = np.cumsum([0, *map(len, parts[:-1])])
        arms = self.space.arms_of_routes(np.concatenate(parts), start)
        driven = Stretches.of_routes(self.network, routes, halts=self.space.halts)
        return self.of_parts(arms, driven), np.cumsum([0, *map(len, routes[:-1])])

    def of_parts(self, arms: IntArray, stretches: Stretches) -> DrivenArms:
        """Return arms by parts of their edges.

        Parameters
        ----------
        arms
            (k,) rows of arms. An arm may repeat.
        stretches
            The part of the edge of each that is driven. No energy is taken over no metres.
        """
        share = stretches.share(self.network)
        charge, order = self.charge.take(arms), np.arange(len(arms))
        cut, still = np.flatnonzero((share != 1.0) & (share != 0.0)), np.flatnonzero(share == 0.0)
        if len(cut):
            charge = charge.joined(self._known_charge(arms[cut], stretches[cut]))
            order[cut] = len(arms) + np.arange(len(cut))
        if len(still):
            order[still] = len(charge.energy_wh)
            charge = charge.joined(ChargeFunctions.of_one_step(np.zeros(1)))
        if len(cut) or len(still):
            charge = charge.take(order)
        halting = np.flatnonzero(stretches.halts & (share != 0.0))
        if len(halting):
            charge = charge.ending(halting, self.halt_wh[stretches.edge[halting]])
        time_s = share * self.time_s[stretches.edge]
        length_m = self.length_m[arms] - (1.0 - share) * lanes_m(self.network, stretches.edge)
        return DrivenArms(arms, stretches, share, length_m, time_s, charge)

    def _known_charge(self, arms: IntArray, stretches: Stretches) -> ChargeFunctions:
        """Return `_charge_of`. The last parts are kept, since routes of a plan share their ends."""
        ends = arms.tolist(), stretches.from_m.tolist(), stretches.to_m.tolist()
        keys = list(zip(*ends, strict=True))
        kept = self.kept.copy()
        known = {key: kept[key] for key in keys if key in kept}
        new = [row for row, key in enumerate(keys) if key not in known]
        if new:
            found = self._charge_of(arms[new], stretches[np.array(new)])
            steps_wh = np.split(found.step_wh, found.start[1:-1])
            energies = zip(found.energy_wh.tolist(), steps_wh, strict=True)
            known.update(zip([keys[row] for row in new], energies, strict=True))
            if len(self.kept) > MOST_KEPT:
                self.kept.clear()
            self.kept.update(known)
        parts = [known[key] for key in keys]
        return ChargeFunctions(
            np.array([energy_wh for energy_wh, _ in parts]),
            np.cumsum([0, *(len(steps_wh) for _, steps_wh in parts)]),
            np.concatenate([steps_wh for _, steps_wh in parts]),
        )

    def _charge_of(self, arms: IntArray, stretches: Stretches) -> ChargeFunctions:
        """Return the charge functions of arms of whose edges a part is driven."""
        beyond_wh = self.mean_wh[arms] - self.whole_wh[arms]
        energy_wh = self.stretch_wh(arms, stretches) + stretches.share(self.network) * beyond_wh
        if self.network.pieces is None:
            return ChargeFunctions.of_one_step(energy_wh)
        parts, place = self.space.edges.stretch_parts(stretches)
        length_m, _, _ = stretches.pieces(self.network)
        return ChargeFunctions.of_parts(parts.total_wh, length_m, place, energy_wh)


def charge_functions(space: SearchSpace, states: ArmStates, mean_wh: FloatArray) -> ChargeFunctions:
    """Return the charge functions of all arms of a space.

    Parameters
    ----------
    space, states
        The arms and their potential.
    mean_wh
        (a,) expected energy of each arm, Wh.
    """
    network = space.edges.network
    if network.pieces is None:
        return ChargeFunctions.of_one_step(mean_wh)
    over = OverPieces(network.pieces, space.edges.piece_wh, states.edge, mean_wh)
    return StepsOnDemand(over)
