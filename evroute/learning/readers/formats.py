"""Formats of measured trips, recognised by the file's name and its columns."""

from collections.abc import Iterable
from pathlib import Path

from evroute.errors import EvrouteError, require
from evroute.learning.measured import Measured
from evroute.learning.readers import edges, notebook, points
from evroute.learning.readers.gpx import read_gpx
from evroute.learning.readers.table import Log, read_log
from evroute.methods.setting import Setting

TEXT = ("trip", "edge", "vehicle", "time", "from", "to", "departed")
NUMBERS = tuple(
    name
    for name in dict.fromkeys((*edges.COLUMNS, *points.COLUMNS, *notebook.COLUMNS))
    if name not in TEXT
)
POINT_COLUMNS, NOTEBOOK_COLUMNS = {"lat", "lon"}, {"soc_start", "soc_end"}


def read_measured(
    path: Path, setting: Setting, names: Iterable[str], *, with_routes: bool = False
) -> Measured:
    """Read the trips of a GPX file, or of a table by edges, by GPS points or by trips.

    `edges.COLUMNS`, `points.COLUMNS` and `notebook.COLUMNS` are the columns of these tables.

    Parameters
    ----------
    path
        CSV, Parquet or GPX file.
    setting
        Network and vehicle of the trips.
    names
        Names of the vehicle in the table.
    with_routes
        Whether the trips need routes; a notebook has none.

    Raises
    ------
    EvrouteError
        If the file cannot be read, it is a notebook and trips need routes, or no trip of it can be
        used.
    """
    log = read_gpx(path) if path.suffix.lower() == ".gpx" else read_log(path, TEXT, NUMBERS)
    read = edges.read_edges
    if "edge" not in log.columns and POINT_COLUMNS & set(log.columns):
        read = points.read_points
    elif set(log.columns) >= NOTEBOOK_COLUMNS:
        read = notebook.read_notebook
        require(
            not with_routes,
            f"trip table {path} has no routes, which models of edges and replays need; give a log "
            "by edges or points, or learn with model trips",
        )
    measured = read(log, setting, sorted(names))
    if not measured.trips:
        trip, reason = next(iter(measured.skipped.items()))
        raise EvrouteError(
            f"trip table {path}: none of {len(measured.skipped)} trips can be used; "
            f"'{trip}': {reason}"
        )
    measured.notes[:0] = _notes(log, measured, setting)
    return measured


def _notes(log: Log, measured: Measured, setting: Setting) -> list[str]:
    """Return notes on columns that were not read and on energies of the wrong sign."""
    notes = [f"columns not read: {', '.join(log.ignored)}"] if log.ignored else []
    taken_wh = sum(float(trip.energy_wh.sum()) for trip in measured.trips)
    if taken_wh < 0 <= sum(float(setting.potential_wh[trip.edge].sum()) for trip in measured.trips):
        notes.append(
            f"the trips return {-taken_wh:,.0f} Wh in total but do not descend; "
            "check the sign of their energies"
        )
    return notes
