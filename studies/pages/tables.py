"""Tables of results: CSV files whose head says by which command, commit and roads they were made.

    # command: python studies/search_figures.py savings
    # commit: 1f171e35
    # date: 2026-11-24
    # networks: luxembourg 6c4198b999ac, monaco 5726fad68b27
    # older: Monaco had 465.7 km, not 476.9
    # run: a night

A table has the digests of the roads it was measured on. Where they are not today's, ``older`` says
so, and so does the page. ``run`` is stated where a run takes longer than a page may. The first
column names the row. Cells are texts, as pages print them.
"""

import csv
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

from evroute.files import replacing
from evroute.network.catalog import load_network

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "tables"
ROADS = "networks"
"""The table with today's digests."""
CITIES = ("denver", "monaco", "luxembourg")
DIGITS = 12
"""Digits of a digest that a table keeps."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of results.

    Parameters
    ----------
    name
        Name of its file.
    head
        How it was made: ``command``, ``commit``, ``date``, and where they apply ``networks``,
        ``older`` and ``run``.
    columns
        Names of the columns.
    rows
        Cells of each row.
    """

    name: str
    head: dict[str, str]
    columns: list[str]
    rows: list[list[str]]

    def at(self, row: str, column: str) -> str:
        """Return a cell.

        Raises
        ------
        KeyError
            If the table has no such row or column, or more than one.
        """
        found = [cells for cells in self.rows if cells[0] == row]
        if len(found) != 1 or column not in self.columns:
            raise KeyError(f"{self.name}.csv has {len(found)} rows '{row}' in {self.columns}")
        return found[0][self.columns.index(column)]

    def digests(self) -> dict[str, str]:
        """Return the digest of each network that the table was measured on."""
        stated = self.head.get("networks", "")
        return dict(part.split() for part in stated.split(", ") if part)

    def outdated(self, roads: "Table") -> list[str]:
        """Return the networks that have other roads today."""
        now = dict(zip((row[0] for row in roads.rows), _digests(roads), strict=True))
        return [name for name, digest in self.digests().items() if now[name] != digest]

    def markdown(self, columns: Iterable[str] = (), rows: Iterable[str] = ()) -> str:
        """Return the table in Markdown, with all or some of its columns and rows, and its head."""
        shown = list(columns) or self.columns
        kept = [self.columns.index(name) for name in shown]
        wanted = list(rows)
        lines = [shown, ["---"] * len(shown)]
        lines += [[row[k] for k in kept] for row in self.rows if not wanted or row[0] in wanted]
        if wanted and len(lines) != len(wanted) + 2:
            raise KeyError(f"{self.name}.csv lacks some of {wanted}")
        escaped = [[cell.replace("|", r"\|") for cell in row] for row in lines]
        body = "\n".join(f"| {' | '.join(row)} |" for row in escaped)
        return f"{body}\n\n{self.caption()}"

    def caption(self) -> str:
        """Return how the table was made, in one line."""
        command, made = self.head["command"], f"[table](../tables/{self.name}.csv)"
        text = f"`{command}`, commit `{self.head['commit']}`, {self.head['date']}, {made}"
        if run := self.head.get("run"):
            text += f". Takes {run}"
        if older := self.head.get("older"):
            text += f". **Older**: {older}"
        return f"*{text}.*"


def _digests(roads: Table) -> list[str]:
    column = roads.columns.index("digest")
    return [row[column] for row in roads.rows]


def load(name: str, folder: Path = FOLDER) -> Table:
    """Return a table.

    Raises
    ------
    FileNotFoundError
        If there is none of that name.
    """
    text = (folder / f"{name}.csv").read_text(encoding="utf-8")
    stated = [line[2:] for line in text.splitlines() if line.startswith("# ")]
    head = dict(line.split(": ", 1) for line in stated)
    body = [line for line in text.splitlines() if not line.startswith("# ")]
    columns, *rows = csv.reader(body)
    return Table(name, head, columns, rows)


def store(
    name: str,
    columns: Iterable[str],
    rows: Iterable[Iterable[object]],
    *,
    command: str,
    networks: Iterable[str] = (),
) -> None:
    """Write a table that was measured now, on today's roads."""
    now = {city: load_network(city).digest[:DIGITS] for city in networks}
    commit = ["git", "-C", str(ROOT), "rev-parse", "--short=8", "HEAD"]
    head = {
        "command": command,
        "commit": subprocess.run(commit, capture_output=True, text=True, check=True).stdout.strip(),
        "date": datetime.now(UTC).date().isoformat(),
        "networks": ", ".join(f"{city} {digest}" for city, digest in now.items()),
    }
    text = StringIO()
    text.writelines(f"# {key}: {value}\n" for key, value in head.items() if value)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    FOLDER.mkdir(exist_ok=True)
    with replacing(FOLDER / f"{name}.csv") as new:
        new.write_text(text.getvalue(), encoding="utf-8")


def store_roads() -> None:
    """Write the table of today's roads."""
    rows = []
    for city in CITIES:
        roads = load_network(city)
        km = f"{roads.length_m.sum() / 1000:.1f}"
        turns = f"{len(roads.turns):,}"
        rows.append([city, f"{roads.n_edges:,}", turns, km, roads.digest[:DIGITS]])
    columns = ["network", "edges", "turns", "km", "digest"]
    store(ROADS, columns, rows, command="python -m studies.pages --run networks", networks=CITIES)
