"""Answers of the service as types of the OpenAPI document.

The fields of a plan equal those in ``evroute route --json`` (`planning.answers.document`). Energies
are in Wh, charges in per cent of the usable battery.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from evroute.planning.charge.chargers import ChargingStop
from evroute.planning.plan import Street


class Answer(BaseModel):
    """A JSON object with these fields and no others."""

    model_config = ConfigDict(extra="forbid")


class Problem(Answer):
    """The first problem of a request that is not met."""

    detail: str = Field(description="One line: got, expected, what to do.")
    start_percent: int | None = Field(
        default=None, description="Least charge at the start with which the trip succeeds, %."
    )
    steps: list[dict[str, float | bool]] | None = Field(
        default=None,
        description="Changes of a plan, as values by field, after each of which a plan was found.",
    )
    id: str | None = Field(default=None, description="Id of an internal error in the log.")


class Health(Answer):
    """A service that answers."""

    status: Literal["ok"]
    version: str


class Networks(Answer):
    """Names of networks."""

    networks: list[str]


class Vehicles(Answer):
    """Names of vehicles."""

    vehicles: list[str]


class Held(Answer):
    """Roads and turns whose energy was raised to the physical minimum."""

    arms: int
    wh: float


class Forecast(Answer):
    """Forecast of the energy of a trip, of its time, and of its charge where the request has one.

    A belief adds further numbers on its distribution.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, float]

    mean_wh: float | None = None
    sd_wh: float | None = None
    low50_wh: float | None = None
    high50_wh: float | None = None
    low90_wh: float | None = None
    high90_wh: float | None = None
    mean_s: float | None = None
    sd_s: float | None = None
    low50_s: float | None = None
    high50_s: float | None = None
    low90_s: float | None = None
    high90_s: float | None = None
    trips: int | None = Field(default=None, description="Number of trips of the belief.")
    interval_90_wh: tuple[float, float] | None = None
    inflation: float | None = None
    physics_wh: float | None = Field(default=None, description="Mean before any trip.")
    arrival_soc_percent: float | None = None
    arrival_soc_interval_90_percent: tuple[float, float] | None = None
    arrives_above_reserve: float | None = Field(default=None, description="Probability.")
    never_below_reserve: float | None = Field(default=None, description="Probability.")
    supported_risk: float | None = Field(
        default=None, description="Smallest risk that past trips can confirm."
    )


class PlannedRoute(Answer):
    """One route of a plan."""

    edges: list[str] = Field(description="Ids of the network in driving order.")
    start_m: float = Field(description="Metres along the first edge where the route begins.")
    end_m: float = Field(description="Metres along the last edge where the route ends.")
    streets: list[Street]
    energy_wh: float
    parts_wh: dict[str, float] = Field(description="Energy by cause.")
    length_m: float
    time_s: float
    ascent_m: float
    climb_m: float = Field(description="As ascent_m, its name in earlier versions.")
    descent_m: float
    held: Held
    stops: list[ChargingStop]
    min_soc_percent: float | None
    min_soc_edge: str | None = None
    arrival_soc_percent: float | None
    lost_wh: float | None = Field(default=None, description="Regeneration into a full battery.")
    forecast: Forecast | None = None
    arrival_time: str | None = Field(description="HH:MM, with a departure.")
    energy_cost: float | None = Field(description="Money, with a price.")
    cost: float | None = Field(description="Money, with a price and a value of time.")


class Saving(Answer):
    """Expected saving with the uncertainty of the belief. The noise of single trips is left out."""

    mean_wh: float
    sd_wh: float
    interval_90_wh: tuple[float, float]
    told_apart: bool = Field(description="Whether the interval leaves out 0.")


class Plan(Answer):
    """A planned trip: routes by name, one of them recommended."""

    network: str
    vehicle: str
    search: str
    origin: str
    destination: str
    via: list[str]
    origin_name: str
    destination_name: str
    via_names: list[str]
    start_soc_percent: float | None
    reserve_percent: float | None
    risk: float | Literal["mean"] | None
    chance: float | None = Field(
        description="Probability that the recommended route keeps the reserve all the way."
    )
    outlook: str = Field(description="The chance, and the charge on arrival, in words.")
    saving: Saving | None = Field(
        description="Of the recommended route against the fastest, by a belief."
    )
    safety: str
    verdict: str
    proof: str
    recommended: str = Field(description="Name of the recommended route.")
    proofs: dict[str, str]
    minutes_from: Literal["trips", "map"]
    assumed: str = Field(description="Start, heating and day assumed, in words. May be empty.")
    note: str = Field(
        description="Origin of the belief's numbers, also where they are of other roads, in words. "
        "Empty without a belief."
    )
    routes: dict[str, PlannedRoute]


