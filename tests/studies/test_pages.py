"""The pages of results: written from their tables, on the roads of today, and computed again."""

import re
from pathlib import Path

import pytest

from evroute.network.catalog import load_network
from studies.pages import tables
from studies.pages.__main__ import HERE, PAGES, ROOT, older, program, written

TABLES = sorted(path.stem for path in tables.FOLDER.glob("*.csv"))
RUN_TABLES = sorted((ROOT / "data").glob("*/*.runs.csv"))
LEVELS = {"1", "2", "4", "5", "10", "20", "50", "80", "90", "95"}
"""Levels of intervals and of risk, and shares of charge, which are no figures."""
_FIGURE = re.compile(r"\d+\.\d+|\d[\d,]* (?:Wh|kWh|ms|s|minutes)\b|(\d+) %")


def test_pages_are_written_from_their_tables() -> None:
    for path, text in written().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name} is outdated: make pages"


@pytest.mark.parametrize("page", [*PAGES, "paper", "readme"])
def test_a_template_has_no_figure_of_its_own(page: str) -> None:
    """But for levels, and rules such as 100 Wh for a minute."""
    text = (HERE / f"{page}.md").read_text(encoding="utf-8")
    rules = r"\{\{.*?\}\}|`[^`]*`|\]\([^)]*\)|100 Wh for|35 kWh, no|goals? of [^.]* %|CC BY 4.0"
    rules += r"|Apache-2.0|Table 11.2|Proposition 4.1"
    found = [
        each[0]
        for each in _FIGURE.finditer(re.sub(rules, "", text, flags=re.S))
        if each[1] not in LEVELS
    ]
    assert not found, f"{page}.md writes {found} by hand"


def test_every_table_stands_on_a_page() -> None:
    shown = "".join((HERE / f"{page}.md").read_text(encoding="utf-8") for page in PAGES)
    assert {name for name in TABLES if f'"{name}"' not in shown} == set()


@pytest.mark.parametrize("city", tables.CITIES)
def test_the_table_of_networks_has_the_digests_of_today(
    city: str, request: pytest.FixtureRequest
) -> None:
    if city != "denver":
        request.getfixturevalue("data_dir")
    stated = tables.load(tables.ROADS).at(city, "digest")
    assert load_network(city).digest.startswith(stated), "make pages RUN=networks"


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_other_roads_says_that_it_is_older(name: str) -> None:
    table, roads = tables.load(name), tables.load(tables.ROADS)
    assert {"command", "commit", "date"} <= table.head.keys()
    changed = table.outdated(roads)
    assert not changed or "older" in table.head, f"{name}.csv was measured on other {changed}"


@pytest.mark.parametrize("path", RUN_TABLES, ids=lambda path: path.name)
def test_runs_of_other_roads_say_that_they_are_older(path: Path) -> None:
    table, roads = tables.load(path.stem, path.parent), tables.load(tables.ROADS)
    changed = table.outdated(roads)
    assert not changed or "older" in table.head, f"{path.name} was played on other {changed}"


def test_a_table_of_other_roads_is_found(tmp_path: Path) -> None:
    roads = tables.load(tables.ROADS)
    head = "# command: x\n# commit: y\n# date: z\n# networks: denver 000000000000\n"
    (tmp_path / "t.csv").write_text(f"{head}row,value\na,1\n", encoding="utf-8")
    assert tables.load("t", tmp_path).outdated(roads) == ["denver"]
    with pytest.raises(KeyError, match="0 rows 'b'"):
        tables.load("t", tmp_path).at("b", "value")


@pytest.mark.parametrize("page", PAGES)
def test_ten_rows_of_a_page_are_computed_again(page: str, request: pytest.FixtureRequest) -> None:
    try:
        request.getfixturevalue("data_dir")
        names = tables.CITIES
    except pytest.skip.Exception:
        names = ("denver",)
    stored = tables.load(f"{page}-small")
    again = program(page).small(names)
    assert len(stored.rows) == 10
    assert [row for row in stored.rows if row in again] == again, f"make pages RUN={page}-small"
    assert names == ("denver",) or again == stored.rows
    text = (ROOT / "docs" / "results" / f"{page}.md").read_text(encoding="utf-8")
    assert all(f"| {' | '.join(row)} |" in text for row in again)


def test_the_list_of_older_tables_names_a_way_to_each() -> None:
    rows = {name: way for name, _, _, way in older()}
    stated = {name for name in TABLES if "older" in tables.load(name).head}
    assert stated <= rows.keys()
    assert "program in the history: studies/hilly_car.py" in rows["hilly-car"]
    assert rows["sumo-worlds"].endswith("a night, 30 of 40 runs")
    assert "networks" not in rows
