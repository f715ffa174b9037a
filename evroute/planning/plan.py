"""Plans: least-energy, fastest and shortest route of a request, with their numbers."""

from dataclasses import dataclass, field
from math import floor
from typing import Any, Protocol

import numpy as np

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.display import drawn_by
from evroute.errors import EvrouteError
from evroute.network.geo import gpd
from evroute.network.heights.stretches import Stretches, driven_line
from evroute.network.places.names import stretches
from evroute.network.road_network import RoadNetwork
from evroute.network.views.graphs import route_table
from evroute.planning.battery import Battery, ChargeTrace
from evroute.planning.charge.chargers import ChargingStop
from evroute.planning.forecasts.forecast import ChargeForecast, EnergyForecast, cases_of
from evroute.planning.recommendation import Saving
from evroute.planning.request import PlanRequest
from evroute.planning.track import Track
from evroute.text import counted

SMALL_WH = 100.0
ROW_LABELS = {
    "energy": "least energy",
    "recommended": "recommended",
    "cost": "least cost",
    "time": "fastest",
    "time-without-stop": "fastest without a stop",
    "distance": "shortest",
    **{f"alternative-{rank}": f"alternative {rank}" for rank in range(1, 6)},
}
"""Labels of the rows. `Plan.label` has those that depend on the plan."""
CANNOT_TELL = "the belief cannot tell them apart"


@dataclass(frozen=True, slots=True)
class Street:
    """A stretch of a route on one street.

    Parameters
    ----------
    name
        Street. Of an unnamed road its class, distance and bearing from the nearest named place.
    length_m, energy_wh
        Length, m, and expected energy without lost regeneration, Wh.
    """

    name: str
    length_m: float
    energy_wh: float


@dataclass(frozen=True, slots=True, eq=False)
class PlannedRoute:
    """One route with its numbers.

    Parameters
    ----------
    route, edges
        Network rows of the k edges, and their ids.
    roads
        The network.
    stretches
        The driven part of each edge.
    edge_m
        (k,) metres of each edge, with the turn before it.
    edge_wh
        (k,) expected energy of each edge without lost regeneration, Wh. The search runs on it.
    energy_wh
        Energy from the battery, lost regeneration included, Wh.
    parts_wh
        Energy by cause, Wh. Sums to ``energy_wh``.
    length_m, time_s, ascent_m, descent_m
        Totals of the route: length, time, height gained and height lost, the last two >= 0.
    held_arms, held_wh
        Number of its arms whose expected energy was below the physical minimum and is raised to
        it, and the total increase, Wh.
    charge
        Charge along the route, or None without a battery.
    energy_forecast, charge_forecast
        Forecasts of a belief, or None without one, the second also without a battery.
    stops
        Stops to charge. Their time is in ``time_s``.
    heating_wh
        Energy of heating and cooling in ``energy_wh``, Wh.
    """

    route: Route
    edges: tuple[str, ...]
    roads: RoadNetwork = field(repr=False)
    stretches: Stretches
    edge_m: FloatArray
    edge_wh: FloatArray
    energy_wh: float
    parts_wh: dict[str, float]
    length_m: float
    time_s: float
    ascent_m: float
    descent_m: float
    held_arms: int = 0
    held_wh: float = 0.0
    charge: ChargeTrace | None = None
    energy_forecast: EnergyForecast | None = None
    charge_forecast: ChargeForecast | None = None
    stops: tuple[ChargingStop, ...] = ()
    heating_wh: float = 0.0

    def __repr__(self) -> str:
        """Return roads, energy, time and length in one line."""
        return (
            f"PlannedRoute({counted(len(self.edges), 'edge')}, {energy_text(self.energy_wh)}, "
            f"{self.time_s / 60:.1f} min, {self.length_m / 1000:.2f} km)"
        )

    @property
    def streets(self) -> tuple[Street, ...]:
        """Streets in driving order."""
        labels, parts = zip(*stretches(self.roads, self.route.edges), strict=True)
        first = [part.start for part in parts]
        sums = (np.add.reduceat(each, first) for each in (self.edge_m, self.edge_wh))
        return tuple(map(Street, labels, *(each.tolist() for each in sums)))

    @property
    def end_m(self) -> float:
        """Metres along the last edge at which the route ends."""
        return float(self.stretches.to_m[-1])

    @property
    def wh_per_km(self) -> float:
        """Energy per distance, Wh/km."""
        return self.energy_wh / self.length_m * 1000


