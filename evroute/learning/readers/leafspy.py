"""LeafSpy: its columns, the day and month of its dates, and its temperature in °F.

The columns are named as in a Nissan Leaf's log (https://github.com/strowger/hm,
``bin/leafspy-process.pl``, lists them with their units). ``Ambient`` is in °F. ``A/C Pwr(250w)`` is
the power of heater and heat pump together, which ``Aux Pwr(100w)`` does not include. ``epoch time``
is seconds since 1970 (UTC), which needs no guess of the order of day and month.
"""

from collections.abc import Sequence
from datetime import datetime

HEADER = "Gids"
"""Column that only LeafSpy's logs have."""
COLUMNS = {
    "SOC": ("soc_percent", 1e-4, 0.0),
    "Ambient": ("temperature_c", 5.0 / 9.0, -32.0 * 5.0 / 9.0),
}
"""Name here, factor and offset of a column."""
AUXILIARY = {"Aux Pwr(100w)": 100.0, "A/C Pwr(250w)": 250.0}
"""Columns whose sum is the auxiliary power, and their factors."""
EPOCH = "epoch time"
MONTH_FIRST = "%m/%d/%Y %H:%M:%S"
DAY_FIRST = "%d/%m/%Y %H:%M:%S"


def date_format(texts: Sequence[str]) -> str | None:
    """Return the order of day and month of all dates, or None if they have neither.

    A number above 12 decides. If none does, it is the order in which the dates span less time, and
    month first if both span the same.

    Parameters
    ----------
    texts
        Times such as ``25/12/2025 07:30:00``.
    """
    spans = {}
    for form in (MONTH_FIRST, DAY_FIRST):
        try:
            moments = [datetime.strptime(text.strip(), form) for text in texts]
        except ValueError:
            continue
        if moments:
            spans[form] = max(moments) - min(moments)
    return min(spans, key=lambda form: spans[form], default=None)
