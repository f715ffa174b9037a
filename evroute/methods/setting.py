"""Setting: the shared values of all runs on one network with one vehicle and one prior.

Each is computed once for each process. Models and indices take them as a `ModelSetting`. `Prior`
holds the assumptions about arm energies before any trip, as one value.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evroute.arms import Arms
from evroute.arrays import FloatArray
from evroute.energy.prior import DEFAULT_SPREAD, EnergyPrior, check_spread
from evroute.energy.regressors import Derivatives
from evroute.energy.vehicle import Vehicle, load_vehicle, numbers_of
from evroute.errors import EvrouteError
from evroute.given import digest_of_copy
from evroute.model.context_kernels import DEFAULT_KERNEL, context_kernel
from evroute.model.kernels import build
from evroute.model.kernels.arms import ArmGraph, EdgeContextKernel
from evroute.model.kernels.build import DEFAULT_LENGTHSCALE
from evroute.model.kernels.graph_matern import GraphMatern
from evroute.network.catalog import cache_dir, load_network
from evroute.network.heights.profile import on_terrain
from evroute.network.road_network import RoadNetwork
from evroute.network.turn_table import TurnTable
from evroute.planning.places import stops
from evroute.planning.searches.search import Search
from evroute.planning.spaces.arm_space import SearchSpace
from evroute.planning.spaces.edge_space import EdgeSpace
from evroute.planning.spaces.turn_space import TurnSpace

if TYPE_CHECKING:
    from evroute.model.kernels.sparse_graph import SparseGraphMatern


@dataclass(frozen=True, slots=True)
class Prior:
    """Assumptions about the energies of arms.

    Parameters
    ----------
    spread
        Spread of the prior deviations over the arms, one of `energy.prior.SPREADS`.
    kernel
        Kernel between contexts, see `model.context_kernels.context_kernel`.
    lengthscale
        Of the kernel, in standard deviations of the contexts, positive.
    temperature
        Whether contexts have the temperature as a further feature.

    Raises
    ------
    UnknownNameError
        If there is no such spread or kernel.
    """

    spread: str = DEFAULT_SPREAD
    kernel: str = DEFAULT_KERNEL
    lengthscale: float = DEFAULT_LENGTHSCALE
    temperature: bool = False

    def __post_init__(self) -> None:
        check_spread(self.spread)
        context_kernel(self.kernel)


DEFAULT_PRIOR = Prior()


class Setting:
    """One network, one vehicle and one prior, over the arms of one space.

    Parameters
    ----------
    network, vehicle
        Roads, and the vehicle that drives them.
    assumed
        Spread, kernel and contexts of the prior.
    space
        The arms. The edges of the network if None.
    """

    def __init__(
        self,
        network: RoadNetwork,
        vehicle: Vehicle,
        assumed: Prior = DEFAULT_PRIOR,
        *,
        space: SearchSpace | None = None,
    ) -> None:
        self.network = network
        self.vehicle = vehicle
        self.assumed = assumed
        self.space = space or EdgeSpace(network, vehicle, temperature=assumed.temperature)
        self._keeps_factor = space is None
        self._on_turns: dict[bool, Setting] = {}

    def on_turns(self, *, controls: bool = False) -> "Setting":
        """Return the setting over turns. ``controls`` as in `TurnSpace`."""
        if controls not in self._on_turns:
            self._on_turns[controls] = Setting(
                self.network,
                self.vehicle,
                self.assumed,
                space=TurnSpace(self.edges, self.turn_table, controls=controls),
            )
        return self._on_turns[controls]

    @property
    def edges(self) -> EdgeSpace:
        """The space of the edges of the network."""
        return self.space.edges

    @cached_property
    def turn_table(self) -> TurnTable:
        """The turns and starts of the network."""
        return TurnTable.from_network(self.network)

    @cached_property
    def vehicle_numbers(self) -> dict[str, Any]:
        """The vehicle without the sources of its numbers, as beliefs store it."""
        return numbers_of(self.vehicle)

    @property
    def search(self) -> Search:
        """A search over all edges."""
        return self.edges.search

    @cached_property
    def prior(self) -> EnergyPrior:
        """Prior of every arm: mean by physics, spread and noise."""
        return self.space.prior(self.assumed.spread)

    @property
    def arms(self) -> Arms:
        """All arms in free flow, at 21 °C if temperature is a feature."""
        return self.space.reference

    @property
    def potential_wh(self) -> FloatArray:
        """(a,) rise of the potential over each arm, Wh."""
        return self.prior.potential_wh

    @property
    def noise_std_wh(self) -> FloatArray:
        """(a,) standard deviation of one measurement, Wh."""
        return self.prior.noise_std_wh

    @cached_property
    def kernel(self) -> EdgeContextKernel:
        """The prior covariance of arms. All runs of a process share the rows of its graph."""
        return self._kernel(self.prior, _graph(self.network))

    @cached_property
    def sparse_kernel(self) -> EdgeContextKernel:
        """The prior covariance to 1e-6, on a sparse graph kernel, for regions."""
        return self._kernel(self.prior, _sparse_graph(self.network))

    @cached_property
    def dissipation_kernel(self) -> EdgeContextKernel:
        """The prior covariance with the spread "dissipation", for any spread of the setting."""
        if self.assumed.spread == "dissipation":
            return self.kernel
        return self._kernel(self.space.prior("dissipation"), _graph(self.network))

    @property
    def regressors(self) -> Derivatives:
        """Derivatives of the energy of the arms by the coefficients of physics."""
        return self.space.regressors

    @cached_property
    def prior_variance_wh2(self) -> FloatArray:
        """(a,) diagonal of the kernel, Wh²."""
        return self.kernel.diagonal(self.arms.id, self.arms.features)

    @cached_property
    def prior_factor(self) -> FloatArray:
        """(a, a) factor of the prior covariance, that of edges mapped from the cache, Wh."""
        return build.prior_factor(
            self.kernel, self.arms, cache_dir() if self._keeps_factor else None
        )

    def _kernel(self, prior: EnergyPrior, of_edges: ArmGraph) -> EdgeContextKernel:
        lengthscales = self.assumed.lengthscale * self.space.lengthscale_factors
        return EdgeContextKernel(
            self.space.graph(of_edges), prior.std_wh, lengthscales, context=self.assumed.kernel
        )

    def ends(self, trip: str) -> tuple[int, int]:
        """Return origin and destination, network rows, of a named trip or of ``PLACE to PLACE``.

        Raises
        ------
        UnknownNameError
            If the network has no such trip or place. The message lists the names.
        EvrouteError
            If both places are the same edge.
        """
        origin, separator, destination = trip.partition(" to ")
        named, places = (None, (origin, destination)) if separator else (trip, ())
        first, last = stops(self.network, named, places)
        if first == last:
            raise EvrouteError(f"trip '{trip}' begins and ends on the same edge. Choose two places")
        return first, last


def load_setting(
    network: str, vehicle: str, assumed: Prior = DEFAULT_PRIOR, terrain: str | None = "edge"
) -> Setting:
    """Return the setting of a network and a vehicle over the edges. Equal calls share one.

    Parameters
    ----------
    network, vehicle
        A name or a file each.
    assumed
        Spread, kernel and contexts of the prior.
    terrain
        One slope per edge (``"edge"``), the ``"profile"`` of the network, or None for the profile
        where it has one.

    Raises
    ------
    EvrouteError
        If the network or the vehicle is unknown or unreadable.
    """
    digests = digest_of_copy(network), digest_of_copy(vehicle)
    return _setting(network, vehicle, assumed, terrain, digests)


@lru_cache(maxsize=64)
def _setting(
    network: str, vehicle: str, assumed: Prior, terrain: str | None, digests: tuple[str, str]
) -> Setting:
    """Return the setting of files with some digests, empty for those that were not given."""
    roads = on_terrain(_network(network, digests[0]), terrain)
    return Setting(roads, load_vehicle(vehicle), assumed)


@lru_cache(maxsize=8)
def _network(name: str, digest: str) -> RoadNetwork:
    return load_network(Path(name) if name.endswith(".npz") else name)


@lru_cache(maxsize=4)
def _graph(network: RoadNetwork) -> GraphMatern:
    """Return the graph kernel that all settings on one network share."""
    return build.standard_graph(network, cache_dir())


@lru_cache(maxsize=4)
def _sparse_graph(network: RoadNetwork) -> "SparseGraphMatern":
    """Return the sparse graph kernel that all settings on one network share."""
    from evroute.model.regional import sparse_graph

    return sparse_graph(network, cache_dir())
