"""TurnSetting: what a setting has, told of turns instead of edges, by the same names.

A model that asks for a kernel, for arms or for deviations by name works on turns without knowing it.
"""

from functools import cached_property
from typing import Any

import numpy as np

from evroute.arms import Arms
from evroute.arrays import FloatArray
from evroute.energy import turn_prior
from evroute.energy.turn_prior import TurnEnergy, TurnPrior
from evroute.model import build
from evroute.model.kernels import EdgeContextKernel
from evroute.model.turn_kernel import TurnGraph
from evroute.network.catalog import cache_dir
from evroute.network.turn_table import TurnTable
from evroute.planning.arm_space import TurnArms
from evroute.simulation.setting import Setting


class TurnSetting:
    """The turns and starts of a setting's network, a of them."""

    def __init__(self, edges: Setting) -> None:
        self.edges = edges

    @cached_property
    def energy(self) -> TurnEnergy:
        """What turns take."""
        return TurnEnergy(self.edges.network, self.edges.vehicle, TurnTable.from_network(self.edges.network))

    @cached_property
    def prior(self) -> TurnPrior:
        """Energies of turns and the spreads around them."""
        return turn_prior.fit(self.energy, self.edges.spread)

    @cached_property
    def space(self) -> TurnArms:
        """How turns follow from edges."""
        return TurnArms(self.edges.search, self.energy)

    @cached_property
    def arms(self) -> Arms:
        """Every turn and start in its free-flow context."""
        return self.space.all_arms(self.edges.arms)

    @cached_property
    def noise_std_wh(self) -> FloatArray:
        """(a,) standard deviation of one measurement, Wh."""
        return self.prior.noise_std_wh

    @cached_property
    def kernel(self) -> EdgeContextKernel:
        """The prior covariance of turns."""
        table = self.energy.table
        graph: Any = TurnGraph(self.edges.kernel.graph, table.left, table.entered)
        lengthscales = np.full(self.arms.features.shape[1], self.edges.lengthscale)
        return EdgeContextKernel(graph, self.prior.std_wh, lengthscales)

    @cached_property
    def prior_variance_wh2(self) -> FloatArray:
        """(a,) diagonal of the kernel, Wh²."""
        return self.kernel.diagonal(self.arms.edge, self.arms.features)

    @cached_property
    def prior_factor(self) -> FloatArray:
        """(a, a) factor of the prior covariance, mapped from the cache, Wh."""
        return build.prior_factor(self.kernel, self.arms, cache_dir())
