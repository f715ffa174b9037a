"""PlanRequest: all that one plan may be asked for, declared once.

The options of ``evroute route``, the columns of ``--batch``, the body of the service and the page
address of the dashboard are made of its fields, each from the `Form` of the field. The network and
the belief belong to the `Planner`.
"""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from evroute.energy.driving import DrivingConditions
from evroute.errors import UnknownNameError
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import Battery
from evroute.planning.fields import (
    CAR,
    DEPART,
    DESTINATION,
    MEAN,
    ORIGIN,
    PROMISE,
    RESERVE,
    RISK,
    SOC,
    Arrival,
    Entry,
    Request,
    Risk,
    VehicleField,
    entries_of,
)
from evroute.planning.weights import DEFAULT_SEARCH, WEIGHT_RULES
from evroute.validation.forms import Choice, Form, Number, Places, Share, Truth

MOST_VIA = 25
MOST_ALTERNATIVES = 5
MOST_AVOIDED = 100
MOST_MONEY = 1e9
MOST_LOST, MOST_KW = 24 * 60.0, 5000.0
SETUP_S = 300.0
"""Time of a stop beside charging: parking, plugging in, paying."""
OF_STOPS = ("arrive", "stop_from", "stop_to", "stop_minutes", "least_kw", "avoid_stations")
"""Fields of plans that may charge on the way."""
OF_DETOURS = (
    "max_extra_time",
    "detour_saving_wh",
    "detour_saving_share",
    "detour_wh_per_minute",
)
"""Fields by which a route is recommended (`recommendation.Rule`)."""
PLACES = ("from", "via", "to", "trip")
"""Names of the texts of places."""


