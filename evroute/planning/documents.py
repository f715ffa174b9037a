"""Plans and needs as JSON documents: the types that they are built from, and that services state.

Energies are in Wh, charges in per cent of the usable battery. A document has the fields of its type
and no others.
"""

from typing import Annotated, Literal, NotRequired

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from evroute.planning.charge.chargers import ChargingStop
from evroute.planning.plan import Street

Note = Annotated[
    str,
    Field(
        description="Origin of the belief's numbers, also where they are of other roads, in words. "
        "Empty without a belief."
    ),
]


@with_config(ConfigDict(extra="forbid"))
class Held(TypedDict):
    """Roads and turns whose energy was raised to the physical minimum."""

    arms: int
    wh: float


@with_config(
    ConfigDict(extra="allow", json_schema_extra={"additionalProperties": {"type": "number"}})
)
class Forecast(TypedDict, total=False):
    """Forecast of the energy of a trip, of its time, and of its charge where the request has one.

    A belief adds further numbers on its distribution.
    """

    mean_wh: float | None
    sd_wh: float | None
    low50_wh: float | None
    high50_wh: float | None
    low90_wh: float | None
    high90_wh: float | None
    mean_s: float | None
    sd_s: float | None
    low50_s: float | None
    high50_s: float | None
    low90_s: float | None
    high90_s: float | None
    trips: Annotated[int | None, Field(description="Number of trips of the belief.")]
    interval_90_wh: tuple[float, float] | None
    inflation: float | None
    physics_wh: Annotated[float | None, Field(description="Mean before any trip.")]
    arrival_soc_percent: float | None
    arrival_soc_interval_90_percent: tuple[float, float] | None
    arrives_above_reserve: Annotated[float | None, Field(description="Probability.")]
    never_below_reserve: Annotated[float | None, Field(description="Probability.")]
    supported_risk: Annotated[
        float | None, Field(description="Smallest risk that past trips can confirm.")
    ]


@with_config(ConfigDict(extra="forbid"))
class Forecasted(TypedDict):
    """Charges of a route, %, and its forecasts."""

    min_soc_percent: float | None
    arrival_soc_percent: float | None
    min_soc_edge: NotRequired[str | None]
    lost_wh: Annotated[
        NotRequired[float | None], Field(description="Regeneration into a full battery.")
    ]
    forecast: NotRequired[Forecast | None]


@with_config(ConfigDict(extra="forbid"))
class PlannedRoute(Forecasted):
    """One route of a plan."""

    edges: Annotated[list[str], Field(description="Ids of the network in driving order.")]
    start_m: Annotated[
        float, Field(description="Metres along the first edge where the route begins.")
    ]
    end_m: Annotated[float, Field(description="Metres along the last edge where the route ends.")]
    streets: list[Street]
    energy_wh: float
    parts_wh: Annotated[dict[str, float], Field(description="Energy by cause.")]
    length_m: float
    time_s: float
    ascent_m: float
    climb_m: Annotated[float, Field(description="As ascent_m, its name in earlier versions.")]
    descent_m: float
    held: Held
    stops: list[ChargingStop]
    arrival_time: Annotated[str | None, Field(description="HH:MM, with a departure.")]
    energy_cost: Annotated[float | None, Field(description="Money, with a price.")]
    cost: Annotated[float | None, Field(description="Money, with a price and a value of time.")]


@with_config(ConfigDict(extra="forbid"))
class Saving(TypedDict):
    """Expected saving with the uncertainty of the belief. The noise of single trips is left out."""

    mean_wh: float
    sd_wh: float
    interval_90_wh: tuple[float, float]
    told_apart: Annotated[bool, Field(description="Whether the interval leaves out 0.")]


@with_config(ConfigDict(extra="forbid"))
class Plan(TypedDict):
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
    chance: Annotated[
        float | None,
        Field(description="Probability that the recommended route keeps the reserve all the way."),
    ]
    outlook: Annotated[str, Field(description="The chance, and the charge on arrival, in words.")]
    saving: Annotated[
        Saving | None,
        Field(description="Of the recommended route against the fastest, by a belief."),
    ]
    safety: str
    verdict: str
    proof: str
    recommended: Annotated[str, Field(description="Name of the recommended route.")]
    proofs: dict[str, str]
    minutes_from: Literal["trips", "map"]
    assumed: Annotated[
        str, Field(description="Start, heating and day assumed, in words. May be empty.")
    ]
    note: Note
    routes: dict[str, PlannedRoute]


@with_config(ConfigDict(extra="forbid"))
class Unplanned(TypedDict):
    """A request among many that is not met."""

    error: str
    steps: Annotated[
        NotRequired[list[dict[str, float | bool]] | None],
        Field(description="As in the problem of a single plan."),
    ]


@with_config(ConfigDict(extra="forbid"))
class Ends(TypedDict):
    """Ids and names of the ends of a trip."""

    origin: str
    destination: str
    origin_name: str
    destination_name: str


@with_config(ConfigDict(extra="forbid"))
class NeedOfTrip(Ends):
    """One trip of a day, by its least-energy route."""

    energy_wh: Annotated[float, Field(description="Expected energy with the warm-up.")]


@with_config(ConfigDict(extra="forbid"))
class Needed(Ends):
    """The charge that a trip needs."""

    network: str
    vehicle: str
    reserve_percent: float
    p: float
    needed_percent: Annotated[
        int,
        Field(
            description="Least whole per cent at the start that keeps the reserve with "
            "probability p."
        ),
    ]
    needed_wh: float
    expected_percent: Annotated[
        float,
        Field(description="Least charge at the start that keeps the reserve by expected energies."),
    ]
    note: Note


@with_config(ConfigDict(extra="forbid"))
class NeededOfDay(TypedDict):
    """The charge that all trips of a day need together, without a charge between them."""

    network: str
    vehicle: str
    trips: list[NeedOfTrip]
    reserve_percent: float
    p: float
    needed_percent: Annotated[
        int,
        Field(
            description="Least whole per cent at the start of the day that keeps the reserve on "
            "all trips with probability p."
        ),
    ]
    needed_wh: float
    expected_percent: Annotated[
        float,
        Field(description="Least charge at the start that keeps the reserve by expected energies."),
    ]
    mean_wh: Annotated[float, Field(description="Expected energy of all trips.")]
    sd_wh: Annotated[
        float, Field(description="Standard deviation of the energy of all trips together.")
    ]
    note: Note


@with_config(ConfigDict(extra="forbid"))
class ChargeAhead(TypedDict):
    """The charge on the rest of a trip, per cent of the usable battery."""

    now_percent: float
    arrival_percent: float
    arrival_interval_90_percent: tuple[float, float]
    lowest_percent: float
    chance: Annotated[float, Field(description="Probability to keep the reserve to the end.")]


@with_config(ConfigDict(extra="forbid"))
class Ahead(TypedDict):
    """What is left of a trip, by the drive so far."""

    off_route: Annotated[bool, Field(description="Whether the rest was planned anew.")]
    driven_m: float
    left_m: float
    used_wh: Annotated[
        float | None, Field(description="Energy that was read. null where none was.")
    ]
    expected_wh: Annotated[
        float, Field(description="What was expected of that part at the departure.")
    ]
    left_wh: float
    left_interval_90_wh: tuple[float, float]
    left_s: float
    left_std_s: float
    charge: ChargeAhead | None
    stops: list[str]
    needless_stops: list[str]
    sentences: list[str]
