"""The charging stations of a network for one car: plans with stops, and why they do not help."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from math import ceil

from scipy.special import ndtri

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.energy.charging import charging_s
from evroute.energy.vehicle import Vehicle
from evroute.errors import EvrouteError, NotEnoughChargeError, UnknownNameError
from evroute.network.places.positions import nearest_positions
from evroute.network.road_network import RoadNetwork
from evroute.network.sources.charger_files import Station
from evroute.network.sources.chargers import edges_at, stations
from evroute.planning.battery import Battery
from evroute.planning.charge.chargers import Charger, ChargingStop, StopWishes
from evroute.planning.charge.refusals import with_advice
from evroute.planning.charge.risk import RiskSearch, choose_safe_rows
from evroute.planning.charge.station_needs import StationNeeds, to_a_station
from evroute.planning.charge.stop_rows import StopRows
from evroute.planning.charge.stops import LeastTime
from evroute.planning.charge.stops_within import StopsWithin
from evroute.planning.fields import CHARGER
from evroute.planning.forecasts.day_forecasts import DayForecasts
from evroute.planning.forecasts.route_risks import RouteRisks
from evroute.planning.request import PlanRequest
from evroute.planning.rows import Rows, choose_rows
from evroute.planning.searches.halts import Halt
from evroute.planning.searches.search_problem import SearchProblem


def chargers_for(network: RoadNetwork, vehicle: Vehicle) -> tuple[Charger, ...]:
    """Return the sockets of a network that fit a car."""
    return tuple(
        Charger(
            station.name,
            (),
            each.kind,
            each.kw,
            time_s,
            each.assumed,
            each.price_kwh,
            each.price_minute,
            station.id,
            station.network,
            halt,
        )
        for station in stations(network)
        if (halt := halt_of(network, station)) is not None
        for each in station.sockets
        if (time_s := charging_s(vehicle, each.kind, each.kw)) is not None
    )


def halt_of(network: RoadNetwork, station: Station) -> Halt | None:
    """Return the positions at which a station stands, or None if no car may stop there.

    Parameters
    ----------
    network
        The roads.
    station
        One of its stations.
    """
    if not edges_at(network, station):
        return None
    at = network, station.lat, station.lon
    arrivals, departures = (nearest_positions(*at, leaving=leaving) for leaving in (False, True))
    return Halt(arrivals, departures)


def why_no_charging(network: RoadNetwork, vehicle: Vehicle, chargers: Sequence[Charger]) -> str:
    """Return why a car can charge at no station of a network, as one sentence. "" if it can.

    Parameters
    ----------
    network, vehicle
        Roads and car.
    chargers
        From `chargers_for`.
    """
    if chargers:
        return ""
    found = stations(network)
    if not found:
        return (
            f"network '{network.name}' has no charging stations. Add them with 'evroute network "
            f"chargers {network.name} FILE'"
        )
    if not vehicle.ac_kw and not vehicle.dc_kw:
        return (
            f"vehicle '{vehicle.name}' has no charging power. Choose another one of 'evroute "
            "vehicle list', or set ac_kw or dc_kw in a vehicle file"
        )
    kinds = sorted({socket.kind for station in found for socket in station.sockets})
    plugs = {"ac": vehicle.ac_kw, vehicle.dc_plug: vehicle.dc_kw}
    return (
        f"no compatible plug: the {len(found)} charging stations of network '{network.name}' have "
        f"{', '.join(kinds)}. Vehicle '{vehicle.name}' has "
        f"{' and '.join(plug for plug, kw in plugs.items() if kw)}"
    )


def wanted(chargers: Sequence[Charger], request: PlanRequest) -> tuple[Charger, ...]:
    """Return the sockets that a request does not leave out.

    Parameters
    ----------
    chargers
        Sockets that fit the car.
    request
        The wishes of the plan.

    Raises
    ------
    UnknownNameError
        If no station has a name, network or id to avoid. The message has similar ones.
    EvrouteError
        If no socket is left.
    """
    avoided = {row for text in request.avoid_stations for row in _called(text, chargers)}
    left = tuple(
        each
        for row, each in enumerate(chargers)
        if each.kw >= request.least_kw and row not in avoided
    )
    if chargers and not left:
        most_kw = max(each.kw for each in chargers)
        raise EvrouteError(
            f"no charging station is left: the greatest power that fits the car is {most_kw:g} kW. "
            "Choose a lower least_kw, or avoid fewer stations"
        )
    return left


def _called(text: str, chargers: Sequence[Charger]) -> list[int]:
    """Return the rows of the chargers with an id, or else with a part of a name or a network.

    Raises
    ------
    UnknownNameError
        If there are none. The message has similar texts.
    """
    part = text.casefold()
    rows = [row for row, each in enumerate(chargers) if part in _ids(each)]
    if not rows:
        rows = [
            row
            for row, each in enumerate(chargers)
            if part in each.station.casefold() or part in each.network.casefold()
        ]
    if not rows:
        named = [name for each in chargers for name in (each.station, each.network, *_ids(each))]
        names = {name.casefold(): name for name in named if name}
        near = [names[name] for name in get_close_matches(part, names)]
        similar = f". Similar: {'; '.join(near)}" if near else ""
        raise UnknownNameError(
            f"no station that fits the car has the name, network or id '{text}'{similar}"
        )
    return rows


def _ids(charger: Charger) -> list[str]:
    """Return the ids of the station of a charger, in small letters."""
    return [each.strip() for each in charger.station_id.casefold().split(",")]


def rows_of_plan(
    problem: SearchProblem,
    request: PlanRequest,
    battery: Battery | None,
    chargers: Sequence[Charger],
    forecasts: DayForecasts | None,
    risks: RouteRisks | None,
    halting: Callable[[tuple[Halt, ...]], SearchProblem],
) -> Rows:
    """Return the rows of a plan, or the row with stops if it may charge and has to.

    Parameters
    ----------
    problem
        The request and its numbers.
    request
        The wishes of the plan.
    battery
        Charge at the start and reserve, or None for no bounds.
    chargers
        Sockets that fit the car.
    forecasts
        Forecasts that a limit of risk needs, or None without a limit.
    risks
        Forecasts of the routes of the request, or None without a limit.
    halting
        Returns the request with the numbers of its arms where routes may stop at halts.

    Raises
    ------
    NotEnoughChargeError
        If the destination cannot be reached with this charge and risk. The message has the advice.
    """
    if battery is None:
        return choose_rows(problem, request, None)
    chargers = wanted(chargers, request)
    halts = dict.fromkeys(each.halt for each in chargers if each.halt is not None)
    charging = _Charging(
        problem,
        request,
        battery,
        chargers,
        forecasts,
        risks,
        lambda: halting(tuple(halts)),
    )
    return charging.rows()


@dataclass(eq=False)
class _Charging:
    """The rows of a plan with a battery, as `rows_of_plan` returns them."""

    problem: SearchProblem
    request: PlanRequest
    battery: Battery
    chargers: Sequence[Charger]
    forecasts: DayForecasts | None
    risks: RouteRisks | None
    halting: Callable[[], SearchProblem]

    def rows(self) -> Rows:
        """Return the rows. NotEnoughChargeError with advice if there are none."""
        try:
            found = self.found()
        except NotEnoughChargeError as error:
            raise self.refusal(error) from None  # in no local name, which would keep the arrays
        found.arrive_wh = self.arrive_wh
        return found

    def found(self) -> Rows:
        """Return the rows. NotEnoughChargeError without advice on stations if there are none."""
        found = self.stopping() if self.request.charge else None
        return self.without_stops() if found is None else found

    def refusal(self, error: NotEnoughChargeError) -> NotEnoughChargeError:
        """Return the error of the plan, with the steps that work."""
        advised = self.with_stations(error) if self.chargers else error
        advised.average_percent = error.average_percent
        return advised if advised.steps else self.with_less_reserve(advised)

    def with_stations(self, error: NotEnoughChargeError) -> NotEnoughChargeError:
        """Return an error of a plan without stops with the advice that stations give.

        Parameters
        ----------
        error
            The error.
        """
        charging = self.request.charge
        stops = () if charging else self.advised()
        at = self.at_risk, self.battery, self.at_nodes, self.wishes
        needs, exact = StationNeeds.of(*at), self.safe is None and not self.problem.warm_up
        return with_advice(
            error,
            stops,
            needs,
            self.battery,
            charging=charging,
            tried=None if exact else self.stops_from,
            within=None if self.safe is None else self.stops_within,
        )

    def with_less_reserve(self, error: NotEnoughChargeError) -> NotEnoughChargeError:
        """Return an error with the greatest reserve that a full charge keeps, if there is one.

        Parameters
        ----------
        error
            The error.
        """
        capacity_wh = self.battery.capacity_wh

        def keeps(percent: int) -> bool:
            reserve_wh = capacity_wh * (percent / 100)
            full = replace(self.battery, start_wh=capacity_wh, reserve_wh=reserve_wh)
            try:
                replace(self, battery=full).found()
            except NotEnoughChargeError:
                return False
            return True

        most = ceil(self.battery.percent(self.battery.reserve_wh) - 1e-9)
        less = most - 1 - bisect_left(range(most), True, key=lambda k: keeps(most - 1 - k))
        if less < 0:
            return error
        advice = f"With a full battery a reserve of at most {less} % is kept"
        step = {"soc": 100, "reserve": less}
        return NotEnoughChargeError(f"{error}. {advice}", error.start_percent, [step])

    def without_stops(self) -> Rows:
        """Return the rows without stops. NotEnoughChargeError if there are none."""
        battery, percent = self.battery, self.wishes.arrive_percent
        if percent > battery.percent(battery.reserve_wh):
            raise NotEnoughChargeError(
                f"no plan arrives with {percent:.4g} % when starting with "
                f"{battery.percent(battery.start_wh):.4g} %"
            )
        usual = self._usual_rows()
        if self.safe is None:
            return usual
        named = {
            route for name, route in usual.routes.items() if not name.startswith("alternative")
        }
        rows = usual
        if not all(map(self.safe.keeps, named)):
            rows = choose_safe_rows(self.safe, self.request)
        rows.unlimited = usual.shown(usual.recommended)
        return rows

    def _usual_rows(self) -> Rows:
        """Return the rows without stops by expected energies.

        Where more charge at the start or a larger battery suffices, the error is that of the limit
        of risk, if there is one.
        """
        try:
            return choose_rows(self.problem, self.request, self.battery)
        except NotEnoughChargeError as error:
            if self.safe is None or error.start_percent is error.missing_wh is None:
                raise
            raise self.safe.refusal(missing_wh=error.missing_wh or 0.0) from None

    def stopping(self) -> Rows | None:
        """Return the rows with stops, or None if there are none."""
        rows, worth = self.stop_rows.choose(), self.request.worth
        if rows is None:
            return None
        if worth is not None:
            self.stop_rows.add_least_money(rows, worth)
        if self.safe is None:
            return rows
        return self.stop_rows.keep_risk(rows, self.safe, self.stops_within, worth)

    def advised(self) -> tuple[ChargingStop, ...]:
        """Return the stops of the fastest plan where no plan without a stop was found, or none."""
        if self.safe is None:
            return self.stop_rows.stops_from() or ()
        found = self.stops_within.fastest()
        return () if found is None else found[1]

    def stops_from(self, percent: int) -> tuple[ChargingStop, ...] | None:
        """Return the stops of a plan that starts with a charge, maybe none. None for no plan.

        Parameters
        ----------
        percent
            The charge, %.
        """
        if self.safe is None:
            rows = replace(self.stop_rows, battery=self.battery.started(percent))
            return rows.stops_from()
        begun = self.safe.started(percent)
        rows = replace(self.stop_rows, battery=begun.battery)
        return rows.within_from(begun, self.safe_from(begun.battery))

    @cached_property
    def stops_within(self) -> StopsWithin:
        """Plans with stops within the limit of risk."""
        return self.safe_from(self.battery)

    def safe_from(self, battery: Battery) -> StopsWithin:
        """Return the plans with stops within the limit of risk that start with a charge.

        Parameters
        ----------
        battery
            The charge.
        """
        risks, arrive_wh = self.risks, self.arrive_wh
        assert self.safe is not None, "plans within a limit of risk have one"
        assert risks is not None, "a limit of risk needs forecasts"

        def risk_of(route: Route, stops: tuple[ChargingStop, ...]) -> float:
            return risks.risk_of(route, battery, stops, arrive_wh)

        return StopsWithin(self.plans, battery, self.safe.most, risk_of, self.raised)

    def raised(self, deviations: float) -> SearchProblem:
        """Return the request with stations, each arm above its expected energy.

        Parameters
        ----------
        deviations
            By this many deviations of its energy.
        """
        problem = self.with_halts
        return replace(problem, charge=problem.charge.beginning(deviations * self.std_wh))

    @cached_property
    def std_wh(self) -> FloatArray:
        """Deviation of the energy of each arm of the request with stations, (a,) Wh."""
        assert self.forecasts is not None, "a limit of risk needs forecasts"
        return self.forecasts.std_wh(self.with_halts)

    @property
    def arrive_wh(self) -> float:
        """Least charge at the end, Wh."""
        return self.wishes.arrive_wh(self.battery)

    @cached_property
    def wishes(self) -> StopWishes:
        """Wishes for the stops, with the least charge at the end."""
        wishes = StopWishes.of(self.request)
        if self.request.arrive != CHARGER:
            return wishes
        percent = to_a_station(self.at_risk, self.battery, self.at_nodes)
        return replace(wishes, arrive_percent=percent)

    @cached_property
    def stop_rows(self) -> StopRows:
        """Rows that may charge on the way."""
        return StopRows(self.problem, self.battery, self.plans)

    @cached_property
    def plans(self) -> LeastTime:
        """Plans of least time with stops."""
        return LeastTime(self.with_halts, self.at_nodes, self.wishes)

    @cached_property
    def with_halts(self) -> SearchProblem:
        """The request where routes may stop at stations. As it is if there are none."""
        return self.halting() if any(each.halt for each in self.chargers) else self.problem

    @cached_property
    def at_nodes(self) -> tuple[Charger, ...]:
        """The sockets at their nodes of the search."""
        return tuple(each.at_nodes(self.with_halts.legs.halts) for each in self.chargers)

    @cached_property
    def safe(self) -> RiskSearch | None:
        """Searches for routes without stops within the limit of risk, or None without a limit."""
        risk = self.request.most_risk
        if self.forecasts is None or risk is None:
            return None
        given = self.problem, self.battery, risk, self.arrive_wh
        return self.forecasts.search(*given, self.risks)

    @cached_property
    def at_risk(self) -> SearchProblem:
        """The request with stations. With a limit of risk each arm takes its quantile."""
        risk = self.request.most_risk
        if self.forecasts is None or risk is None:
            return self.with_halts
        return self.raised(-float(ndtri(risk)))
