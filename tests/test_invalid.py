"""Clauses of validation errors, by hand."""

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from evroute.validation.invalid import first_problem


class Car(BaseModel):
    model_config = ConfigDict(extra="forbid")
    mass_kg: float = Field(gt=0)
    seats: list[int] = Field(default=[1], min_length=1, max_length=5)
    flying: int | bool = Field(default=0)

    @field_validator("mass_kg")
    @classmethod
    def _light(cls, value: float) -> float:
        if value > 3500:
            raise ValueError("at most 3,500 kg")
        return value


@pytest.mark.parametrize(
    ("car", "clause"),
    [
        ({}, "mass_kg is missing"),
        ({"mass_kg": -1}, "mass_kg is -1. It must be greater than 0"),
        ({"mass_kg": 1, "wheels": 4}, "unknown key 'wheels'. Known: mass_kg, seats, flying"),
        ({"mass_kg": 1, "seat": [4]}, "unknown key 'seat'. Known: seats"),
        ({"mass_kg": 1, "seats": []}, "seats has 0 items. Give at least 1"),
        ({"mass_kg": 1, "seats": [1] * 6}, "seats has 6 items. Give at most 5"),
        ({"mass_kg": 1, "seats": [1, "x"]}, "seats.1 is 'x'. It must be a valid integer"),
        ({"mass_kg": 9999}, "mass_kg: at most 3,500 kg"),
    ],
)
def test_the_clause_names_field_value_and_remedy(car, clause) -> None:
    with pytest.raises(ValidationError) as caught:
        Car.model_validate(car)
    assert first_problem(caught.value, Car.model_fields).startswith(clause)
