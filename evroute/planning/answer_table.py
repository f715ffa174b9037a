"""Answers to a batch as a table with a row for each request, and their sums in one line.

A file keeps all rows in memory and has float64. A folder has Parquet files of `ROWS` rows with
float32, written as the rows come, so that the memory in use does not depend on their number.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evroute import limits
from evroute.errors import require
from evroute.files import real_path
from evroute.planning.matrix_dataset import check_folder, new_folder

if TYPE_CHECKING:
    import pyarrow as pa

SUFFIXES = (".csv", ".parquet")
ROWS = 100_000
"""Rows of one file of a folder."""
PENDING = 1000
"""Rows that are joined to a table at a time."""
_OF_ROUTE = (
    "energy_wh",
    "time_s",
    "length_m",
    "arrival_soc_percent",
    "min_soc_percent",
    "arrival_time",
    "energy_cost",
)
_ENDS = ("network", "vehicle", "origin_name", "destination_name")
_FORECAST = ("low90_wh", "high90_wh", "fastest_wh", "fastest_s")
NAMES = ("id", "error", *_ENDS, "route", *_OF_ROUTE, *_FORECAST)
"""Columns of plans."""
ENERGY_NAMES = ("id", "error", "energy_wh", "time_s", "length_m")
"""Columns of least energies alone."""
_TEXTS = {"id", "error", *_ENDS, "route", "arrival_time"}
Take = Callable[["pa.Table"], None]
"""Receives rows of answers."""


def check_out(path: Path, *inputs: Path) -> None:
    """Check that a table can be written to a path and replaces no input.

    Raises
    ------
    EvrouteError
        If it is a folder with contents, a file whose name ends neither in ``.csv`` nor in
        ``.parquet``, or one of the inputs.
    OSError
        If links lead in a circle. It names the path.
    """
    if not path.suffix:
        check_folder(path)
        return
    require(path.suffix in SUFFIXES, f"--out {path} must end in {' or '.join(SUFFIXES)}")
    require(
        real_path(path) not in [real_path(each) for each in inputs],
        f"--out {path} is also read. Choose another name, so that it is kept",
    )


@contextmanager
def answers_to(path: Path | None, *, energies: bool = False) -> Iterator["AnswerTable"]:
    """Yield a table whose rows are written to a file or a folder, which appears at the end.

    Parameters
    ----------
    path
        A path that ends in ``.csv`` or ``.parquet``, a new folder, or None to count the rows only.
    energies
        Whether the answers are least energies alone.
    """
    names = ENERGY_NAMES if energies else NAMES
    with _sink(path, names) as take:
        table = AnswerTable(names, take)
        yield table
        table.flush()


@contextmanager
def _sink(path: Path | None, names: Sequence[str]) -> Iterator[Take]:
    """Yield the receiver of rows."""
    if path is None:
        yield lambda rows: None
    elif path.suffix:
        with _file(path, names) as take:
            yield take
    else:
        with new_folder(path) as folder:
            parts = _Parts(folder)
            yield parts.take
            parts.write()


@contextmanager
def _file(path: Path, names: Sequence[str]) -> Iterator[Take]:
    """Yield the receiver of the rows of a file."""
    import pyarrow as pa

    from evroute.tables import write_table

    kept: list[pa.Table] = [schema_of(names).empty_table()]

    def take(rows: pa.Table) -> None:
        kept.append(rows)
        message = "--out has {} rows. Name a folder, whose files have some each"
        limits.check("rows", sum(map(len, kept)), message)

    yield take
    write_table(path, pa.concat_tables(kept))


class _Parts:
    """The files of a folder, each of `ROWS` rows or somewhat more."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._waiting: list[pa.Table] = []
        self._written = 0

    def take(self, rows: "pa.Table") -> None:
        self._waiting.append(rows)
        if sum(map(len, self._waiting)) >= ROWS:
            self.write()

    def write(self) -> None:
        """Write the rows that wait. A folder has at least one file."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if not self._waiting and self._written:
            return
        rows = pa.concat_tables(self._waiting or [schema_of(NAMES).empty_table()])
        types = [
            pa.field(each.name, pa.float32() if each.type == pa.float64() else each.type)
            for each in rows.schema
        ]
        repeated = [each.name for each in types if each.name in _TEXTS and each.name != "id"]
        pq.write_table(
            rows.cast(pa.schema(types)),
            self._folder / f"part-{self._written:05d}.parquet",
            use_dictionary=repeated,
            compression="zstd",
        )
        self._written += 1
        self._waiting = []


def schema_of(names: Sequence[str]) -> "pa.Schema":
    """Return the types of columns of answers: texts and float64."""
    import pyarrow as pa

    return pa.schema([(name, pa.string() if name in _TEXTS else pa.float64()) for name in names])


class AnswerTable:
    """Numbers of the recommended routes of answers, as they come.

    Parameters
    ----------
    names
        Columns: `NAMES`, or `ENERGY_NAMES` of least energies alone. The columns of a plan are id,
        error, network, vehicle, the names of its ends, name, energy (Wh), time (s), length (m) and
        charges (%) of the recommended route, the ends of the 90 % interval (Wh), and energy and
        time of the fastest route, None with charging stops.
    take
        Receives the rows.

    Attributes
    ----------
    planned, failed
        Numbers of requests that were met and that were not.
    energy_wh, length_m
        Sums over the requests that were met.
    """

    def __init__(self, names: Sequence[str], take: Take) -> None:
        self.names = names
        self.planned = self.failed = 0
        self.energy_wh = self.length_m = 0.0
        self._take = take
        self._pending: list[dict[str, Any]] = []

    def through(self, answers: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        """Yield answers (`answers.answer_all`, `answers.answer_energies`), whose rows are added."""
        for answer in answers:
            self._pending.append(row_of(answer))
            if len(self._pending) >= PENDING:
                self.flush()
            yield answer

    def add(self, rows: "pa.Table") -> None:
        """Add rows with the columns of this table."""
        import pyarrow.compute as pc

        self.flush()
        met = rows["error"].null_count
        self.planned += met
        self.failed += len(rows) - met
        self.energy_wh += pc.sum(rows["energy_wh"]).as_py() or 0.0
        self.length_m += pc.sum(rows["length_m"]).as_py() or 0.0
        self._take(rows)

    def flush(self) -> None:
        """Hand over the rows that wait."""
        import pyarrow as pa

        if self._pending:
            waiting, self._pending = self._pending, []
            self.add(pa.Table.from_pylist(waiting, schema_of(self.names)))

    @property
    def summary(self) -> str:
        """Number of plans, their energy and length, and the number of failed requests."""
        failed = f", {self.failed} failed" if self.failed else ""
        return (
            f"{self.planned} of {self.planned + self.failed} planned: "
            f"{self.energy_wh / 1000:.1f} kWh, {self.length_m / 1000:.1f} km{failed}"
        )


def row_of(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of an answer."""
    row = {"id": answer["id"], "error": answer.get("error")}
    if "routes" not in answer:
        return row | {name: answer[name] for name in _OF_ROUTE if name in answer}
    # a plan with charging stops is one route
    chosen, fastest = answer["routes"][answer["recommended"]], answer["routes"].get("time", {})
    low_wh, high_wh = chosen.get("forecast", {}).get("interval_90_wh", (None, None))
    return (
        row
        | {name: answer[name] for name in _ENDS}
        | {"route": answer["recommended"]}
        | {name: chosen[name] for name in _OF_ROUTE}
        | {"low90_wh": low_wh, "high90_wh": high_wh}
        | {"fastest_wh": fastest.get("energy_wh"), "fastest_s": fastest.get("time_s")}
    )
