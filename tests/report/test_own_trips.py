"""The page on one's own trips: its numbers by hand, and names that stay text."""

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pytest
from typer.testing import CliRunner

from evroute.cli import app
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.folder import Folder
from evroute.learning.belief import load_belief
from evroute.learning.learn import learn
from evroute.learning.records.parts import read_parts
from evroute.learning.trips.energies import TripEnergies
from evroute.network import store
from evroute.network.road_network import RoadNetwork
from evroute.network.source import Source
from evroute.report.own_trips import (
    accuracy,
    build_trips_page,
    coefficient_history,
    road_deviations,
)
from evroute.report.trip_charts import (
    coefficients_finding,
    energies_chart,
    intervals_chart,
)

HOSTILE = "<img src=x onerror=alert(1)>{{ 6021023 * 7 }}"
WAYS = (["in", "up", "down", "out"], ["in", "east", "west", "out"])
TRIPS = pd.DataFrame(
    {
        "t": [1, 2, 3, 4, 5],
        "trip": list("abcde"),
        "energy_wh": [900.0, 900.0, 900.0, 110.0, -50.0],
        "predicted_wh": [0.0, 0.0, 0.0, 100.0, -20.0],
        "low90_wh": [-500.0, -500.0, -500.0, 0.0, -40.0],
        "high90_wh": [500.0, 500.0, 500.0, 200.0, 0.0],
        "eq8_wh": [900.0, 900.0, 900.0, 80.0, -90.0],
    }
)


def learn_trips(
    hill: RoadNetwork, folder: Path, n: int, prefix: str = "", **options: Any
) -> Folder:
    """Learn n trips over and round the hill, of 150 Wh per km and climbs by weight."""
    rng, rows = np.random.default_rng(3), []
    for k in range(n):
        factor = 1.0 + 0.1 * rng.standard_normal()
        for edge in WAYS[k % 2]:
            row = hill.row_of[edge]
            energy_wh = factor * 0.15 * hill.length_m[row] + 5.0 * hill.climb_m[row]
            rows.append({"trip": f"{prefix}{k}", "edge": edge, "energy_wh": float(energy_wh)})
    folder.mkdir(parents=True, exist_ok=True)
    store.save(hill, folder / "hill.npz")
    pyarrow.csv.write_csv(pa.Table.from_pylist(rows), folder / "trips.csv")
    learn(folder / "trips.csv", folder / "own", network=str(folder / "hill.npz"), **options)
    return Folder(folder / "own")


def test_the_captions_leave_out_the_first_trips_and_count_by_hand() -> None:
    rows = pa.Table.from_pandas(TRIPS.assign(eq8_wh=TRIPS["energy_wh"]))
    assert accuracy(rows) == [
        "forecast error before learning trips 4 to 5: 20 Wh a trip, 25.0% of the energy; physics "
        "alone 0 Wh a trip, 0.0% of the energy",
        "90 % intervals held 1 of 5 trips, mean width 648 Wh",
    ]
    unknown = rows.set_column(4, "low90_wh", pa.array([np.nan] * 5))
    assert accuracy(unknown)[1] == "no 90 % interval is known"


def test_charts_hold_energies_errors_and_the_share_held() -> None:
    points = energies_chart(TRIPS).to_dict()["layer"][1]["data"]["values"]
    assert [(each["expected"], each["measured"]) for each in points[3:]] == [
        (0.1, 0.11),
        (-0.02, -0.05),
    ]
    assert [each["held"] for each in points[3:]] == ["within its 90 % interval", "outside"]
    above, below = intervals_chart(TRIPS).to_dict()["vconcat"]
    bars = above["layer"][0]["data"]["values"]
    assert [(each["low"], each["high"], each["error"]) for each in bars[3:]] == [
        (-100.0, 100.0, 10.0),
        (-20.0, 20.0, -30.0),
    ]
    crosses = above["layer"][1]["data"]["values"]
    assert [each["physics"] for each in crosses] == [0.0, 0.0, 0.0, 30.0, 40.0]
    shares = [each["share"] for each in below["layer"][1]["data"]["values"]]
    assert shares == pytest.approx([0.0, 0.0, 0.0, 25.0, 20.0])


def test_both_charts_of_one_trip_begin_at_zero_and_show_its_share_as_a_point() -> None:
    above, below = intervals_chart(TRIPS[:1]).to_dict()["vconcat"]
    for layer in (*above["layer"], below["layer"][1]):
        assert layer["encoding"]["x"]["scale"] == {"domain": [0, 1], "nice": False}
    assert below["layer"][1]["mark"]["point"]


def test_the_history_is_the_belief_after_as_many_trips(hill: RoadNetwork, tmp_path: Path) -> None:
    folder, first = learn_trips(hill, tmp_path / "a", 12), learn_trips(hill, tmp_path / "b", 3)
    learner = load_belief(folder.path, network=hill)
    assert isinstance(learner, TripEnergies)
    history = coefficient_history(learner, list(read_parts(folder.path, hill).values()))
    prior = learner.belief.prior
    after = {n: load_belief(each.path, network=hill) for n, each in ((3, first), (12, folder))}
    for k, (label, of) in enumerate(history.items()):
        assert of["trips"].tolist() == [0, 3, 10, 12]
        scale = prior.mean[k] if label.startswith("air drag") else 1.0
        assert of["mean"][0] * scale == pytest.approx(prior.mean[k])
        assert of["sd"][0] * scale == pytest.approx(prior.std[k])
        for row, n in ((1, 3), (3, 12)):
            belief = after[n].belief
            assert of["mean"][row] * scale == pytest.approx(belief.coefficients[k])
            sd = np.sqrt(belief.regression.covariance[k, k])
            assert of["sd"][row] * scale == pytest.approx(sd)


