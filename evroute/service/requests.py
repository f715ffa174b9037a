"""Bodies and queries of requests, with their examples in the OpenAPI document."""

import time
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    FailFast,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from evroute.energy.driving import DrivingConditions
from evroute.errors import EvrouteError
from evroute.planning.dispatch.needs import KEPT
from evroute.planning.fields import CAR, DEPART, Request, entries_of
from evroute.planning.matrix import RECOMMENDED, Cells
from evroute.planning.reach import RESERVE_OF_RANGE, RangeRequest
from evroute.planning.request import OF_DETOURS, PlanRequest
from evroute.service.problems import brief
from evroute.validation.forms import Form, Number, clock_s
from evroute.validation.invalid import first_problem, shown

NAME = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"
"""Names of networks, vehicles and beliefs. None is a path."""
MOST_PLANS = 1_000
MOST_TRIPS = 1_000
MOST_CARS = 1_000
MOST_EDGES = 20_000
MOST_PLACES = 1_000
MOST_TRIPS_OF_DAY = 20
MOST_FIXES = 20_000
MOST_FOUND = Number("Greatest number of places.", whole=True, least=1, most=50)

Name = Annotated[str, Field(pattern=NAME)]
VehicleName = Annotated[Name | None, Form("Name of a vehicle. The belief's if null.")]
BeliefName = Annotated[Name | None, Field(description="Belief to plan on. Physics if null.")]
Place = Annotated[str, Field(min_length=1, max_length=200)]
Percent = Annotated[float, Field(ge=0, le=100)]


class Body(BaseModel):
    """A JSON object without unknown fields, whose numbers are no texts or truths."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, strict=True)


class QueryOfUrl(BaseModel):
    """The query of a URL, whose values are texts, without unknown names."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class PlanBody(PlanRequest):
    """One trip to plan. The fields are the options of ``evroute route``.

    A departure of the conditions counts where ``depart`` is null.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "network": "denver",
                    "origin": "Blake Street & 17th Street",
                    "destination": "39.7407,-104.9811",
                    "soc": 40,
                    "reserve": 10,
                    "depart": "08:15",
                    "conditions": {"temperature_c": -5},
                }
            ]
        }
    )

    network: Name = "denver"
    vehicle: VehicleName = None
    belief: BeliefName = None


class Fix(Body):
    """A position on the way, and what was read there."""

    lat: float = Field(ge=-90, le=90)
    lon: float = Field(ge=-180, le=180)
    time_s: float | None = Field(
        default=None, description="Time, s. Of a single fix the seconds of driving so far."
    )
    energy_wh: float | None = Field(
        default=None, description="Energy used since the departure, or by any count that rises."
    )
    percent: Percent | None = Field(default=None, description="Charge now, %.")


class Drive(Body):
    """A trip to plan, and the drive so far. No position is kept, logged or answered."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "request": {"trip": "C", "soc": 40, "reserve": 5},
                    "driven": [{"lat": 39.7564, "lon": -104.9777, "percent": 39.5}],
                }
            ]
        }
    )

    request: PlanBody
    driven: Annotated[list[Fix], FailFast()] = Field(min_length=1, max_length=MOST_FIXES)


def _or_problem(body: Any, read: ValidatorFunctionWrapHandler) -> Any:
    """Return a request, or its problem in one clause."""
    try:
        return read(body)
    except EvrouteError as error:
        return brief(str(error))
    except ValidationError as error:
        return brief(first_problem(error))


