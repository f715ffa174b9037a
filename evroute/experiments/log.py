"""Log: the tables of a run, and the logbook that collects their rows."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from evroute.arms import Feedback, Round, Route
from evroute.experiments.regret import Score
from evroute.model.base import HasDiagnostics
from evroute.policy.base import Index

Columns = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Log:
    """Tables of a run; the columns of a table have equal length.

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
        audit_wh, audit_predicted_wh and audit_predicted_sd_wh of a `RandomRouteProbe`; the
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
