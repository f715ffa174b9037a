"""TeslaMate's table of drives: a row for each drive, with its ends and the charge at both.

It is the table ``drives`` joined with the first and the last of its positions, which have places
and charges. The guide of logs has the query. Dates are UTC.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from evroute.errors import EvrouteError
from evroute.learning.readers import notebook
from evroute.learning.readers.base import NONE_GIVEN, Reader, columns_reader
from evroute.learning.readers.headers import Column
from evroute.learning.readers.table import Log, check_columns
from evroute.learning.readers.tesla import in_utc

PLACES = ("start_latitude", "start_longitude", "end_latitude", "end_longitude")
OWN = ("start_rated_range_km", "start_position_id", "start_ideal_range_km", *PLACES)
"""Columns by which the table is recognised."""


def read_drives(path: Path, given: Mapping[str, str] = NONE_GIVEN) -> Log:
    """Return the drives of a file as a notebook.

    Raises
    ------
    EvrouteError
        If the file cannot be read, or lacks a column.
    """
    log = columns_reader((*notebook.COLUMNS, *PLACES))(path, given)
    table = log.table
    missing = [name for name in PLACES if name not in table.column_names]
    if missing:
        raise EvrouteError(
            f"trip table {path} has no column '{missing[0]}': the table drives of TeslaMate has no "
            "places. Export it with its first and last positions, as in the guide of logs"
        )
    check_columns(path, table.column_names, ("trip", "departed", "soc_start", "soc_end"))
    ends = {
        name: pa.array([f"{lat},{lon}" for lat, lon in zip(*_places(table, end), strict=True)])
        for name, end in (("from", "start"), ("to", "end"))
    }
    for name, places in ends.items():
        table = table.append_column(name, places)
    place = table.column_names.index("departed")
    table = table.set_column(place, "departed", in_utc(table["departed"]))
    return replace(
        log, table=table, columns=dict(log.columns) | {name: Column(name) for name in ends}
    )


def _places(table: pa.Table, end: str) -> tuple[list[float], list[float]]:
    """Return latitudes and longitudes of one end of the drives, degrees."""
    lat, lon = (table[f"{end}_{axis}"].to_pylist() for axis in ("latitude", "longitude"))
    return lat, lon


READER = Reader(
    about="Drives of TeslaMate, with places and charges of their ends.",
    log=read_drives,
    trips=notebook.read_notebook,
    accepts=lambda headers: "start_date" in headers and any(name in headers for name in OWN),
    has_routes=False,
)
