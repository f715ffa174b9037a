"""Foreign texts in tables: no spreadsheet runs them, and evroute reads the same texts again."""

import csv
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from evroute.cli import main
from evroute.learning.readers.table import read_log, read_table
from evroute.network import store
from evroute.network.road_network import RoadNetwork
from evroute.network.sources.chargers import add_chargers, stations
from evroute.planning.answer_table import answers_to
from evroute.planning.dispatch.stops import Stop
from evroute.planning.matrix_dataset import write_matrix
from evroute.planning.requests import read_requests
from evroute.tables import csv_of, write_table

RUN = '=HYPERLINK("http://127.0.0.1/"&A1)'
SIGNS = (*"'=+@-\t\r\n(|!\"a1,;.#", "é", "東", "🚗", "\x9b", "\u202e", "NA", "null", "nan")
DANGEROUS = ("=", "+", "@", "\t", "\r")


def random_ids(n: int, seed: int) -> list[str]:
    """Return different texts that are not empty, most with signs of formulas."""
    rng, found = np.random.default_rng(seed), dict[str, None]()
    while len(found) < n:
        found["".join(rng.choice(SIGNS, rng.integers(1, 9)))] = None
    return list(found)


def cells(path: Path, column: str) -> list[str]:
    """Return a column as a spreadsheet sees it."""
    with path.open(newline="", encoding="utf-8") as handle:
        return [row[column] for row in csv.DictReader(handle)]


def is_formula(written: str) -> bool:
    return written.startswith(DANGEROUS) or (
        written.startswith("-") and any(sign in written for sign in '(|!"')
    )


def test_one_module_writes_csv() -> None:
    root = Path(__file__).parents[2]
    writers = {
        str(path.relative_to(root))
        for folder in ("evroute", "app")
        for path in (root / folder).rglob("*.py")
        if re.search(r"to_csv|csv\.writer|write_csv|DictWriter", path.read_text(encoding="utf-8"))
    }
    in_memory = {"evroute/learning/readers/raw/csv_files.py"}  # rows cut to the header, read again
    assert writers - in_memory == {"evroute/tables.py"}


def test_ten_thousand_random_ids_are_read_back_equal_by_every_reader(tmp_path: Path) -> None:
    ids, path = random_ids(10_000, 31), tmp_path / "trips.csv"
    write_table(path, pa.table({"trip": ids, "energy_wh": np.arange(float(len(ids)))}))
    assert not any(map(is_formula, cells(path, "trip")))
    assert sum(each.startswith("'") for each in cells(path, "trip")) > 1000
    table = read_table(path, ("trip",), ("energy_wh",))
    assert table["trip"].to_pylist() == ids
    assert table["energy_wh"].to_pylist() == list(range(len(ids)))
    assert read_log(path, ("trip",), ("energy_wh",)).table["trip"].to_pylist() == ids
    with read_requests(path, ("trip", "energy_wh")) as requests:
        assert [row["trip"] for row in requests.rows] == ids


def test_a_table_of_pandas_is_read_back_equal(tmp_path: Path) -> None:
    ids, path = random_ids(2_000, 32), tmp_path / "table.csv"
    frame = pd.DataFrame({"trip": ids, "wh": np.linspace(0, 1, len(ids)), "kind": "="})
    frame["kind"] = frame["kind"].astype("category")
    frame.loc[3, "wh"] = np.nan
    path.write_bytes(csv_of(frame, "%.4g").encode())
    assert not any(map(is_formula, cells(path, "trip")))
    assert set(cells(path, "kind")) == {"'="}
    with read_requests(path, ("trip", "wh")) as requests:
        rows = list(requests.rows)
    assert [row["trip"] for row in rows] == ids
    assert [rows[k]["wh"] for k in (0, 3, -1)] == ["0", "", "1"]
    assert list(frame["trip"]) == ids, "the frame itself stays"


