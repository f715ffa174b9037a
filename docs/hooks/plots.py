"""Pictures of the docs: ``python docs/hooks/plots.py`` (``make pages``) writes docs/images/*.svg.

Every picture is drawn from a table of results (``docs/tables``), or from the run table beside an
experiment (``data/experiments/NAME.runs.csv``). A page and its picture therefore agree.
"""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt
import pandas as pd

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
BLUE, ORANGE, GREEN, RED, GREY = "#0072b2", "#e69f00", "#009e73", "#d55e00", "#8c8c8c"
ORDER = ["GP-UCB", "BI-UCB", "GP-BayesUCB", "BI-BayesUCB", "GP-TS", "BI-TS", "GP-greedy"]
LOG: dict[str, Any] = {
    "scale": alt.Scale(type="log"),
    "axis": alt.Axis(values=[0.01, 0.1, 1, 10, 100], format="~g"),
}
_NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?")


def table(name: str) -> pd.DataFrame:
    """Return a table of results; cells are text."""
    path = ROOT / "docs" / "tables" / f"{name}.csv"
    return pd.read_csv(path, comment="#", dtype=str, keep_default_na=False)


def numbers(cell: str) -> list[float]:
    """Return the numbers of a cell, in their order."""
    plain = cell.replace("−", "-").replace("*", "").replace("± ", "")
    return [float(each.replace(",", "")) for each in _NUMBER.findall(plain)]


def runs(name: str) -> pd.DataFrame:
    """Return the run table beside data/experiments/NAME.toml; ``place`` is network and trip."""
    frame = pd.read_csv(ROOT / "data" / "experiments" / f"{name}.runs.csv", comment="#")
    method = frame["method"].str.replace(" (variance scale 1)", "", regex=False)
    return frame.assign(method=method, place=frame["network"].str.title() + " " + frame["trip"])


def by_world(frame: pd.DataFrame, column: str, title: str, log: bool) -> alt.FacetChart:
    """Draw a dot per world and a line at the mean of a statistic, one panel for each trip."""
    y = alt.Y("method:N", title=None, sort=ORDER)
    x = alt.X(f"{column}:Q", title=title, **(LOG if log else {}))
    colour = alt.Color(
        "index:N",
        title=None,
        legend=None,
        scale=alt.Scale(
            domain=["ucb", "bayes-ucb", "ts", "greedy"], range=[RED, ORANGE, BLUE, GREEN]
        ),
    )
    dots = alt.Chart().mark_circle(size=36, opacity=0.5).encode(x=x, y=y, color=colour)
    mean = alt.Chart().mark_tick(thickness=3, size=16)
    mean = mean.encode(x=alt.X(f"mean({column}):Q"), y=y, color=colour)
    return (
        alt.layer(dots, mean, data=frame)
        .properties(width=170, height=130)
        .facet(alt.Facet("place:N", title=None), columns=2)
    )


def regret() -> alt.FacetChart:
    """Draw the regret at the end of 500 trips of the paper's six methods and greedy."""
    frame = runs("figure2")
    frame = frame.assign(kwh=frame["regret_wh"] / 1000)
    return by_world(frame[frame["kwh"] > 0], "kwh", "cumulative regret (kWh)", log=True)


class Bar(NamedTuple):
    """A bar and, where its table has one, its 90 or 95 % interval."""

    group: str
    name: str
    value: float
    label: str
    interval: tuple[float, float] | None = None


def bars(rows: list[Bar], title: str, colours: dict[str, str]) -> alt.FacetChart:
    """Draw horizontal bars in groups, with their intervals and their labels.

    ``colours`` has the colour of each name, in the order of the bars.
    """
    columns = ["group", "name", "value", "label", "low", "high"]
    frame = pd.DataFrame(
        [row[:4] + (row.interval or (row.value, row.value)) for row in rows], columns=columns
    )
    names, groups = list(colours), list(dict.fromkeys(frame["group"]))
    least, most = min(frame["low"].min(), 0.0), frame["high"].max()  # and space for the labels
    base = alt.Chart(frame).encode(
        y=alt.Y("name:N", title=None, sort=names, axis=alt.Axis(labelLimit=260)),
        x=alt.X("value:Q", title=title, scale=alt.Scale(domain=[least, 1.5 * most])),
    )
    colour = alt.Color(
        "name:N", legend=None, scale=alt.Scale(domain=names, range=list(colours.values()))
    )
    shown = base.mark_bar().encode(color=colour)
    known = base.transform_filter("datum.low < datum.high")
    interval = known.mark_rule(strokeWidth=1.5).encode(x=alt.X("low:Q"), x2="high:Q")
    ends = base.transform_calculate(end="max(datum.high, 0)").encode(x=alt.X("end:Q"))
    text = ends.mark_text(align="left", dx=4).encode(text=alt.Text("label:N"))
    header = alt.Header(labelOrient="top", labelAnchor="start", labelPadding=2)
    row = alt.Row("group:N", title=None, sort=groups, header=header)
    chart = (shown + interval + text).properties(width=230, height=alt.Step(20)).facet(row=row)
    return chart.properties(padding=25)  # for fonts that are wider than the ones measured here


