"""Setting: what every run on one network with one vehicle and one prior shares, computed once for each process.

Its attributes are the values that models, indices and worlds may ask for by name (``parts.call``).
"""

from dataclasses import asdict
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evroute.arms import Arms
from evroute.arrays import FloatArray
from evroute.energy.driving import COMFORT_C
from evroute.energy.prior import DEFAULT_SPREAD, EnergyPrior, all_arms, fit
from evroute.energy.regressors import Regressors
from evroute.energy.vehicle import Vehicle, load_vehicle
from evroute.errors import EvrouteError
from evroute.model import build
from evroute.model.build import DEFAULT_LENGTHSCALE
from evroute.model.graph_matern import GraphMatern
from evroute.model.kernels import EdgeContextKernel
from evroute.network.catalog import cache_dir, load_network
from evroute.network.line_graph import LineGraph
from evroute.network.road_network import RoadNetwork
from evroute.planning.places import endpoints
from evroute.planning.search import Search

if TYPE_CHECKING:
    from evroute.methods.turn_setting import TurnSetting
    from evroute.model.sparse_graph import SparseGraphMatern

TEMPERATURE_UNIT_K = 10.0


class Setting:
    """One network, one vehicle and one prior, and all that follows from these.

    spread: how the prior's deviations are spread over the edges, one of `energy.prior.SPREADS`.
    lengthscale: of the kernel.  temperature: contexts have a further feature,
    `temperature_feature`.
    """

    def __init__(
        self,
        network: RoadNetwork,
        vehicle: Vehicle,
        *,
        spread: str = DEFAULT_SPREAD,
        lengthscale: float = DEFAULT_LENGTHSCALE,
        temperature: bool = False,
    ) -> None:
        self.network = network
        self.vehicle = vehicle
        self.spread = spread
        self.lengthscale = lengthscale
        self.temperature = temperature

    @cached_property
    def vehicle_numbers(self) -> dict[str, Any]:
        """The vehicle without the sources of its numbers: what a belief depends on."""
        numbers = asdict(self.vehicle)
        del numbers["sources"]
        return numbers

    @cached_property
    def line_graph(self) -> LineGraph:
        """Legal turns."""
        return LineGraph.from_network(self.network)

    @cached_property
    def search(self) -> Search:
        """A search over all edges."""
        return Search(self.line_graph)

    @cached_property
    def prior(self) -> EnergyPrior:
        """Eq. 8 and the spreads around it."""
        return fit(self.network, self.vehicle, self.spread)

    @cached_property
    def arms(self) -> Arms:
        """Every edge in its free-flow context, and where contexts tell of it at a pleasant temperature."""
        arms = all_arms(self.network, self.prior)
        if not self.temperature:
            return arms
        features = np.column_stack(
            [arms.features, np.full(len(arms), temperature_feature(COMFORT_C))]
        )
        return Arms(arms.id, features, arms.prior_mean_wh)

    @cached_property
    def potential_wh(self) -> FloatArray:
        """(n,) ``m g dz``, Wh."""
        return self.prior.potential_wh

    @cached_property
    def noise_std_wh(self) -> FloatArray:
        """(n,) standard deviation of one measurement, Wh."""
        return self.prior.noise_std_wh

    @cached_property
    def kernel(self) -> EdgeContextKernel:
        """The prior covariance of arms; its graph's rows are kept for all runs of the process."""
        return self._kernel(self.prior)

    @cached_property
    def sparse_kernel(self) -> EdgeContextKernel:
        """The same as ``kernel`` to 1e-6, on a graph kernel that is sparse: for regions."""
        lengthscales = np.full(self.arms.features.shape[1], self.lengthscale)
        return EdgeContextKernel(_sparse_graph(self.network), self.prior.std_wh, lengthscales)

    @cached_property
    def dissipation_kernel(self) -> EdgeContextKernel:
        """The same, its deviations spread by what an edge dissipates, whatever the setting's own spread."""
        if self.spread == "dissipation":
            return self.kernel
        return self._kernel(fit(self.network, self.vehicle, "dissipation"))

    @cached_property
    def regressors(self) -> Regressors:
        """Derivatives of eq. 8 by what it takes for granted."""
        return Regressors(self.network, self.vehicle)

    @cached_property
    def prior_variance_wh2(self) -> FloatArray:
        """(n,) diagonal of the kernel, Wh²."""
        return self.kernel.diagonal(self.arms.id, self.arms.features)

    @cached_property
    def prior_factor(self) -> FloatArray:
        """(n, n) factor of the prior covariance, mapped from the cache, Wh."""
        return build.prior_factor(self.kernel, self.arms, cache_dir())

    @cached_property
    def turns(self) -> "TurnSetting":
        """The same, told of turns."""
        from evroute.methods.turn_setting import TurnSetting

        return TurnSetting(self)

    @cached_property
    def controlled_turns(self) -> "TurnSetting":
        """The same, with contexts of lights, stop signs and right of way."""
        from evroute.methods.turn_setting import TurnSetting

        return TurnSetting(self, controls=True)

    def _kernel(self, prior: EnergyPrior) -> EdgeContextKernel:
        n_features = self.arms.features.shape[1]
        return build.standard_kernel(_graph(self.network), prior, self.lengthscale, n_features)

    def ends(self, trip: str) -> tuple[int, int]:
        """Return origin and destination (network rows) of a named trip, or of one written ``PLACE to PLACE``.

        Raises
        ------
        UnknownNameError
            If the network has no such trip or place; the message lists those it has.
        EvrouteError
            If both places are the same edge.
        """
        origin, separator, destination = trip.partition(" to ")
        ends = endpoints(
            self.network, *((None, (origin, destination)) if separator else (trip, ()))
        )
        if ends[0] == ends[1]:
            raise EvrouteError(f"trip '{trip}' begins and ends on the same edge; choose two places")
        return ends


@cache
def load_setting(
    network: str,
    vehicle: str,
    spread: str = DEFAULT_SPREAD,
    lengthscale: float = DEFAULT_LENGTHSCALE,
    temperature: bool = False,
) -> Setting:
    """Return the setting of a network and a vehicle, each a name or a file, under a prior.

    Raises
    ------
    EvrouteError
        If there is no such network or vehicle, or it cannot be read.
    """
    return Setting(
        _network(network),
        load_vehicle(vehicle),
        spread=spread,
        lengthscale=lengthscale,
        temperature=temperature,
    )


def temperature_feature(temperature_c: float) -> float:
    """Return what contexts tell of a temperature: its distance from a pleasant one, in units of 10 K."""
    return (temperature_c - COMFORT_C) / TEMPERATURE_UNIT_K


@cache
def _network(name: str) -> RoadNetwork:
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
