"""Optional tables of a network: columns by name, stored with it and read on first use.

Later versions may fill them without a new format of stored networks. Tables with unknown names are
ignored.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from evroute import limits
from evroute.checked import DAMAGE, digest_of
from evroute.errors import NetworkFormatError, require

TABLES = ("profile", "names", "places", "chargers", "cch", "shape", "crossings")
Column = np.ndarray[Any, Any] | tuple[str, ...]
Table = Mapping[str, Column]


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
