"""Blocks of a batch or a matrix: values that any process can answer, with files as bytes.

A block names its rows in a table that the worker reads itself: rows of a batch, or the origins of a
matrix. Rows that are in no file, or in a large one, are sent with the block.
"""

import io
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count, islice
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
from evroute.planning.answers import answer_all, answer_energies, columns_of
from evroute.planning.dispatch.stops import Stop, read_stops
from evroute.planning.matrix import Cells, Pairs
from evroute.planning.matrix_dataset import part_of
from evroute.planning.planner import Planner
from evroute.planning.request import PlanRequest
from evroute.planning.requests import Requests, read_requests

ANSWERS, ROWS = "answers.jsonl", "rows.arrow"
"""Files of a block of a batch: JSON lines, and the rows of the table."""
PAIRS = "pairs"
"""File of a block of a matrix."""
PLANS, ENERGIES = 50, 1000
"""Rows of a block of plans, and of least energies alone."""
WHOLE_BYTES = 16_000_000
"""Largest table of a batch that each host receives once, as a whole."""
Row = Mapping[str, str | None]


class Opened:
    """An open door, with the planners and destinations that its blocks share."""

    def __init__(self, door: Door) -> None:
        self.roads: RoadNetwork = door.roads
        self.planner: Callable[[str | Vehicle | None, DrivingConditions], Planner]
        self.planner = door.planners()
        self.of_request = lru_cache(4)(self._of_request)
        self.pairs = lru_cache(2)(self._pairs)
        self.stops = lru_cache(4)(self._stops)

    def _of_request(
        self, vehicle: str | Vehicle | None, conditions: DrivingConditions, car: str | None
    ) -> Planner:
        return self.planner(vehicle, conditions).of_car(car)

    def _stops(self, path: str, digest: str, *, leaving: bool) -> Sequence[Stop]:
        """Return the places of a table. The digest is taken from its copy."""
        return read_stops(located(Path(path)), self.roads, leaving=leaving)

    def _pairs(self, planner: Planner, path: str, digest: str, cells: Cells) -> Pairs:
        return Pairs(planner, self.stops(path, digest, leaving=False), cells)


class Block(Protocol):
    """A block of a table."""

    @property
    def paths(self) -> tuple[str, ...]:
        """Files that it reads, besides the door's files."""

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


class BlockRows(Protocol):
    """Successive rows of a batch."""

    @property
    def paths(self) -> tuple[str, ...]:
        """Files that hold them."""

    def read(self, only: str | None) -> list[Row]:
        """Return the rows. ``only`` is as in `RequestBlock`."""


@dataclass(frozen=True, slots=True)
class SentRows:
    """Rows as compressed JSON."""

    packed: bytes
    paths: tuple[str, ...] = ()

    @classmethod
    def of(cls, rows: Sequence[Row]) -> "SentRows":
        """Return rows without their empty cells. Those beyond all columns are kept."""
        texts = [[(name, text) for name, text in row.items() if text] for row in rows]
        return cls(zlib.compress(json.dumps(texts).encode()))

    def read(self, only: str | None) -> list[Row]:
        """Return the rows."""
        return [dict(texts) for texts in json.loads(zlib.decompress(self.packed))]


@dataclass(frozen=True, slots=True)
class TableRows:
    """Rows by their bytes in a table."""

    table: str
    part: range

    @property
    def paths(self) -> tuple[str, ...]:
        """The table."""
        return (self.table,)

    def read(self, only: str | None) -> list[Row]:
        """Return the rows. The columns read depend on what alone is wanted."""
        with read_requests(located(Path(self.table)), *columns_of(only), self.part) as requests:
            return list(requests.rows)


@dataclass(frozen=True, slots=True)
class RequestBlock:
    """Successive rows of a batch.

    Parameters
    ----------
    rows
        The rows.
    first
        Number of the first one, from 1.
    usual
        Texts of requests whose own cells are empty.
    only
        ``energy`` for least energies alone.
    paths
        Files of the rows, and of vehicles that the requests name.
    """

    rows: BlockRows
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
        rows = iter(self.rows.read(self.only))
        lines, table = [], []
        for answer in answers_of(opened, rows, self.usual, self.only, first=self.first):
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


def table_blocks(
    requests: Requests, usual: Mapping[str, str], only: str | None
) -> Iterator[RequestBlock]:
    """Yield the blocks of a table, which its workers read, or of its rows if it is large or a pipe.

    Parameters
    ----------
    requests
        The table. Its rows are read as blocks are wanted.
    usual, only
        As in `RequestBlock`.
    """
    path = requests.path
    if path.is_file() and path.stat().st_size <= WHOLE_BYTES:
        begin = requests.end()
        for first, taken in _portions(requests.rows, only):
            part = range(begin, requests.end())
            yield _block(TableRows(str(path), part), taken, first, usual, only)
            begin = part.stop
    else:
        yield from request_blocks(requests.rows, usual, only)


def request_blocks(
    rows: Iterator[Row], usual: Mapping[str, str], only: str | None
) -> Iterator[RequestBlock]:
    """Yield the blocks of a batch, with their rows, read as they are wanted.

    Parameters
    ----------
    rows
        The requests.
    usual, only
        As in `RequestBlock`.
    """
    for first, taken in _portions(rows, only):
        yield _block(SentRows.of(taken), taken, first, usual, only)


def _portions(rows: Iterator[Row], only: str | None) -> Iterator[tuple[int, list[Row]]]:
    """Yield the rows of each block, with the number of the first one. No row is taken earlier."""
    size = ENERGIES if only else PLANS
    for first in count(1, size):
        taken = list(islice(rows, size))
        if not taken:
            return
        yield first, taken


def _block(
    rows: BlockRows, taken: Sequence[Row], first: int, usual: Mapping[str, str], only: str | None
) -> RequestBlock:
    named = [usual.get("vehicle"), *(row.get("vehicle") for row in taken)]
    cars = dict.fromkeys(name for name in named if name and name.endswith(".toml"))
    return RequestBlock(rows, first, dict(usual), only, (*rows.paths, *cars))


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
        Texts of the vehicle and the day, and of detours.
    packed
        Whether the answer is a Parquet file of a folder. Else an array, (c, o, d) float64.
    sd
        Whether with standard deviations.
    warm
        Whether no energy has a warm-up.
    """

    origins: str
    destinations: str
    block: range
    by: str
    usual: Mapping[str, str] = field(default_factory=dict)
    packed: bool = True
    sd: bool = False
    warm: bool = False

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
        cells = Cells(self.by, self.sd, request, self.warm)
        pairs = opened.pairs(planner, self.destinations, digest, cells)
        rows = []
        for row in pairs.rows(origins[self.block.start : self.block.stop]):
            rows.append(row)
            check()
        matrix = np.moveaxis(np.array(rows), 2, 0)
        if self.packed:
            return {PAIRS: part_of(matrix, pairs, origins, self.block)}
        content = io.BytesIO()
        np.save(content, np.ascontiguousarray(matrix), allow_pickle=False)
        return {PAIRS: content.getvalue()}
