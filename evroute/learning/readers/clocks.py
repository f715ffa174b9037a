"""Times in tables: seconds, seconds since 1970, ISO 8601, and LeafSpy's dates."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import numpy as np

from evroute.arrays import FloatArray
from evroute.errors import EvrouteError
from evroute.learning.readers import leafspy

EPOCH_S = 1e8
"""Numbers from here on are seconds since 1970 (UTC), from `EPOCH_MS` on milliseconds."""
EPOCH_MS = 1e11
S_PER_DAY = 86_400.0


def seconds(path: Path, texts: Sequence[str | None]) -> FloatArray:
    """Return times in seconds since the midnight before the first of them, (k,); NaN where empty.

    Small numbers stay as they are. Times without an offset to UTC are local; with an offset, the
    midnight is that of the first time's offset. Seconds and milliseconds since 1970 are UTC.

    Raises
    ------
    EvrouteError
        If a time has none of these forms, or some have an offset to UTC and some have not.
    """
    given = [(row, text) for row, text in enumerate(texts) if text]
    times = np.full(len(texts), np.nan)
    try:
        for row, text in given:
            times[row] = float(text.replace(",", "."))
    except ValueError:
        times[:] = np.nan
    else:
        times[~np.isfinite(times)] = np.nan
        first_s = np.min(times, where=np.isfinite(times), initial=np.inf)
        if EPOCH_S <= first_s < np.inf:
            scale = 1000.0 if first_s >= EPOCH_MS else 1.0
            times = times / scale - first_s / scale // S_PER_DAY * S_PER_DAY
        return times
    form = leafspy.date_format([text for _, text in given])
    moments = [(row, _moment(path, row, text, form)) for row, text in given]
    try:
        midnight = min(moment for _, moment in moments).replace(
            hour=0, minute=0, second=0, microsecond=0
        )
        for row, moment in moments:
            times[row] = (moment - midnight).total_seconds()
    except TypeError:
        raise EvrouteError(
            f"trip table {path}: some times have an offset to UTC and some have not"
        ) from None
    return times


def _moment(path: Path, row: int, text: str, form: str | None) -> datetime:
    """Return a time of a row, in a date format or in ISO 8601."""
    if form is not None:
        return datetime.strptime(text.strip(), form)
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        raise EvrouteError(
            f"trip table {path}, row {row + 1}: time '{text}' is neither seconds nor like "
            "2026-05-04T07:30:00"
        ) from None
