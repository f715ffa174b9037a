"""Validation errors of pydantic in one clause."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from reprlib import Repr
from typing import Any

from pydantic import ValidationError

SENTENCE = "sentence"
UNKNOWN_NAME = "unknown_name"
"""Types of the errors whose message is complete (`evroute.validation.forms`)."""
SHOWN = 60
"""Number of characters shown of a value."""
MOST_BITS = 200
"""Integers of more bits are shown by their size."""
UNKNOWN_KEY = ("extra_forbidden", "unexpected_keyword_argument")
LENGTHS = {"too_short": ("least", "min_length"), "too_long": ("most", "max_length")}
"""Comparison in words, and name of the limit, by type of error."""
_BRIEF = Repr()


def first_problem(error: ValidationError, known: Iterable[str] = ()) -> str:
    """Return the first problem of a validation: field, value, and the values it may have.

    After an unknown key the similar ones of the ``known`` keys follow, or else all of these.
    """
    return problem_text(error.errors(include_url=False)[0], known)


def problem_text(problem: Mapping[str, Any], known: Iterable[str] = ()) -> str:
    """Return one of the problems that `ValidationError.errors` lists, as `first_problem` does."""
    if problem["type"] in (SENTENCE, UNKNOWN_NAME):
        return str(problem["msg"])
    field = _field(problem)
    message = problem["msg"].removeprefix("Value error, ").partition(", unable")[0]
    match problem["type"]:
        case "missing":
            return f"{field} is missing"
        case kind if kind in UNKNOWN_KEY:
            names = get_close_matches(field, known := list(known)) or known
            return f"unknown key '{field}'" + (f". Known: {', '.join(names)}" if names else "")
        case "too_short" | "too_long" as kind:
            words, limit = LENGTHS[kind]
            many = problem["ctx"]["actual_length"]
            items = "item" if many == 1 else "items"
            return f"{field} has {many} {items}. Give at {words} {problem['ctx'][limit]}"
        case "value_error":
            return f"{field}: {message}" if field else message
        case _:
            wanted = message.replace("Input should", "It must").replace("String should", "It must")
            return f"{field or 'value'} is {shown(problem['input'])}. {wanted}"


def _field(problem: Mapping[str, Any]) -> str:
    """Return the path of the field of a problem, empty for the whole."""
    parts = [str(part) for part in problem["loc"]]
    # branches of unions, such as "constrained-int", are no fields
    inner = [part for part in parts[:-1] if "-" not in part and "[" not in part]
    if problem["type"] in UNKNOWN_KEY or not set("-[") & set("".join(parts[-1:])):
        inner += parts[-1:]
    return ".".join(inner)


def shown(value: Any) -> str:
    """Return a value as text, without the text of a whole list or of a huge number."""
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        return f"an integer of {value.bit_length():,} bits"
    if isinstance(value, str | bytes):
        value = value[:SHOWN]
    brief = _BRIEF.repr if isinstance(value, dict | list | tuple | set) else repr
    return f"{brief(value):.{SHOWN}}"
