"""TurnSetting: what a setting has, told of turns instead of edges, by the same names.

A model that asks for a kernel, for arms or for deviations by name works on turns without knowing
it.
"""

from functools import cached_property

import numpy as np

from evroute.arms import Arms
from evroute.arrays import FloatArray
from evroute.energy.turn_prior import TurnEnergy, TurnPrior, fit
from evroute.energy.turn_regressors import TurnRegressors
from evroute.methods.setting import Setting
from evroute.model.kernels import EdgeContextKernel
from evroute.model.turn_kernel import TurnGraph
from evroute.network import context
from evroute.network.controls import CONTEXTS
from evroute.network.turn_table import NAMES, TurnTable
from evroute.planning.arm_space import TurnArms

TURN_LENGTHSCALE = 4.0
"""Of entry speed and turn angle: most of what is wrong with an edge is wrong however it is entered."""
CONTROL_LENGTHSCALE = 0.5
"""Of the contexts of `network.controls`, which are 0 or 1; chosen in Monaco, docs/figures/turns.md."""


class TurnSetting:
    """The turns and starts of a setting's network, a of them.

    controls: their contexts tell of lights, stop signs and right of way.
    """

    def __init__(self, edges: Setting, *, controls: bool = False) -> None:
        self.edges = edges
        self.controls = controls

    @cached_property
    def energy(self) -> TurnEnergy:
        """What turns take."""
        return TurnEnergy(
            self.edges.network, self.edges.vehicle, TurnTable.from_network(self.edges.network)
        )

    @cached_property
    def prior(self) -> TurnPrior:
        """Energies of turns and the spreads around them."""
        return fit(self.energy, self.edges.spread)

    @cached_property
    def space(self) -> TurnArms:
        """How turns follow from edges."""
        return TurnArms(self.edges.search, self.energy, controls=self.controls)

    @cached_property
    def arms(self) -> Arms:
        """Every turn and start in its free-flow context."""
        return self.space.all_arms(self.edges.arms)

    @cached_property
    def potential_wh(self) -> FloatArray:
        """(a,) rise of the total-energy potential at the speed limits, Wh."""
        return self.prior.potential_wh

    @cached_property
    def noise_std_wh(self) -> FloatArray:
        """(a,) standard deviation of one measurement, Wh."""
        return self.prior.noise_std_wh

    @cached_property
    def kernel(self) -> EdgeContextKernel:
        """The prior covariance of turns; what is the turn's own reaches `TURN_LENGTHSCALE` times as far."""
        return self._kernel(self.prior)

    @cached_property
    def dissipation_kernel(self) -> EdgeContextKernel:
        """The same, its deviations spread by what a turn dissipates, whatever the setting's own spread."""
        return (
            self.kernel
            if self.edges.spread == "dissipation"
            else self._kernel(fit(self.energy, "dissipation"))
        )

    @cached_property
    def regressors(self) -> TurnRegressors:
        """Derivatives of the energy of turns by what it takes for granted."""
        return TurnRegressors(self.energy)

    @cached_property
    def prior_variance_wh2(self) -> FloatArray:
        """(a,) diagonal of the kernel, Wh²."""
        return self.kernel.diagonal(self.arms.id, self.arms.features)

    def _kernel(self, prior: TurnPrior) -> EdgeContextKernel:
        table = self.energy.table
        graph = TurnGraph(self.edges.kernel.matern, table.left, table.entered)
        of_edges, own = self.edges.arms.features.shape[1], len(NAMES) - len(context.NAMES)
        counts = of_edges, own, len(CONTEXTS) if self.controls else 0
        factor = np.repeat([1.0, TURN_LENGTHSCALE, CONTROL_LENGTHSCALE], counts)
        return EdgeContextKernel(graph, prior.std_wh, self.edges.lengthscale * factor)
