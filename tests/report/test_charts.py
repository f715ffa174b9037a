"""Figures: their numbers by hand, their looks the same everywhere."""

import pandas as pd
import pytest

from evroute.errors import EvrouteError
from evroute.experiments.runs import RunFolder
from evroute.plugins import named
from evroute.report.charts import CURVES, curves
from evroute.report.charts import rounds as charts
from evroute.report.charts.styles import axes, method_styles, panel_labels
from evroute.report.findings import finding
from evroute.report.results import read_rounds, read_timings


def curve(chart, method: str) -> dict[float, tuple[float, float, float]]:
    """Return mean, low and high by trip number."""
    values = chart.to_dict()["data"]["values"]
    return {v["t"]: (v["mean"], v["low"], v["high"]) for v in values if v["method"] == method}


def test_cumulative_regret_is_the_mean_with_one_standard_error(run_folder: RunFolder) -> None:
    drawn = curve(charts.cumulative_regret(read_rounds(run_folder)), "GP-TS")
    # worlds 40, 50, 50, 50 and 20, 20, 20, 20 Wh: at the end mean 35, sd 30/sqrt(2), se 15
    assert drawn[1] == pytest.approx((0.030, 0.020, 0.040))
    assert drawn[4] == pytest.approx((0.035, 0.020, 0.050))


def test_physics_alone_has_a_line_beside_the_regret(run_folder: RunFolder) -> None:
    rounds = read_rounds(run_folder)
    drawn = curve(charts.cumulative_regret(rounds), "physics alone")
    worlds = rounds[rounds["method"] == "GP-TS"]
    lost_wh = worlds.pivot(index="seed", columns="t", values="eq8_wh")
    lost_wh -= worlds.pivot(index="seed", columns="t", values="best_wh")
    for t, (mean, _, _) in drawn.items():
        assert mean == pytest.approx(lost_wh.loc[:, :t].sum(axis=1).mean() / 1000)
    assert drawn.keys() == set(worlds["t"])


def test_saving_is_signed_against_eq_8(run_folder: RunFolder) -> None:
    drawn = curve(charts.saving(read_rounds(run_folder)), "BI-UCB")
    assert drawn[1][0] == pytest.approx(-390)  # 500 - 490 - (300 + 500) / 2
    assert drawn[4] == pytest.approx((10, 10, 10))


def test_the_duration_of_a_trip_is_the_median_of_its_block(
    run_folder: RunFolder, monkeypatch
) -> None:
    monkeypatch.setattr(curves, "N_BLOCKS", 2)
    timings = read_timings(run_folder)
    drawn = curve(
        charts.duration(read_rounds(run_folder), timings.assign(ms=10.0 ** timings["t"])), "GP-TS"
    )
    # 10 and 100 in the first block of two trips, 1,000 and 10,000 in the second
    assert drawn == {1.5: pytest.approx((55, 55, 55)), 3.5: pytest.approx((5500, 5500, 5500))}


def test_beta_is_drawn_for_the_methods_that_have_one(run_folder: RunFolder) -> None:
    chart = charts.beta(read_rounds(run_folder))
    assert curve(chart, "GP-TS") == {}
    assert curve(chart, "BI-UCB")[2] == (2, 2, 2)


def test_without_a_beta_there_is_no_such_figure(run_folder: RunFolder) -> None:
    rounds = read_rounds(run_folder)
    with pytest.raises(EvrouteError, match="confidence bounds"):
        charts.beta(rounds[rounds["method"] == "GP-TS"])


def test_final_regret_stands_over_its_lengthscale(run_folder: RunFolder) -> None:
    rounds = read_rounds(run_folder)
    shorter = rounds.assign(lengthscale=0.5, regret_wh=2 * rounds["regret_wh"])
    values = charts.regret_by_lengthscale(pd.concat([rounds, shorter])).to_dict()["data"]["values"]
    drawn = {v["t"]: (v["mean"], v["low"], v["high"]) for v in values if v["method"] == "GP-TS"}
    # worlds end at 50 and 20 Wh: mean 35, sd 30/sqrt(2), se 15
    assert drawn == {
        1.0: pytest.approx((0.035, 0.020, 0.050)),
        0.5: pytest.approx((0.070, 0.040, 0.100)),
    }
    assert {v["panel"] for v in values} == {"Hill T"}


def test_panels_are_named_by_the_settings_that_vary(run_folder: RunFolder) -> None:
    rounds = read_rounds(run_folder)
    assert axes(rounds) == []
    several = pd.concat([rounds, rounds.assign(prior="dissipation", lengthscale=0.5)])
    assert axes(several) == ["prior", "lengthscale"]
    assert set(panel_labels(several)) == {
        "Hill T, paper prior, lengthscale 1",
        "Hill T, dissipation prior, lengthscale 0.5",
    }


def test_one_world_has_no_band(run_folder: RunFolder) -> None:
    rounds = read_rounds(run_folder)
    mean, low, high = curve(charts.cumulative_regret(rounds[rounds["seed"] == 0]), "GP-TS")[4]
    assert mean == low == high == 0.05


