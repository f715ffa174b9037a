"""Every figure of rounds under the same tests.

A figure that is added to `CURVES` is tested here on two methods in two worlds of Denver, at two
lengthscales.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evroute.experiments.experiment import Experiment, simulate
from evroute.experiments.runs import RunFolder
from evroute.methods.parts import named
from evroute.report.charts import CURVES
from evroute.report.charts.curves import N_POINTS, Curve
from evroute.report.charts.profile import svg
from evroute.report.charts.rounds import PHYSICS
from evroute.report.charts.styles import method_styles
from evroute.report.pages.run_page import build_page
from evroute.report.results import read_rounds

TRIPS = 6


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    pair = {"model": "independent", "index": "ts"}
    experiment = Experiment.model_validate(
        {
            "trips": {"denver": ["A"]},
            "methods": [pair, pair | {"index": "ucb"}],
            "lengthscale": [0.5, 1.0],
            "horizon": TRIPS,
            "seeds": 2,
        }
    )
    out = tmp_path_factory.mktemp("runs")
    simulate(experiment, out)
    return RunFolder(out)


@pytest.fixture
def rounds(folder: RunFolder) -> pd.DataFrame:
    return read_rounds(folder)


def curve_of(name: str) -> Curve:
    return named(CURVES, "figure", name)


def values(name: str, rounds: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the points of a figure."""
    return curve_of(name)(rounds).to_dict()["data"]["values"]


@pytest.mark.parametrize("name", CURVES)
def test_every_method_has_a_curve_between_the_ends_of_its_band(name, rounds) -> None:
    assert curve_of(name).wanted(rounds)
    points = values(name, rounds)
    drawn = {point["method"] for point in points}
    assert drawn
    assert drawn <= {*rounds["method"], PHYSICS}
    for point in points:
        assert np.isfinite([point["t"], point["low"], point["mean"], point["high"]]).all()
        assert point["low"] <= point["mean"] <= point["high"]


@pytest.mark.parametrize("name", CURVES)
def test_a_method_has_one_colour_in_all_figures(name, rounds) -> None:
    layers = curve_of(name)(rounds).to_dict()["spec"]["layer"]
    scales = [
        layer["encoding"]["color"]["scale"] for layer in layers if "color" in layer["encoding"]
    ]
    expected = {method: colour for method, (colour, _) in method_styles(rounds).items()}
    for scale in scales:
        shown = dict(zip(scale["domain"], scale["range"], strict=True))
        shown.pop(PHYSICS, None)
        assert shown.items() <= expected.items()
    assert scales


@pytest.mark.parametrize("name", CURVES)
def test_title_and_caption_are_sentences_with_a_unit(name, rounds) -> None:
    title = curve_of(name)(rounds).to_dict()["title"]["text"]
    assert title[0].isupper()
    assert "(" in title or name == "beta"  # a multiplier has no unit
    assert curve_of(name).caption.endswith(".")


@pytest.mark.parametrize("name", CURVES)
def test_the_order_of_rows_does_not_matter_and_rounds_stay_as_they_are(name, rounds) -> None:
    before = rounds.copy()
    drawn = values(name, rounds)
    shuffled = rounds.sample(frac=1.0, random_state=1)
    for one, other in zip(drawn, values(name, shuffled), strict=True):
        assert one.keys() == other.keys()
        for key, value in one.items():
            assert other[key] == (value if isinstance(value, str) else pytest.approx(value))
    pd.testing.assert_frame_equal(rounds, before)


@pytest.mark.parametrize("name", CURVES)
def test_long_runs_are_thinned(name, rounds) -> None:
    longer = [rounds.assign(t=rounds["t"] + TRIPS * k) for k in range(400)]
    points = values(name, pd.concat(longer, ignore_index=True))
    panels = {(point["panel"], point["method"]) for point in points}
    assert len(points) <= len(panels) * (N_POINTS + 2)


@pytest.mark.parametrize("name", CURVES)
def test_it_is_drawn_as_svg(name, rounds) -> None:
    assert svg(curve_of(name)(rounds)).startswith("<svg")


def test_the_page_has_all_of_them_in_their_order(folder: RunFolder) -> None:
    names = [figure.name for figure in build_page(folder).figures]
    assert [name for name in names if name in CURVES] == list(CURVES)


def test_rounds_without_its_numbers_leave_a_figure_out(folder: RunFolder, tmp_path: Path) -> None:
    rounds = read_rounds(folder)
    alone = rounds[(rounds["lengthscale"] == 0.5) & (rounds["index"] == "ts")]
    wanted = {name for name in CURVES if curve_of(name).wanted(alone)}
    assert {"cumulative-regret", "saving"} <= wanted
    assert not wanted & {"beta", "lengthscales"}
