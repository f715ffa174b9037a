"""Keywords of the calls of the door: the fields of a request, and their older names."""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from evroute.errors import require
from evroute.planning.fields import Request

ALSO = {"soc_percent": "soc", "reserve_percent": "reserve"}
"""Further names of fields of a request."""
T = TypeVar("T")


def with_fields(model: type[Request]) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Return a decorator that shows the fields of a request in the signature of a function.

    The function takes them as ``**wishes``.

    Parameters
    ----------
    model
        The request.
    """

    def decorated(function: Callable[..., T]) -> Callable[..., T]:
        own = inspect.signature(function)
        shown = [each for each in own.parameters.values() if each.name != "wishes"]
        shown += [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if field.is_required() else field.default,
                annotation=field.annotation,
            )
            for name, field in model.model_fields.items()
            if name not in own.parameters
        ]
        function.__signature__ = own.replace(parameters=shown)  # type: ignore[attr-defined]
        return function

    return decorated


def in_fields(wishes: dict[str, Any]) -> dict[str, Any]:
    """Return wishes by the names of fields.

    Raises
    ------
    EvrouteError
        If a wish is given by its name and by an older one.
    """
    found = dict(wishes)
    for older, name in ALSO.items():
        if older in found:
            require(name not in found, f"{older} and {name} are the same. Give one of them")
            found[name] = found.pop(older)
    return found
