"""Batches and matrices from Python, on any executor or on processes of this machine."""

import io
import json
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np

from evroute.arrays import FloatArray
from evroute.door.opened import DoorNames
from evroute.experiments.blocks.tasks import in_order
from evroute.experiments.blocks.work import ANSWERS, PAIRS, PairBlock, Row, request_blocks
from evroute.experiments.parallel.engine import Engine
from evroute.planning.dispatch.reduced import check_same
from evroute.planning.dispatch.stops import check_rows, read_stops
from evroute.planning.matrix import AIMS, Cells, Written
from evroute.planning.matrix_dataset import blocks, write_matrix, write_parts
from evroute.planning.request import PlanRequest

Executing = Executor | Engine | int
"""Any executor, which stays open, or a number of processes of this machine."""


def answers_by(
    executor: Executing,
    door: DoorNames,
    rows: Iterator[Row],
    usual: Mapping[str, str] | None = None,
    *,
    only: str | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield the answers to requests in their order, as `evroute.planning.answers.answer_all` does.

    Parameters
    ----------
    executor
        An executor, or a number of processes.
    door
        Names of the roads, and of belief or physics.
    rows
        Requests by column, as texts.
    usual
        Texts of requests whose own cells are empty.
    only
        ``energy`` for least energies alone.

    Raises
    ------
    EvrouteError
        As `in_order`.
    """
    for files in in_order(door, request_blocks(rows, usual or {}, only), _engine(executor)):
        for line in files[ANSWERS].splitlines():
            yield json.loads(line)


def write_matrix_by(
    executor: Executing,
    door: DoorNames,
    tables: tuple[Path, Path],
    out: Path,
    *,
    by: str = AIMS[0],
    sd: bool = False,
    reduced: bool = False,
    usual: Mapping[str, str] | None = None,
) -> Written:
    """Write energy, time and length of all pairs.

    Parameters
    ----------
    executor, door
        As in `answers_by`.
    tables
        CSV tables of origins and destinations, with the column ``place`` and, if wanted, ``id``.
    out
        A path that ends in ``.csv`` or ``.parquet``, or a new folder of Parquet files.
    by, sd
        Aim of the routes, and whether with standard deviations of energies, as in
        `evroute.planning.matrix.Cells`.
    reduced
        Whether to add reduced energies. The tables then have the same places, and no energy has a
        warm-up.
    usual
        Texts of the vehicle and the day, and for recommended routes of the detours.

    Raises
    ------
    EvrouteError
        If a table is refused, or as `in_order`.
    LimitError
        If a table that is not a folder has more pairs than a table may have rows.
    OSError
        If the table cannot be written.
    """
    roads, texts = door.open().roads, dict(usual or {})
    cells = Cells(by, sd, PlanRequest.without_places(texts), warm=reduced)
    origins = read_stops(tables[0], roads, leaving=True)
    destinations = read_stops(tables[1], roads, leaving=False)
    if reduced:
        check_same(origins, destinations)
    folder = not out.suffix
    first, second = map(str, tables)
    work = (
        PairBlock(first, second, each, by, texts, packed=folder, sd=sd, warm=reduced)
        for each in blocks(len(origins), len(destinations))
    )
    found = (files[PAIRS] for files in in_order(door, work, _engine(executor)))
    if folder:
        return write_parts(out, found, square=len(origins) if reduced else None)
    check_rows(origins, destinations)
    parts = [np.load(io.BytesIO(each), allow_pickle=False) for each in found]
    whole: FloatArray = np.concatenate(parts, axis=1)
    return write_matrix(out, whole, origins, destinations, cells.columns, reduced=reduced)


def _engine(executor: Executing) -> Engine | int:
    return Engine(executor) if isinstance(executor, Executor) else executor