def test_a_method_looks_the_same_whoever_stands_beside_it(run_folder: RunFolder) -> None:
    rounds = read_rounds(run_folder)
    together = method_styles(rounds)
    for method in together:
        assert method_styles(rounds[rounds["method"] == method]) == {method: together[method]}


def test_options_and_unknown_names_get_looks_of_their_own(run_folder: RunFolder) -> None:
    import pandas as pd

    rounds = read_rounds(run_folder)
    more = [
        rounds.assign(method="GP-TS (variance scale 1)", model="exact", index="ts"),
        rounds.assign(method="XX-TS", model="another", index="ts"),
        rounds.assign(method="GP-new", model="exact", index="new"),
    ]
    styles = method_styles(pd.concat([rounds, *more]))
    assert len(set(styles.values())) == len(styles) == 5
    assert next(iter(styles)) == "GP-TS"


MANY = {"bkb": "BKB", "bbkb": "BBKB", "batch-ucb": "Batch GP", "another": "another"}


def test_many_models_differ_by_colour_and_indices_by_dash(run_folder: RunFolder) -> None:
    rounds = read_rounds(run_folder)
    more = [
        rounds.assign(method=f"{label}-TS", model=model, index="ts")
        for model, label in MANY.items()
    ]
    styles = method_styles(pd.concat([rounds, *more]))
    assert len(set(styles.values())) == len(styles) == 6
    assert {styles[f"{label}-TS"][1] for label in ("GP", *MANY.values())} == {(1, 0)}
    assert styles["BI-UCB"][1] != (1, 0)


def test_searches_have_panels_of_their_own(run_folder: RunFolder) -> None:
    import pandas as pd

    rounds = read_rounds(run_folder)
    assert set(panel_labels(rounds)) == {"Hill T"}
    both = pd.concat([rounds, rounds.assign(search="rectified")])
    assert set(panel_labels(both)) == {"Hill T, potential-rectified", "Hill T, rectified"}


def test_long_runs_are_thinned_to_their_first_last_and_some_between(run_folder: RunFolder) -> None:
    first = read_rounds(run_folder).query("t == 1 and seed == 0 and method == 'GP-TS'")
    long = first.loc[first.index.repeat(2000)].assign(
        t=range(1, 2001), cumulative_regret_wh=range(2000)
    )
    drawn = curve(charts.cumulative_regret(long), "GP-TS")
    assert len(drawn) == curves.N_POINTS
    assert {1, 2000} <= drawn.keys()
    assert len(curve(charts.saving(long), "GP-TS")) == curves.N_BLOCKS


def test_an_axis_around_a_constant_has_labels_that_differ(run_folder: RunFolder) -> None:
    rounds = read_rounds(run_folder)
    same = rounds.assign(eq8_wh=rounds["true_wh"] + 1e-5)
    line = named(CURVES, "figure", "saving").small(same).to_dict()["layer"][-1]
    low, high = line["encoding"]["y"]["scale"]["domain"]
    assert high - low == pytest.approx(0.02)
    assert low < 0 < high


@pytest.mark.parametrize("name", ["cumulative-regret", "saving", "forecast-error"])
def test_a_small_chart_has_the_same_curves_and_names_its_axes(run_folder: RunFolder, name) -> None:
    rounds, figure = read_rounds(run_folder), named(CURVES, "figure", name)
    rounds = rounds.assign(energy_wh=rounds["true_wh"], predicted_wh=1.1 * rounds["true_wh"])
    small = figure.small(rounds).to_dict()
    line = next(layer for layer in small["layer"] if layer["mark"]["type"] == "line")
    values = line.get("data") or small["data"]  # layers that share their values have them once
    for method in ("GP-TS", "BI-UCB"):
        expected = curve(figure(rounds), method)
        found = {
            v["t"]: (v["mean"], v["low"], v["high"])
            for v in values["values"]
            if v["method"] == method
        }
        assert found == expected
    for axis in ("x", "y"):  # known without the values, which a page adds later
        low, high = line["encoding"][axis]["scale"]["domain"]
        assert low <= 0 < high
    assert small["title"]["text"].endswith(")")
    titles = [
        layer["encoding"][axis]["title"]
        for layer in small["layer"]
        for axis in ("x", "y")
        if layer["mark"]["type"] == "line"
    ]
    assert titles[0] == "trip number"
    assert titles[1]


def test_methods_of_different_horizons_are_each_compared_with_physics_at_their_own_end(
    run_folder: RunFolder,
) -> None:
    rounds = read_rounds(run_folder)
    short = (rounds["method"] == "GP-TS") & (rounds["t"] > 2)
    words = finding("cumulative-regret", rounds[~short])
    # GP-TS after two trips, BI-UCB after four
    expected = []
    for method, last in (("GP-TS", 2), ("BI-UCB", 4)):
        group = rounds[(rounds["method"] == method) & (rounds["t"] <= last)]
        worlds = group["seed"].nunique()
        lost_kwh = (group["true_wh"] - group["best_wh"]).sum() / worlds / 1000
        alone_kwh = (group["eq8_wh"] - group["best_wh"]).sum() / worlds / 1000
        expected.append(
            f"{last} trips lost {lost_kwh:.2f} kWh by {method} against the best routes, by physics "
            f"alone they would lose {alone_kwh:.2f} kWh."
        )
    assert words == " ".join(expected)
