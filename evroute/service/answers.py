"""Answers of the service: the types that they are built from, beside plans and needs.

Those of a plan are `planning.documents`, as ``evroute route --json`` prints them. Energies are in
Wh, charges in per cent of the usable battery.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, with_config
from typing_extensions import TypedDict

from evroute.planning.documents import Note, Plan, Unplanned


class Problem(BaseModel):
    """The first problem of a request that is not met."""

    model_config = ConfigDict(extra="forbid")

    detail: str = Field(description="One line: got, expected, what to do.")
    start_percent: int | None = Field(
        default=None, description="Least charge at the start with which the trip succeeds, %."
    )
    steps: list[dict[str, float | bool]] | None = Field(
        default=None,
        description="Changes of a plan, as values by field, after each of which a plan was found.",
    )
    id: str | None = Field(default=None, description="Id of an internal error in the log.")


@with_config(ConfigDict(extra="forbid"))
class Health(TypedDict):
    """A service that answers."""

    status: Literal["ok"]
    version: str


@with_config(ConfigDict(extra="forbid"))
class Networks(TypedDict):
    """Names of networks."""

    networks: list[str]


@with_config(ConfigDict(extra="forbid"))
class Vehicles(TypedDict):
    """Names of vehicles."""

    vehicles: list[str]


@with_config(ConfigDict(extra="forbid"))
class Plans(TypedDict):
    """Plans in the order of their requests."""

    plans: list[Plan | Unplanned]


@with_config(ConfigDict(extra="forbid"))
class LearnedTrips(TypedDict):
    """Outcome of a table of trips, which is on the disk."""

    new: int
    known: Annotated[int, Field(description="Number of trips that were learned before.")]
    skipped: Annotated[dict[str, str], Field(description="Trips set aside, with the reason.")]


@with_config(ConfigDict(extra="forbid"))
class Belief(TypedDict):
    """A learned belief."""

    name: str
    network: str
    vehicle: str
    trips: int
    note: str
    findings: Annotated[
        list[str], Field(description="Errors, intervals and coefficients in sentences.")
    ]


@with_config(ConfigDict(extra="forbid"))
class Roads(TypedDict):
    """Some roads."""

    roads: int
    length_m: float


@with_config(ConfigDict(extra="forbid"))
class Within(Roads):
    """Roads at whose end the charge is above the reserve with a probability."""

    probability: float


@with_config(ConfigDict(extra="forbid"))
class Range(TypedDict):
    """The roads within reach of a charge."""

    network: str
    vehicle: str
    origin: Annotated[str, Field(description="Id of an edge that trips begin with.")]
    start_soc_percent: float
    reserve_percent: float
    risk: float | Literal["mean"]
    roads: Annotated[int, Field(description="Number of roads within reach.")]
    of_roads: Annotated[int, Field(description="Number of roads of the network.")]
    length_m: float
    extent_m: Annotated[
        float, Field(description="Distance to the farthest road, as the crow flies.")
    ]
    levels: list[Within]
    edges: Annotated[
        list[str] | None, Field(description="Ids of the roads within reach, on request.")
    ]
    note: Note


@with_config(ConfigDict(extra="forbid"))
class Matrix(TypedDict):
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
    sd_wh: Annotated[
        list[list[float | None]] | None,
        Field(description="Standard deviation of the energy of a trip."),
    ]
    limited: Annotated[
        list[list[bool]] | None,
        Field(
            description="Whether a limit of the recommendation binds, so that the pair was planned "
            "singly."
        ),
    ]
    reduced_dwh: Annotated[
        list[list[int | None]] | None,
        Field(
            description="Reduced energies, whole tenths of a Wh and at least 0, with the sum of "
            "the signed ones over closed tours."
        ),
    ]
    warm_up_wh: Annotated[
        float | None,
        Field(description="With reduced energies, the warm-up of a tour, Wh, which no pair has."),
    ]


@with_config(ConfigDict(extra="forbid"))
class FoundPlace(TypedDict):
    """A place that a text may mean."""

    label: str
    kind: Literal["crossing", "place", "station", "road", "coordinates"]
    text: Annotated[str, Field(description="Its name in requests.")]


@with_config(ConfigDict(extra="forbid"))
class Places(TypedDict):
    """Places that a text may mean, the likeliest first."""

    places: list[FoundPlace]
