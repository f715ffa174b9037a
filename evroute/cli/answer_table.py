"""Answers to a batch as a table with a row for each request, and their sums in one line."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from evroute.errors import require

SUFFIXES = (".csv", ".parquet")
_OF_ROUTE = (
    "energy_wh",
    "time_s",
    "length_m",
    "arrival_soc_percent",
    "min_soc_percent",
    "arrival_time",
    "energy_cost",
)
_TEXTS = {
    "id",
    "error",
    "network",
    "vehicle",
    "origin_name",
    "destination_name",
    "route",
    "arrival_time",
}


def check_out(path: Path, *inputs: Path) -> None:
    """Check that a table can be written to a path and replaces no input.

    Raises
    ------
    EvrouteError
        If its name ends neither in ``.csv`` nor in ``.parquet``, or it is one of the inputs.
    """
    require(path.suffix in SUFFIXES, f"--out {path} must end in {' or '.join(SUFFIXES)}")
    require(
        path.resolve() not in [each.resolve() for each in inputs],
        f"--out {path} is also read; choose another name, so that it is kept",
    )


class AnswerTable:
    """Numbers of the recommended routes of answers, as they come.

    Parameters
    ----------
    keep
        Keep a row for each request, to be written.

    Attributes
    ----------
    rows
        Id, error, network, vehicle, the names of its ends, name, energy (Wh), time (s), length (m)
        and charges (%) of the recommended route, the ends of the 90 % interval (Wh), and energy and
        time of the fastest route, None with charging stops.
    planned, failed
        Numbers of requests that were met and that were not.
    energy_wh, length_m
        Sums over the requests that were met.
    """

    def __init__(self, *, keep: bool) -> None:
        self.keep = keep
        self.rows: list[dict[str, Any]] = []
        self.planned = self.failed = 0
        self.energy_wh = self.length_m = 0.0

    def through(self, answers: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        """Yield answers (`answers.answer_all`, `answers.answer_energies`), counted."""
        for answer in answers:
            row = _row(answer)
            if row["error"] is None:
                self.planned += 1
                self.energy_wh += row["energy_wh"]
                self.length_m += row["length_m"]
            else:
                self.failed += 1
            if self.keep:
                self.rows.append(row)
            yield answer

    @property
    def summary(self) -> str:
        """Number of plans, their energy and length, and the number of failed requests."""
        failed = f", {self.failed} failed" if self.failed else ""
        return (
            f"{self.planned} of {self.planned + self.failed} planned: "
            f"{self.energy_wh / 1000:.1f} kWh, {self.length_m / 1000:.1f} km{failed}"
        )

    def write(self, path: Path) -> None:
        """Write the rows as CSV or Parquet, by the end of the path."""
        import pyarrow as pa

        from evroute.tables import write_table

        names = dict.fromkeys(name for row in self.rows for name in row)
        types = [(name, pa.string() if name in _TEXTS else pa.float64()) for name in names]
        write_table(path, pa.Table.from_pylist(self.rows, pa.schema(types)))


def _row(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of an answer."""
    row = {"id": answer["id"], "error": answer.get("error")}
    if "routes" not in answer:
        return row | {name: answer[name] for name in _OF_ROUTE if name in answer}
    # a plan with charging stops is one route
    chosen, fastest = answer["routes"][answer["recommended"]], answer["routes"].get("time", {})
    low_wh, high_wh = chosen.get("forecast", {}).get("interval_90_wh", (None, None))
    ends = ("network", "vehicle", "origin_name", "destination_name")
    return (
        row
        | {name: answer[name] for name in ends}
        | {"route": answer["recommended"]}
        | {name: chosen[name] for name in _OF_ROUTE}
        | {"low90_wh": low_wh, "high90_wh": high_wh}
        | {"fastest_wh": fastest.get("energy_wh"), "fastest_s": fastest.get("time_s")}
    )