class PlanRequest(Request):
    """One plan: its places, its wishes, the day, the departure and the vehicle.

    Places are either ``trip``, or
    ``origin`` and ``destination`` with ``via`` between them.

    Raises
    ------
    EvrouteError
        If a value is out of its range, or values contradict each other.
    """

    subject: ClassVar[str] = "a plan"

    origin: Annotated[str | None, ORIGIN] = None
    destination: Annotated[str | None, DESTINATION] = None
    via: Annotated[
        tuple[str, ...],
        Places("A place to pass on the way. Repeatable, in order.", metavar="PLACE", most=MOST_VIA),
    ] = ()
    trip: Annotated[str | None, Form("A named trip of the network, instead of two places.")] = None
    vehicle: VehicleField = None
    car: Annotated[str | None, CAR] = None
    avoid: Annotated[
        tuple[str, ...],
        Places(
            "A road to leave out: the name of a street, or an edge id. Repeatable.",
            metavar="ROAD",
            most=MOST_AVOIDED,
        ),
    ] = ()
    search: Annotated[
        str,
        Choice(
            "potential (exact); rectified, clamped, potential-rectified to compare.",
            names=tuple(WEIGHT_RULES),
        ),
    ] = DEFAULT_SEARCH
    max_extra_time: Annotated[
        float | None,
        Share(
            "Longest extra time over the fastest route, such as 10%. The shortest is exempt.",
            metavar="SHARE",
            least=0,
        ),
    ] = None
    alternatives: Annotated[
        int,
        Number(
            "Number of further routes between the fastest and the least energy.",
            whole=True,
            least=0,
            most=MOST_ALTERNATIVES,
        ),
    ] = 0
    depart: Annotated[str | None, DEPART] = None
    price: Annotated[
        float | None,
        Number("Price of a kWh: shows costs.", metavar="MONEY", above=0, most=MOST_MONEY),
    ] = None
    time_value: Annotated[
        float | None,
        Number(
            "Value of an hour: recommends the least cost. Needs --price.",
            metavar="MONEY",
            least=0,
            most=MOST_MONEY,
        ),
    ] = None
    soc: Annotated[float | None, SOC] = None
    reserve: Annotated[float | None, RESERVE] = None
    risk: Annotated[Risk, RISK] = PROMISE
    charge: Annotated[
        bool,
        Truth(
            "Charge on the way: the fastest plan with any number of stops, within --risk. "
            "Needs --soc and 'evroute network chargers'."
        ),
    ] = False
    arrive: Annotated[
        float | str | None,
        Arrival(
            "Least charge at the end, %, or 'charger': enough to reach a station that fits the "
            "car. Needs --charge.",
            metavar="PERCENT",
        ),
    ] = None
    stop_from: Annotated[
        float,
        Number("Least charge on arrival at a station, %.", unit="%", least=0, most=100),
    ] = 0.0
    stop_to: Annotated[
        float,
        Number("Greatest charge on leaving a station, %.", unit="%", above=0, most=100),
    ] = 100.0
    stop_minutes: Annotated[
        float,
        Number("Minutes that a stop takes beside charging.", unit="min", least=0, most=MOST_LOST),
    ] = SETUP_S / 60
    least_kw: Annotated[
        float,
        Number("Least power of a socket, kW.", metavar="KW", unit="kW", least=0, most=MOST_KW),
    ] = 0.0
    avoid_stations: Annotated[
        tuple[str, ...],
        Places(
            "Stations to leave out: an id, or the name of the station or its charging network, or "
            "a part of it. Repeatable.",
            metavar="STATION",
            most=MOST_AVOIDED,
        ),
    ] = ()
    detour_extra_time: Annotated[
        float,
        Share(
            "Longest extra time over the fastest route of the row of least energy in little more "
            "time, without --max-extra-time.",
            metavar="SHARE",
            least=0,
        ),
    ] = 0.15
    detour_saving_wh: Annotated[
        float,
        Number(
            "Least saving of a recommended detour, Wh.",
            metavar="WH",
            unit="Wh",
            least=0,
        ),
    ] = 20.0
    detour_saving_share: Annotated[
        float,
        Share(
            "Least saving of a recommended detour, as a share of the energy that the fastest route "
            "takes uphill and on the level.",
            metavar="SHARE",
            least=0,
        ),
    ] = 0.01
    detour_wh_per_minute: Annotated[
        float,
        Number(
            "Energy that is worth a minute to a recommended detour, Wh. --time-value replaces it.",
            metavar="WH",
            unit="Wh",
            least=0,
        ),
    ] = 100.0
    conditions: DrivingConditions = DrivingConditions()

    @classmethod
    def between(
        cls,
        ends: tuple[int | str | None, int | str | None],
        edge_id: Sequence[str],
        battery: Battery | None,
        wishes: Mapping[str, Any],
    ) -> Self:
        """Return the request between two places.

        Parameters
        ----------
        ends
            Origin and destination, also as rows of the network.
        edge_id
            Ids of its n edges.
        battery
            Battery with the charge at the start and the reserve, or None for the battery and charge
            in the wishes.
        wishes
            Further fields. Places on the way also as rows.
        """

        def place(given: Any) -> Any:
            return edge_id[int(given)] if isinstance(given, (int, np.integer)) else given

        fields = dict(wishes, origin=place(ends[0]), destination=place(ends[1]))
        if battery is not None:
            fields["soc"] = battery.percent(battery.start_wh)
            fields["reserve"] = battery.percent(battery.reserve_wh)
        if not isinstance(fields.get("via", ()), str):
            fields["via"] = [place(each) for each in fields.get("via", ())]
        return cls(**fields)

    @classmethod
    def without_places(cls, texts: Mapping[str, Any]) -> Self:
        """Return a request whose places are still to come, with a placeholder for its trip."""
        return cls.from_texts({"trip": "", **texts})

    @property
    def places(self) -> tuple[str, ...]:
        """Origin, places on the way and destination. Empty with a named trip."""
        ends = (self.origin, *self.via, self.destination)
        return tuple(place for place in ends if place is not None)

    @property
    def worth(self) -> tuple[float, float] | None:
        """Price of one Wh and of one second, money, or None without a value of time."""
        if self.price is None or self.time_value is None:
            return None
        return self.price / 1000, self.time_value / 3600

    @property
    def most_risk(self) -> float | None:
        """Greatest probability of ever falling below the reserve, or None for no limit."""
        return self.risk if isinstance(self.risk, float) else None

    def on_average(self) -> Self:
        """Return the request by expected energies, or itself if it names a risk."""
        named = "risk" in self.model_fields_set
        return self if named else self.model_copy(update={"risk": MEAN})

    def texts(self) -> dict[str, str]:
        """Return the texts of the values that are not the default. With a charge also the risk."""
        found = super().texts()
        return found if self.soc is None else found | {"risk": RISK.write(self.risk)}

    def closed(self, network: RoadNetwork) -> tuple[int, ...]:
        """Return the network rows of the roads to avoid, in rising order.

        Raises
        ------
        UnknownNameError
            If the network has no road of a name or id. The message has similar ones.
        """
        rows = {network.row_of[road] for road in self.avoid if road in network.row_of}
        names = {road.lower(): road for road in self.avoid if road not in network.row_of}
        streets = network.street if names else ()  # those of a region take a while
        named = [(row, name.lower()) for row, name in enumerate(streets) if name.lower() in names]
        rows.update(row for row, _ in named)
        for _, name in named:
            names.pop(name, None)
        for road in names.values():
            near = get_close_matches(road, {*network.street, *network.edge_id} - {""})
            similar = f". Similar: {'; '.join(near)}" if near else ""
            raise UnknownNameError(f"network '{network.name}' has no road '{road}'{similar}")
        return tuple(sorted(rows))

    def _contradictions(self) -> Iterator[str]:
        ends = [self.origin is not None, self.destination is not None]
        if all(ends) == (self.trip is not None) or any(ends) != all(ends):
            given = {"trip": self.trip, "origin": self.origin, "destination": self.destination}
            got = " and ".join(name for name, value in given.items() if value is not None)
            yield f"give either a named trip, or origin and destination. Got {got or 'neither'}"
        if self.via and self.trip is not None:
            yield "places on the way go between origin and destination, not with a named trip"
        yield from super()._contradictions()
        if self.reserve and self.soc is None:
            yield "a reserve needs the charge at the start: soc"
        if self.time_value is not None and self.price is None:
            yield "a value of time needs the price of energy: price"
        yield from self._contradictions_of_search()
        yield from self._contradictions_of_charge()
        yield from self._contradictions_of_stops()

    def _contradictions_of_search(self) -> Iterator[str]:
        limits = (self.soc, self.max_extra_time, self.time_value)
        if self.search != DEFAULT_SEARCH and any(each is not None for each in limits):
            yield (
                f"a battery, a time limit or a value of time goes with search '{DEFAULT_SEARCH}', "
                f"not with '{self.search}'"
            )

    def _contradictions_of_charge(self) -> Iterator[str]:
        if "risk" in self.model_fields_set and self.risk != MEAN and self.soc is None:
            yield "a risk needs the charge at the start: soc"
        if self.charge and self.soc is None:
            yield "charging on the way needs the charge at the start: soc"
        if self.charge and (self.alternatives or self.max_extra_time is not None):
            yield (
                "charging on the way takes neither extra time nor alternatives. Leave out "
                "max_extra_time and alternatives"
            )

    def _contradictions_of_stops(self) -> Iterator[str]:
        own = [name for name in OF_STOPS if getattr(self, name) != self._default(name)]
        if own and not self.charge:
            yield f"{own[0]} goes with charging on the way: charge"
        if self.stop_from >= self.stop_to:
            yield (
                f"stop_from is {self.stop_from:g} %. It must be below stop_to, {self.stop_to:g} %"
            )

    @classmethod
    def _default(cls, name: str) -> Any:
        return cls.model_fields[name].default


def entries(model: type[Request] = PlanRequest) -> dict[str, Entry]:
    """Return the fields of a request that have a form, as `entries_of` does."""
    return entries_of(model)
