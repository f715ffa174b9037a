"""Forms of fields: one declaration of a field for models, options, columns and page addresses.

A `Form` among the annotations of a pydantic field states its name in texts, its sentence and its
range. It reads the text of an option or a cell, writes it again, and states in one clause why a
value is refused. The clause is the same wherever the value comes from.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import PydanticCustomError, core_schema

from evroute.validation.invalid import SENTENCE, UNKNOWN_NAME, shown

_CLOCK = re.compile(r"([01][0-9]|2[0-3]|[0-9]):[0-5][0-9]", re.ASCII)
_TRUTHS = {"yes": True, "true": True, "no": False, "false": False}


def refused(name: str, value: object, expected: str) -> PydanticCustomError:
    """Return the error of a value that is not as expected, in one clause.

    Parameters
    ----------
    name
        Name of the field in texts.
    value
        The value.
    expected
        Words after "it must be".
    """
    clause = f"{name} is {shown(value)}. It must be {expected}"
    return PydanticCustomError(SENTENCE, "{clause}", {"clause": clause})


@dataclass(frozen=True, slots=True)
class Form:
    """A text.

    Parameters
    ----------
    help
        Sentence on the field.
    name
        Name in texts. The name of the field if empty. Options write ``_`` as ``-``.
    metavar
        Value in the help of an option.
    longest
        Greatest number of characters.
    """

    help: str
    name: str = ""
    metavar: str = ""
    longest: int = 200

    def read(self, name: str, value: Any) -> Any:
        """Return a value, read from its text if need be. Other types are left to pydantic.

        Parameters
        ----------
        name
            Name of the field in texts.
        value
            Value or text.

        Raises
        ------
        PydanticCustomError
            If it is refused.
        """
        if isinstance(value, str) and len(value) > self.longest:
            raise refused(name, value, f"a text of at most {self.longest} characters")
        return value

    def write(self, value: Any) -> str:
        """Return the text from which `read` returns the value."""
        return str(value)

    @property
    def range(self) -> str:
        """Range of the numbers, as the help of an option has it. Empty without a range."""
        return ""

    @property
    def limits(self) -> dict[str, Any]:
        """Keywords of the JSON schema."""
        return {"maxLength": self.longest}

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        """Return the schema that reads texts before it checks the type."""
        name = self.name or str(handler.field_name)
        return core_schema.no_info_before_validator_function(
            lambda value: None if value is None else self.read(name, value), handler(source)
        )

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Return the JSON schema with the limits and the sentence."""
        made = handler(schema)
        branch = next((each for each in made.get("anyOf", ()) if each.get("type") != "null"), made)
        branch |= self.limits
        return made | {"description": self.help}


@dataclass(frozen=True, slots=True)
class Place(Form):
    """A place: a name, ``"lat,lon"`` or an edge id."""

    longest: int = 2000

    def read(self, name: str, value: Any) -> Any:
        """Return the text of a place."""
        if not isinstance(value, str):
            clause = f"{shown(value)} is no edge id or place. Give ids as text, such as '12'"
            raise PydanticCustomError(SENTENCE, "{clause}", {"clause": clause})
        return Form.read(self, name, value)


@dataclass(frozen=True, slots=True)
class Number(Form):
    """A number.

    Parameters
    ----------
    unit
        Unit in messages.
    least, most, above, below
        Range: at least, at most, more than, and less than.
    whole
        Whether it is an integer.
    """

    unit: str = ""
    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    whole: bool = False

    def read(self, name: str, value: Any) -> Any:
        """Return a number, read from its text if need be."""
        number = self.number(name, value)
        low = self.least is not None and number < self.least
        low |= self.above is not None and number <= self.above
        high = self.most is not None and number > self.most
        high |= self.below is not None and number >= self.below
        if low or high or not math.isfinite(number):
            raise refused(name, _Shown(self.shown(number)), self.expected)
        return int(number) if self.whole else number

    def number(self, name: str, value: Any) -> float:
        """Return a number, read from its text if need be, before its range is checked.

        Parameters
        ----------
        name
            Name of the field in texts.
        value
            Number or text.
        """
        kind = f"{'a whole number' if self.whole else 'a number'} {self.words}".rstrip()
        if isinstance(value, bool) or not _is_plain(value):
            raise refused(name, value, kind)
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            raise refused(name, value, kind) from None
        if self.whole and number != round(number if math.isfinite(number) else 0):
            raise refused(name, value, kind)
        return number

    def shown(self, number: float) -> str:
        """Return a number with its unit."""
        return f"{number:.15g} {self.unit}".rstrip()

    def write(self, value: Any) -> str:
        """Return the number in the fewest digits that are read as the same number."""
        return f"{value:.15g}" if float(f"{value:.15g}") == value else repr(float(value))

    @property
    def words(self) -> str:
        """Range in words, or empty without one."""
        if self.above is not None:
            start = f"above {self.shown(self.above)}"
            return start if self.most is None else f"{start} and at most {self.shown(self.most)}"
        if self.least is None:
            return ""
        if self.below is not None:
            return f"of {self.shown(self.least)} or more and below {self.shown(self.below)}"
        if self.most is None:
            return f"of {self.shown(self.least)} or more"
        return f"from {self.write(self.least)} to {self.shown(self.most)}"

    @property
    def expected(self) -> str:
        """The range that a number must be in."""
        return self.words.removeprefix("of ") or "a finite number"

    @property
    def range(self) -> str:
        """Range as the help of an option has it, if it has two ends."""
        if self.least is None or (self.most is None and self.below is None):
            return ""
        end = f"<={self.most:g}" if self.below is None else f"<{self.below:g}"
        return f"{self.least:g}<=x{end}"

    @property
    def limits(self) -> dict[str, Any]:
        """Keywords of the JSON schema."""
        ends = {
            "minimum": self.least,
            "maximum": self.most,
            "exclusiveMinimum": self.above,
            "exclusiveMaximum": self.below,
        }
        return {name: end for name, end in ends.items() if end is not None}