class FollowsPlans(Protocol):
    """A planner that says what is left of its plans."""

    def after(self, plan: "Plan", track: Track) -> Any:
        """Return what is left of a plan, by what the drive took so far."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The routes of one request.

    Parameters
    ----------
    network, vehicle
        Names of the network and the vehicle.
    origin, destination, via
        Ids of the edges to drive from, to and over.
    titles
        Names of origin, places between and destination, without edge ids.
    routes
        Routes by row: ``energy``, ``time``, ``distance`` and others (`planning.rows`). With
        charging ``charge`` is another name of ``time``.
    proofs
        How far each optimum is certified, by row.
    recommended
        The recommended row.
    request
        The request.
    battery
        Start charge, reserve and capacity, or None without a battery.
    minutes_from
        Source of the travel times: ``"trips"`` or ``"map"``.
    depart_s
        Time of departure since midnight, s, or None if none was given.
    saving
        Expected saving of the recommended route against the fastest, or None without a belief, and
        where they are one route or stop to charge.
    unlimited
        The route that would be recommended without the limit of risk, or None without a limit.
    roads
        The network, for maps.
    assumed
        Start and heating of the recommended route in words, or empty if there is nothing to assume.
    note
        Origin of the belief's numbers in words, also where they are of other roads. Empty without.
    planner
        Planner of its day, which `after` asks, or None.
    """

    network: str
    vehicle: str
    origin: str
    destination: str
    via: tuple[str, ...]
    titles: tuple[str, ...]
    routes: dict[str, PlannedRoute]
    proofs: dict[str, str]
    recommended: str
    request: PlanRequest
    battery: Battery | None
    minutes_from: str
    depart_s: float | None
    saving: Saving | None
    unlimited: PlannedRoute | None
    roads: RoadNetwork = field(repr=False)
    assumed: str = ""
    note: str = ""
    planner: "FollowsPlans | None" = field(default=None, repr=False)

    _repr_html_ = drawn_by("plan_html")

    def __repr__(self) -> str:
        """Return places, car, rows and the recommended route in one line."""
        return (
            f"Plan({' to '.join(self.titles)}, {self.vehicle}, routes {', '.join(self.routes)}, "
            f"recommended {self.recommended}: {self.recommended_route})"
        )

    def after(self, track: Track | None = None, **reading: float) -> Any:
        """Return what is left of the plan, by what the drive took so far (`planning.ahead.Ahead`).

        Parameters
        ----------
        track
            Fixes of the drive with readings, or None for one reading.
        **reading
            The arguments of `Track.at`: ``lat``, ``lon``, and ``percent``, ``energy_wh`` or
            ``elapsed_s``.

        Returns
        -------
        Ahead
            Energy, time, charge on arrival and chance of the rest, with ``sentences``.

        Raises
        ------
        EvrouteError
            As `Planner.after`, or if the plan has no planner.
        """
        if self.planner is None:
            raise EvrouteError("this plan has lost its planner. Plan again")
        return self.planner.after(self, Track.at(**reading) if track is None else track)

    @property
    def proof(self) -> str:
        """How far it is certified that no allowed route is better than the first row."""
        return self.proofs[next(iter(self.routes))]

    @property
    def recommended_route(self) -> PlannedRoute:
        """The route of the recommended row."""
        return self.routes[self.recommended]

    @property
    def least_energy(self) -> PlannedRoute:
        """The route of least energy. EvrouteError if the plan has none, as one with stops."""
        return self._row("energy", "least energy")

    @property
    def fastest(self) -> PlannedRoute:
        """The fastest route, with its stops to charge if it has some."""
        return self.routes["time"]

    @property
    def shortest(self) -> PlannedRoute:
        """The shortest route. EvrouteError if the plan has none, as one with stops to charge."""
        return self._row("distance", "least distance")

    def _row(self, name: str, words: str) -> PlannedRoute:
        if name not in self.routes:
            rows = ", ".join(self.routes)
            raise EvrouteError(f"this plan has no route of {words}. It has {rows}")
        return self.routes[name]

    def to_geodataframe(self) -> "gpd.GeoDataFrame":
        """Return the routes as lines in WGS 84, one row for each, with energy, length and time."""
        planned = self.routes.values()
        columns: dict[str, list[Any]] = {
            "label": [self.label(name) for name in self.routes],
            "recommended": [name == self.recommended for name in self.routes],
            "energy_wh": [route.energy_wh for route in planned],
            "length_m": [route.length_m for route in planned],
            "time_s": [route.time_s for route in planned],
        }
        lines = {
            name: driven_line(self.roads, route.stretches) for name, route in self.routes.items()
        }
        return route_table(lines, columns)

    def label(self, name: str) -> str:
        """Return the label of a row."""
        if name == "energy-limited":
            return f"least energy within {100 * self.request.detour_extra_time:.3g} % extra time"
        charging = " with charging" if self.routes[name].stops else ""
        return f"{ROW_LABELS[name]}{charging}"

    @property
    def chance(self) -> float | None:
        """Probability that the recommended route keeps the reserve, or None without a forecast."""
        forecast = self.recommended_route.charge_forecast
        return None if forecast is None else forecast.never_below_reserve

    @property
    def outlook(self) -> str:
        """Sentence on the chance, and the charge on arrival with its band. "" without a forecast.

        The chance is rounded down, so that it never looks better than a limit that it misses.
        """
        return self.outlook_of(self.recommended)

    def outlook_of(self, name: str) -> str:
        """Return the sentence of `outlook` on a row."""
        row = self.routes[name]
        if row.charge_forecast is None or self.battery is None or row.charge is None:
            return ""
        arrive_wh, lowest_wh = row.charge.charge_wh[-1], row.charge.low_wh.min()
        return outlook_text(row.charge_forecast, self.battery, float(arrive_wh), float(lowest_wh))

    @property
    def safety(self) -> str:
        """Sentence on the extra time and energy for the limit of risk, or empty without a limit."""
        safe, other = self.recommended_route, self.unlimited
        if other is None or not (safe.charge_forecast and other.charge_forecast):
            return ""
        cases = cases_of(safe.charge_forecast, self.request.most_risk or 0.0)
        kept = f"the reserve in {chance_text(safe.charge_forecast)} of {cases}"
        if (safe.route, safe.stops) == (other.route, other.stops):
            return f"this plan keeps {kept}"
        extra_s, extra_wh = safe.time_s - other.time_s, safe.energy_wh - other.energy_wh
        would = chance_text(other.charge_forecast)
        return f"{extra_s / 60:+.1f} min and {extra_wh:+.0f} Wh to keep {kept} instead of {would}"

    def energy_cost(self, name: str) -> float | None:
        """Return the price of the energy of a row, money, or None without a price.

        With charging on the way it is the own price of the charge at the start less that on
        arrival, at least 0, and what is paid at stations.
        """
        price, route = self.request.price, self.routes[name]
        if price is None:
            return None
        if not self.request.charge or route.charge is None:
            return price * route.energy_wh / 1000
        own_wh = float(route.charge.charge_wh[0] - route.charge.charge_wh[-1])
        paid = sum(stop.paid or 0.0 for stop in route.stops)
        return price * max(own_wh, 0.0) / 1000 + paid

    def cost(self, name: str) -> float | None:
        """Return the price of energy and time of a row, money, or None without a value of time."""
        money, value = self.energy_cost(name), self.request.time_value
        return (
            None
            if money is None or value is None
            else money + value * self.routes[name].time_s / 3600
        )

    def arrival_time(self, name: str) -> str | None:
        """Return the clock time of arrival by a row, ``HH:MM``, or None without a departure."""
        return self.clock_after(self.routes[name].time_s)

    def clock_after(self, time_s: float) -> str | None:
        """Return the clock time a while after departure, ``HH:MM``, or None without a departure."""
        if self.depart_s is None:
            return None
        days, minutes = divmod(round((self.depart_s + time_s) / 60), 24 * 60)
        later = f" (+{days} day{'s' * (days > 1)})" if days else ""
        return f"{minutes // 60:02d}:{minutes % 60:02d}{later}"

    @property
    def minutes_note(self) -> str:
        """Text on the source of the travel times."""
        return {
            "trips": "minutes: learned from the travel times of trips",
            "map": "minutes: from the speeds of the map",
        }[self.minutes_from]

    @property
    def verdict(self) -> str:
        """Sentence that compares energy and time of the recommended route with the fastest.

        With stops, where and how much to charge.
        """
        if stops := self.recommended_route.stops:
            charged = ", then ".join(f"{s.advice} ({s.time_s / 60:.0f} min)" for s in stops)
            words = f"{charged[0].upper()}{charged[1:]}"
            if other := self.routes.get("time-without-stop"):
                extra_s = other.time_s - self.recommended_route.time_s
                words += f", without a stop {_minutes(extra_s)}"
            return words
        energy = self.routes.get("energy")
        least = energy is None or self.recommended_route.route == energy.route
        if self.recommended_route.route != self.routes["time"].route:
            words = self._against_fastest(self.recommended)
            if self.saving is not None and not self.saving.told_apart:
                words += f"; {CANNOT_TELL}"
        elif least:
            words = "the fastest route also takes the least energy"
        elif self.request.worth is not None:
            words = "the fastest route also costs least"
        elif self.request.charge:
            words = "the fastest route needs no charge on the way"
        else:
            words = "the fastest route is recommended: no detour saves enough for its time"
        if least:
            return words
        return f"{words}. Least energy of all: {self._against_fastest('energy')}"

    def _against_fastest(self, name: str) -> str:
        route, fastest = self.routes[name], self.routes["time"]
        saved_wh, extra_s = fastest.energy_wh - route.energy_wh, route.time_s - fastest.time_s
        price = f"{_minutes(extra_s)} against the fastest"
        if abs(saved_wh) < 0.5:
            return f"{price}, for the same energy"
        if saved_wh < 0:
            return f"{price} costs {energy_text(-saved_wh)} more"
        # a share of nearly nothing, or of what the fastest regains, would say nothing
        share = (
            f" ({saved_wh / fastest.energy_wh:.1%})"
            if fastest.energy_wh > max(saved_wh, SMALL_WH)
            else ""
        )
        return f"{price} saves {energy_text(saved_wh)}{share}"


