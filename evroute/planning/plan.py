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

    route: network rows, and edges: their ids.  edge_wh: (k,) energy of each edge, as if no
    regeneration were lost.
    energy_wh: from the battery, lost regeneration included.  parts_wh: what it is made of; sums to
    ``energy_wh``.
    length_m, time_s, climb_m, descent_m: of the whole route.  charge: along the route, with a
    battery.
    energy_forecast, charge_forecast: with a belief, and with a belief and a battery.
    guarantee: bounds of the expected energy, with a belief and where wanted.
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
    """The routes of one request: ``routes`` has ``energy``, ``time`` and ``distance``, and alternatives if wanted.

    origin, via, destination: ids of the edges to drive from, over and to.
    battery: start charge, reserve and capacity, where they were given.  proof: how sure it is that
    no allowed route takes less energy than ``routes["energy"]``, in words.
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


def energy_text(energy_wh: float) -> str:
    """Return an energy in words: Wh while it is small, kWh with two digits from 0.1 kWh on."""
    return f"{energy_wh:.0f} Wh" if abs(energy_wh) < SMALL_WH else f"{energy_wh / 1000:.2f} kWh"


def _minutes(seconds: float) -> str:
    if abs(seconds) < 1:
        return "no extra time"
    return f"{seconds:+.0f} s" if abs(seconds) < 60 else f"{seconds / 60:+.1f} min"
