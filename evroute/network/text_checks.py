"""Checks of the texts of a network: its name, its ids and its coordinate system."""

import re
from collections.abc import Sequence
from functools import cache

from evroute import limits
from evroute.errors import NetworkFormatError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
# zones of UTM as OSMnx and netconvert write them; others are looked up by pyproj
_UTM = re.compile(
    r"EPSG:32[67](0[1-9]|[1-5]\d|60)"
    r"|\+proj=utm \+zone=([1-9]|[1-5]\d|60) \+ellps=WGS84 \+datum=WGS84 \+units=m \+no_defs"
)
_SHOWN_CHARACTERS = 60


def check_name(name: str) -> None:
    """Refuse a network name that could not be a plain file name.

    Raises
    ------
    NetworkFormatError
        If it is not 1 to 200 letters, digits, ``.``, ``_`` and ``-``, the first a letter or digit.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name.endswith(".npz"):
        raise NetworkFormatError(
            f"{_shown(name)} cannot name a network; use letters, digits, '.', '_' and '-'"
        )


def check_texts(column: str, texts: Sequence[str]) -> None:
    """Refuse values that are no texts, such as integer edge ids, and texts that are too long."""
    if wrong := [text for text in texts if not isinstance(text, str)]:
        raise NetworkFormatError(f"{column} holds {_shown(wrong[0])}, which is no text")
    longest = max(map(len, texts), default=0)
    limits.check("characters", longest, f"a text of {column} has {{}} characters")


@cache
def check_crs(crs: str) -> None:
    """Refuse a coordinate system that pyproj does not know, or that is not in metres."""
    if _UTM.fullmatch(crs):
        return
    from pyproj import CRS
    from pyproj.exceptions import CRSError

    try:
        found = CRS.from_user_input(crs)
    except CRSError:
        raise NetworkFormatError(f"the coordinate system {_shown(crs)} is not known") from None
    if not found.is_projected or found.axis_info[0].unit_name != "metre":
        raise NetworkFormatError(f"the coordinate system {_shown(crs)} is not in metres")


def _shown(value: object) -> str:
    """Return the beginning of a wrong value for a message."""
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."