class PlanRequests(Body):
    """Many trips to plan. A request with an invalid field does not stop the others."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "requests": [
                        {"origin": "39.7407,-104.9811", "destination": "Broadway & 20th Street"},
                        {
                            "origin": "39.7407,-104.9811",
                            "destination": "Blake Street & 17th Street",
                            "soc": 8,
                        },
                    ]
                }
            ]
        }
    )

    requests: list[Annotated[PlanBody, WrapValidator(_or_problem)]] = Field(
        min_length=1, max_length=MOST_PLANS
    )


class DrivenEdge(Body):
    """One edge of a measured trip."""

    edge: str = Field(max_length=200, description="Id of the network.")
    energy_wh: float
    travel_s: float | None = Field(default=None, ge=0)


class Trip(Body):
    """One measured trip, by edges in driving order."""

    trip: str = Field(
        min_length=1,
        max_length=200,
        description="Id, of one trip of a request. The same trip sent again is learned once.",
    )
    edges: Annotated[list[DrivenEdge], FailFast()] = Field(min_length=1, max_length=MOST_EDGES)
    departed_s: float | None = Field(
        default=None,
        description="Departure since 1970 (UTC), s, or below 1e8 a local clock. Else unknown.",
    )
    soc_percent: Percent | None = Field(default=None, description="Charge at departure, %.")
    auxiliary_w: float | None = None
    temperature_c: float | None = None
    payload_kg: float | None = None
    car: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="Car of a fleet. All trips of a belief name their cars, or none.",
    )

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each edge, as `learning.readers.edges` reads them."""
        kept = self.model_dump(exclude={"edges"}, exclude_none=True)
        return [kept | edge.model_dump(exclude_none=True) for edge in self.edges]


class CarOfFleet(Body):
    """A car of a fleet, as a row of ``evroute learn --cars``."""

    car: str = Field(min_length=1, max_length=200, description="Name of the car in trips.")
    vehicle: Name = Field(description="Its type, one of /v1/vehicles.")


def _pausing(trip: Trip) -> Trip:
    """Return a trip. Between two trips of a large body other requests go on."""
    time.sleep(0)
    return trip


class Trips(Body):
    """Measured trips to learn into a belief, which is made by its first trips."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "belief": "my-leaf",
                    "network": "denver",
                    "trips": [
                        {
                            "trip": "2026-11-22-1",
                            "edges": [
                                {
                                    "edge": "4677506041,176094626,0",
                                    "energy_wh": 10.5,
                                    "travel_s": 14.0,
                                }
                            ],
                        }
                    ],
                }
            ]
        }
    )

    belief: Name
    network: Name = "denver"
    vehicle: Name | None = None
    cars: Annotated[list[CarOfFleet], FailFast()] = Field(
        default_factory=list,
        max_length=MOST_CARS,
        description="Types of the cars of a fleet, each learned apart. Cars that it has may be "
        "left out.",
    )
    trips: Annotated[list[Annotated[Trip, AfterValidator(_pausing)]], FailFast()] = Field(
        min_length=1, max_length=MOST_TRIPS
    )

    @model_validator(mode="after")
    def _of_own_ids(self) -> Self:
        first: dict[str, int] = {}
        for place, each in enumerate(self.trips):
            if (before := first.setdefault(each.trip, place)) != place:
                raise ValueError(
                    f"trips.{place} has the id {shown(each.trip)}, which trips.{before} has too. "
                    "Give each trip an id of its own, and all edges of one trip in one list"
                )
        return self


class RangeBody(RangeRequest):
    """A charge whose range is wanted. The fields are the options of ``evroute range``."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"network": "denver", "origin": "39.7407,-104.9811", "soc": 8, "risk": 0.05}
            ]
        }
    )

    network: Name = "denver"
    vehicle: VehicleName = None
    belief: BeliefName = None
    edges: bool = Field(
        default=False, strict=True, description="List the ids of the roads within reach."
    )


_PLAN = entries_of(PlanRequest)


class MatrixBody(Request):
    """Places between which the energies of one car on one day are wanted."""

    subject: ClassVar[str] = "a matrix"
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "network": "denver",
                    "origins": ["Blake Street & 17th Street", "39.7407,-104.9811"],
                    "destinations": ["Broadway & 20th Street", "Walnut Street & 33rd Street"],
                    "conditions": {"temperature_c": -5},
                }
            ]
        }
    )

    network: Name = "denver"
    origins: Annotated[list[Place], FailFast()] = Field(min_length=1, max_length=MOST_PLACES)
    destinations: Annotated[list[Place], FailFast()] = Field(min_length=1, max_length=MOST_PLACES)
    by: Literal["energy", "time", "recommended"] = Field(
        default="energy",
        description="Routes of least energy, the fastest, or those that a plan recommends.",
    )
    sd: bool = Field(
        default=False, strict=True, description="Whether with standard deviations of energies."
    )
    reduced: bool = Field(
        default=False,
        strict=True,
        description="Whether with reduced energies. The destinations then are the origins, and no "
        "energy has a warm-up.",
    )
    max_extra_time: Annotated[float | None, _PLAN["max_extra_time"].form] = None
    detour_saving_wh: Annotated[float, _PLAN["detour_saving_wh"].form] = 20.0
    detour_saving_share: Annotated[float, _PLAN["detour_saving_share"].form] = 0.01
    detour_wh_per_minute: Annotated[float, _PLAN["detour_wh_per_minute"].form] = 100.0
    vehicle: VehicleName = None
    belief: BeliefName = None
    car: Annotated[str | None, CAR] = None
    depart: Annotated[str | None, DEPART] = None
    conditions: DrivingConditions = DrivingConditions()

    @property
    def cells(self) -> Cells:
        """What the cells of the matrix have."""
        detours = {name: text for name, text in self.texts().items() if name in OF_DETOURS}
        return Cells(self.by, self.sd, PlanRequest.without_places(detours), self.reduced)

    def _contradictions(self) -> Iterator[str]:
        yield from super()._contradictions()
        own = [name for name in OF_DETOURS if name in self.texts()]
        if own and self.by != RECOMMENDED:
            yield f"{own[0]} goes with by '{RECOMMENDED}'"