def trips() -> alt.FacetChart:
    """Draw the error of forecasts on the logs of two vehicles.

    The interval of the learned error is its ratio to the error of the regression, trip by trip.
    Both logs have driven speeds, so the belief is at steady speeds.
    """
    given = table("real-trips").set_index("measure")
    rows = []
    for column in ("Twizy, 31 pieces of 17 drives", "bus, 95 pieces of 5 km"):
        vehicle, cells = column.partition(",")[0], given[column]
        error, regression, physics = (
            numbers(cells[row])[0]
            for row in ("error from trip 4 on", "regression", "eq. 8 with the vehicle file")
        )
        _, low, high = numbers(cells["error over the regression's"])
        interval = (low * regression, high * regression)
        rows.append(Bar(vehicle, "learned", error, f"{error} %", interval))
        rows.append(Bar(vehicle, "regression", regression, f"{regression} %"))
        rows.append(Bar(vehicle, "physics alone", physics, f"{physics} %"))
    colours = {"learned": BLUE, "regression": GREY, "physics alone": ORANGE}
    return bars(rows, "error (% of the energy)", colours)


def pays() -> alt.FacetChart:
    """Draw the Wh saved a trip against physics alone in worlds unlike the learner's prior."""
    given = table("guard-worlds")
    names = {
        "recommended": ("with a guard", BLUE),
        "without a guard": ("without a guard", ORANGE),
        "static prior, nothing learned": ("nothing learned", GREY),
    }
    rows = []
    for row, cell in zip(given.iloc[:, 0], given["saved, Wh a trip"], strict=True):
        world, _, method = row.partition(": ")
        saved, half = numbers(cell)
        rows.append(Bar(world, names[method][0], saved, cell, (saved - half, saved + half)))
    return bars(rows, "saved against physics alone (Wh a trip)", dict(names.values()))


def risk() -> alt.FacetChart:
    """Draw announced and observed shares of trips below the reserve, by limit of risk."""
    given, rows = table("risk"), []
    shown = given[given["limit"].str[0].str.isdigit()]
    columns = ["limit", "announced", "fell", "90 %"]
    for limit, announced, fell, ratios in shown[columns].itertuples(index=False):
        group, expected = f"limit {limit}", numbers(announced)[0]
        low, high = (expected * ratio for ratio in numbers(ratios))
        rows.append(Bar(group, "announced", expected, announced))
        rows.append(Bar(group, "fell below", numbers(fell)[0], fell, (low, high)))
    colours = {"announced": GREY, "fell below": BLUE}
    return bars(rows, "trips below the reserve (%)", colours)


def rules() -> alt.FacetChart:
    """Draw the share of pairs on which each rule of weights misses the least energy."""
    given, rows = table("rules"), []
    for row, cell in zip(given["network, rule"], given["pairs that lose"], strict=True):
        network, _, rule = row.partition(", ")
        rows.append(Bar(network.title(), rule, numbers(cell)[0], cell))
    names = ("potential", "potential-rectified", "rectified", "clamped")
    colours = dict(zip(names, (BLUE, GREEN, ORANGE, RED), strict=True))
    return bars(rows, "pairs whose route is not the least (%)", colours)


PLOTS: dict[str, Callable[[], alt.TopLevelMixin]] = {
    "regret": regret,
    "real-trips": trips,
    "learning-pays": pays,
    "risk-kept": risk,
    "search-rules": rules,
}


def main() -> None:
    """Write the pictures, or those named as arguments."""
    for name in sys.argv[1:] or PLOTS:
        chart = PLOTS[name]().configure_axis(labelFontSize=12, titleFontSize=12)
        chart = chart.configure_header(labelFontSize=13).configure_text(fontSize=12)
        chart.configure_legend(labelFontSize=12).save(IMAGES / f"{name}.svg")


if __name__ == "__main__":
    main()
