"""Forms: texts are read as their values, written again, and refused in one clause."""

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

from evroute.validation.forms import (
    Choice,
    Clock,
    Form,
    Number,
    Place,
    Places,
    Share,
    Truth,
    clock_s,
)
from evroute.validation.invalid import first_problem


class Asked(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    soc: Annotated[float | None, Number("Charge.", unit="%", least=0, most=100)] = None
    wind: Annotated[float, Number("Wind.", unit="m/s", least=0)] = 0.0
    price: Annotated[float | None, Number("Price.", above=0)] = None
    kept: Annotated[float, Number("Kept.", least=0.5, below=1)] = 0.9
    number: Annotated[int, Number("Number.", whole=True, least=0, most=5)] = 0
    risk: Annotated[float | None, Share("Risk.", above=0, most=0.5)] = None
    extra: Annotated[float | None, Share("Extra time.", least=0)] = None
    charge: Annotated[bool, Truth("Charge.")] = False
    depart: Annotated[str | None, Clock("Departure.")] = None
    search: Annotated[str, Choice("Rule.", names=("exact", "clamped"))] = "exact"
    origin: Annotated[str | None, Place("Origin.", name="from", longest=20)] = None
    via: Annotated[tuple[str, ...], Places("Stops.", most=2)] = ()
    car: Annotated[str | None, Form("Car.", longest=10)] = None


@pytest.mark.parametrize(
    ("field", "text", "value"),
    [
        ("soc", "40", 40.0),
        ("soc", "12.5", 12.5),
        ("wind", "0.1", 0.1),
        ("number", "3", 3),
        ("risk", "10%", 0.1),
        ("risk", "0.7%", 0.007),
        ("extra", "150%", 1.5),
        ("charge", "yes", True),
        ("depart", "08:15", "08:15"),
        ("search", "clamped", "clamped"),
        ("origin", "Blake & 17th", "Blake & 17th"),
        ("via", "a & b;c", ("a & b", "c")),
    ],
)
def test_a_text_is_read_and_written_again(field: str, text: str, value: Any) -> None:
    asked = Asked.model_validate({field: text})
    assert getattr(asked, field) == value
    assert asked == Asked.model_validate({field: value})
    (form,) = Asked.model_fields[field].metadata
    assert form.write(value) == text


@pytest.mark.parametrize("share", [0.1, 1 / 3, 0.007, 0.29, 2 / 7, 1.1, 0.1 + 0.2])
def test_a_share_is_written_so_that_it_is_read_to_the_last_digit(share: float) -> None:
    form = Share("A share.")
    assert form.read("share", form.write(share)) == share


@pytest.mark.parametrize("number", [0.1, 1 / 3, 1e-7, 123456789.123456, 0.1 + 0.2, 39.0])
def test_a_number_is_written_so_that_it_is_read_to_the_last_digit(number: float) -> None:
    form = Number("A number.")
    assert form.read("number", form.write(number)) == number


@pytest.mark.parametrize(
    ("values", "clause"),
    [
        ({"soc": 140}, "soc is 140 %. It must be from 0 to 100 %"),
        ({"soc": "140"}, "soc is 140 %. It must be from 0 to 100 %"),
        ({"soc": "full"}, "soc is 'full'. It must be a number from 0 to 100 %"),
        ({"soc": True}, "soc is True. It must be a number from 0 to 100 %"),
        ({"soc": float("nan")}, "soc is nan %. It must be from 0 to 100 %"),
        ({"soc": 10**5000}, "soc is an integer of 16,610 bits. It must be a number from 0 to"),
        ({"wind": -1}, "wind is -1 m/s. It must be 0 m/s or more"),
        ({"wind": "x"}, "wind is 'x'. It must be a number of 0 m/s or more"),
        ({"price": 0}, "price is 0. It must be above 0"),
        ({"price": "0,35"}, "price is '0,35'. It must be a number above 0"),
        ({"kept": 1}, "kept is 1. It must be 0.5 or more and below 1"),
        ({"kept": "0.4"}, "kept is 0.4. It must be 0.5 or more and below 1"),
        ({"number": 2.5}, "number is 2.5. It must be a whole number from 0 to 5"),
        ({"number": 6}, "number is 6. It must be from 0 to 5"),
        ({"risk": "60%"}, "risk is 60 %. It must be above 0 % and at most 50 %"),
        ({"risk": 0.6}, "risk is 60 %. It must be above 0 % and at most 50 %"),
        ({"risk": "10"}, "risk is '10'. It must be a share such as 10% or 0.1"),
        ({"extra": "-5%"}, "extra is -5 %. It must be 0 % or more"),
        ({"charge": "maybe"}, "charge is 'maybe'. It must be one of yes, true, no, false"),
        ({"depart": "24:00"}, "depart is '24:00'. It must be a time of day as HH:MM"),
        ({"search": "best"}, "unknown search 'best'. There are exact, clamped"),
        ({"origin": 5}, "5 is no edge id or place. Give ids as text"),
        ({"origin": "x" * 21}, "from is 'xxxxxxxxxxxxxxxxxxxxx'. It must be a text of at most 20"),
        ({"via": ["a", "b", "c"]}, "via is a list of 3. It must be of at most 2"),
        ({"via": 5}, "via is 5. It must be a list of places"),
        ({"sock": 1}, "unknown key 'sock'. Known: soc"),
    ],
)
def test_a_refused_value_is_one_clause(values: dict[str, Any], clause: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Asked.model_validate(values)
    assert first_problem(caught.value, Asked.model_fields).startswith(clause)


def test_the_schema_has_range_and_sentence() -> None:
    fields = Asked.model_json_schema()["properties"]
    assert fields["soc"]["anyOf"][0] == {"type": "number", "minimum": 0, "maximum": 100}
    assert fields["price"]["anyOf"][0] == {"type": "number", "exclusiveMinimum": 0}
    assert (fields["kept"]["minimum"], fields["kept"]["exclusiveMaximum"]) == (0.5, 1)
    assert fields["number"] | {"maximum": 5, "type": "integer"} == fields["number"]
    assert fields["via"]["maxItems"] == 2
    assert fields["search"]["enum"] == ["exact", "clamped"]
    assert all(fields[name]["description"].endswith(".") for name in fields)


def test_seconds_of_a_time_of_day() -> None:
    assert clock_s("08:15") == 8 * 3600 + 15 * 60
