"""Plans: the least-energy, the fastest and the shortest route of one request, side by side, in a user's numbers."""

from dataclasses import dataclass

from evroute.arms import Route
from evroute.arrays import FloatArray
from evroute.planning.battery import Battery, ChargeTrace
from evroute.planning.forecast import ChargeForecast, RouteForecast
from evroute.planning.guarantee import RouteGuarantee

SMALL_WH = 100.0


@dataclass(frozen=True, slots=True, eq=False)
class PlannedRoute:
    """One route in a user's numbers.

    Parameters
    ----------
    route, edges
        Network rows of the k edges, and their ids.
    edge_wh
        (k,) expected energy of each edge without lost regeneration, Wh; the search runs on it.
    energy_wh
        Energy from the battery, lost regeneration included, Wh.
    parts_wh
        Energy by cause, Wh; sums to ``energy_wh``.
    length_m, time_s, climb_m, descent_m
        Totals of the route.
    held_arms, held_wh
        Number of its arms whose expected energy was below the physical minimum and is raised to
        it, and by how much in all, Wh.
    charge
        Charge along the route; None without a battery.
    energy_forecast, charge_forecast
        Forecasts of a belief; None without one, the second also without a battery.
    guarantee
        Bounds of the expected energy, where requested.
    """

    route: Route
    edges: tuple[str, ...]
    edge_wh: FloatArray
    energy_wh: float
    parts_wh: dict[str, float]
    length_m: float
    time_s: float
    climb_m: float
    descent_m: float
    held_arms: int = 0
    held_wh: float = 0.0
    charge: ChargeTrace | None = None
    energy_forecast: RouteForecast | None = None
    charge_forecast: ChargeForecast | None = None
    guarantee: RouteGuarantee | None = None

    @property
    def wh_per_km(self) -> float:
        """Energy per distance, Wh/km."""
        return self.energy_wh / self.length_m * 1000


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The routes of one request.

    Parameters
    ----------
    network, vehicle, search
        Names of the network, the vehicle and the weight rule.
    origin, destination, via
        Ids of the edges to drive from, to and over.
    routes
        ``energy``, ``time``, ``distance``, and alternatives where requested.
    battery
        Start charge, reserve and capacity; None without a battery.
    proof
        How far it is certified that no allowed route takes less than ``routes["energy"]``.
    minutes_from
        Source of the travel times: ``"trips"`` or ``"map"``.
    depart_s
        Time of departure since midnight, s; None if none was given.
    """

    network: str
    vehicle: str
    search: str
    origin: str
    destination: str
    routes: dict[str, PlannedRoute]
    battery: Battery | None
    proof: str
    via: tuple[str, ...] = ()
    minutes_from: str = "map"
    depart_s: float | None = None

    def arrival_time(self, name: str) -> str | None:
        """Return the clock time of arrival by one of the routes, ``HH:MM``; None without a departure."""
        if self.depart_s is None:
            return None
        days, minutes = divmod(round((self.depart_s + self.routes[name].time_s) / 60), 24 * 60)
        later = f" (+{days} day{'s' * (days > 1)})" if days else ""
        return f"{minutes // 60:02d}:{minutes % 60:02d}{later}"

    @property
    def minutes_note(self) -> str:
        """The source of the travel times in words."""
        if self.minutes_from == "trips":
            return "minutes: learned from the travel times of trips"
        return "minutes: from the speeds of the map"

    @property
    def verdict(self) -> str:
        """The price of the least-energy route against the fastest, in words."""
        energy, fastest = self.routes["energy"], self.routes["time"]
        saved_wh, extra_s = fastest.energy_wh - energy.energy_wh, energy.time_s - fastest.time_s
        if energy.route == fastest.route:
            return "the fastest route is also the one of least energy"
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
    """Return an energy in words: Wh while it is small, kWh with two digits from 0.1 kWh on."""
    return f"{energy_wh:.0f} Wh" if abs(energy_wh) < SMALL_WH else f"{energy_wh / 1000:.2f} kWh"


def _minutes(seconds: float) -> str:
    if abs(seconds) < 1:
        return "no extra time"
    return f"{seconds:+.0f} s" if abs(seconds) < 60 else f"{seconds / 60:+.1f} min"