def test_all_ids_of_luxembourg_are_read_back_equal(luxembourg: RoadNetwork, tmp_path: Path) -> None:
    path, ids = tmp_path / "edges.csv", list(luxembourg.edge_id)
    write_table(path, pa.table({"edge": ids}))
    assert cells(path, "edge") == ids, "none of them is a formula"
    assert read_table(path, ("edge",), ())["edge"].to_pylist() == ids
    with read_requests(path, ("edge",)) as requests:
        assert [row["edge"] for row in requests.rows] == ids


def test_empty_and_unknown_cells(tmp_path: Path) -> None:
    path = tmp_path / "trips.csv"
    path.write_text('trip,energy_wh,time\n"NA","",NA\nb,"1,5",""\nNA,n/a,\n', encoding="utf-8")
    table = read_table(path, ("trip", "time"), ("energy_wh",))
    assert table["trip"].to_pylist() == ["NA", "b", None]
    assert table["energy_wh"].to_pylist() == [None, 1.5, None]
    assert table["time"].to_pylist() == [None, "", None]


def test_the_tables_of_a_matrix_and_of_answers(tmp_path: Path) -> None:
    ids, path = [RUN, "'=1", "'s-Gravenhage", "-1#0"], tmp_path / "matrix.csv"
    stops = [Stop(each, each, (0,)) for each in ids]
    write_matrix(path, np.zeros((3, 4, 4)), stops, stops)
    assert cells(path, "from")[::4] == cells(path, "to")[:4] == [f"'{RUN}", "''=1", *ids[2:]]
    with read_requests(path, ("from", "to")) as requests:
        assert [(row["from"], row["to"]) for row in requests.rows][:4] == [(RUN, to) for to in ids]
    out = tmp_path / "answers.csv"
    with answers_to(out) as table:
        list(table.through([{"id": each, "error": f"-no ({each})"} for each in ids]))
    assert cells(out, "id") == [f"'{RUN}", "''=1", *ids[2:]]
    assert cells(out, "error") == [f"'-no ({each})" for each in ids]


def test_a_station_is_named_without_the_apostrophe(hill: RoadNetwork, tmp_path: Path) -> None:
    lon, lat = (float(each[:2].mean()) for each in hill.junction_lon_lat)
    path = tmp_path / "stations.csv"
    path.write_text(f"name,lat,lon,socket,kw\n'=1+1,{lat},{lon},ccs,50\n", encoding="utf-8")
    network, _ = add_chargers(hill, path)
    assert [each.name for each in stations(network)] == ["=1+1"]


def test_a_batch_prints_no_sign_that_steers_the_terminal(tmp_path: Path) -> None:
    name, path = "a\x9b2Jb\u202ec\u2066\x7f", tmp_path / "requests.csv"
    quoted = RUN.replace('"', '""')
    path.write_text(f'id,trip,b\x1b\n"{name}",A,1\n"{quoted}",no such,1\n', encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "evroute", "route", "--batch", str(path), "--out", "out.csv"],
        capture_output=True,
        cwd=tmp_path,
        check=False,
    )
    out, err = (each.decode("utf-8") for each in (done.stdout, done.stderr))
    shown = (out + err).replace("\n", "")
    steering = [sign for sign in shown if not sign.isprintable()]
    assert steering == []
    answers: list[dict[str, Any]] = [json.loads(line) for line in out.splitlines()]
    assert [each["id"] for each in answers] == [name, RUN]
    assert "b\\u001b" in err
    assert cells(tmp_path / "out.csv", "id") == [name, f"'{RUN}"]


def test_a_plan_is_printed_with_escapes(
    hill: RoadNetwork,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    store.save(replace(hill, street=tuple(f"Straße \u200f{k}" for k in range(7))), Path("x.npz"))
    ends = ["--from", hill.edge_id[0], "--to", hill.edge_id[5]]
    for form in ([], ["--json"]):
        monkeypatch.setattr(sys, "argv", ["evroute", "route", "--network", "x.npz", *ends, *form])
        with pytest.raises(SystemExit):
            main()
        shown = capsys.readouterr().out
        assert "Straße \\u200f0" in shown
        assert "\u200f" not in shown
