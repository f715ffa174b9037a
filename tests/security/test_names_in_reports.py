"""Every text of a run folder, a table of trips and a belief, through report, files and terminal."""

import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from evroute.cli import main
from evroute.network import store
from evroute.network.road_network import RoadNetwork
from evroute.report.charts.profile import svg
from evroute.report.charts.rounds import cumulative_regret
from evroute.report.exploration import visits_chart

RUN_FIELDS = (
    *("run", "network", "method", "model", "index", "search", "trip", "world", "prior", "vehicle"),
    *("vehicle.name", "vehicle.sources", "configuration key", "configuration", "other network"),
    *("digest", "regret", "package", "version"),
)
UNSEEN = {"run", "network", "model", "index", "vehicle", "vehicle.sources"}
"""Of a run folder: fields that its report does not show."""
SHAPES = {"svg", "style", "defs", "clipPath", "rect", "g", "path", "text", "tspan", "line"}
WIDEST_PX = 1500
TRIP_FIELDS = ("trip", "other trip", "edge", "vehicle", "column")
BELIEF_FIELDS = ("network", "vehicle", "method", "prior")


@pytest.fixture
def evroute(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Offer the command line in this process: exit status, stdout and stderr without spaces."""

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["evroute", *arguments])
        monkeypatch.setenv("COLUMNS", "200")
        with pytest.raises(SystemExit) as status:
            main()
        out, err = capsys.readouterr()
        return int(status.value.code or 0), "".join(out.split()), err

    return run


def test_a_report_holds_text_and_no_element_of_it(
    hill: RoadNetwork,
    run_folder: Callable[..., Path],
    payload: Any,
    parsed: Callable[..., Any],
    evroute: Callable[..., tuple[int, str, str]],
) -> None:
    folder = run_folder(hill, Path(payload.short("folder")), payload.long, payload.short)
    before = set(Path().rglob("*"))
    status, _, err = evroute("report", str(folder), "--out", "page/report.html")
    payload.tried("evroute report", "folder", *RUN_FIELDS)
    assert status == 0, err
    figures = set(Path().rglob("*")) - before - {Path("page"), Path("page/report.html")}
    assert len(figures) > 5
    assert {path.parent for path in figures} == {Path("page")}
    assert {path.suffix for path in figures} == {".png"}
    elements, text = parsed(Path("page/report.html").read_text(encoding="utf-8"))
    payload.tried("report", "folder", *RUN_FIELDS)
    tags = Counter(tag for tag, _ in elements)
    assert (tags["script"], tags["img"], tags["x-probe"]) == (1, len(figures), 0)
    assert not [name for _, names in elements for name in names if name.startswith("on")]
    unescaped = re.sub(r"\\([\\\"])", r"\1", text)  # in JSON
    for field in set(RUN_FIELDS) - UNSEEN:
        assert payload.long(field) in unescaped, field
    assert payload.short("network") in text
    assert payload.short("folder") in text


def test_the_figures_of_a_report_hold_text_and_no_element_of_it(
    payload: Any, hill: RoadNetwork
) -> None:
    t = np.arange(1, 5)
    names = {name: payload.long(name) for name in ("method", "trip", "model", "index")}
    rounds = pd.DataFrame({"t": t, "seed": 0, "run": "a", "network": "hill", "search": "b"} | names)
    rounds = rounds.assign(cumulative_regret_wh=1.0 * t, eq8_wh=9.0, best_wh=8.0)
    drawings = [
        svg(cumulative_regret(rounds)),
        svg(visits_chart(hill, {payload.long("method"): np.arange(7)}, payload.long("trip"))),
    ]
    for drawing in drawings:
        payload.tried("chart", *names)
        root = ElementTree.fromstring(drawing)
        assert {each.tag.rpartition("}")[2] for each in root.iter()} <= SHAPES
        shown = "".join(root.itertext())
        assert float(root.attrib["width"]) < WIDEST_PX, "a long name widens no figure"
        assert payload.long("method")[:20] in shown
        assert payload.long("trip")[:20].casefold() in shown.casefold()


def test_a_table_of_trips_is_learned_or_refused_with_its_text_as_it_is(
    hill: RoadNetwork, payload: Any, evroute: Callable[..., tuple[int, str, str]]
) -> None:
    store.save(hill, Path("roads.npz"))
    field = {name: payload.long(name).replace('"', '""') for name in TRIP_FIELDS}
    rows = [f'"{field["trip"]}",{edge},300,reference' for edge in ("in", "east", "west", "out")]
    rows.append(f'"{field["other trip"]}",in,100,"{field["vehicle"]}"')
    rows.append(f'gap,"{field["edge"]}",100,reference')
    table = "\n".join(["trip,edge,energy_wh,vehicle", *rows])
    Path("trips.csv").write_text(table, encoding="utf-8")
    learn = ("learn", "trips.csv", "--network", "roads.npz", "--out", "own")
    learn += ("--vehicle", "reference")
    status, out, err = evroute(*learn)
    payload.tried("evroute learn", *TRIP_FIELDS[:-1])
    assert status == 0, err
    for name in TRIP_FIELDS[:-1]:
        assert "".join(payload.long(name).split())[:20] in out, name
    assert pq.read_table("own/trips.parquet")["trip"].to_pylist() == [payload.long("trip")]
    payload.tried("trips.parquet", "trip")
    status, _, err = evroute(
        *("route", "--network", "roads.npz", "--from", "in", "--to", "out"),
        *("--belief", "own", "--map", "map.html"),
    )
    payload.tried("map of routes", "trip")
    assert status == 0, err
    Path("trips.csv").write_text(f'trip,edge,energy_wh,"{field["column"]}"\na,in,100,2')
    status, out, err = evroute(*learn)
    payload.tried("evroute learn", "column")
    assert status == 0, err
    assert "".join(payload.long("column").split()) in out


def test_hostile_ids_and_columns_of_a_batch_come_back_unchanged(
    hill: RoadNetwork, payload: Any, evroute: Callable[..., tuple[int, str, str]]
) -> None:
    store.save(hill, Path("roads.npz"))
    names = ["id", "from", "column"]
    field = {name: payload.long(f"request {name}").replace('"', '""') for name in names}
    Path("a.csv").write_text(f'id,from,to\n"{field["id"]}",in,out\nb,"{field["from"]}",out\n')
    status, out, _ = evroute("route", "--network", "roads.npz", "--batch", "a.csv")
    payload.tried("evroute route --batch", "request id", "request from")
    assert status == 1
    assert json.dumps(payload.long("request id"), ensure_ascii=False).replace(" ", "") in out
    Path("a.csv").write_text(f'id,from,to,"{field["column"]}"\na,in,out,1\n')
    status, out, err = evroute("route", "--network", "roads.npz", "--batch", "a.csv")
    payload.tried("evroute route --batch", "request column")
    assert status == 0
    assert payload.long("request column") in err


@pytest.mark.parametrize("field", BELIEF_FIELDS)
def test_a_belief_with_a_hostile_text_is_refused_in_one_line(
    field: str, hill: RoadNetwork, payload: Any, evroute: Callable[..., tuple[int, str, str]]
) -> None:
    store.save(hill, Path("roads.npz"))
    Path("trips.csv").write_text("trip,edge,energy_wh\na,in,300\n", encoding="utf-8")
    status, _, err = evroute("learn", "trips.csv", "--network", "roads.npz", "--out", "own")
    assert status == 0, err
    path = Path("own/beliefs/hill-learned.npz")
    with np.load(path) as stored:
        arrays = dict(stored)
    about = json.loads(str(arrays["about"]))
    if field == "network":
        about |= {"network": payload.long(field), "digest": "0" * 64}
    elif field == "vehicle":
        about["vehicle"]["name"] = payload.long(field)
    elif field == "method":
        about["method"]["model"] = payload.long(field)
    else:
        about["prior"] = payload.long(field)
    np.savez(path, **(arrays | {"about": np.array(json.dumps(about))}))
    status, _, err = evroute(
        *("route", "--network", "roads.npz", "--from", "in", "--to", "out"),
        *("--belief", "own", "--map", "map.html"),
    )
    payload.tried("evroute route --belief", f"belief {field}")
    assert status == 2
    assert err.count("\n") == 1
    assert err.startswith("evroute: ")
