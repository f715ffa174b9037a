"""Tables of measured trips of either kind: a row for each edge, or a row for each GPS point."""

from collections.abc import Iterable
from pathlib import Path

from evroute.errors import EvrouteError
from evroute.learning.gps import read_points
from evroute.learning.measured import Measured, read_edges, read_table
from evroute.methods.setting import Setting


def read_measured(path: Path, setting: Setting, names: Iterable[str]) -> Measured:
    """Read the trips of a table, by edges (`measured.EDGE_COLUMNS`) or GPS points (`gps.COLUMNS`).

    Parameters
    ----------
    path
        CSV or Parquet file.
    setting
        Network and vehicle of the trips.
    names
        Names under which the vehicle may stand in the table.

    Raises
    ------
    EvrouteError
        If the table cannot be read, or no trip of it can be used.
    """
    table = read_table(path)
    by_points = "edge" not in table.column_names and {"lat", "lon"} & set(table.column_names)
    measured = (read_points if by_points else read_edges)(path, table, setting, sorted(names))
    if not measured.trips:
        trip, reason = next(iter(measured.skipped.items()))
        raise EvrouteError(
            f"trip table {path}: none of {len(measured.skipped)} trips can be used; "
            f"'{trip}': {reason}"
        )
    return measured
