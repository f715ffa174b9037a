"""Options of models, indices and worlds: a field, a default, a range and a sentence for each."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from evroute.errors import EvrouteError
from evroute.validation.invalid import first_problem

_WORDS = {"number": "a number", "integer": "an integer", "boolean": "true or false", "null": "none"}
_SIGNS = {"exclusiveMinimum": ">", "minimum": ">=", "exclusiveMaximum": "<", "maximum": "<="}


class Options(BaseModel):
    """Frozen options. A subclass declares one field for each."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class PartOptions(Options):
    """Options of a model or an index, which `build` returns.

    The first docstring line of a subclass describes the model or index in lists.
    """

    label: ClassVar[str]
    """Name in reports."""
    short: ClassVar[Mapping[str, str]] = {}
    """Abbreviations of options in file names. The others are written in full."""

    @classmethod
    def checked(cls, values: Mapping[str, Any]) -> Self:
        """Return the options with these values. Names that are no option are ignored.

        Raises
        ------
        EvrouteError
            If a value is of another type or out of its range. The message names the range.
        """
        try:
            return cls(**{name: values[name] for name in cls.model_fields if name in values})
        except ValidationError as error:
            raise EvrouteError(f"option {first_problem(error)}") from None

    @classmethod
    def described(cls) -> dict[str, tuple[str, str]]:
        """Return range and sentence of each option by name."""
        fields = cls.model_json_schema().get("properties", {})
        return {name: (_range(field), field["description"]) for name, field in fields.items()}


def _range(schema: Mapping[str, Any]) -> str:
    """Return a JSON schema as text: ``a number > 0 and < 1``."""
    if "anyOf" in schema:
        return " or ".join(map(_range, schema["anyOf"]))
    if "const" in schema or "enum" in schema:
        return " or ".join(map(str, schema.get("enum") or [schema["const"]]))
    limits = " and ".join(
        f"{sign} {schema[key]:g}" for key, sign in _SIGNS.items() if key in schema
    )
    return f"{_WORDS.get(schema['type'], 'text')} {limits}".rstrip()
