"""Tours over many places: the least-energy legs in a given order, and the forecast of the whole.

A tour stops at each place and goes on from there in either direction, as the pairs of a matrix do.
Its energy is forecast as for one trip: the coefficients that a belief learned, the driver and
the wind are the same on all legs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, ClassVar, Literal

from evroute.arms import Pause, Route
from evroute.energy.driving import DrivingConditions
from evroute.errors import EvrouteError, require
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import Battery
from evroute.planning.fields import CAR, DEPART, RESERVE, SOC, Request, VehicleField, day_of
from evroute.planning.forecasts.forecast import ChargeForecast, EnergyForecast
from evroute.planning.places import places_of
from evroute.planning.plan import PlannedRoute
from evroute.planning.planner import Planner
from evroute.text import counted
from evroute.threads import one_thread


class TourRequest(Request):
    """A tour over places in a given order, without charging on the way."""

    subject: ClassVar[str] = "a tour"

    soc: Annotated[float, SOC] = 100.0
    reserve: Annotated[float, RESERVE] = 0.0
    by: Literal["energy", "time"] = "energy"
    vehicle: VehicleField = None
    car: Annotated[str | None, CAR] = None
    depart: Annotated[str | None, DEPART] = None
    conditions: DrivingConditions = DrivingConditions()


@dataclass(frozen=True, slots=True, eq=False)
class Tour:
    """A tour with its forecast.

    Parameters
    ----------
    titles
        Names of the places in driving order.
    legs
        Route of each leg, from a place to the next one.
    leg_wh, leg_s
        Expected energy of each leg without the warm-up, Wh, and its travel time, s.
    driven
        The whole tour as one route, with its numbers.
    energy
        Forecast of its energy without the warm-up.
    charge
        Forecast of its charge.
    """

    titles: tuple[str, ...]
    legs: tuple[Route, ...]
    leg_wh: tuple[float, ...]
    leg_s: tuple[float, ...]
    driven: PlannedRoute
    energy: EnergyForecast
    charge: ChargeForecast

    def __repr__(self) -> str:
        """Return places, energy and the probability of the reserve in one line."""
        return (
            f"Tour({counted(len(self.legs), 'leg')}, {self.mean_wh / 1000:.2f} ± "
            f"{self.std_wh / 1000:.2f} kWh, {self.time_s / 60:.0f} min, keeps its reserve in "
            f"{100 * self.p_reserve:.1f} % of trips)"
        )

    @property
    def mean_wh(self) -> float:
        """Expected energy from the battery with the warm-up, Wh."""
        return self.driven.energy_wh

    @property
    def std_wh(self) -> float:
        """Standard deviation of the energy of the whole tour, Wh."""
        return self.energy.std_wh

    @property
    def p_reserve(self) -> float:
        """Probability that the charge never falls below the reserve, in [0, 1]."""
        return self.charge.never_below_reserve

    @property
    def time_s(self) -> float:
        """Travel time, s."""
        return self.driven.time_s

    @property
    def length_m(self) -> float:
        """Length, m."""
        return self.driven.length_m


@one_thread
def tour_asked(planner: Planner, places: Sequence[str], request: TourRequest) -> Tour:
    """Return a tour over places in their order.

    Parameters
    ----------
    planner
        Network, belief, and the vehicle of the request.
    places
        Two or more places: names, ``lat,lon`` or edge ids.
    request
        Charge, reserve, car and day.

    Raises
    ------
    EvrouteError
        If there are fewer than two places, or one follows itself or is not on the network.
    NoRouteError
        If no way leads from a place to the next one.
    """
    require(len(places) > 1, f"a tour has two or more places, got {len(places)}")
    on_day = planner.of_car(request.car).under(day_of(request.conditions, request.depart))
    titles, legs = list[str](), list[Route]()
    leg_wh, leg_s = list[float](), list[float]()
    for number, ends in enumerate(pairwise(places)):
        try:
            leg = places_of(on_day.network, None, ends)
            problem = on_day.between(leg)
            by_time = request.by == "time"
            cost = problem.with_ties(problem.time_s) if by_time else problem.weights()
            route = problem.legs.route(cost)
        except EvrouteError as error:
            raise type(error)(f"leg {number + 1} of the tour: {error}") from None
        titles += leg.titles if not number else leg.titles[1:]
        legs.append(route)
        leg_wh.append(problem.legs.total(problem.energy_wh, route))
        leg_s.append(problem.taken_s(route))
    whole = joined(on_day.network, legs)
    battery = Battery.of_percent(on_day.vehicle.battery_kwh, request.soc, request.reserve)
    driven = on_day.describe(whole, battery)
    charge = driven.charge_forecast
    assert charge is not None  # there are a battery and a day of forecasts
    energy = driven.energy_forecast
    if energy is None:
        energy = on_day.forecasts.of_route(whole, battery)[0]
    return Tour(tuple(titles), tuple(legs), tuple(leg_wh), tuple(leg_s), driven, energy, charge)


def joined(network: RoadNetwork, legs: Sequence[Route]) -> Route:
    """Return legs as one route that stops between them.

    Parameters
    ----------
    network
        The roads.
    legs
        Routes without stops, each of which begins at a place where the one before ends.
    """
    edges, pauses = legs[0].edges, list[Pause]()
    for before, leg in pairwise(legs):
        to_m = before.end_m
        if to_m is None:
            to_m = float(network.length_m[before.edges[-1]])
        pauses.append(Pause(len(edges), to_m, leg.start_m))
        edges += leg.edges
    return Route(edges, legs[0].start_m, legs[-1].end_m, tuple(pauses))
