"""BatteryLog: charge of a battery on each trip of a run, from a given start and with a reserve.

The learner plans without it. The log shows how well the charge could be predicted before a trip.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evroute.arms import Feedback, Round, Route
from evroute.planning.battery import Battery, follow
from evroute.planning.forecast import forecast_charge
from evroute.policy.agent import Agent

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
    """Charge of the batteries of a run's vehicles; every trip starts with the same charge.

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
            reserve; NaN without a joint posterior.
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
