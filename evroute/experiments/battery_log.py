"""Charge: what each trip of a run does to a battery that starts it with a given charge and keeps a reserve.

The learner plans without it; what is logged is how well it could have told, before a trip, what the
charge will do.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.random import SeedSequence, default_rng

from evroute.arms import Feedback, Round, Route
from evroute.planning.battery import Battery, follow
from evroute.planning.forecast import RouteForecast, forecast_charge
from evroute.worlds.environment import child

N_TRIPS = 1000
"""Simulated for each announcement: its standard error is at most 1.6 %."""
COLUMNS = (
    "soc_lowest_percent",
    "soc_arrival_percent",
    "soc_arrival_expected_percent",
    "below_reserve_midway",
    "below_reserve_on_arrival",
    "p_reserve",
    "p_reserve_widened",
)


class Forecasts(Protocol):
    """Who can forecast the energy of a route, if its model knows how the energies of edges go together."""

    def forecast(self, request: Round, route: Route) -> RouteForecast | None:
        """Return the forecast."""


@dataclass(frozen=True, slots=True)
class BatteryLog:
    """The batteries of a run's vehicles, by the names that trips have for them; every trip starts alike.

    seeds: of the simulated trips of announcements.
    """

    batteries: Mapping[str, Battery]
    seeds: SeedSequence

    def row(
        self,
        agent: Forecasts,
        request: Round,
        route: Route,
        feedback: Feedback,
        *,
        expected_wh: float,
        widened: float,
    ) -> dict[str, float]:
        """Return the columns of a trip that was driven, from what the agent believed before.

        soc_lowest_percent, soc_arrival_percent: as measured, after every edge and the last.
        soc_arrival_expected_percent: less what was expected, ``expected_wh``.
        below_reserve_midway, _on_arrival: 1 where the charge was, after an edge but the last, and
        after the last.  p_reserve: announced probability never to fall below it, by the belief;
        p_reserve_widened: by the belief with its deviations times ``widened``, as ``evroute route``
        tells it. NaN where the model has no joint posterior.
        """
        battery = self.batteries[request.vehicle]
        charge_wh = follow(battery, feedback.energy_wh).charge_wh[1:]
        told = agent.forecast(request, route)
        announced = {"p_reserve": np.nan, "p_reserve_widened": np.nan}
        if told is not None:
            for name, energy in (
                ("p_reserve", told),
                ("p_reserve_widened", told.inflated(widened)),
            ):
                announced[name] = forecast_charge(
                    energy,
                    capacity_wh=battery.capacity_wh,
                    start_wh=battery.start_wh,
                    reserve_wh=battery.reserve_wh,
                    rng=default_rng(child(self.seeds, request.t)),
                    n_trips=N_TRIPS,
                ).never_below_reserve
        expected = min(battery.capacity_wh, battery.start_wh - expected_wh)
        return {
            "soc_lowest_percent": battery.percent(min(battery.start_wh, float(charge_wh.min()))),
            "soc_arrival_percent": battery.percent(float(charge_wh[-1])),
            "soc_arrival_expected_percent": battery.percent(expected),
            "below_reserve_midway": float(np.any(charge_wh[:-1] < battery.reserve_wh)),
            "below_reserve_on_arrival": float(charge_wh[-1] < battery.reserve_wh),
            **announced,
        }
