"""Names that loggers write for the columns of a log, and the units in them.

LeafSpy's columns are recognised by their names (`leafspy`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from evroute.learning.readers import leafspy

OTHER_NAMES = {
    "trip": ("trip id", "journey"),
    "time": ("timestamp", "date/time", "datetime", "date time", "gps time", "device time"),
    "lat": ("latitude", "gps latitude"),
    "lon": ("longitude", "long", "lng", "gps longitude"),
    "volts": ("voltage", "pack volts", "pack voltage", "battery voltage", "hv battery voltage"),
    "amps": ("current", "pack amps", "pack current", "battery current", "hv battery current"),
    "power_w": ("power", "battery power", "pack power", "hv battery power"),
    "soc_percent": ("soc", "state of charge", "battery level"),
}
"""Names in lower case without unit, by the column of `points.COLUMNS` that they stand for."""
IN_KWH = {"energy_kwh": ("energy_wh", 1e3)}
PREFIXES = {"mv": 1e-3, "ma": 1e-3, "kv": 1e3, "kw": 1e3, "ft": 0.3048}
_UNIT = re.compile(r"(.*?)[\s_]*(?:[(\[]([^)\]]*)[)\]]|[\s_](m?v|m?a|k?w|m))\s*", re.IGNORECASE)
_CANONICAL = {other: name for name, others in OTHER_NAMES.items() for other in (*others, name)}


@dataclass(frozen=True, slots=True)
class Column:
    """A recognised column: its header in the file, factor and offset to its unit here.

    more: headers and factors of further columns that are added to it.
    """

    header: str
    factor: float = 1.0
    offset: float = 0.0
    more: tuple[tuple[str, float], ...] = ()


def recognised(headers: Sequence[str], known: Sequence[str]) -> dict[str, Column]:
    """Return the columns that can be read, by their name here.

    Parameters
    ----------
    headers
        Headers of a file.
    known
        Names of columns here. A header that equals one of them goes before other names.

    Returns
    -------
    dict
        Column of each name that the file has. Of two headers for one name, the first.
    """
    found = {name: Column(name) for name in headers if name in known}
    for header in headers:
        if header.lower() in known:
            found.setdefault(header.lower(), Column(header))
    if leafspy.HEADER in headers:
        found |= {name: each for name, each in _of_leafspy(headers).items() if name in known}
    for header in headers:
        if header in IN_KWH:
            name, factor = IN_KWH[header]
        else:
            match = _UNIT.fullmatch(header)
            plain, unit = (match[1], match[2] or match[3] or "") if match else (header, "")
            name = _CANONICAL.get(re.sub(r"[\s_]+", " ", plain).strip().lower(), "")
            factor = PREFIXES.get(unit.lower(), 1.0)
        if name in known:
            found.setdefault(name, Column(header, factor))
    return found


def _of_leafspy(headers: Sequence[str]) -> dict[str, Column]:
    """Return the columns of a log of LeafSpy, by their name here."""
    found = {
        name: Column(header, factor, offset)
        for header, (name, factor, offset) in leafspy.COLUMNS.items()
        if header in headers
    }
    if leafspy.EPOCH in headers:
        found["time"] = Column(leafspy.EPOCH)
    power = [(header, factor) for header, factor in leafspy.AUXILIARY.items() if header in headers]
    if power:
        found["auxiliary_w"] = Column(power[0][0], power[0][1], more=tuple(power[1:]))
    return found
