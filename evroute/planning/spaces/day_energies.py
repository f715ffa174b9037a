"""DayEnergies: expected energies of all arms on one day, by physics or by a belief.

An arm never has less than its change of potential: a belief that expects less is raised to it, so
that searches stay exact.
"""

from functools import cached_property

import numpy as np

from evroute.arrays import FloatArray
from evroute.energy.heating import NO_WARM_UP, WarmUp
from evroute.energy.prior import EnergyPrior
from evroute.network.crossings import arm_lengths_m
from evroute.network.road_network import RoadNetwork
from evroute.planning.charge.charge_functions import ChargeFunctions
from evroute.planning.forecasts.learned import Day
from evroute.planning.spaces.arm_numbers import ArmNumbers, charge_functions
from evroute.planning.spaces.arm_space import SearchSpace


class DayEnergies:
    """Energies of the a arms of a space under the conditions of one day.

    Parameters
    ----------
    space
        The arms, under the conditions of the day.
    learned
        Energies by a belief on the same arms, or None for energies by physics.

    Attributes
    ----------
    states
        States between the arms, with their potentials.
    mean_wh, held_wh
        (a,) expected energies, and how much of each raises a belief to its change of potential, Wh.
    """

    def __init__(self, space: SearchSpace, learned: Day | None) -> None:
        self._space = space
        self._learned = learned
        believed_wh = (space.prior() if learned is None else learned).mean_wh
        self.states = space.states if learned is None else space.states.under(believed_wh)
        self.mean_wh = np.maximum(believed_wh, self.states.head_wh - self.states.tail_wh)
        self.mean_wh.setflags(write=False)  # and so shared with the charge functions
        held_wh = self.mean_wh - believed_wh
        self.held_wh = held_wh if held_wh.any() else np.zeros_like(held_wh)  # which take no memory

    @cached_property
    def prior(self) -> EnergyPrior:
        """Prior of the arms, computed when it is asked for."""
        return self._space.prior()

    @cached_property
    def noise_std_wh(self) -> FloatArray:
        """(a,) standard deviation of one measurement, Wh."""
        return (self._learned or self.prior).noise_std_wh

    @cached_property
    def charge(self) -> ChargeFunctions:
        """Charge functions of all arms."""
        return charge_functions(self._space, self.states, self.mean_wh)

    def numbers(
        self, network: RoadNetwork, time_s: FloatArray, warm_up: WarmUp = NO_WARM_UP
    ) -> ArmNumbers:
        """Return energy, time, length and charge of all arms.

        Parameters
        ----------
        network
            The roads, which may have ways across junctions that the space's roads lack.
        time_s
            (n,) travel time of each edge, s.
        warm_up
            Energy of warming up over the time driven.
        """
        of = self._learned or self._space
        return ArmNumbers(
            self._space,
            self.states,
            self.mean_wh,
            self.held_wh,
            lambda: self.noise_std_wh,
            arm_lengths_m(network, self.states.edge),
            time_s,
            self.charge,
            of.halt_wh,
            of.whole_wh,
            of.stretch_wh,
            warm_up,
        )
