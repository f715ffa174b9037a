"""Degrees and minutes of positions, as phones and loggers of cars write them.

Texts: ``51 28.6213``, ``51°28.6213' N``, ``N 51 28 37.3``, ``-3:10.55``. Numbers without a
separator: ``5128.6213`` and ``-310.55`` are degrees times 100 plus minutes, as NMEA writes them.
"""

import re

import numpy as np
import pyarrow as pa

from evroute.arrays import FloatArray

_PARTS = re.compile(
    r"\s*([NSEW]?)\s*([+-]?)(\d{1,3})(?:[\s°:ºd]+(\d{1,2}(?:[.,]\d+)?))"
    r"(?:['′’:\s]+(\d{1,2}(?:[.,]\d+)?))?\s*['′’\"″]*\s*([NSEW]?)\s*",
    re.IGNORECASE,
)
MOST_LAT = 90.0


def degrees_of(text: str) -> float | None:
    """Return the degrees of a text with degrees and minutes, or None if it has another form."""
    match = _PARTS.fullmatch(text)
    if match is None:
        return None
    minutes, seconds = (float((match[part] or "0").replace(",", ".")) for part in (4, 5))
    if minutes >= 60.0 or seconds >= 60.0:
        return None
    negative = match[2] == "-" or (match[1] or match[6]).upper() in ("S", "W")
    value = float(match[3]) + minutes / 60.0 + seconds / 3600.0
    return -value if negative else value


def in_degrees(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of positions with texts of degrees and minutes as texts of degrees."""
    if not pa.types.is_string(column.type):
        return column
    found = ((text, degrees_of(text or "")) for text in column.to_pylist())
    return pa.chunked_array(
        [[text if value is None else repr(value) for text, value in found]], pa.string()
    )


def without_minutes(lat: FloatArray, lon: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Return positions of the form ``DDMM.mmm`` in degrees, or None if they are degrees already.

    Parameters
    ----------
    lat, lon
        (k,) numbers, or NaN where unknown.
    """
    known = lat[np.isfinite(lat)]
    if not len(known) or not (np.median(np.abs(known)) > MOST_LAT):
        return None
    converted = []
    for values in (lat, lon):
        whole = np.floor(np.abs(values) / 100.0)
        minutes = np.abs(values) - 100.0 * whole
        if np.nanmax(minutes) >= 60.0:
            return None
        converted.append(np.sign(values) * (whole + minutes / 60.0))
    return converted[0], converted[1]
