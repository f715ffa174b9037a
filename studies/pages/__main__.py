"""The pages of results, written from their tables: ``python -m studies.pages`` (``make pages``).

    python -m studies.pages                        # write the pages, the paper and the README
    python -m studies.pages --run                  # first compute the tables that take minutes
    python -m studies.pages --run savings battery  # these alone
    python -m studies.pages --older                # name the tables of older roads or code

A page is a template beside this file. ``at("savings", "extra time: mean", "Monaco")`` is a cell of
docs/tables/savings.csv, ``table("savings")`` the whole table with its command and commit, and
``claims(FILE)`` and ``runs(FILE, STATISTIC)`` are the judged claims of an experiment.
"""

import argparse
import re
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from runpy import run_path
from types import ModuleType
from typing import Any

import jinja2

from evroute.files import replacing
from studies.pages import tables

HERE = Path(__file__).parent
ROOT = tables.ROOT
PAGES = {
    "real-trips": "trips",
    "learning": "learning",
    "charge": "charge",
    "search": "search",
    "papers": "papers",
}
"""Pages of docs/results, and the modules that compute their tables."""
PROGRAM = re.compile(r"\b(?:studies|tests|data)/[\w./-]+\.(?:py|toml)")
"""Files of the tree that a command names."""
README = re.compile(r"(?<=<!-- numbers: make pages -->\n).*?(?=<!-- end of numbers -->)", re.S)


def program(page: str) -> ModuleType:
    """Return the module of a page."""
    return import_module(f"studies.pages.{PAGES[page]}")


def environment() -> jinja2.Environment:
    """Return what templates may call."""
    roads = tables.load(tables.ROADS)
    hook = run_path(str(ROOT / "docs" / "hooks" / "claims.py"))
    stated = hook["experiments"]()

    def table(name: str, columns: Any = (), rows: Any = ()) -> str:
        return tables.load(name).markdown(columns, rows)

    def claims(file: str) -> str:
        return str(hook["table_of"](ROOT / file, stated[ROOT / file])) + made(file)

    def runs(file: str, statistic: str) -> str:
        return str(hook["runs_table"](ROOT / file, statistic)) + made(file)

    def made(file: str) -> str:
        head, _ = hook["stored"](ROOT / file)
        older = f". **Older**: {head['older']}" if "older" in head else ""
        return f"\n*Commit `{head['commit']}`, {head['date']}{older}.*"

    made_now = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    made_now.globals |= {
        "at": lambda name, row, column: tables.load(name).at(row, column),
        "table": table,
        "claims": claims,
        "runs": runs,
        "roads": roads,
    }
    return made_now


def written() -> dict[Path, str]:
    """Return the text of each page, of the paper and of the README, written from today's tables."""
    render = environment()
    texts = {}
    for page in PAGES:
        template = render.from_string((HERE / f"{page}.md").read_text(encoding="utf-8"))
        texts[ROOT / "docs" / "results" / f"{page}.md"] = template.render()
    paper = render.from_string((HERE / "paper.md").read_text(encoding="utf-8"))
    texts[ROOT / "paper" / "paper.md"] = paper.render()
    readme = ROOT / "README.md"
    numbers = render.from_string((HERE / "readme.md").read_text(encoding="utf-8")).render()
    texts[readme] = README.sub(lambda _: numbers, readme.read_text(encoding="utf-8"))
    return texts


def store_small(page: str) -> None:
    """Compute the ten small cases of a page."""
    module = program(page)
    rows = module.small(tables.CITIES)
    command = f"python -m studies.pages --run {page}-small"
    tables.store(f"{page}-small", module.SMALL, rows, command=command, networks=tables.CITIES)


def runs() -> dict[str, Callable[[], None]]:
    """Return the function that computes each table, of those that take minutes."""
    found: dict[str, Callable[[], None]] = {tables.ROADS: tables.store_roads}
    for page in PAGES:
        found |= program(page).RUNS
        found[f"{page}-small"] = partial(store_small, page)
    found |= import_module("studies.pages.along").RUNS
    found |= import_module("studies.pages.wild_logs").RUNS
    found |= import_module("studies.pages.day_alarms").RUNS
    found |= import_module("studies.pages.minutes").RUNS
    found["ablation"] = import_module("studies.pages.ablation").ablation
    found["road-kernel"] = import_module("studies.pages.roads").roads
    return found


def older() -> list[list[str]]:
    """Return name, date, reason and way to a new one of each table older than the code.

    A table is older if its head says so, or if its command names a program that left the tree.
    """
    known, roads = runs(), tables.load(tables.ROADS)
    rows = []
    for path in sorted(tables.FOLDER.glob("*.csv")):
        table = tables.load(path.stem)
        command = table.head["command"]
        programs = PROGRAM.findall(command)
        gone = [each for each in programs if not (ROOT / each).exists()]
        if not (table.outdated(roads) or "older" in table.head or gone):
            continue
        way = f"program in the history: {', '.join(gone)}" if gone else command
        way = f"python -m studies.pages --run {path.stem}" if path.stem in known else way
        taken = f", {table.head['run']}" if "run" in table.head else ""
        rows.append([path.stem, table.head["date"], table.head.get("older", ""), way + taken])
    return rows


def main() -> None:
    """Compute tables where asked to, and write the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", nargs="*", metavar="TABLE", help="tables to compute, or all")
    parser.add_argument("--older", action="store_true", help="name older tables alone")
    given = parser.parse_args()
    if given.older:
        for row in older():
            print(" | ".join(row))
        return
    if given.run is not None:
        known = runs()
        if unknown := set(given.run) - known.keys():
            sys.exit(
                f"no table {', '.join(sorted(unknown))} takes minutes. These do: {list(known)}"
            )
        for name in given.run or known:
            print(f"computing {name}", file=sys.stderr)
            known[name]()
    for path, text in written().items():
        path.parent.mkdir(exist_ok=True)
        with replacing(path) as new:
            new.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
