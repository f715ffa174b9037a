"""The matrix of least energies against single plans, and its command with good and bad tables."""

from pathlib import Path

import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import evroute
from evroute.cli import app
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.planning.dispatch.stops import read_stops
from evroute.planning.matrix import energy_matrix
from evroute.planning.planner import Planner

CORNERS = ("Blake Street & 17th Street", "39.7624,-104.9733", "39.745,-104.995")


def table(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path


def quoted(*places: str) -> list[str]:
    return [f'"{place}"' for place in places]


@pytest.mark.parametrize("by", ["energy", "time"])
@pytest.mark.parametrize("physics", ["eq8", "driving"])
def test_every_pair_is_the_single_plan_between_the_places(denver, tmp_path, physics, by) -> None:
    inside = sorted(set(denver.strongest_component().edge_id))[::150]
    origins = read_stops(
        table(tmp_path / "a.csv", "place", *quoted(*CORNERS, *inside[:1])), denver, leaving=True
    )
    destinations = read_stops(
        table(tmp_path / "b.csv", "id,place", *(f'{k},"{p}"' for k, p in enumerate(inside[2:5])))
        if physics == "eq8"
        else table(tmp_path / "b.csv", "place", *quoted(*CORNERS)),
        denver,
        leaving=False,
    )
    assert (max(len(stop.positions) for stop in destinations) > 1) == (physics == "driving")
    matrix = energy_matrix(
        Planner(denver, load_vehicle("reference"), physics=physics),
        origins,
        destinations,
        by=by,
    )
    for o, origin in enumerate(origins):
        for d, destination in enumerate(destinations):
            if origin.place == destination.place:
                assert not matrix[:, o, d].any()
                continue
            plan = evroute.plan(
                denver,
                origin=origin.place,
                destination=destination.place,
                vehicle="reference",
                physics=physics,
            )
            best = plan.routes[by]
            np.testing.assert_allclose(
                matrix[:, o, d], [best.energy_wh, best.time_s, best.length_m], rtol=1e-9
            )


def test_pairs_without_a_route_are_empty(denver, tmp_path) -> None:
    planner, edges = (
        Planner(denver, load_vehicle("reference"), physics="eq8"),
        list(denver.edge_id[:40]),
    )
    stops = read_stops(table(tmp_path / "a.csv", "place", *quoted(*edges)), denver, leaving=True)
    found = energy_matrix(planner, stops, stops)
    reached = [
        [np.isfinite(planner.search.distances(planner.time_s, a)[b]) for b in range(40)]
        for a in range(40)
    ]
    np.testing.assert_array_equal(np.isfinite(found), [reached] * 3)


def test_the_command_writes_a_row_for_each_pair(denver, tmp_path) -> None:
    a = table(tmp_path / "a.csv", "id;place", "depot;Blake Street & 17th Street")
    b = table(tmp_path / "b.csv", "place", *quoted(*denver.edge_id[7:10:2]))
    tables = []
    for name, read in (("m.parquet", pq.read_table), ("m.csv", pyarrow.csv.read_csv)):
        asked = ["route", "--matrix", str(a), str(b), "--out", str(tmp_path / name)]
        result = CliRunner().invoke(app, asked)
        assert result.exit_code == 0, result.output
        assert "2 pairs" in result.output
        tables.append(read(tmp_path / name))
    assert tables[0].column_names == ["from", "to", "energy_wh", "time_s", "length_m"]
    assert tables[0].column("from").to_pylist() == ["depot", "depot"]
    for column in ("energy_wh", "time_s", "length_m"):
        assert tables[0].column(column).to_pylist() == tables[1].column(column).to_pylist()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (("place", "Blake Street & 17th Street", "Nowhere Lane"), "row 2: .*Nowhere Lane"),
        (("id,place", "depot"), "row 1: no place. Give the columns id,place"),
        (("id,name", "1,Blake Street"), "row 1: no place"),
        (("place,id", "a,b,c"), "row 1: more cells than columns. Quote a place"),
        (
            ("id,place", "a,Blake Street & 17th Street", 'a,"39.7624,-104.9733"'),
            "row 2: id 'a' names another place above",
        ),
        (("place",), "has no row"),
        (("place", '"open'), "is not a CSV table"),
        (("place", "80.0,10.0"), "row 1: "),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_written(tmp_path, lines, message) -> None:
    good = table(tmp_path / "good.csv", "place", "Blake Street & 17th Street")
    bad, out = table(tmp_path / "bad.csv", *lines), tmp_path / "out.parquet"
    result = CliRunner().invoke(app, ["route", "--matrix", str(good), str(bad), "--out", str(out)])
    assert result.exit_code != 0
    with pytest.raises(EvrouteError, match=message):
        raise result.exception
    assert str(bad) in str(result.exception)
    assert not out.exists()


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--out", "m.xls"),
        ("--out", "m.csv", "--soc", "80"),
        ("--out", "m.csv", "--json"),
        ("--out", "m.csv", "--by", "length"),
    ],
)
def test_options_of_single_plans_are_refused(tmp_path, options) -> None:
    good = str(table(tmp_path / "good.csv", "place", "Blake Street & 17th Street"))
    result = CliRunner().invoke(app, ["route", "--matrix", good, good, *options])
    assert isinstance(result.exception, EvrouteError)


@pytest.mark.parametrize("out", ["pairs.parquet", "pairs"])
def test_the_command_writes_the_fastest_routes(tmp_path, out) -> None:
    corners = str(table(tmp_path / "a.csv", "place", *quoted(*CORNERS[:2])))
    options = ["--matrix", corners, corners, "--by", "time", "--out", str(tmp_path / out)]
    result = CliRunner().invoke(app, ["route", *options])
    assert result.exit_code == 0, result.output
    seconds = pq.read_table(tmp_path / out)["time_s"].to_pylist()
    there, back = (
        evroute.plan("denver", origin=a, destination=b).routes["time"].time_s
        for a, b in (CORNERS[:2], CORNERS[1::-1])
    )
    assert seconds == pytest.approx([0.0, there, back, 0.0])
    with pytest.raises(EvrouteError, match="--by, --sd and --reduced go with --matrix"):
        raise CliRunner().invoke(app, ["route", "--trip", "A", "--by", "time"]).exception


def test_an_input_is_not_replaced(tmp_path) -> None:
    good = table(tmp_path / "good.csv", "place", "Blake Street & 17th Street")
    before, options = good.read_text(), ["--out", str(tmp_path / "." / "good.csv")]
    for reads in (["--matrix", str(good), str(good)], ["--batch", str(good)]):
        result = CliRunner().invoke(app, ["route", *reads, *options])
        with pytest.raises(EvrouteError, match=r"is also read. Choose another name"):
            raise result.exception
    assert good.read_text() == before
