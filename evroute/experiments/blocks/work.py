"""Blocks of a batch or a matrix: values that any process can answer, with files as bytes.

A block of a batch has its rows. A block of a matrix has the rows of its origins in a table that the
worker reads itself, as it reads the destinations.
"""

import io
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from evroute.door.opened import Door
from evroute.energy.driving import DrivingConditions
from evroute.energy.vehicle import Vehicle
from evroute.given import digest_of_copy, located
from evroute.network.road_network import RoadNetwork
from evroute.planning.answer_table import ENERGY_NAMES, NAMES, row_of, schema_of
from evroute.planning.answers import answer_all, answer_energies
from evroute.planning.matrix import Exits, Stop, read_stops
from evroute.planning.matrix_dataset import part_of
from evroute.planning.planner import Planner
from evroute.planning.request import PlanRequest

ANSWERS, ROWS = "answers.jsonl", "rows.arrow"
"""Files of a block of a batch: JSON lines, and the rows of the table."""
PAIRS = "pairs"
"""File of a block of a matrix."""
PLANS, ENERGIES = 50, 1000
"""Rows of a block of plans, and of least energies alone."""
Row = Mapping[str, str | None]


class Opened:
    """An open door, with the planners and destinations that its blocks share."""

    def __init__(self, door: Door) -> None:
        self.roads: RoadNetwork = door.roads
        self.planner: Callable[[str | Vehicle | None, DrivingConditions], Planner]
        self.planner = door.planners()
        self.of_request = lru_cache(4)(self._of_request)
        self.exits = lru_cache(2)(self._exits)
        self.stops = lru_cache(4)(self._stops)

    def _of_request(
        self, vehicle: str | Vehicle | None, conditions: DrivingConditions, car: str | None
    ) -> Planner:
        return self.planner(vehicle, conditions).of_car(car)

    def _stops(self, path: str, digest: str, *, leaving: bool) -> Sequence[Stop]:
        """Return the places of a table. The digest is that of its copy."""
        return read_stops(located(Path(path)), self.roads, leaving=leaving)

    def _exits(self, planner: Planner, path: str, digest: str, by: str) -> Exits:
        return Exits(planner, self.stops(path, digest, leaving=False), by)


class Block(Protocol):
    """A block of a table."""

    @property
    def paths(self) -> tuple[str, ...]:
        """Files that it reads, besides those of the door."""

    @property
    def words(self) -> str:
        """The block in messages."""

    def files(self, opened: Opened, check: Callable[[], None]) -> dict[str, bytes]:
        """Return the answers of the block.

        Parameters
        ----------
        opened
            Roads, and belief or physics.
        check
            Called between two rows. Raises an error if the work is to stop.
        """