def test_coefficients_known_twice_as_well_are_named() -> None:
    def of(*sd: float) -> pd.DataFrame:
        return pd.DataFrame({"trips": [0, 7], "mean": [1.0, 1.0], "sd": sd})

    history = {"Wh per km": of(4.0, 2.0), "air drag, multiple": of(1.0, 0.51)}
    assert coefficients_finding(history).endswith(
        "1 of 2 coefficients is at most half of that before the first trip: Wh per km."
    )
    assert coefficients_finding({"air drag, multiple": of(1.0, 0.6)}).endswith("the first trip.")


def test_roads_are_compared_with_physics(hill: RoadNetwork, tmp_path: Path) -> None:
    folder = learn_trips(hill, tmp_path, 12)
    learner = load_belief(folder.path, network=hill)
    measured = list(read_parts(folder.path, hill).values())
    posterior = learner.edge_posterior
    driven = np.array([row for row in range(hill.n_edges) if hill.edge_id[row] != "home"])
    off_wh = (posterior.mean_wh - learner.setting.edges.reference.prior_mean_wh)[driven]
    km = hill.length_m[driven] / 1000
    clear_km = sum(
        each
        for each, off, row in zip(km, off_wh, driven, strict=True)
        if abs(off) > 2 * posterior.std_wh[row]
    )
    caption = road_deviations(learner, measured)["caption"]
    assert f"on {clear_km:.1f} of 6.4 km of road driven" in caption
    assert f"is {off_wh.sum() / km.sum():+.0f} Wh per km (n = 12 trips)" in caption
    unlearned = road_deviations(TripEnergies(learner.setting, physics="eq8"), measured)["caption"]
    assert "on 0.0 of 6.4 km" in unlearned
    of_ends = [replace(trip, routes=2) for trip in measured]
    partly = road_deviations(learner, [measured[0], *of_ends[1:]])["caption"]
    assert "of 4.0 km of road driven" in partly
    assert partly.endswith("(n = 1 trip).")
    assert road_deviations(learner, of_ends)["caption"].startswith("No trip has a known route")


def test_the_page_stands_alone_and_names_stay_text(hill: RoadNetwork, tmp_path: Path) -> None:
    hostile = replace(
        hill, source=Source("test", attribution=HOSTILE), street=(HOSTILE,) * hill.n_edges
    )
    car = tmp_path / "car.toml"
    numbers = asdict(load_vehicle("reference")) | {"name": HOSTILE}
    lines = (f"{k} = {v!r}" for k, v in numbers.items() if isinstance(v, float | str))
    car.write_text("\n".join(lines), encoding="utf-8")
    folder = learn_trips(hostile, tmp_path, 4, prefix=HOSTILE, vehicle=str(car))
    heard: list[str] = []
    page = build_trips_page(folder, hostile, heard.append)
    assert heard == ["energies", "intervals", "coefficients", "map"]
    assert [each.name for each in page.figures] == heard[:-1]
    assert all(each.png.startswith(b"\x89PNG") for each in page.figures)
    assert len(page.abstract) == 4
    assert "<img src=x" not in page.html
    assert "42147161" not in page.html
    assert page.html.count("&lt;img src=x onerror=alert(1)&gt;{{ 6021023 * 7 }}") >= 5


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1200])
def test_a_browser_shows_the_page_offline_and_runs_no_name(
    browser: Any, hill: RoadNetwork, tmp_path: Path, width: int
) -> None:
    hostile = replace(hill, source=Source("test", attribution=HOSTILE))
    folder = learn_trips(hostile, tmp_path, 4, prefix=HOSTILE)
    target = tmp_path / "report.html"
    target.write_text(build_trips_page(folder, hostile).html, encoding="utf-8")
    context = browser.new_context(offline=True, viewport={"width": width, "height": 800})
    page, wrong = context.new_page(), []
    page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(target.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("path.leaflet-interactive").first.wait_for(state="attached")
    colours = "paths => new Set(paths.map(path => path.getAttribute('stroke'))).size"
    assert frame.locator("path.leaflet-interactive").evaluate_all(colours) >= 2  # grey and classes
    assert frame.locator(".leaflet-control-attribution").inner_text().count(HOSTILE) == 1
    assert frame.locator("input[type=radio]").count() == 2
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    shown = "[...document.images].map(image => image.complete && image.width / image.naturalWidth)"
    assert min(page.evaluate(shown)) > 0.95  # text is as large as it was drawn
    assert wrong == []
    context.close()


def test_a_model_of_edges_has_no_coefficients(hill: RoadNetwork, tmp_path: Path) -> None:
    page = build_trips_page(learn_trips(hill, tmp_path, 4, model="independent"), hill)
    assert [each.name for each in page.figures] == ["energies", "intervals"]
    assert "'independent' learns edges" in page.notes[0]


def test_the_command_takes_a_network_by_file(hill: RoadNetwork, tmp_path: Path) -> None:
    folder = learn_trips(hill, tmp_path, 4).path
    call = ["report", str(folder), "--out", str(tmp_path / "page.html")]
    unknown = CliRunner().invoke(app, call)
    assert "there is no network 'hill'" in str(unknown.exception)
    named = CliRunner().invoke(app, [*call, "--network", str(tmp_path / "hill.npz")])
    assert named.exit_code == 0
    assert (tmp_path / "page.html").exists()


def test_a_damaged_table_is_refused_in_one_line(hill: RoadNetwork, tmp_path: Path) -> None:
    folder = learn_trips(hill, tmp_path, 4)
    (folder.path / "trips.parquet").write_bytes(b"PAR1")
    with pytest.raises(EvrouteError, match=r"trips.parquet is damaged"):
        build_trips_page(folder, hill)
