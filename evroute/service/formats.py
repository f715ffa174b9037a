"""Matrices in the format that a client accepts: JSON, Arrow or Parquet."""

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
from starlette.responses import JSONResponse, Response

from evroute.arrays import FloatArray, IntArray
from evroute.errors import require
from evroute.planning.dispatch.stops import Stop
from evroute.planning.matrix import LIMITED, REDUCED, SD, VALUES, matrix_table
from evroute.service import answers
from evroute.service.problems import RefusedError

if TYPE_CHECKING:
    import pyarrow as pa

JSON = "application/json"
ARROW = "application/vnd.apache.arrow.stream"
PARQUET = "application/vnd.apache.parquet"
FORMATS = (JSON, ARROW, PARQUET)
"""Media types of a matrix. The first one is sent where a client accepts several equally."""
MOST_JSON_PAIRS = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class EnergyMatrix:
    """Energy, time and length of the routes between places.

    Parameters
    ----------
    network, vehicle
        Names of the network and the vehicle.
    origins, destinations
        The o origins and the d destinations.
    values
        (c, o, d) numbers of `planning.matrix.Pairs`, NaN without a route.
    columns
        Names of the c numbers.
    reduced
        (o, d) reduced energies, or None for none.
    warm_up_wh
        Energy of the warm-up of a tour, which no cell then has, Wh.
    """

    network: str
    vehicle: str
    origins: list[Stop]
    destinations: list[Stop]
    values: FloatArray
    columns: Sequence[str] = VALUES
    reduced: IntArray | None = None
    warm_up_wh: float | None = None

    def answer(self, media_type: str) -> Response:
        """Return the answer in one of the `FORMATS`."""
        if media_type == JSON:
            return JSONResponse(self._document())
        ends = self.origins, self.destinations
        table = matrix_table(self.values, *ends, self.columns, self.reduced)
        write = _arrow if media_type == ARROW else _parquet
        return Response(write(table), media_type=media_type)

    def _document(self) -> answers.Matrix:
        cells = self.values.astype(object)
        cells[np.isnan(self.values)] = None
        numbers: dict[str, Any] = dict.fromkeys((*VALUES, SD, LIMITED, REDUCED))
        numbers |= dict(zip(self.columns, cells.tolist(), strict=True))
        if LIMITED in self.columns:
            numbers[LIMITED] = (self.values[self.columns.index(LIMITED)] > 0).tolist()
        if self.reduced is not None:
            whole = self.reduced.astype(object)
            whole[np.isnan(self.values[0])] = None
            numbers[REDUCED] = whole.tolist()
        return {
            "network": self.network,
            "vehicle": self.vehicle,
            "origins": [stop.place for stop in self.origins],
            "destinations": [stop.place for stop in self.destinations],
            "energy_wh": numbers["energy_wh"],
            "time_s": numbers["time_s"],
            "length_m": numbers["length_m"],
            "sd_wh": numbers[SD],
            "limited": numbers[LIMITED],
            "reduced_dwh": numbers[REDUCED],
            "warm_up_wh": self.warm_up_wh,
        }


def accepted(header: str, n_pairs: int) -> str:
    """Return the media type of a matrix by the header ``Accept``.

    Parameters
    ----------
    header
        Value of the header. The highest weight ``q`` wins, and then the order of `FORMATS`.
    n_pairs
        Number of pairs of the matrix.

    Raises
    ------
    RefusedError
        With status 406 if the client accepts none of the formats.
    EvrouteError
        If there are more than `MOST_JSON_PAIRS` pairs, and the answer would be JSON.
    """
    weights = dict(map(_weighted, header.split(",")))
    found = {each: _weight(each, weights) for each in FORMATS}
    best = max(found, key=lambda each: found[each])
    if found[best] <= 0.0:
        raise RefusedError(
            406, f"Accept is '{header}', expected {', '.join(FORMATS[:-1])} or {PARQUET}"
        )
    require(
        best != JSON or n_pairs <= MOST_JSON_PAIRS,
        f"the matrix has {n_pairs:,} pairs, expected at most {MOST_JSON_PAIRS:,} as JSON. Send "
        f"Accept: {ARROW}",
    )
    return best


def _weighted(part: str) -> tuple[str, float]:
    """Return a media range of the header and its weight, or 0 if the weight is no number."""
    name, *parameters = (each.strip().lower() for each in part.split(";"))
    weight = next((each[2:] for each in parameters if each.startswith("q=")), "1")
    try:
        return name, float(weight)
    except ValueError:
        return name, 0.0


def _weight(media_type: str, weights: dict[str, float]) -> float:
    """Return the weight of a media type by the most special range that includes it."""
    for name in (media_type, "application/*", "*/*"):
        if name in weights:
            return weights[name]
    return 0.0


def _arrow(table: "pa.Table") -> bytes:
    import pyarrow as pa

    sink = BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue()


def _parquet(table: "pa.Table") -> bytes:
    import pyarrow.parquet as pq

    sink = BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()