_DAY = entries_of(RangeRequest)


class NeededRequest(QueryOfUrl):
    """A trip whose charge is wanted, as the query of a URL."""

    network: Name = "denver"
    origin: Place = Field(
        alias="from",
        description="Name, LAT,LON or edge id.",
        examples=["Blake Street & 17th Street"],
    )
    destination: Place = Field(
        alias="to",
        description="Name, LAT,LON or edge id.",
        examples=["39.7407,-104.9811"],
    )
    p: Annotated[float, KEPT] = Field(default=0.95, description=KEPT.help)
    reserve: Annotated[float, RESERVE_OF_RANGE] = 0.0
    vehicle: VehicleName = None
    car: Annotated[str | None, CAR] = None
    depart: Annotated[str | None, DEPART] = None
    temperature_c: Annotated[float | None, _DAY["temperature"].form] = None
    payload_kg: Annotated[float, _DAY["payload"].form] = 0.0
    belief: Name | None = Field(default=None, description="Belief to go by. Physics if left out.")

    @property
    def conditions(self) -> DrivingConditions:
        """Conditions of the trip."""
        return DrivingConditions(temperature_c=self.temperature_c, payload_kg=self.payload_kg)


class NeededTrip(Body):
    """One trip of a day."""

    origin: Place = Field(alias="from", description="Name, LAT,LON or edge id.")
    destination: Place = Field(alias="to", description="Name, LAT,LON or edge id.")
    depart: Annotated[str | None, DEPART] = None

    @property
    def departed_s(self) -> float | None:
        """Departure since midnight, s, or None if none was given."""
        return None if self.depart is None else clock_s(self.depart)


class NeededDay(Request):
    """Trips of one car and one day in driving order, without a charge between them."""

    subject: ClassVar[str] = "the need of a day"
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "network": "denver",
                    "trips": [
                        {
                            "from": "Walnut Street & 33rd Street",
                            "to": "Broadway & 20th Street",
                            "depart": "07:45",
                        },
                        {
                            "from": "Broadway & 20th Street",
                            "to": "Walnut Street & 33rd Street",
                            "depart": "17:30",
                        },
                    ],
                    "p": 0.95,
                    "reserve": 10,
                    "conditions": {"temperature_c": -5},
                }
            ]
        }
    )

    network: Name = "denver"
    trips: Annotated[list[NeededTrip], FailFast()] = Field(
        min_length=1, max_length=MOST_TRIPS_OF_DAY
    )
    p: Annotated[float, KEPT] = 0.95
    reserve: Annotated[float, RESERVE_OF_RANGE] = 0.0
    vehicle: VehicleName = None
    belief: BeliefName = None
    car: Annotated[str | None, CAR] = None
    conditions: DrivingConditions = DrivingConditions()

    @property
    def depart(self) -> None:
        """None: each trip has its own departure."""
        return


class PlacesRequest(QueryOfUrl):
    """Places that a text may mean, as the query of a URL."""

    network: Name = "denver"
    text: Place = Field(
        description="As a driver writes it, with typing errors.", examples=["Walnt Stret & 33"]
    )
    most: Annotated[int, MOST_FOUND] = Field(default=8, description=MOST_FOUND.help)
