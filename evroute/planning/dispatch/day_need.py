"""The charge at the start of a day that keeps a reserve over all its trips with a probability.

Each trip takes its least-energy route. The coefficients that a belief learned are the same in all
trips, so their errors add up, and the noise of each trip is its own (`forecasts.in_turn`). The car
does not charge between the trips.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from evroute.errors import EvrouteError, NotEnoughChargeError, require
from evroute.planning.battery import TOLERANCE_WH, Battery, ChargeTrace
from evroute.planning.charge.charge_functions import ChargeFunctions
from evroute.planning.forecasts.forecast import EnergyForecast
from evroute.planning.forecasts.in_turn import DrivenTrip, ForecastsInTurn
from evroute.planning.forecasts.route_risks import expected_by
from evroute.planning.places import Places
from evroute.planning.planner import Planner
from evroute.planning.spaces.arm_numbers import DrivenArms

HALVINGS = 40
"""Steps to the least charge by expected energies, from 100 %."""


@dataclass(frozen=True, slots=True)
class Need:
    """Charge that the trips of a day need together.

    Parameters
    ----------
    percent
        Least whole per cent at the start that keeps the reserve with the probability.
    expected_percent
        Least charge at the start that keeps the reserve by expected energies, %.
    trip_wh
        Expected energy of each trip with its warm-up, Wh.
    mean_wh, std_wh
        Expected energy of all trips and its standard deviation, Wh, at the charge ``percent``.
    """

    percent: int
    expected_percent: float
    trip_wh: tuple[float, ...]
    mean_wh: float
    std_wh: float


class DayNeed:
    """Trips of one car and one day in driving order, without a charge between them.

    Parameters
    ----------
    trips
        Planner at the departure of each trip, and its places. The planners are of one belief and
        differ in the departure alone.

    Raises
    ------
    NoRouteError
        If there is no way between the places of a trip.
    """

    def __init__(self, trips: Sequence[tuple[Planner, Places]]) -> None:
        self.planners = [planner for planner, _ in trips]
        self.driven: list[DrivenArms] = []
        self.charges: list[ChargeFunctions] = []
        for planner, places in trips:
            problem = planner.between(places)
            driven = planner.numbers.driven(problem.cheapest((1.0, 0.0)))
            self.driven.append(driven)
            self.charges.append(planner.numbers.warmed(driven))

    def need(self, reserve_percent: float, p: float) -> Need:
        """Return the charge that keeps a reserve with a probability.

        Parameters
        ----------
        reserve_percent
            Lowest allowed charge, %.
        p
            Probability, from 0.5 to below 1.

        Raises
        ------
        NotEnoughChargeError
            If a full battery does not suffice.
        """
        require(0.5 <= p < 1.0, f"p is {p:.6g}, expected a probability from 0.5 to below 1")
        percent = bisect_left(
            range(101), True, key=lambda start: self.kept(start, reserve_percent) >= p
        )
        if percent > 100:
            kept = self.kept(100, reserve_percent)
            raise NotEnoughChargeError(
                f"a full battery keeps {reserve_percent:.4g} % over {len(self.driven)} trips with "
                f"probability {kept:.3g}, less than {p:.6g}. Charge between them"
            )
        traces = self._traces(self._battery(percent, reserve_percent))
        assert traces is not None  # it keeps the reserve by expected energies too
        energy = self._forecast(traces)
        return Need(
            percent,
            self._expected_percent(reserve_percent),
            tuple(float(charge.energy_wh.sum()) for charge in self.charges),
            energy.mean_wh,
            energy.std_wh,
        )

    def kept(self, start_percent: float, reserve_percent: float) -> float:
        """Return the probability that the charge never falls below a reserve. 0 below a half.

        Parameters
        ----------
        start_percent, reserve_percent
            Charge at the start of the day, and lowest allowed charge, %.
        """
        if start_percent < reserve_percent:
            return 0.0
        battery = self._battery(start_percent, reserve_percent)
        traces = self._traces(battery)
        if traces is None:  # it falls below by expected energies
            return 0.0
        whole = ChargeTrace(
            np.concatenate([[battery.start_wh], *(each.charge_wh[1:] for each in traces)]),
            np.concatenate([[battery.start_wh], *(each.low_wh[1:] for each in traces)]),
            np.concatenate([each.step_wh for each in traces]),
            sum(each.lost_wh for each in traces),
        )
        return self._forecast(traces).charge(battery, whole).never_below_reserve

    def _battery(self, start_percent: float, reserve_percent: float) -> Battery:
        capacity_kwh = self.planners[0].vehicle.battery_kwh
        battery = Battery.of_percent(capacity_kwh, start_percent, reserve_percent)
        return self.planners[0].fading(battery)

    def _traces(self, battery: Battery) -> list[ChargeTrace] | None:
        """Return the expected charge along each trip, or None if it falls below the reserve."""
        traces: list[ChargeTrace] = []
        for charge in self.charges:
            trace = charge.along(battery)
            lowest_wh = float(trace.low_wh.min())
            if lowest_wh < battery.reserve_wh - TOLERANCE_WH:
                return None
            traces.append(trace)
            end_wh = max(float(trace.charge_wh[-1]), battery.reserve_wh)
            battery = replace(battery, start_wh=end_wh)
        return traces

    def _expected_percent(self, reserve_percent: float) -> float:
        """Return the least charge by expected energies, %, where a full battery suffices."""
        step = (100.0 - reserve_percent) / 2**HALVINGS

        def keeps(steps: int) -> bool:
            start_percent = reserve_percent + step * steps
            return self._traces(self._battery(start_percent, reserve_percent)) is not None

        steps = bisect_left(range(1, 2**HALVINGS), True, key=keeps) + 1
        return reserve_percent + step * steps

    def _forecast(self, traces: Sequence[ChargeTrace]) -> EnergyForecast:
        """Return the joint forecast of the trips."""
        driven = zip(self.planners, self.driven, self.charges, traces, strict=True)
        trips = [
            DrivenTrip(
                trip.arms,
                expected_by(planner.forecasts.day, trip, charge),
                trace,
                trip.stretches,
            )
            for planner, trip, charge, trace in driven
        ]
        return self._days[0].forecast_in_turn(self._days, trips)

    @cached_property
    def _days(self) -> list[ForecastsInTurn]:
        days: list[ForecastsInTurn] = []
        for planner in self.planners:
            day = planner.forecasts.day
            if not isinstance(day, ForecastsInTurn):
                raise EvrouteError("the belief has no joint forecast of trips. Ask for each alone")
            days.append(day)
        return days