def outlook_text(
    forecast: ChargeForecast, battery: Battery, arrive_wh: float, lowest_wh: float
) -> str:
    """Return the sentence on the chance to keep the reserve and on the charge on arrival.

    Parameters
    ----------
    forecast, battery
        Forecast of the charge, and the battery.
    arrive_wh, lowest_wh
        Expected charge on arrival and lowest expected charge, Wh.
    """
    low, high = forecast.arrival_interval_percent
    return (
        f"You get there: {chance_text(forecast)}, arriving with {battery.percent(arrive_wh):.0f} % "
        f"({low:.0f} to {high:.0f} %), lowest {battery.percent(lowest_wh):.0f} %"
    )


def chance_text(forecast: ChargeForecast) -> str:
    """Return the probability of a forecast to keep the reserve, rounded down to whole per cents."""
    share = forecast.never_below_reserve
    return "more than 99 %" if share > 0.99 else f"{floor(100 * share + 1e-9):.0f} %"


def held_note(planned: PlannedRoute) -> str:
    """Return a sentence on the arms of a route that were raised to the physical minimum, or ""."""
    if not planned.held_arms:
        return ""
    counted = (
        "one road or turn" if planned.held_arms == 1 else f"{planned.held_arms} roads or turns"
    )
    return (
        f"the expected energy of {counted} on this route was below the physical minimum and is "
        f"raised to it, by {planned.held_wh:.1f} Wh in all"
    )


def energy_text(energy_wh: float) -> str:
    """Return an energy as text: Wh while it is small, kWh with two digits from 0.1 kWh on.

    The energy of a descent is "gains 0.57 kWh".
    """
    if abs(energy_wh) < SMALL_WH:
        return f"{gained(energy_wh, 0)} Wh"
    return f"{gained(energy_wh / 1000, 2)} kWh"


def gained(energy: float, digits: int) -> str:
    """Return an energy with some digits, and one below 0 as gained."""
    amount = f"{abs(energy):.{digits}f}"
    return f"gains {amount}" if energy < 0 and float(amount) else amount


def _minutes(seconds: float) -> str:
    if abs(seconds) < 1:
        return "no extra time"
    return f"{seconds:+.0f} s" if abs(seconds) < 60 else f"{seconds / 60:+.1f} min"
