"""TurnBelief: a model that learned on turns, for those who ask about edges.

What it says of an edge is the average over the turns that enter it; plans and forecasts of routes
go by the turns themselves (``planning.steps``).
"""

import numpy as np

from evroute.arms import Arms, Belief, Feedback
from evroute.arrays import FloatArray
from evroute.model.base import EnergyModel, State
from evroute.planning.arm_space import TurnArms


class TurnBelief:
    """A model of turns, seen from edges.

    model: of turns.  space: how turns follow from edges.  edges: every edge in its reference
    context.
    """

    def __init__(self, model: EnergyModel, space: TurnArms, edges: Arms) -> None:
        self.model = model
        self.space = space
        self.edges = edges
        entered = space.table.entered
        turns = np.bincount(entered[: space.table.n_turns], minlength=space.table.n_edges)
        # an edge that no turn enters is known by its start alone
        self._counts = np.where(
            np.arange(len(entered)) < space.table.n_turns, 1.0, turns[entered] == 0
        )

    @property
    def turns(self) -> Arms:
        """Every turn and start in its reference context."""
        return self.space.all_arms(self.edges)

    def posterior(self, arms: Arms) -> Belief:
        """Return prior means plus what was learned on average of the turns into each edge, in reference contexts.

        The deviation is the root mean square of theirs.
        """
        turns = self.turns
        belief = self.model.posterior(turns)
        learned_wh = self._averages(belief.mean_wh - turns.prior_mean_wh)
        return Belief(
            arms.prior_mean_wh + learned_wh[arms.id],
            np.sqrt(self._averages(belief.std_wh**2)[arms.id]),
        )

    def noise_std(self, arms: Arms) -> FloatArray:
        """Return the root mean square of the noise of the turns into each edge, (a,) Wh."""
        noise: FloatArray = np.sqrt(self._averages(self.model.noise_std(self.turns) ** 2)[arms.id])
        return noise

    def update(self, feedback: Feedback) -> None:
        """Learn what a trip measured, told of edges."""
        self.model.update(self.space.feedback(feedback))

    def state(self) -> State:
        """Return the state of the model of turns, and what is known of speeds."""
        return self.model.state() | self.space.state()

    def restore(self, state: State) -> None:
        """Take over a state of the model of turns, and of speeds."""
        of_space = self.space.state()
        self.space.restore(state)
        self.model.restore({name: part for name, part in state.items() if name not in of_space})

    def _averages(self, values: FloatArray) -> FloatArray:
        table = self.space.table
        total = np.bincount(table.entered, self._counts * values, minlength=table.n_edges)
        averages: FloatArray = total / np.bincount(
            table.entered, self._counts, minlength=table.n_edges
        )
        return averages
