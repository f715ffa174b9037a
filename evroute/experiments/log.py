"""Log: the tables of a run, and the logbook that collects their rows.

`BatteryLog` has the charge of a battery on each trip, from a given start and with a reserve. The
learner plans without it. It shows how well the charge could be predicted before a trip.

`RandomRouteProbe` drives random routes, hidden from the learner, to measure its errors on routes
that it did not choose. A policy chooses routes with a low predicted energy, so the errors of its
belief differ between chosen and other routes.
"""

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.random import SeedSequence, default_rng

from evroute.arms import Feedback, Round, Route
from evroute.arrays import FloatArray
from evroute.experiments.regret import Score
from evroute.model.base import HasDiagnostics
from evroute.planning.battery import Battery, follow
from evroute.planning.forecasts.forecast import forecast_charge
from evroute.planning.searches.search import Search
from evroute.policy.agent import Agent
from evroute.policy.base import Index
from evroute.policy.baselines import Random
from evroute.worlds.environment import Environment, best_by_edges, child

Columns = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Log:
    """Tables of a run. The columns of a table have equal length.

    Parameters
    ----------
    rounds
        One row per round: t, departed_s, vehicle (empty for the run's own), regret_wh,
        cumulative_regret_wh, energy_wh (measured), predicted_wh and predicted_sd_wh (NaN without
        a joint posterior), half50_wh, half80_wh, half90_wh and half95_wh (half widths of
        conformal intervals of these levels), route_edges, distinct_edges (driven so far), beta,
        multiplier (posterior deviations between index and mean), b_min (of confidence sets); true
        values (``regret.DEFINITION``): true_wh, time_s and length_m of the route driven, and
        NAME_wh, NAME_s and NAME_m of its rivals fastest, shortest, eq8, rule_best and best;
        audit_wh, audit_predicted_wh and audit_predicted_sd_wh of a `RandomRouteProbe`. The
        columns of `BatteryLog.row`, of probes too, if the run has a battery.
    routes
        One row per edge driven: t, edge (network row), observed_wh, travel_s.
    timings
        One row per round: t, posterior_s, index_s (weights included), search_s, update_s.
    diagnostics
        One row per round of models with diagnostics (``model.base.HasDiagnostics``).
    """

    rounds: Columns
    routes: Columns
    timings: Columns
    diagnostics: Columns = field(default_factory=dict)


class Logbook:
    """Collects the rows of a `Log`."""

    def __init__(self) -> None:
        self._rounds: defaultdict[str, list[Any]] = defaultdict(list)
        self._timings: defaultdict[str, list[float]] = defaultdict(list)
        self._diagnostics: defaultdict[str, list[float]] = defaultdict(list)
        self._feedback: list[Feedback] = []
        self._driven: set[int] = set()

    def drove(
        self, request: Round, route: Route, feedback: Feedback, score: Score, index: Index
    ) -> None:
        """Add the trip of a round, its true totals and the state of the index.

        Parameters
        ----------
        request, route, feedback
            Request, route and measurements of the trip.
        score
            True totals of the route and its rivals.
        index
            Index that chose the route.
        """
        self._feedback.append(feedback)
        self._driven.update(route.edges)
        self.add(
            {
                "departed_s": request.departed_s,
                "vehicle": request.vehicle,
                "regret_wh": score.regret_wh,
                "energy_wh": float(feedback.energy_wh.sum()),
                "true_wh": score.driven.energy_wh,
                "time_s": score.driven.time_s,
                "length_m": score.driven.length_m,
                "route_edges": len(route),
                "distinct_edges": len(self._driven),
                "beta": index.beta,
                "multiplier": index.multiplier,
                "b_min": index.b_min,
            }
        )
        for rival, totals in score.rivals.items():
            self.add(
                {
                    f"{rival}_wh": totals.energy_wh,
                    f"{rival}_s": totals.time_s,
                    f"{rival}_m": totals.length_m,
                }
            )

    def add(self, row: Mapping[str, Any]) -> None:
        """Add further columns of the round."""
        _enter(self._rounds, row)

    def timed(self, seconds: Mapping[str, float]) -> None:
        """Add the seconds of the parts of the round."""
        _enter(self._timings, seconds)

    def diagnosed(self, *objects: object) -> None:
        """Add the diagnostics of the objects that have some."""
        for each in objects:
            if isinstance(each, HasDiagnostics):
                _enter(self._diagnostics, each.diagnostics())

    def close(self) -> Log:
        """Return the tables of all rounds."""
        t = np.arange(1, len(self._feedback) + 1)
        rounds = _columns(self._rounds)
        rounds["cumulative_regret_wh"] = np.cumsum(rounds["regret_wh"])
        return Log(
            rounds={"t": t, **rounds},
            routes={
                "t": np.repeat(t, [len(each.id) for each in self._feedback]),
                "edge": np.concatenate([each.id for each in self._feedback]),
                "observed_wh": np.concatenate([each.energy_wh for each in self._feedback]),
                "travel_s": np.concatenate([each.travel_s for each in self._feedback]),
            },
            timings={"t": t, **_columns(self._timings)},
            diagnostics=_columns(self._diagnostics),
        )


