"""Contracts as lists of checks, without a test runner.

A check is a function whose first docstring line is the sentence of the protocol that it holds a
part to. A part that breaks it raises `ContractError` with that sentence and the value found.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import numpy as np

from evroute.errors import EvrouteError


class ContractError(AssertionError):
    """A part does not keep a sentence of its protocol."""


def hold(checks: Iterable[Callable[..., None]], *given: Any) -> None:
    """Run checks in their order.

    Parameters
    ----------
    checks
        Functions that raise if a part breaks their sentence.
    given
        Arguments of every check.

    Raises
    ------
    ContractError
        At the first sentence that is broken.
    """
    for check in checks:
        sentence = (check.__doc__ or check.__name__).partition("\n")[0]
        try:
            check(*given)
        except ContractError as error:
            raise ContractError(f"{sentence} {error}".strip()) from None
        except Exception as error:  # whatever the code of somebody else raises
            found = " ".join(f"{type(error).__name__}: {error}".split())
            raise ContractError(f"{sentence} It raises {found}") from error


def ensure(condition: object, found: str = "") -> None:
    """Raise `ContractError` unless a condition holds. ``found`` describes the value instead."""
    if not condition:
        raise ContractError(found)


def equal(one: Any, other: Any, what: str = "the values") -> None:
    """Raise `ContractError` unless two arrays are equal to the last bit. NaN equals NaN.

    Parameters
    ----------
    one, other
        Arrays or numbers.
    what
        Their name in the message.
    """
    same = np.shape(one) == np.shape(other)
    if same:
        first, second = np.asarray(one), np.asarray(other)
        same = np.array_equal(first, second, equal_nan=first.dtype.kind == "f")
    ensure(same, f"Here {what} differ.")


def close(
    one: Any, other: Any, what: str = "the values", *, rtol: float = 1e-9, atol: float = 0.0
) -> None:
    """Raise `ContractError` unless two arrays are nearly equal, as numpy compares them.

    Parameters
    ----------
    one, other
        Values found and expected. A number stands for all values.
    what
        Their name in the message.
    rtol, atol
        Tolerances relative to ``other`` and in its unit.
    """
    fits = np.shape(one) == np.shape(other) or np.ndim(one) == 0 or np.ndim(other) == 0
    with suppress(ValueError):
        if fits and np.allclose(one, other, rtol=rtol, atol=atol, equal_nan=True):
            return
    raise ContractError(f"Here {what} are {_shown(one)}, not {_shown(other)}.")


def refuses(call: Callable[[], Any], kind: type[Exception] = EvrouteError) -> str:
    """Return the message with which a call is refused, in one line.

    Parameters
    ----------
    call
        The call.
    kind
        Class of the error.

    Raises
    ------
    ContractError
        If it is not refused, or not in one line.
    """
    try:
        call()
    except kind as error:
        message = str(error)
        ensure("\n" not in message, "The message has several lines.")
        return message
    raise ContractError("Nothing is refused.")


def _shown(values: Any) -> str:
    text = np.array2string(np.asarray(values), precision=6, threshold=6, edgeitems=2)
    return " ".join(text.split())
