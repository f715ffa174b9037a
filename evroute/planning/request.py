"""PlanRequest: all that one plan may be asked for, declared once.

The options of ``evroute route``, the columns of ``--batch``, the body of the service and the page
address of the dashboard are made of its fields, each from the `Form` of the field. The network and
the belief belong to the `Planner`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
from pydantic import (
    BaseModel,
    ConfigDict,
    ValidationError,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from evroute.energy import defaults
from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import Vehicle
from evroute.errors import EvrouteError, UnknownNameError
from evroute.forms import Choice, Clock, Form, Number, Place, Places, Share, Truth, forms_of
from evroute.invalid import UNKNOWN_NAME, first_problem
from evroute.network.road_network import RoadNetwork
from evroute.planning.battery import Battery
from evroute.planning.weights import DEFAULT_SEARCH, WEIGHT_RULES

MOST_VIA = 25
MOST_ALTERNATIVES = 5
MOST_AVOIDED = 100
CONDITIONS = "conditions"
PLACES = ("from", "via", "to", "trip")
"""Names of the texts of places."""


class PlanRequest(BaseModel):
    """One plan: its places, its wishes, the day, the departure and the vehicle.

    A number may be given as text: ``"40"``, a share as ``"10%"``. Places are either ``trip``, or
    ``origin`` and ``destination`` with ``via`` between them.

    Raises
    ------
    EvrouteError
        If a value is out of its range, or values contradict each other.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    origin: Annotated[
        str | None,
        Place(
            "Origin: a name such as 'Blake Street & 17th Street', LAT,LON, or an edge id.",
            name="from",
            metavar="PLACE",
        ),
    ] = None
    destination: Annotated[
        str | None, Place("Destination, written likewise.", name="to", metavar="PLACE")
    ] = None
    via: Annotated[
        tuple[str, ...],
        Places("A place to pass on the way; repeatable, in order.", metavar="PLACE", most=MOST_VIA),
    ] = ()
    trip: Annotated[str | None, Form("A named trip of the network, instead of two places.")] = None
    vehicle: Annotated[
        str | Vehicle | None,
        Form(
            "A vehicle of 'evroute vehicle list', or a .toml file. [that of the belief, or "
            f"{defaults.VEHICLE}]",
            longest=4096,
        ),
        WithJsonSchema({"type": ["string", "null"]}),
    ] = None
    avoid: Annotated[
        tuple[str, ...],
        Places(
            "A road to leave out: the name of a street, or an edge id; repeatable.",
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
            "Longest extra time over the fastest route, such as 10%; the shortest is exempt.",
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
    depart: Annotated[
        str | None,
        Clock(
            "Time of departure, on the clock of the learned trips: shows times of arrival, and "
            "selects the speeds that a belief learned in its quarter of the day.",
            metavar="HH:MM",
        ),
    ] = None
    price: Annotated[
        float | None,
        Number("Price of a kWh: shows costs.", metavar="MONEY", above=0),
    ] = None
    time_value: Annotated[
        float | None,
        Number(
            "Value of an hour: recommends the least cost. Needs --price.",
            metavar="MONEY",
            least=0,
        ),
    ] = None
    soc: Annotated[
        float | None,
        Number("Charge at the start, % of the usable battery.", unit="%", least=0, most=100),
    ] = None
    reserve: Annotated[
        float | None,
        Number("Lowest allowed charge, %. Needs --soc. [0]", unit="%", least=0, most=100),
    ] = None
    risk: Annotated[
        float | None,
        Share(
            "Greatest probability of ever falling below the reserve, such as 1%. Needs --soc; "
            "without --belief by the uncertainty of physics.",
            metavar="SHARE",
            above=0,
            most=0.5,
        ),
    ] = None
    charge: Annotated[
        bool,
        Truth(
            "Charge on the way where no route keeps the reserve, or the limit of --risk: the "
            "fastest such plan. Needs --soc and 'evroute network chargers'."
        ),
    ] = False
    detour_extra_time: Annotated[
        float,
        Share(
            "Longest extra time of a recommended detour over the fastest route, without "
            "--max-extra-time.",
            metavar="SHARE",
            least=0,
        ),
    ] = 0.15
    detour_saving_wh: Annotated[
        float, Number("Least saving of a recommended detour, Wh.", metavar="WH", unit="Wh", least=0)
    ] = 20.0
    detour_saving_share: Annotated[
        float,
        Share(
            "Least saving of a recommended detour, as a share of the energy that the fastest route "
            "takes uphill and on the level.",
            metavar="SHARE",
            least=0,
        ),
    ] = 0.02
    detour_wh_per_minute: Annotated[
        float,
        Number(
            "Energy that is worth a minute to a recommended detour, Wh; --time-value replaces it.",
            metavar="WH",
            unit="Wh",
            least=0,
        ),
    ] = 100.0
    conditions: DrivingConditions = DrivingConditions()

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            unknown = error.errors()[0]["type"] == UNKNOWN_NAME
            kind = UnknownNameError if unknown else EvrouteError
            raise kind(first_problem(error, type(self).model_fields)) from None

    @classmethod
    def from_texts(cls, texts: Mapping[str, Any]) -> Self:
        """Return the request of texts by name, as options, cells and addresses have them.

        Parameters
        ----------
        texts
            Text by the name of its form; values of None are left out.

        Raises
        ------
        EvrouteError
            If there is no such name, and as for the class.
        """
        values: dict[str, Any] = {}
        day: dict[str, Any] = {}
        for name, text in texts.items():
            entry = entries(cls).get(name)
            if entry is None:
                raise EvrouteError(
                    f"there is no '{name}' of a plan; there are {', '.join(entries(cls))}"
                )
            if text is not None:
                (day if entry.of_day else values)[entry.field] = text
        return cls(**values, **({CONDITIONS: day} if day else {}))

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
            Battery with the charge at the start and the reserve; None for those of the wishes.
        wishes
            Further fields; places on the way also as rows.
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
        """Origin, places on the way and destination; empty with a named trip."""
        ends = (self.origin, *self.via, self.destination)
        return tuple(place for place in ends if place is not None)

    @property
    def worth(self) -> tuple[float, float] | None:
        """Price of one Wh and of one second, money; None without a value of time."""
        if self.price is None or self.time_value is None:
            return None
        return self.price / 1000, self.time_value / 3600

    def closed(self, network: RoadNetwork) -> tuple[int, ...]:
        """Return the network rows of the roads to avoid, in rising order.

        Raises
        ------
        UnknownNameError
            If the network has no road of a name or id; the message has similar ones.
        """
        rows: set[int] = set()
        for road in self.avoid:
            named = [row for row, name in enumerate(network.street) if name.lower() == road.lower()]
            found = [network.row_of[road]] if road in network.row_of else named
            if not found:
                near = get_close_matches(road, {*network.street, *network.edge_id} - {""})
                similar = f"; similar: {'; '.join(near)}" if near else ""
                raise UnknownNameError(f"network '{network.name}' has no road '{road}'{similar}")
            rows.update(found)
        return tuple(sorted(rows))

    def texts(self) -> dict[str, str]:
        """Return the texts of the values that are not the default, by name."""
        found = {}
        for name, entry in entries(type(self)).items():
            value = getattr(self.conditions if entry.of_day else self, entry.field)
            if value != entry.default:
                value = value.name if isinstance(value, Vehicle) else value
                found[name] = entry.form.write(value)
        return found

    @field_validator("vehicle", mode="before")
    @classmethod
    def _path_as_text(cls, value: Any) -> Any:
        return str(value) if isinstance(value, Path) else value

    @model_validator(mode="after")
    def _without_contradiction(self) -> Self:
        for problem in self._contradictions():
            raise ValueError(problem)
        return self

    def _contradictions(self) -> Iterator[str]:
        ends = [self.origin is not None, self.destination is not None]
        if all(ends) == (self.trip is not None) or any(ends) != all(ends):
            yield "give either a named trip, or origin and destination"
        if self.via and self.trip is not None:
            yield "places on the way go between origin and destination, not with a named trip"
        if self.conditions.wind_from_deg and not self.conditions.wind_mps:
            yield "wind_from needs a wind speed: wind (m/s)"
        if self.reserve and self.soc is None:
            yield "a reserve needs the charge at the start: soc"
        if self.time_value is not None and self.price is None:
            yield "a value of time needs the price of energy: price"
        yield from self._contradictions_of_search()
        yield from self._contradictions_of_charge()

    def _contradictions_of_search(self) -> Iterator[str]:
        limits = (self.soc, self.max_extra_time, self.time_value)
        if self.search != DEFAULT_SEARCH and any(each is not None for each in limits):
            yield (
                f"a battery, a time limit or a value of time goes with search '{DEFAULT_SEARCH}', "
                f"not with '{self.search}'"
            )

    def _contradictions_of_charge(self) -> Iterator[str]:
        if self.risk is not None and self.soc is None:
            yield "a risk needs the charge at the start: soc"
        if self.risk is not None and self.alternatives:
            yield "a risk does not go with alternatives; leave one of them out"
        if self.charge and self.soc is None:
            yield "charging on the way needs the charge at the start: soc"
        limits = (self.max_extra_time, self.time_value)
        if self.charge and (self.alternatives or any(each is not None for each in limits)):
            yield (
                "charging on the way takes the least time; leave out the extra time, alternatives "
                "and the value of time"
            )


@dataclass(frozen=True, slots=True)
class Entry:
    """A field of a request, or of its conditions, that has a form.

    Parameters
    ----------
    field
        Name of the field.
    of_day
        Whether it is a field of the conditions.
    form, default
        Its form, and its value where none is given.
    """

    field: str
    of_day: bool
    form: Form
    default: Any


@cache
def entries(model: type[PlanRequest] = PlanRequest) -> dict[str, Entry]:
    """Return the fields that have a form by their name in texts, those of the conditions last."""
    found = {}
    day: Mapping[str, Any] = DrivingConditions.__pydantic_fields__  # type: ignore[attr-defined]
    for fields, of_day in ((model.model_fields, False), (day, True)):
        for field, about in fields.items():
            for form in forms_of(about.metadata):
                found[form.name or field] = Entry(field, of_day, form, about.default)
    return found
