"""Fields that requests share, and the model that reads them from texts.

A request is a pydantic model whose fields have forms (`evroute.validation.forms`). Options of
commands, columns of tables and page addresses are made of these forms.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationError,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import core_schema

from evroute.energy import defaults
from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import Vehicle
from evroute.errors import EvrouteError, UnknownNameError
from evroute.validation.forms import Clock, Form, Number, Place, Share, clock_s, forms_of, refused
from evroute.validation.invalid import UNKNOWN_NAME, first_problem

CONDITIONS = "conditions"
MEAN = "mean"
"""A risk that is not limited: plans go by expected energies."""
PROMISE = 0.1
"""Risk of plans with a charge that name none: nine trips of ten keep the reserve."""
Risk = float | Literal["mean"]
CHARGER = "charger"
"""A charge at the end that reaches a charging station."""
ORIGIN = Place(
    "Origin: a name such as 'Blake Street & 17th Street', LAT,LON, or an edge id.",
    name="from",
    metavar="PLACE",
)
DESTINATION = Place("Destination, written likewise.", name="to", metavar="PLACE")
VEHICLE = Form(
    f"A vehicle of 'evroute vehicle list', or a .toml file. [the belief's, or {defaults.VEHICLE}]",
    longest=4096,
)
CAR = Form(
    "A car of the belief's fleet, whose own consumption counts. Without it, a car without trips. "
    "Needs a belief.",
    longest=200,
)
DEPART = Clock(
    "Time of departure, on the clock of the learned trips: shows times of arrival, and selects the "
    "speeds that a belief learned in its quarter of the day.",
    metavar="HH:MM",
)
SOC = Number("Charge at the start, % of the usable battery.", unit="%", least=0, most=100)
RESERVE = Number("Lowest allowed charge, %. Needs --soc. [0]", unit="%", least=0, most=100)
VehicleField = Annotated[
    str | Vehicle | None, VEHICLE, WithJsonSchema({"type": ["string", "null"]})
]


@dataclass(frozen=True, slots=True)
class Arrival(Form):
    """A charge at the end, %, or the word ``charger``: enough to reach a charging station."""

    def read(self, name: str, value: Any) -> Any:
        """Return a charge from 0 to 100 %, or ``charger``."""
        if value == CHARGER:
            return value
        try:
            percent = float(value)
        except (TypeError, ValueError, OverflowError):
            percent = math.nan
        odd = isinstance(value, str) and "_" in value
        if isinstance(value, bool) or odd or not 0 <= percent <= 100:
            raise refused(name, value, f"a charge from 0 to 100 %, or '{CHARGER}'")
        return percent

    def write(self, value: Any) -> str:
        """Return the text from which `read` returns the value."""
        return value if isinstance(value, str) else Number("").write(value)

    @property
    def limits(self) -> dict[str, Any]:
        """Keywords of the JSON schema."""
        return {"minimum": 0, "maximum": 100}


@dataclass(frozen=True, slots=True)
class RiskForm(Share):
    """A limit of risk: a share in (0, 50 %], or the word ``mean``. None is `PROMISE`."""

    def read(self, name: str, value: Any) -> Any:
        """Return a share, or ``mean``."""
        if value is None:
            return PROMISE
        return value if value == MEAN else Share.read(self, name, value)

    def write(self, value: Any) -> str:
        """Return the text from which `read` returns the value."""
        return MEAN if value == MEAN else Share.write(self, value)

    @property
    def text(self) -> str:
        """A text that is read, in words."""
        return "a share such as 10% or 0.1, or 'mean'"

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        """Return the schema that reads texts and null before it checks the type."""
        name = self.name or str(handler.field_name)
        return core_schema.no_info_before_validator_function(
            lambda value: self.read(name, value), handler(source)
        )

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Return the JSON schema, in which null is the default."""
        made = Share.__get_pydantic_json_schema__(self, schema, handler)
        return made | {"anyOf": [*made["anyOf"], {"type": "null"}]}


