"""Validation errors of pydantic in one clause."""

from collections.abc import Iterable
from difflib import get_close_matches

from pydantic import ValidationError


def first_problem(error: ValidationError, known: Iterable[str] = ()) -> str:
    """Return the first problem of a validation: field, value, and the values it may have.

    After an unknown key the similar ones of the ``known`` keys follow, or else all of these.
    """
    problem = error.errors(include_url=False)[0]
    # branches of unions, such as "constrained-int", are no fields
    parts = [str(part) for part in problem["loc"]]
    field = ".".join(part for part in parts if "-" not in part and "[" not in part)
    message = problem["msg"].removeprefix("Value error, ").partition(", unable")[0]
    match problem["type"]:
        case "missing":
            return f"{field} is missing"
        case "extra_forbidden" | "unexpected_keyword_argument":
            names = get_close_matches(field, known := list(known)) or known
            return f"unknown key '{field}'" + (f"; known: {', '.join(names)}" if names else "")
        case "too_short":
            return f"{field} has fewer items than {problem['ctx']['min_length']}"
        case "value_error":
            return f"{field}: {message}" if field else message
        case _:
            wanted = message.replace("Input should", "it must").replace("String should", "it must")
            return f"{field or 'value'} is {problem['input']!r:.60}; {wanted}"
