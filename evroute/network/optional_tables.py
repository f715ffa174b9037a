"""Optional tables of a network: columns by name, stored with it and read on first use.

Later versions may fill them without a new format of stored networks. Tables with unknown names are
ignored.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from evroute import limits
from evroute.arrays import IntArray, expanded
from evroute.checked import DAMAGE, digest_of
from evroute.errors import NetworkFormatError, require

Column = np.ndarray[Any, Any] | tuple[str, ...]
Table = Mapping[str, Column]
EDGES = "edges"
TURNS = "turns"
JUNCTIONS = "junctions"


@dataclass(frozen=True, slots=True)
class Kind:
    """A table's rows, and the changes of a network after which it does not fit.

    Parameters
    ----------
    one
        For columns with one value a row, whether the rows are edges, turns or junctions.
    several
        The same for columns with several values a row, from ``start[row]`` to ``start[row + 1]``.
    order
        Column that lists all edges in an order of its own, or empty for none.
    reads
        Columns of the network that it depends on. ``edges``: also on which edges there are.
    """

    one: Mapping[str, str] = field(default_factory=dict)
    several: Mapping[str, str] = field(default_factory=dict)
    order: str = ""
    reads: tuple[str, ...] = ()


TABLES = {
    "profile": Kind(
        several={"height_m": EDGES}, reads=("elevation_m", "structure", "shape_x_m", "shape_y_m")
    ),
    "names": Kind(one={"junction": JUNCTIONS}, reads=("street", EDGES)),
    "places": Kind(),
    "chargers": Kind(),
    "cch": Kind(order="order"),
    "shape": Kind(reads=("elevation_m", "shape_x_m", "shape_y_m", EDGES)),
    "crossings": Kind(one={"lane_m": EDGES, "turn_m": TURNS}, several={"x_m": TURNS, "y_m": TURNS}),
}
"""The tables that a network may have. Those without rows, such as places, always fit."""


def to_arrays(tables: Mapping[str, Table]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arrays to store, by member of the file, and the description of the tables."""
    arrays: dict[str, Any] = {}
    described = {}
    for name, table in tables.items():
        texts = [column for column, values in table.items() if isinstance(values, tuple)]
        own = {
            f"tables/{name}/{column}": np.frombuffer(json.dumps(values).encode(), dtype=np.uint8)
            if isinstance(values, tuple)
            else values
            for column, values in table.items()
        }
        described[name] = {"columns": list(table), "texts": texts, "sha256": digest_of(own)}
        arrays |= own
    return arrays, described


class CarriedTables(Mapping[str, Table]):
    """The tables of a network that fit another one, each carried over on first use.

    Parameters
    ----------
    tables
        Tables of the network.
    changed
        The columns of the other network that differ, and ``edges`` if it has other edges.
    rows
        For its edges, turns and junctions the rows in the network, -1 for a new turn. Rows that
        stay may be left out.
    """

    def __init__(
        self, tables: Mapping[str, Table], changed: Collection[str], rows: Mapping[str, IntArray]
    ) -> None:
        self._tables, self._rows = tables, rows
        self._names = [name for name in tables if not set(changed) & {name, *TABLES[name].reads}]
        self._carried: dict[str, Table] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, name: str) -> Table:
        """Return the columns of a table.

        Raises
        ------
        KeyError
            If the network had no such table, or it does not fit.
        NetworkFormatError
            If the table is damaged.
        """
        if name not in self._names:
            raise KeyError(name)
        if name not in self._carried:
            try:
                self._carried[name] = _of_rows(self._tables[name], TABLES[name], self._rows)
            except (IndexError, KeyError, ValueError) as error:
                raise NetworkFormatError(
                    f"the table '{name}' of the network is damaged ({error}). Build it again"
                ) from error
        return self._carried[name]


def _of_rows(table: Table, kind: Kind, rows: Mapping[str, IntArray]) -> Table:
    """Return the columns of a table for rows of a network, as in `CarriedTables`."""
    found = dict(table)
    for column, of in kind.one.items():
        if of in rows:
            found[column] = _picked(table[column], rows[of])
    for column, of in kind.several.items():
        if of in rows:
            start, known = np.asarray(table["start"]), rows[of] >= 0
            count = np.where(known, np.diff(start)[rows[of]], 0)
            found["start"] = np.append(0, np.cumsum(count))
            found[column] = np.asarray(table[column])[expanded(start, rows[of][known])[0]]
    if kind.order and EDGES in rows:
        order = np.asarray(table[kind.order])
        left = np.full(len(order), -1)
        left[rows[EDGES]] = np.arange(len(rows[EDGES]))
        found[kind.order] = left[order][left[order] >= 0]
    return found


def _picked(column: Column, rows: IntArray) -> Column:
    """Return the values of rows (k,), 0 or an empty text at -1."""
    if isinstance(column, tuple):
        return tuple(column[row] if row >= 0 else "" for row in rows.tolist())
    picked = np.zeros(len(rows), column.dtype)
    picked[rows >= 0] = column[rows[rows >= 0]]
    return picked


class StoredTables(Mapping[str, Table]):
    """The tables of a stored network, each read and checked on first use.

    Parameters
    ----------
    path
        The stored network.
    described
        Columns, the text columns among them, and the digest of each table, from `to_arrays`.
    """

    def __init__(self, path: Path, described: Mapping[str, Any]) -> None:
        self._path = path
        self._described = {name: described[name] for name in TABLES if name in described}
        self._read: dict[str, Table] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._described)

    def __len__(self) -> int:
        return len(self._described)

    def __getitem__(self, name: str) -> Table:
        """Return the columns of a table: arrays, and tuples of texts.

        Raises
        ------
        KeyError
            If the network has no such table.
        NetworkFormatError
            If the file was changed since the network was loaded, or the table is damaged.
        """
        if name not in self._read:
            about = self._described[name]
            try:
                self._read[name] = self._columns(name, about)
            except DAMAGE as error:
                raise NetworkFormatError(
                    f"table '{name}' of {self._path} is damaged or was replaced ({error}). "
                    "Load the network again, or build it again"
                ) from error
        return self._read[name]

    def _columns(self, name: str, about: Mapping[str, Any]) -> Table:
        members = {column: f"tables/{name}/{column}" for column in about["columns"]}
        limits.check_archive(self._path)
        with np.load(self._path, allow_pickle=False) as stored:
            arrays = {member: stored[member] for member in members.values()}
        require(digest_of(arrays) == about["sha256"], "its digest differs", ValueError)
        for array in arrays.values():
            array.setflags(write=False)
        return {
            column: tuple(limits.parse_json(arrays[member].tobytes(), str(self._path)))
            if column in about["texts"]
            else arrays[member]
            for column, member in members.items()
        }