@dataclass(frozen=True, slots=True)
class RequestBlock:
    """Successive rows of a batch.

    Parameters
    ----------
    packed
        The rows as compressed JSON (`request_blocks`).
    first
        Number of the first one, from 1.
    usual
        Texts of requests whose own cells are empty.
    only
        ``energy`` for least energies alone.
    paths
        Files of vehicles that the requests name.
    """

    packed: bytes
    first: int
    usual: Mapping[str, str] = field(default_factory=dict)
    only: str | None = None
    paths: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The block in messages."""
        return f"the requests from row {self.first} on"

    def files(self, opened: Opened, check: Callable[[], None]) -> dict[str, bytes]:
        """Return JSON lines, and the rows of the table."""
        rows = json.loads(zlib.decompress(self.packed))
        lines, table = [], []
        for answer in answers_of(opened, iter(rows), self.usual, self.only, first=self.first):
            lines.append(json.dumps(answer, ensure_ascii=False) + "\n")
            table.append(row_of(answer))
            check()
        schema, content = schema_of(ENERGY_NAMES if self.only else NAMES), io.BytesIO()
        with pa.ipc.new_stream(content, schema) as stream:
            stream.write_table(pa.Table.from_pylist(table, schema))
        return {ANSWERS: "".join(lines).encode(), ROWS: content.getvalue()}


def answers_of(
    opened: Opened,
    rows: Iterator[Row],
    usual: Mapping[str, str],
    only: str | None,
    *,
    first: int = 1,
) -> Iterator[dict[str, Any]]:
    """Yield the answers to rows of a batch.

    Parameters
    ----------
    opened
        Roads, and belief or physics.
    rows
        The requests.
    usual, only
        As in `RequestBlock`.
    first
        Number of the first row.
    """
    if only is None:
        return answer_all(rows, opened.planner, usual, first=first)
    request = PlanRequest.without_places(usual)
    planner = opened.of_request(request.vehicle, request.conditions, request.car)
    return answer_energies(rows, planner, block=ENERGIES, first=first)


def request_blocks(
    rows: Iterator[Row], usual: Mapping[str, str], only: str | None
) -> Iterator[RequestBlock]:
    """Yield the blocks of a batch, read as they are wanted.

    Parameters
    ----------
    rows
        The requests.
    usual, only
        As in `RequestBlock`.
    """
    size, first = ENERGIES if only else PLANS, 1
    taken: list[Row] = []
    for row in rows:
        taken.append(row)
        if len(taken) == size:
            yield _packed(taken, first, usual, only)
            first, taken = first + size, []
    if taken:
        yield _packed(taken, first, usual, only)


def _packed(
    rows: Sequence[Row], first: int, usual: Mapping[str, str], only: str | None
) -> RequestBlock:
    named = [usual.get("vehicle"), *(row.get("vehicle") for row in rows)]
    cars = dict.fromkeys(name for name in named if name and name.endswith(".toml"))
    packed = zlib.compress(json.dumps([_texts(row) for row in rows]).encode())
    return RequestBlock(packed, first, dict(usual), only, tuple(cars))


def _texts(row: Row) -> dict[str, Any]:
    """Return a row without empty cells. Cells without a column are kept for their error."""
    return {name: text for name, text in row.items() if text}


@dataclass(frozen=True, slots=True)
class PairBlock:
    """Successive origins of a matrix, with all destinations.

    Parameters
    ----------
    origins, destinations
        Paths of the tables of places.
    block
        Rows of the origins.
    by
        Aim of the routes.
    usual
        Texts of the vehicle and the day.
    packed
        Whether the answer is a Parquet file of a folder. Else an array, (3, o, d) float64.
    """

    origins: str
    destinations: str
    block: range
    by: str
    usual: Mapping[str, str] = field(default_factory=dict)
    packed: bool = True

    @property
    def paths(self) -> tuple[str, ...]:
        """The tables, and the file of the vehicle."""
        found, car = (self.origins, self.destinations), self.usual.get("vehicle", "")
        return (*found, car) if car.endswith(".toml") else found

    @property
    def words(self) -> str:
        """The block in messages."""
        return f"the origins from row {self.block.start + 1} on"

    def files(self, opened: Opened, check: Callable[[], None]) -> dict[str, bytes]:
        """Return the pairs as one file."""
        request = PlanRequest.without_places(self.usual)
        planner = opened.of_request(request.vehicle, request.conditions, request.car)
        origins = opened.stops(self.origins, digest_of_copy(self.origins), leaving=True)
        digest = digest_of_copy(self.destinations)
        exits = opened.exits(planner, self.destinations, digest, self.by)
        rows = []
        for row in exits.rows(origins[self.block.start : self.block.stop]):
            rows.append(row)
            check()
        matrix = np.moveaxis(np.array(rows), 2, 0)
        if self.packed:
            return {PAIRS: part_of(matrix, origins, exits.destinations, self.block)}
        content = io.BytesIO()
        np.save(content, np.ascontiguousarray(matrix), allow_pickle=False)
        return {PAIRS: content.getvalue()}
