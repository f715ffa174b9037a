"""Arm spaces: the arms of a learner, and their relation to edges.

Worlds, requests, routes and measured trips are about edges. A learner's arms are the edges
(`EdgeSpace`), the turns between them (`TurnSpace`), or the edges near a request (`Corridor`).
Agents, planners, settings and beliefs hold a space and do not depend on its class. A new kind of
arm is one new file with a class that meets these protocols.
"""

from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from evroute.arms import Arms, Belief, Feedback, Round, Route
from evroute.arrays import FloatArray, IntArray
from evroute.energy.driving import DrivingConditions
from evroute.energy.prior import DEFAULT_SPREAD, EnergyPrior
from evroute.energy.regressors import Derivatives
from evroute.model.base import State
from evroute.network.heights.stretches import Stretches
from evroute.planning.searches.search import Search
from evroute.planning.spaces.arm_states import ArmStates
from evroute.planning.spaces.edge_space import EdgeSpace
from evroute.planning.weights import potential

if TYPE_CHECKING:
    from evroute.model.kernels.arms import ArmGraph


class ArmSpace(Protocol):
    """The arms of one learner, round by round."""

    noun: str
    """Plural noun for the arms in messages, such as ``"edges"``."""

    def arms(self, request: Round) -> Arms:
        """Return the arms that are available in a round."""

    def potential_wh(self, request: Round) -> FloatArray:
        """Return the rise of the potential over each of them, (a,) Wh."""

    def route(self, weights: FloatArray, request: Round) -> Route:
        """Return the route of least weight for ``weights`` (a,) of the arms."""

    def arms_of_route(self, route: Route) -> IntArray:
        """Return the ids of the arms of a route, (k,), in driving order."""

    def feedback(self, feedback: Feedback) -> Feedback:
        """Convert feedback on edges to feedback on the arms. A space may learn speeds from it."""

    def state(self) -> State:
        """Return the learned state of the space as arrays, or empty if it learns nothing."""

    def restore(self, state: State) -> None:
        """Restore the state of the space. Other entries are ignored."""


class SearchSpace(ArmSpace, Protocol):
    """An arm space over a whole network, with its prior, its kernel and the nodes of searches."""

    @property
    def edges(self) -> EdgeSpace:
        """The space of the edges of the network."""

    @property
    def size(self) -> int:
        """Number of arms, a."""

    @property
    def reference(self) -> Arms:
        """All arms in free-flow contexts, with prior means under the conditions of the space."""

    @property
    def time_s(self) -> FloatArray:
        """(n,) travel time of every edge that the prior means assume, s."""

    @property
    def regressors(self) -> Derivatives:
        """Derivatives of the energy of the arms by the coefficients of physics."""

    @property
    def lengthscale_factors(self) -> FloatArray:
        """(d,) factor of the kernel's lengthscale for each feature of the contexts."""

    @property
    def search(self) -> Search:
        """The search over the arms."""

    @property
    def states(self) -> ArmStates:
        """The potential before and after each arm."""

    def prior(self, spread: str = DEFAULT_SPREAD) -> EnergyPrior:
        """Return the prior of all arms. ``spread`` is one of `energy.prior.SPREADS`."""

    def graph(self, of_edges: "ArmGraph") -> "ArmGraph":
        """Return the kernel between arms by location, derived from that between the edges."""

    def under(self, conditions: DrivingConditions) -> "SearchSpace":
        """Return the space under other conditions of the day."""

    def parts_wh(self, route: Route) -> dict[str, float]:
        """Return the prior energy of a route by cause, Wh each."""

    @property
    def whole_wh(self) -> FloatArray:
        """(a,) prior energy of the arms with whole edges, as of `stretch_wh`, Wh."""

    def stretch_wh(self, arms: IntArray, stretches: Stretches) -> FloatArray:
        """Return the prior energy (k,) of arms of whose edges only a part is driven, Wh."""

    @property
    def halts(self) -> bool:
        """Whether trips end at standstill."""

    @property
    def halt_wh(self) -> FloatArray:
        """(n,) prior energy of coming to a standstill at the end of each edge, Wh."""

    def edge_belief(self, belief: Belief) -> Belief:
        """Return the posterior of every edge, (n,), from the posterior of all arms, (a,)."""

    def arms_of_routes(self, edge: IntArray, start: IntArray) -> IntArray:
        """Return the arms of routes, one after the other, that begin at positions ``start``."""


@runtime_checkable
class ExpectsTimes(Protocol):
    """An arm space that expects travel times by the times of earlier trips."""

    def time_error(self, feedback: Feedback) -> float:
        """Return ``log(measured/expected time)`` of a trip. NaN if most of its roads are new."""


def least_energy_route(space: ArmSpace, energy_wh: FloatArray, request: Round) -> Route:
    """Return the route of least energy over the arms of a round.

    Exact where no energy is below the potential. Lower energies are raised to it.

    Parameters
    ----------
    space
        The arm space.
    energy_wh
        (a,) energy of each arm of the round, Wh.
    request
        The round.

    Raises
    ------
    NoRouteError
        If no open way leads to the destination.
    """
    return space.route(
        potential(energy_wh, np.zeros(len(energy_wh)), space.potential_wh(request)), request
    )
