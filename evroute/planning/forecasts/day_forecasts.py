"""DayForecasts: charge along any route by the uncertain energies of a day, and searches by risk."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.errors import EvrouteError
from evroute.planning.battery import Battery
from evroute.planning.charge.chargers import ChargingStop
from evroute.planning.charge.risk import RiskSearch, RiskWords
from evroute.planning.charge.risk_bounds import RiskBounds
from evroute.planning.forecasts.forecast import ChargeForecast, EnergyForecast, cases_of
from evroute.planning.forecasts.learned import Day
from evroute.planning.forecasts.route_risks import RouteRisks
from evroute.planning.searches.search_problem import SearchProblem
from evroute.planning.spaces.arm_numbers import ArmNumbers
from evroute.planning.spaces.arm_space import SearchSpace
from evroute.text import counted

NO_BELIEF = (
    "a limit of risk needs a belief. Give uncertainty=evroute.physics_belief(...), or risk='mean'"
)


def day_of_forecasts(day: Day | None, space: SearchSpace) -> Day:
    """Return the uncertain energies of a day if they are about the arms of a plan.

    Parameters
    ----------
    day
        Energies of the arms, or None without a belief.
    space
        The arms of the plan.

    Raises
    ------
    EvrouteError
        If there are none, or they are about other arms.
    """
    if day is None:
        raise EvrouteError(NO_BELIEF)
    if day.space.size != space.size:
        raise EvrouteError(
            "the uncertainty is of other physics than the plan. Give "
            "uncertainty=evroute.physics_belief(network, vehicle, physics)"
        )
    return day


@dataclass(frozen=True, eq=False)
class DayForecasts:
    """Forecasts of routes around the energies that a planner searches and shows.

    Parameters
    ----------
    day
        Energies of the arms with their joint uncertainty.
    numbers
        Expected energies and charge functions of the arms.
    fading
        Function that returns a battery with the fade of regeneration of the day.
    """

    day: Day
    numbers: ArmNumbers
    fading: Callable[[Battery], Battery]

    def of_route(
        self,
        route: Route,
        battery: Battery,
        stops: Sequence[ChargingStop] = (),
        arrive_wh: float = 0.0,
    ) -> tuple[EnergyForecast, ChargeForecast]:
        """Forecast the energy of a route, and the charge along it.

        Parameters
        ----------
        route, battery, stops, arrive_wh
            As in `RouteRisks.of_route`.
        """
        return self.risks().of_route(route, battery, stops, arrive_wh)

    def search(
        self,
        problem: SearchProblem,
        battery: Battery,
        risk: float,
        arrive_wh: float = 0.0,
        risks: RouteRisks | None = None,
    ) -> RiskSearch:
        """Return the searches of a request for routes within a limit of risk.

        Parameters
        ----------
        problem, battery
            The request, and the charge at the start with the reserve.
        risk
            Greatest probability of ever falling below the reserve, in (0, 0.5].
        arrive_wh
            Least charge at the end where it is above the reserve, Wh.
        risks
            Forecasts of the routes of the request that other searches share, or None.
        """
        bounds = RiskBounds(problem, self.std_wh(problem))
        risks = self.risks(battery) if risks is None else risks
        risk_of = partial(risks.risk_of, arrive_wh=arrive_wh)

        def words_of(route: Route, battery: Battery) -> RiskWords:
            energy, charge = risks.of_route(route, battery)
            return RiskWords(cases_of(charge, risk), self._doubt(energy, charge))

        return RiskSearch(bounds, battery, risk, risk_of, risks.least_of, words_of)

    def _doubt(self, energy: EnergyForecast, charge: ChargeForecast) -> str:
        """Return a sentence on the causes of the doubt, and on the trips that halve it."""
        causes = [
            cause
            for cause, known in (
                ("no temperature is given", self.day.space.edges.conditions.temperature_c),
                ("no trip was learned", None if charge.supported_risk == 1.0 else 1.0),
            )
            if known is None
        ]
        parts = [f"The doubt is great, since {' and '.join(causes)}"] if causes else []
        if trips := energy.halving_trips:
            parts.append(f"{counted(trips, 'trip')} like this one would halve it")
        return f". {'. '.join(parts)}" if parts else ""

    def risks(self, car: Battery | None = None) -> RouteRisks:
        """Return the risks of the routes of one request, as `RouteRisks` has them."""
        return RouteRisks(self.day, self.numbers, self.fading, car)

    def std_wh(self, problem: SearchProblem) -> FloatArray:
        """Return the deviation of the energy of each arm of a request, with noise, (a,) Wh."""
        if problem.own is None:
            return self._std_wh
        arms, share = problem.own
        posterior_wh2, noise_wh2 = self._variances_wh2
        own_wh2 = np.square(share) * posterior_wh2[arms] + share * noise_wh2[arms]
        return np.concatenate([self._std_wh, np.sqrt(own_wh2)])

    @cached_property
    def _variances_wh2(self) -> tuple[FloatArray, FloatArray]:
        """(a,) variance of the energy of each arm of the network, and of its noise, Wh²."""
        return self.day.posterior().std_wh ** 2, self.day.noise_std_wh**2

    @cached_property
    def _std_wh(self) -> FloatArray:
        posterior_wh2, noise_wh2 = self._variances_wh2
        return np.sqrt(posterior_wh2 + noise_wh2)
