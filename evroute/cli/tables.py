"""Tables of ``evroute route``: the answers to ``--batch``, and the pairs of ``--matrix``."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Union

import typer

from evroute.cli.shared import refuse
from evroute.door.opened import DoorNames
from evroute.errors import EvrouteError
from evroute.network.contraction import contraction_installed
from evroute.planning.answer_table import AnswerTable, answers_to, check_out
from evroute.planning.answers import answer_all, answer_energies, columns_of
from evroute.planning.dispatch.reduced import check_same
from evroute.planning.dispatch.stops import check_rows, read_stops
from evroute.planning.matrix import AIMS, RECOMMENDED, Cells, Pairs, Written
from evroute.planning.matrix_dataset import write_dataset, write_matrix
from evroute.planning.planner import Planner
from evroute.planning.request import OF_DETOURS, PlanRequest, entries
from evroute.planning.requests import Requests, Rows, read_requests
from evroute.planning.searches.search import numba_installed
from evroute.text import escaped

if TYPE_CHECKING:
    from evroute.experiments.parallel.engine import Engine

Executing = Union["Engine", int]
"""An executor, or a number of processes of this machine."""
_OF_MATRIX = ("vehicle", "car", *(name for name, entry in entries().items() if entry.of_day))
"""Fields of a request that a matrix takes."""


@dataclass(frozen=True, slots=True)
class Batch:
    """A table of requests, the table of its answers, and which numbers are wanted alone."""

    table: Path
    out: Path | None
    only: str | None


@dataclass(frozen=True, slots=True)
class Matrix:
    """Tables of origins and destinations, the aim of the routes, and the table of the pairs.

    ``reduced`` adds reduced energies to it, and ``sd`` the standard deviation of each energy.
    """

    tables: tuple[Path, Path]
    by: str | None
    out: Path | None
    reduced: bool = False
    sd: bool = False


def answer_batch(
    names: DoorNames, batch: Batch, usual: Mapping[str, str], engine: Executing
) -> None:
    """Answer the requests of a table with JSON lines on standard output.

    Parameters
    ----------
    names
        Names of the roads, and of belief or physics.
    batch
        The tables.
    usual
        Texts of requests whose own cells are empty.
    engine
        An executor, or a number of processes.

    Raises
    ------
    EvrouteError
        If an option, the table or the roads are refused.
    typer.Exit
        With status 1 if a request could not be met.
    """
    refuse(
        (
            batch.only is not None and (batch.only != "energy" or "search" in usual),
            "--only energy goes with --batch, and with no other --search than potential",
        ),
    )
    if batch.only:
        _refuse_others("--only energy", usual)
    if batch.out:
        check_out(batch.out, batch.table)
    with (
        read_requests(batch.table, *columns_of(batch.only)) as requests,
        answers_to(batch.out, energies=batch.only is not None) as found,
    ):
        if requests.ignored:
            ignored = escaped(", ".join(requests.ignored))
            typer.echo(f"evroute: {batch.table}: not read: {ignored}", err=True)
        if batch.only and not (numba_installed() or contraction_installed()):
            typer.echo(
                "evroute: three times slower without numba. Run: pip install 'evroute[fast]'",
                err=True,
            )
        if engine == 1:
            _print_answers(names, requests.rows, usual, batch.only, found)
        else:
            _print_blocks(names, requests, usual, batch.only, found, engine)
    typer.echo(f"evroute: {found.summary}", err=True)
    if found.failed:
        raise typer.Exit(1)


def _print_answers(
    names: DoorNames,
    rows: Rows,
    usual: Mapping[str, str],
    only: str | None,
    found: AnswerTable,
) -> None:
    """Answer the requests one after the other."""
    door = names.open()
    if only:
        request = PlanRequest.without_places(usual)
        planner = door.planner(request.vehicle, request.conditions).of_car(request.car)
        answers = answer_energies(rows, planner)
    else:
        answers = answer_all(rows, door.planner, usual)
    for answer in found.through(answers):
        sys.stdout.write(dumps(answer, ensure_ascii=False) + "\n")


def _print_blocks(
    names: DoorNames,
    requests: Requests,
    usual: Mapping[str, str],
    only: str | None,
    found: AnswerTable,
    engine: Executing,
) -> None:
    """Answer the requests in blocks, by an executor or in several processes."""
    import pyarrow as pa

    from evroute.experiments.blocks.tasks import in_order
    from evroute.experiments.blocks.work import ANSWERS, ROWS, table_blocks

    for files in in_order(names, table_blocks(requests, usual, only), engine):
        sys.stdout.write(files[ANSWERS].decode())
        found.add(pa.ipc.open_stream(files[ROWS]).read_all())


def write_pairs(
    names: DoorNames, matrix: Matrix, texts: Mapping[str, str], engine: Executing
) -> None:
    """Write energy, time and length of the pairs of two tables.

    Parameters
    ----------
    names, engine
        As in `answer_batch`.
    matrix
        The tables.
    texts
        Texts of the vehicle and the day.

    Raises
    ------
    EvrouteError
        If an option, a table or the roads are refused.
    """
    by, out = matrix.by or AIMS[0], matrix.out
    _refuse_others("--matrix", texts, also=OF_DETOURS if by == RECOMMENDED else ())
    refuse(
        (by not in AIMS, f"--by is '{by}', expected {', '.join(AIMS[:-1])} or {AIMS[-1]}"),
        (out is None, "--matrix needs --out FILE"),
    )
    assert out is not None
    check_out(out, *matrix.tables)
    if engine == 1:
        written = _write_here(names, matrix, out, by, texts)
    else:
        from evroute.experiments.blocks.tables import write_matrix_by

        written = write_matrix_by(
            engine,
            names,
            matrix.tables,
            out,
            by=by,
            sd=matrix.sd,
            reduced=matrix.reduced,
            usual=texts,
        )
    typer.echo(f"evroute: {written.words}", err=True)
    if matrix.reduced and (words := _planner(names, texts).heating.of_tours):
        typer.echo(f"evroute: {words}", err=True)
    typer.echo(out)


def _write_here(
    names: DoorNames,
    matrix: Matrix,
    out: Path,
    by: str,
    texts: Mapping[str, str],
) -> Written:
    """Write a matrix in this process."""
    request, planner = PlanRequest.without_places(texts), _planner(names, texts)
    origins = read_stops(matrix.tables[0], planner.network, leaving=True)
    destinations = read_stops(matrix.tables[1], planner.network, leaving=False)
    if matrix.reduced:
        check_same(origins, destinations)
    ends, cells = (origins, destinations), Cells(by, matrix.sd, request, matrix.reduced)
    if not out.suffix:
        return write_dataset(out, planner, *ends, cells=cells, reduced=matrix.reduced)
    check_rows(*ends)
    numbers = Pairs(planner, destinations, cells).matrix(origins)
    return write_matrix(out, numbers, *ends, cells.columns, reduced=matrix.reduced)


def _planner(names: DoorNames, texts: Mapping[str, str]) -> Planner:
    """Return the planner of a vehicle and a day."""
    request = PlanRequest.without_places(texts)
    return names.open().planner(request.vehicle, request.conditions).of_car(request.car)


def _refuse_others(option: str, texts: Mapping[str, str], *, also: Sequence[str] = ()) -> None:
    """Raise EvrouteError if a text is neither of the vehicle nor of the day, nor one of others."""
    others = [name for name in texts if name not in (*_OF_MATRIX, *also)]
    if others:
        of_detours = " or send --by recommended" if not also and others[0] in OF_DETOURS else ""
        raise EvrouteError(
            f"{option} plans for one car and day, without wishes of single plans. Leave out "
            f"--{others[0].replace('_', '-')}{of_detours}"
        )