def _enter(columns: defaultdict[str, list[Any]], row: Mapping[str, Any]) -> None:
    for name, value in row.items():
        columns[name].append(value)


def _columns(lists: Mapping[str, list[Any]]) -> Columns:
    return {name: np.array(values) for name, values in lists.items()}


COLUMNS = (
    "soc_lowest_percent",
    "soc_arrival_percent",
    "soc_arrival_expected_percent",
    "below_reserve_midway",
    "below_reserve_on_arrival",
    "p_reserve",
    "p_reserve_widened",
)
"""Columns of `BatteryLog.row`."""


@dataclass(frozen=True, slots=True)
class BatteryLog:
    """Charge of the batteries of a run's vehicles. Every trip starts with the same charge.

    Parameters
    ----------
    batteries
        Battery of each vehicle, by the vehicle names of the trips.
    """

    batteries: Mapping[str, Battery]

    def row(
        self,
        agent: Agent,
        request: Round,
        route: Route,
        feedback: Feedback,
        *,
        expected_wh: float,
        widened: float,
    ) -> dict[str, float]:
        """Return the battery columns of a driven trip, with predictions made before the trip.

        Parameters
        ----------
        agent
            Agent that chose the route.
        request, route, feedback
            Request, route and measurements of the trip.
        expected_wh
            Predicted energy of the trip, Wh.
        widened
            Factor of the predicted deviations for ``p_reserve_widened``, as ``evroute route``
            applies it.

        Returns
        -------
        dict[str, float]
            soc_lowest_percent and soc_arrival_percent are measured: lowest after any edge, and
            after the last. soc_arrival_expected_percent is predicted by ``expected_wh``.
            below_reserve_midway and below_reserve_on_arrival are 1 if the charge was below the
            reserve after an edge before the last, and after the last. p_reserve and
            p_reserve_widened are predicted probabilities that the charge never falls below the
            reserve, or NaN without a joint posterior.
        """
        battery = self.batteries[request.vehicle]
        charge_wh = follow(battery, feedback.energy_wh).charge_wh[1:]
        forecast = agent.forecast(request, route)
        predicted = {"p_reserve": np.nan, "p_reserve_widened": np.nan}
        if forecast is not None:
            for name, energy in (
                ("p_reserve", forecast),
                ("p_reserve_widened", forecast.inflated(widened)),
            ):
                predicted[name] = forecast_charge(energy, battery).never_below_reserve
        return {
            "soc_lowest_percent": battery.percent(min(battery.start_wh, float(charge_wh.min()))),
            "soc_arrival_percent": battery.percent(float(charge_wh[-1])),
            "soc_arrival_expected_percent": battery.percent(
                min(battery.capacity_wh, battery.start_wh - expected_wh)
            ),
            "below_reserve_midway": float(np.any(charge_wh[:-1] < battery.reserve_wh)),
            "below_reserve_on_arrival": float(charge_wh[-1] < battery.reserve_wh),
            **predicted,
        }


EVERY = 10


@dataclass(frozen=True, slots=True, eq=False)
class RandomRouteProbe:
    """Drives a route of the index `Random` every tenth round, in the conditions of that round.

    Parameters
    ----------
    search
        Search over all edges.
    potential_wh
        (n,) ``m g dz`` of every edge, Wh.
    seeds
        Seeds of the routes. The seed of a round depends on nothing else.
    """

    search: Search
    potential_wh: FloatArray
    seeds: SeedSequence

    def row(
        self,
        agent: Agent,
        environment: Environment,
        request: Round,
        charge: BatteryLog | None = None,
        widened: float = 1.0,
    ) -> dict[str, float]:
        """Return measured and predicted energy of a random route, Wh, or NaN in the rounds between.

        Parameters
        ----------
        agent
            Agent whose predictions are tested.
        environment
            World in which the route is driven.
        request
            Request of the round.
        charge
            Battery log for further columns, or None for none.
        widened
            Factor of the predicted deviations (`BatteryLog.row`).
        """
        of_charge = dict.fromkeys(COLUMNS, math.nan) if charge else {}
        measured_wh = predicted_wh = predicted_sd_wh = math.nan
        if request.t % EVERY == 0:
            index_wh = Random(self.potential_wh)(
                request.t, request.arms, agent.model, default_rng(child(self.seeds, request.t))
            )
            route = best_by_edges(request, index_wh, self.potential_wh, self.search)
            predicted_wh, predicted_sd_wh = agent.predict(request, route)
            feedback = environment.drive(request, route)
            measured_wh = float(feedback.energy_wh.sum())
            if charge:
                of_charge = charge.row(
                    agent, request, route, feedback, expected_wh=predicted_wh, widened=widened
                )
        return {
            "audit_wh": measured_wh,
            "audit_predicted_wh": predicted_wh,
            "audit_predicted_sd_wh": predicted_sd_wh,
            **{f"audit_{name}": value for name, value in of_charge.items()},
        }