RISK = RiskForm(
    "Greatest probability of ever falling below the reserve, or 'mean' to plan by expected "
    "energies alone. Counts with --soc, without --belief by the uncertainty of physics.",
    metavar="SHARE|mean",
    above=0,
    most=0.5,
)


class Request(BaseModel):
    """A value whose fields have forms. A number may be given as text, a share as ``"10%"``.

    Raises
    ------
    EvrouteError
        If a value is out of its range, or values contradict each other.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    subject: ClassVar[str] = "a request"
    """Words of messages for the request."""

    def __init__(self, /, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            unknown = error.errors()[0]["type"] == UNKNOWN_NAME
            kind = UnknownNameError if unknown else EvrouteError
            raise kind(first_problem(error, self.keys())) from None

    @classmethod
    def keys(cls) -> list[str]:
        """Return the names of the fields, then the names of the conditions."""
        day = DrivingConditions.__dataclass_fields__ if CONDITIONS in cls.model_fields else {}
        return list(cls.model_fields) + [f"{CONDITIONS}.{name}" for name in day]

    @classmethod
    def from_texts(cls, texts: Mapping[str, Any]) -> Self:
        """Return the request of texts by name, as options, cells and addresses have them.

        Parameters
        ----------
        texts
            Text by the name of its form. Values of None are left out.

        Raises
        ------
        EvrouteError
            If there is no such name, and as for the class.
        """
        values: dict[str, Any] = {}
        day: dict[str, Any] = {}
        known = entries_of(cls)
        for name, text in texts.items():
            entry = known.get(name)
            if entry is None:
                raise EvrouteError(
                    f"there is no '{name}' of {cls.subject}. There are {', '.join(known)}"
                )
            if text is not None:
                (day if entry.of_day else values)[entry.field] = text
        return cls(**values, **({CONDITIONS: day} if day else {}))

    def texts(self) -> dict[str, str]:
        """Return the texts of the values that are not the default, by name."""
        found = {}
        for name, entry in entries_of(type(self)).items():
            value = getattr(getattr(self, CONDITIONS) if entry.of_day else self, entry.field)
            if value != entry.default:
                value = value.name if isinstance(value, Vehicle) else value
                found[name] = entry.form.write(value)
        return found

    @model_validator(mode="after")
    def _without_contradiction(self) -> Self:
        for problem in self._contradictions():
            raise ValueError(problem)
        return self

    def _contradictions(self) -> Iterator[str]:
        """Yield clauses on values that contradict each other."""
        day: DrivingConditions = getattr(self, CONDITIONS, DrivingConditions())
        if day.wind_from_deg and not day.wind_mps:
            yield "wind_from needs a wind speed: wind (m/s)"

    def __repr_args__(self) -> Iterator[tuple[str, Any]]:
        """Yield the fields that are not the default, for a text of one line."""
        for name, about in type(self).model_fields.items():
            if (value := getattr(self, name)) != about.default:
                yield name, value

    @field_validator("vehicle", mode="before", check_fields=False)
    @classmethod
    def _path_as_text(cls, value: Any) -> Any:
        return str(value) if isinstance(value, Path) else value


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
        Its form, and its value where none is given, or None for a field without a default.
    """

    field: str
    of_day: bool
    form: Form
    default: Any


@cache
def entries_of(model: type[Request]) -> dict[str, Entry]:
    """Return the fields that have a form, by their name in texts. Fields of a day come last."""
    found = {}
    day: Mapping[str, Any] = DrivingConditions.__pydantic_fields__  # type: ignore[attr-defined]
    for fields, of_day in ((model.model_fields, False), (day, True)):
        for field, about in fields.items():
            for form in forms_of(about.metadata):
                default = None if about.is_required() else about.default
                found[form.name or field] = Entry(field, of_day, form, default)
    return found


def day_of(conditions: DrivingConditions, depart: str | None) -> DrivingConditions:
    """Return the conditions of a day at a departure ``HH:MM``. None keeps their own."""
    return conditions if depart is None else replace(conditions, departed_s=clock_s(depart))