@dataclass(frozen=True, slots=True)
class Share(Number):
    """A share: the number 0.1, or the text ``10%`` or ``0.1``."""

    def number(self, name: str, value: Any) -> float:
        """Return a share, read from its text if need be, before its range is checked."""
        if not isinstance(value, str):
            return Number.number(self, name, value)
        percent = value.strip().endswith("%")
        try:
            if not _is_plain(value):
                raise ValueError(value)
            share = float(Decimal(value.strip().removesuffix("%")) / (100 if percent else 1))
        except (ArithmeticError, ValueError):
            share = math.nan
        if math.isnan(share) or (share > 1 and not percent):
            raise refused(name, value, self.text)
        return share

    @property
    def text(self) -> str:
        """A text that is read, in words."""
        return "a share such as 10% or 0.1"

    def shown(self, number: float) -> str:
        """Return a share in per cent."""
        return f"{100 * number:.6g} %"

    def write(self, value: Any) -> str:
        """Return the share in per cent, with all its digits."""
        return f"{(100 * Decimal(repr(float(value)))).normalize():f}%"


@dataclass(frozen=True, slots=True)
class Choice(Form):
    """One of some names.

    Parameters
    ----------
    names
        The names.
    """

    names: tuple[str, ...] = ()

    def read(self, name: str, value: Any) -> Any:
        """Return a known name."""
        if value not in self.names:
            clause = f"unknown {name} {shown(value)}. There are {', '.join(self.names)}"
            raise PydanticCustomError(UNKNOWN_NAME, "{clause}", {"clause": clause})
        return value

    @property
    def limits(self) -> dict[str, Any]:
        """Keywords of the JSON schema."""
        return {"enum": list(self.names)}


@dataclass(frozen=True, slots=True)
class Truth(Form):
    """Yes or no."""

    def read(self, name: str, value: Any) -> Any:
        """Return a truth, read from ``yes``, ``true``, ``no`` or ``false`` if need be."""
        known = value if isinstance(value, bool) else _TRUTHS.get(str(value).lower())
        if known is None:
            raise refused(name, value, f"one of {', '.join(_TRUTHS)}")
        return known

    def write(self, value: Any) -> str:
        """Return yes or no."""
        return "yes" if value else "no"

    @property
    def limits(self) -> dict[str, Any]:
        """Keywords of the JSON schema."""
        return {}


@dataclass(frozen=True, slots=True)
class Clock(Form):
    """A time of day, ``HH:MM``."""

    def read(self, name: str, value: Any) -> Any:
        """Return a time of day without blanks around it."""
        text = value.strip() if isinstance(value, str) else value
        if not (isinstance(text, str) and _CLOCK.fullmatch(text)):
            raise refused(name, value, "a time of day as HH:MM, such as 08:15")
        return text

    @property
    def limits(self) -> dict[str, Any]:
        """Keywords of the JSON schema."""
        return {"maxLength": len("HH:MM")}


@dataclass(frozen=True, slots=True)
class Date(Form):
    """A day, ``YYYY-MM-DD``."""

    def read(self, name: str, value: Any) -> Any:
        """Return a day without blanks around it."""
        text = value.strip() if isinstance(value, str) else value
        try:
            known = isinstance(text, str) and date.fromisoformat(text).isoformat() == text
        except ValueError:
            known = False
        if not known:
            raise refused(name, value, "a day as YYYY-MM-DD, such as 2026-01-31")
        return text

    @property
    def limits(self) -> dict[str, Any]:
        """Keywords of the JSON schema."""
        return {"maxLength": len("YYYY-MM-DD")}


@dataclass(frozen=True, slots=True)
class Places(Place):
    """Several places, with ``;`` between them in one text.

    Parameters
    ----------
    most
        Greatest number of places.
    """

    most: int = 100

    def read(self, name: str, value: Any) -> Any:
        """Return a tuple of places, with one place for a single text."""
        if isinstance(value, str):
            value = [part.strip() for part in value.split(";") if part.strip()]
        if not isinstance(value, Sequence):
            raise refused(name, value, "a list of places")
        if len(value) > self.most:
            raise refused(name, _Shown(f"a list of {len(value)}"), f"of at most {self.most}")
        return tuple(Place.read(self, name, part) for part in value)

    def write(self, value: Any) -> str:
        """Return one text."""
        return ";".join(map(str, value))

    @property
    def limits(self) -> dict[str, Any]:
        """Keywords of the JSON schema."""
        return {"maxItems": self.most}


def _is_plain(value: Any) -> bool:
    """Return whether a value is no text with digits that Python alone reads, as in 1_000."""
    return not isinstance(value, str) or (value.isascii() and "_" not in value)


class _Shown:
    """A value that messages show as it is written."""

    def __init__(self, written: str) -> None:
        self.written = written

    def __repr__(self) -> str:
        """Return the text."""
        return self.written


def clock_s(text: str) -> float:
    """Return a time of day ``HH:MM`` as seconds since midnight."""
    hours, minutes = text.split(":")
    return 3600.0 * int(hours) + 60.0 * int(minutes)


def forms_of(annotations: Sequence[Any]) -> Iterator[Form]:
    """Yield the forms among the annotations of a field."""
    return (each for each in annotations if isinstance(each, Form))
