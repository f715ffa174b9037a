"""Texts of networks: names, ids and notes that can be stored and printed."""

import re
from collections.abc import Sequence

from evroute import limits
from evroute.errors import NetworkFormatError, require
from evroute.text import check_printable, cut

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_SHOWN_CHARACTERS = 60


def check_name(name: str) -> None:
    """Refuse a network name that could not be a plain file name.

    Raises
    ------
    NetworkFormatError
        If it is not 1 to 200 letters, digits, ``.``, ``_`` and ``-``, the first a letter or digit.
    """
    require(
        isinstance(name, str) and _NAME.fullmatch(name) and not name.endswith(".npz"),
        f"{shown(name)} cannot name a network. Use letters, digits, '.', '_' and '-'",
        NetworkFormatError,
    )


def check_texts(kind: str, texts: Sequence[str]) -> None:
    """Refuse values that are no texts, such as integer edge ids, and texts that cannot be shown.

    Raises
    ------
    NetworkFormatError
        If a value is no text.
    LimitError
        If a text is too long.
    EvrouteError
        If a text holds unprintable characters (`text.UNPRINTABLE`).
    """
    if set(map(type, texts)) - {str}:
        wrong = next(text for text in texts if type(text) is not str)
        raise NetworkFormatError(f"{kind} holds {shown(wrong)}, which is no text")
    limits.check(
        "characters", max(map(len, texts), default=0), f"a text of {kind} has {{}} characters"
    )
    check_printable(kind, texts)


def shown(value: object) -> str:
    """Return the beginning of a wrong value for a message."""
    return cut(repr(value), _SHOWN_CHARACTERS)
