"""TeslaMate's table of positions: a row for each GPS point of all drives.

It is the table ``positions`` as PostgreSQL exports it (``COPY ... CSV HEADER``). Dates are UTC, the
power of the battery is in kW, positive while discharging. Rows without a drive are of a parked car
and are left out.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from evroute.errors import require
from evroute.learning.readers.base import NONE_GIVEN, Reader, columns_reader
from evroute.learning.readers.headers import programs_of
from evroute.learning.readers.points import COLUMNS, read_points
from evroute.learning.readers.table import Log


def in_utc(times: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return times with the offset of UTC where they have none."""
    known = pc.match_substring_regex(times, r"(Z|[+-]\d\d(:?\d\d)?)$")
    marked = pc.binary_join_element_wise(times, "+00:00", "")
    return pc.if_else(pc.fill_null(known, True), times, marked)


def read_positions(path: Path, given: Mapping[str, str] = NONE_GIVEN) -> Log:
    """Return the positions of all drives of a file.

    Raises
    ------
    EvrouteError
        If the file cannot be read, or has no drive.
    """
    log = columns_reader(COLUMNS)(path, given)
    drive = pc.fill_null(log.table["trip"], "")
    table = log.table.filter(pc.not_equal(drive, ""))
    require(table.num_rows, f"trip table {path} has no position of a drive (drive_id)")
    place = table.column_names.index("time")
    return replace(log, table=table.set_column(place, "time", in_utc(table["time"])))


READER = Reader(
    about="Positions of TeslaMate, with the power of the battery, its charge and the temperature.",
    log=read_positions,
    trips=read_points,
    accepts=lambda headers: "TeslaMate, positions" in programs_of(headers),
)