class Unplanned(Answer):
    """A request among many that is not met."""

    error: str
    steps: list[dict[str, float | bool]] | None = Field(
        default=None, description="As in the problem of a single plan."
    )


class Plans(Answer):
    """Plans in the order of their requests."""

    plans: list[Plan | Unplanned]


class LearnedTrips(Answer):
    """Outcome of a table of trips, which is on the disk."""

    new: int
    known: int = Field(description="Number of trips that were learned before.")
    skipped: dict[str, str] = Field(description="Trips set aside, with the reason.")


class Belief(Answer):
    """A learned belief."""

    name: str
    network: str
    vehicle: str
    trips: int
    note: str
    findings: list[str] = Field(description="Errors, intervals and coefficients in sentences.")


class Within(Answer):
    """Roads at whose end the charge is above the reserve with a probability."""

    probability: float
    roads: int
    length_m: float


class Range(Answer):
    """The roads within reach of a charge."""

    network: str
    vehicle: str
    origin: str = Field(description="Id of an edge that trips begin with.")
    start_soc_percent: float
    reserve_percent: float
    risk: float | Literal["mean"]
    roads: int = Field(description="Number of roads within reach.")
    of_roads: int = Field(description="Number of roads of the network.")
    length_m: float
    extent_m: float = Field(description="Distance to the farthest road, as the crow flies.")
    levels: list[Within]
    edges: list[str] | None = Field(description="Ids of the roads within reach, on request.")
    note: str = Field(
        description="Origin of the belief's numbers, also where they are of other roads, in words. "
        "Empty without a belief."
    )


class Matrix(Answer):
    """Numbers of the routes: a row for each origin, null without a route.

    The last three are null where they were not asked for.
    """

    network: str
    vehicle: str
    origins: list[str]
    destinations: list[str]
    energy_wh: list[list[float | None]]
    time_s: list[list[float | None]]
    length_m: list[list[float | None]]
    sd_wh: list[list[float | None]] | None = Field(
        description="Standard deviation of the energy of a trip."
    )
    limited: list[list[bool]] | None = Field(
        description="Whether a limit of the recommendation binds, so that the pair was planned "
        "singly."
    )
    reduced_dwh: list[list[int | None]] | None = Field(
        description="Reduced energies, whole tenths of a Wh and at least 0, with the sum of the "
        "signed ones over closed tours."
    )
    warm_up_wh: float | None = Field(
        description="With reduced energies, the warm-up of a tour, Wh, which no pair has."
    )


class FoundPlace(Answer):
    """A place that a text may mean."""

    label: str
    kind: Literal["crossing", "place", "station", "road", "coordinates"]
    text: str = Field(description="Its name in requests.")


class Places(Answer):
    """Places that a text may mean, the likeliest first."""

    places: list[FoundPlace]


class Needed(Answer):
    """The charge that a trip needs."""

    network: str
    vehicle: str
    origin: str
    destination: str
    origin_name: str
    destination_name: str
    reserve_percent: float
    p: float
    needed_percent: int = Field(
        description="Least whole per cent at the start that keeps the reserve with probability p."
    )
    needed_wh: float
    expected_percent: float = Field(
        description="Least charge at the start that keeps the reserve by expected energies."
    )
    note: str = Field(
        description="Origin of the belief's numbers, also where they are of other roads, in words. "
        "Empty without a belief."
    )


class NeedOfTrip(Answer):
    """One trip of a day, by its least-energy route."""

    origin: str
    destination: str
    origin_name: str
    destination_name: str
    energy_wh: float = Field(description="Expected energy with the warm-up.")


class NeededOfDay(Answer):
    """The charge that all trips of a day need together, without a charge between them."""

    network: str
    vehicle: str
    trips: list[NeedOfTrip]
    reserve_percent: float
    p: float
    needed_percent: int = Field(
        description="Least whole per cent at the start of the day that keeps the reserve on all "
        "trips with probability p."
    )
    needed_wh: float
    expected_percent: float = Field(
        description="Least charge at the start that keeps the reserve by expected energies."
    )
    mean_wh: float = Field(description="Expected energy of all trips.")
    sd_wh: float = Field(description="Standard deviation of the energy of all trips together.")
    note: str = Field(
        description="Origin of the belief's numbers, also where they are of other roads, in words. "
        "Empty without a belief."
    )
