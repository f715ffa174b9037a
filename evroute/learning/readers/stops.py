"""Logs of a parked car, as apps of makers keep them: a row a visit, with charge and odometer.

Between two rows whose odometers differ the car drove from the place of the first to that of the
second. Such trips are learned as those of a notebook. The departure of a trip is unknown. It is
taken as the time of the row that found the car parked again.
"""

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from evroute.errors import require
from evroute.learning.readers.base import NONE_GIVEN, Reader, columns_reader
from evroute.learning.readers.headers import Column, programs_of
from evroute.learning.readers.notebook import read_notebook
from evroute.learning.readers.table import Log, check_columns

NEEDED = ("time", "lat", "lon", "odometer_km", "soc_percent")
COLUMNS = (*NEEDED, "vehicle", "car", "temperature_c")
PROGRAM = "Bluelink and Kia Connect (hyundai_kia_connect_monitor)"


def read_stops(path: Path, given: Mapping[str, str] = NONE_GIVEN) -> Log:
    """Return the trips between the rows of a file as a notebook.

    Raises
    ------
    EvrouteError
        If the file cannot be read, lacks a column, or the car never drove.
    """
    log = columns_reader(COLUMNS)(path, given)
    check_columns(path, log.table.column_names, NEEDED)
    lat, lon, odometer_km, percent = (log.numbers(name) for name in NEEDED[1:])
    times = log.table["time"].to_pylist()
    known = np.flatnonzero(np.isfinite(lat + lon + odometer_km + percent))
    drives = [(a, b) for a, b in pairwise(known.tolist()) if odometer_km[b] - odometer_km[a] > 0.0]
    require(drives, f"trip table {path} has no two rows between which its odometer rises")
    first, last = (np.array(each) for each in zip(*drives, strict=True))
    places = [f"{at:.6f},{along:.6f}" for at, along in zip(lat, lon, strict=True)]
    columns = {
        "trip": [str(times[row]).strip() for row in last],
        "from": [places[row] for row in first],
        "to": [places[row] for row in last],
        "departed": [str(times[row]).strip() for row in last],
        "soc_start": percent[first],
        "soc_end": percent[last],
        "odometer_km": odometer_km[last] - odometer_km[first],
    }
    for name in ("vehicle", "car"):
        if name in log.columns:
            columns[name] = log.table[name].take(last).to_pylist()
    if "temperature_c" in log.columns:
        columns["temperature_c"] = log.numbers("temperature_c")[last]
    notes = (*log.notes, f"{len(drives)} drives between {log.table.num_rows} rows of a parked car")
    return Log(path, pa.table(columns), {name: Column(name) for name in columns}, notes)


READER = Reader(
    about="Rows of a parked car with its odometer and its charge, as apps of makers keep them.",
    log=read_stops,
    trips=read_notebook,
    accepts=lambda headers: PROGRAM in programs_of(headers),
    has_routes=False,
)
