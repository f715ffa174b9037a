"""Numbers that a user writes as text: shares, numbers and clock times."""

from evroute.errors import EvrouteError, require


def share_of(what: str, text: str) -> float:
    """Read ``10%`` or ``0.1``.

    Raises
    ------
    EvrouteError
        If it is neither, or above 1 without a per cent sign.
    """
    percent, expected = text.endswith("%"), "a share such as 10% or 0.1"
    share = number_of(what, text.removesuffix("%"), expected) / (100 if percent else 1)
    require(percent or not share > 1, f"{what} is '{text}'; it must be {expected}")
    return share


def check_risk(risk: float) -> float:
    """Return a probability of falling below the reserve after checking its range.

    Raises
    ------
    EvrouteError
        Unless it is in (0, 0.5].
    """
    require(0 < risk <= 0.5, f"the risk is {100 * risk:.4g} %; it must be above 0 and at most 50 %")
    return risk


def number_of(what: str, text: str, expected: str = "a number") -> float:
    """Read a number.

    Parameters
    ----------
    what
        Name of the option or column, for the message.
    text
        The number as written.
    expected
        Description of a valid number, for the message.

    Raises
    ------
    EvrouteError
        If it is none.
    """
    try:
        return float(text)
    except ValueError:
        raise EvrouteError(f"{what} is '{text}'; it must be {expected}") from None


def clock_s(what: str, text: str) -> float:
    """Read a clock time ``HH:MM`` and return it as seconds since midnight.

    Raises
    ------
    EvrouteError
        If it is none.
    """
    hours, separator, minutes = text.strip().partition(":")
    digits = hours.isascii() and minutes.isascii() and hours.isdigit() and minutes.isdigit()
    require(
        separator and digits and len(minutes) == 2 and int(hours) < 24 and int(minutes) < 60,
        f"{what} is '{text}'; it must be a time of day as HH:MM, such as 08:15",
    )
    return 3600.0 * int(hours) + 60.0 * int(minutes)
