"""LearnedBelief: the learned energy of the roads for one vehicle, edge by edge or turn by turn.

It is read once from its folder (`belief.load_belief`). Planner, reports, dashboard and Python use
the same object.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.random import default_rng

from evroute.arms import Arms, Round, Route, Total
from evroute.arrays import IntArray
from evroute.energy.driving import DrivingConditions
from evroute.errors import EvrouteError
from evroute.learning.base import Belief, Expected, Part
from evroute.learning.edges import blocks
from evroute.learning.edges.day import EdgeDay
from evroute.learning.edges.ends import beside_wh, counted
from evroute.learning.edges.errors import add_errors
from evroute.learning.intervals import PastErrors, TripPrediction
from evroute.learning.measured import MeasuredTrip
from evroute.learning.stored import Stored
from evroute.methods.method import Method, checked_method, make_model, make_space
from evroute.methods.setting import Setting
from evroute.model.base import EnergyModel, HasJoint, LearnsTotals, State
from evroute.model.exact import ExactGP
from evroute.network.places.zones import local_s
from evroute.planning.forecasts.forecast import predict
from evroute.planning.forecasts.pace import Pace
from evroute.planning.spaces.arm_space import SearchSpace
from evroute.planning.spaces.edge_space import EdgeSpace


class LearnedBelief(Belief):
    """A model of the energy of the arms of a space, with its origin. See `Belief`.

    Parameters
    ----------
    model
        Posterior of the energy of the arms.
    space
        The arms: edges or turns.
    method
        Model and options of the learner.
    setting
        Network, vehicle and prior.
    errors
        Errors of its past trips, from which the width of its intervals follows, or none if None.
    pace
        Pace of the edges, from the travel times of its trips. That before any trip if None.
    trips
        Number of trips that it learned.
    """

    def __init__(
        self,
        model: EnergyModel,
        space: SearchSpace,
        method: Method,
        setting: Setting,
        errors: PastErrors | None = None,
        *,
        pace: Pace | None = None,
        trips: int = 0,
    ) -> None:
        self.model = model
        self.space = space
        self.method = method
        self.setting = setting
        self.source = "this"
        self.errors = PastErrors() if errors is None else errors
        self._pace = Pace.of_network(setting.network) if pace is None else pace
        self._trips = trips

    @classmethod
    def of_method(cls, method: Mapping[str, Any], setting: Setting) -> "LearnedBelief":
        """Return the belief before any trip, on the processor.

        Parameters
        ----------
        method, setting
            As in `Belief.of_method`.
        """
        return cls.before_trips(checked_method(dict(method)), setting, {"device": "cpu"})

    @classmethod
    def before_trips(
        cls, method: Method, setting: Setting, options: Mapping[str, Any] | None = None
    ) -> "LearnedBelief":
        """Return the belief of a method before any trip.

        Parameters
        ----------
        method
            Model and options.
        setting
            Network, vehicle and prior, over the edges.
        options
            Values of options that override the method's.
        """
        model = make_model(method, setting, default_rng(0), options or {})
        return cls(model, make_space(method, setting), method, setting)

    @classmethod
    def load(cls, stored: Stored, setting: Setting) -> "LearnedBelief":
        """Return the belief of a file, with the number of its trips. See `Belief.load`."""
        belief = super().load(stored, setting)
        belief._trips = stored.about.trips or 0
        return belief

    @property
    def method_table(self) -> dict[str, Any]:
        """Model and options by name."""
        return self.method.model_dump(exclude_none=True)

    @property
    def label(self) -> str:
        """Name of the method."""
        return self.method.label

    @property
    def trips(self) -> int:
        """Number of trips learned."""
        return self._trips

    @property
    def pace(self) -> Pace:
        """Pace of the edges, from the travel times of its trips."""
        return self._pace

    @property
    def inflation(self) -> float:
        """Factor on the deviations of its forecasts, from the errors of past trips."""
        return self.errors.inflation

    @property
    def note(self) -> str:
        """Width of the intervals by past trips, in words. Empty if there are none."""
        n = self.errors.trips
        return (
            f"intervals by the errors of {n} trip{'s' * (n > 1)}: {self.inflation:.2f} times as "
            "wide as by the noise that the model assumes for single roads"
            if n
            else ""
        )

    @property
    def changed(self) -> bool:
        """Whether the errors became larger. Never without the method's change test."""
        return bool(self.method.change_test) and self.errors.changed

    @property
    def parts(self) -> Mapping[str, Part]:
        """Errors of past trips, and pace."""
        return {"errors": self.errors, "pace": self.pace}

    @property
    def learns_totals(self) -> bool:
        """Whether the model learns the total energy of a trip as one measurement."""
        return isinstance(self.model, LearnsTotals)

    @property
    def block(self) -> int:
        """Number of trips that the exact model learns at once."""
        at_once = isinstance(self.model, ExactGP) and isinstance(self.space, EdgeSpace)
        return blocks.BLOCK if at_once and not self.method.change_test else 1

    def route_arms(self, route: Route, departed_s: float | None = None) -> tuple[Arms, IntArray]:
        """Return all arms in free flow, and the positions (k,) of a route's arms among them."""
        edges = self.space.edges.reference
        arms = self.space.arms(
            Round(1, edges, route.edges[0], route.edges[-1], departed_s=departed_s)
        )
        return arms, arms.rows_of(self.space.arms_of_route(route))

    def under(self, conditions: DrivingConditions) -> EdgeDay:
        """Return the energies on a day with these conditions. Learned deviations are kept."""
        space = self.space.under(conditions)
        return EdgeDay(self.model, space, self.vehicle, self.errors, self.pace)

    def expect(self, trip: MeasuredTrip) -> Expected:
        """Return the expected energy of a trip."""
        more_wh = beside_wh(self.space, trip)
        if trip.whole:
            mean_wh, sd_wh = self._moments_of(self._total(trip))
            return self._expected(mean_wh + more_wh, sd_wh)
        route = Route(tuple(trip.edge.tolist()))
        arms, rows = self.route_arms(route, local_s(trip.departed_s, self.network))
        share = trip.share(self.network.length_m) if trip.cut else None
        mean_wh, sd_wh = predict(self.model, arms, rows, share)
        return self._expected(mean_wh + more_wh, sd_wh)

    def take(self, trip: MeasuredTrip, expected: Expected) -> None:
        """Learn the edges of a trip, its times, and the error of its expectation.

        Parameters
        ----------
        trip
            Measured trip.
        expected
            Its expectation.

        Raises
        ------
        EvrouteError
            If only the total energy of the trip was measured, and the model cannot learn it.
        """
        if trip.whole and not isinstance(self.model, LearnsTotals):
            raise EvrouteError(
                f"model '{self.method.model}' learns single edges, and only the total energy of "
                "the trip was measured. Learn it with model trips, exact or physics+gp"
            )
        self._take_around(trip, expected)
        if trip.whole and isinstance(self.model, LearnsTotals):
            self.model.update_total(self._total(trip))
        else:
            whole = counted(trip, self.network)
            self.model.update(self.space.feedback(whole.feedback(self.setting)))

    def learn_block(self, trips: Sequence[MeasuredTrip]) -> list[dict[str, float]]:
        """Learn trips at once if the model can, and return the expectation of each in turn."""
        whole = any(trip.whole or trip.cut for trip in trips)
        if self.block == 1 or whole or not isinstance(self.model, ExactGP):
            return super().learn_block(trips)
        feedback = [trip.feedback(self.setting) for trip in trips]
        rows = []
        for trip, moments in zip(
            trips,
            blocks.learn_block(self.model, self.space.reference, feedback),
            strict=True,
        ):
            expected = self._expected(*moments)
            rows.append(expected.columns())
            self._take_around(trip, expected)
        return rows

    def restart(self) -> None:
        """Learn the roads, their speeds and their pace anew. The spread of the errors stays."""
        fresh = self.anew()
        self.model.restore(fresh.model.state())
        self.space.restore(fresh.space.state())
        self.pace.forget()
        self.errors.restart()

    def prepare(self) -> None:
        """Prepare a restored belief to learn on."""
        if isinstance(self.model, ExactGP):
            self.model.unpack()

    def state(self) -> State:
        """Return the learned state of model and space, and of errors and pace."""
        return self.model.state() | self.space.state() | super().state()

    def restore(self, state: State) -> None:
        """Restore a state of the same method."""
        super().restore(state)
        self.space.restore(state)
        others = [name for name in state if "/" in name or name.startswith("space_")]
        self.model.restore({name: a for name, a in state.items() if name not in others})

    def _total(self, trip: MeasuredTrip) -> Total:
        """Return the total energy of a trip as a sum over its arms, in free flow.

        Several plausible routes count with their average.
        """
        starts = np.flatnonzero(~self.network.has_turns(trip.edge)) + 1
        begins = np.append(0, starts if trip.routes > 1 else starts[:0])
        first, last = trip.edge[[0, -1]].tolist()
        edges = self.space.edges.reference
        arms = self.space.arms(
            Round(1, edges, first, last, departed_s=local_s(trip.departed_s, self.network))
        )
        rows = arms.rows_of(self.space.arms_of_routes(trip.edge, begins))
        share = trip.share(self.network.length_m) / trip.routes
        energy_wh = float(trip.energy_wh.sum()) - beside_wh(self.space, trip)
        return Total.of_arms(arms, rows, share, energy_wh, trip.known_variance_wh2)

    def _moments_of(self, total: Total) -> tuple[float, float]:
        """Return mean and deviation of a total, Wh. The deviation is NaN without a joint model."""
        arms, weight = Arms(total.id, total.features, total.prior_mean_wh), total.weight
        mean_wh = float(weight @ self.model.posterior(arms).mean_wh)
        if not isinstance(self.model, HasJoint):
            return mean_wh, float("nan")
        noise_std_wh = np.zeros(self.space.size)
        noise_std_wh[arms.id] = self.model.noise_std(arms)
        variance = weight @ self.model.covariance(arms) @ weight + total.noise_wh2(noise_std_wh)
        return mean_wh, float(np.sqrt(variance))

    def _expected(self, mean_wh: float, sd_wh: float) -> Expected:
        """Return the expectation of a trip of these moments, Wh."""
        errors = self.errors
        return Expected(TripPrediction(mean_wh, sd_wh, errors.spread, errors.trips, 0.0))

    def _take_around(self, trip: MeasuredTrip, expected: Expected) -> None:
        """Learn the error of the expectation of a trip and its travel times, not its energies."""
        whole, energy = counted(trip, self.network), expected.energy
        feedback = whole.feedback(self.setting)
        more_wh = float(whole.energy_wh.sum()) - float(trip.energy_wh.sum())
        add_errors(self.errors, self.space, feedback, energy.mean_wh + more_wh, energy.sd_wh)
        self.pace.learn(whole.edge, whole.travel_s, whole.departed_s)
        self._trips += 1
