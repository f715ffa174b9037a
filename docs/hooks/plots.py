"""Pictures of the docs: ``python docs/hooks/plots.py`` (``make plots``) writes docs/images/*.svg.

Every picture is drawn from numbers of the docs: from a table of a page, or from the run table
beside an experiment (``data/experiments/NAME.runs.csv``). A page and its picture therefore agree.
"""

import re
import sys
from collections.abc import Callable
from io import StringIO
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


def table(page: str, *columns: str) -> pd.DataFrame:
    """Return the first table of a page of docs/ that has these columns; cells are text."""
    lines = (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip()[1:-1].split("|")] for line in lines]
    for at, line in enumerate(lines):
        if line.startswith("|") and set(columns) <= set(rows[at]):
            end = next(i for i in range(at, len(lines) + 1) if not "".join(lines[i : i + 1]))
            return pd.DataFrame(rows[at + 2 : end], columns=rows[at])
    sys.exit(f"docs/{page} has no table with the columns {', '.join(columns)}")


def numbers(cell: str) -> list[float]:
    """Return the numbers of a cell, in their order."""
    plain = cell.replace("−", "-").replace("*", "").replace("± ", "")
    return [float(each.replace(",", "")) for each in _NUMBER.findall(plain)]


def runs(name: str) -> pd.DataFrame:
    """Return the run table beside data/experiments/NAME.toml; ``place`` is network and trip."""
    text = (ROOT / "data" / "experiments" / f"{name}.runs.csv").read_text(encoding="utf-8")
    frame = pd.read_csv(StringIO(text.partition("\n")[2]))
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


def roads() -> alt.FacetChart:
    """Draw the number of distinct edges that each method drove in 500 trips."""
    return by_world(runs("figure2"), "distinct_edges", "edges driven", log=False)


def lengthscales() -> alt.FacetChart:
    """Draw the regret at the end by lengthscale, four trips and four methods."""
    given = table("figures.md", "trip", "0.1", "0.25", "2")
    given["trip"] = given["trip"].replace("", None).ffill()
    long = given.melt(["trip", "method"], var_name="lengthscale")
    long["kwh"] = [numbers(cell)[0] for cell in long["value"]]
    long["half"] = [numbers(cell)[1] for cell in long["value"]]
    long["lengthscale"] = long["lengthscale"].astype(float)
    methods = ["GP-BayesUCB", "BI-BayesUCB", "GP-TS", "BI-TS"]
    colour = alt.Color(
        "method:N",
        title=None,
        legend=alt.Legend(orient="top"),
        scale=alt.Scale(domain=methods, range=[ORANGE, RED, BLUE, GREEN]),
    )
    x = alt.X(
        "lengthscale:Q",
        scale=alt.Scale(type="log", domain=[0.08, 2.5]),
        axis=alt.Axis(values=[0.1, 0.25, 0.5, 1, 2]),
    )
    base = alt.Chart().encode(x=x, color=colour)
    lines = base.mark_line(point=True).encode(
        y=alt.Y("kwh:Q", title="cumulative regret (kWh)", **LOG)
    )
    bars = base.transform_calculate(
        low="max(datum.kwh - datum.half, 0.1)", high="datum.kwh + datum.half"
    )
    bars = bars.mark_rule().encode(y="low:Q", y2="high:Q")
    return (
        alt.layer(lines, bars, data=long)
        .properties(width=210, height=170)
        .facet(alt.Facet("trip:N", title=None), columns=2)
    )


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


def sumo() -> alt.FacetChart:
    """Draw Wh/km of routes that SUMO drove, by eq. 8 and by the physics of drivers."""
    given, rows = table("figures/cars.md", "city", "physics", "Wh/km", "bias"), []
    for city, physics, wh in zip(given["city"], given["physics"], given["Wh/km"], strict=True):
        if city:
            name = city.partition(",")[0]
            driven = numbers(city)[0]
            rows.append(Bar(name, "driven in SUMO", driven, f"{driven:.0f}"))
        if physics != "turns alone":
            rows.append(Bar(name, f"by {physics}", numbers(wh)[0], wh))
    colours = {"driven in SUMO": GREY, "by eq. 8": ORANGE, "by driving": BLUE}
    return bars(rows, "consumption (Wh/km)", colours)


def trips() -> alt.FacetChart:
    """Draw the error of forecasts on the logs of two vehicles.

    The interval of the learned error is its ratio to the error of the regression, trip by trip.
    The log of the bus has no network, so its default belief is the one at steady speeds.
    """
    given = table("figures/real-trips.md", "heights removed", "bus, 95 pieces of 5 km")
    cells = given.set_index(given.columns[0])
    twizy = table("figures/real-trips.md", "both", "at steady speeds").set_index("")
    learned = {
        "Twizy, 31 pieces of 17 drives": numbers(twizy.at["Twizy, 31 pieces", "both"]),
        "bus, 95 pieces of 5 km": numbers(
            cells.at["error from trip 4 on", "bus, 95 pieces of 5 km"]
        )
        + numbers(cells.at["error over the regression's", "bus, 95 pieces of 5 km"]),
    }
    rows = []
    for column, (error, _, low, high) in learned.items():
        vehicle = column.partition(",")[0]
        regression, physics = (
            numbers(cells.at[row, column])[0]
            for row in ("regression", "eq. 8 with the vehicle file")
        )
        interval = (low * regression, high * regression)
        rows.append(Bar(vehicle, "learned (default)", error, f"{error} %", interval))
        rows.append(Bar(vehicle, "regression", regression, f"{regression} %"))
        rows.append(Bar(vehicle, "physics alone", physics, f"{physics} %"))
    colours = {"learned (default)": BLUE, "regression": GREY, "physics alone": ORANGE}
    return bars(rows, "error (% of the energy)", colours)


def pays() -> alt.FacetChart:
    """Draw the Wh saved a trip against physics alone in worlds unlike the learner's prior."""
    given = table("figures/worlds.md", "world", "method", "saved (Wh)")
    names = {
        "`recommended`": ("with a guard", BLUE),
        "without a guard": ("without a guard", ORANGE),
        "static prior": ("nothing learned", GREY),
    }
    rows: dict[tuple[str, str], Bar] = {}  # the first row of a method in each world
    for world, method, cell in zip(
        given["world"], given["method"], given["saved (Wh)"], strict=True
    ):
        for start, (name, _) in names.items():
            if method.startswith(start):
                saved, half = numbers(cell)
                interval = (saved - half, saved + half)
                row = Bar(world, name, saved, cell.replace("*", ""), interval)
                rows.setdefault((world, name), row)
    return bars([*rows.values()], "saved against physics alone (Wh a trip)", dict(names.values()))


def risk() -> alt.FacetChart:
    """Draw announced and observed shares of trips below the reserve, by limit of risk."""
    given = table("figures/risk.md", "limit", "announced", "fell", "90 %")
    columns, rows = ("limit", "announced", "fell", "90 %"), []
    for limit, announced, fell, ratios in given[list(columns)].itertuples(index=False):
        if limit[0].isdigit():
            group, expected = f"limit {limit}", numbers(announced)[0]
            low, high = (expected * ratio for ratio in numbers(ratios))
            rows.append(Bar(group, "announced", expected, announced))
            rows.append(Bar(group, "fell below", numbers(fell)[0], fell, (low, high)))
    colours = {"announced": GREY, "fell below": BLUE}
    return bars(rows, "trips below the reserve (%)", colours)


def engines() -> alt.FacetChart:
    """Draw milliseconds of the first and the last trips where no context repeats."""
    given = table("figures/engines.md", "method", "T", "ms per trip, first / last 50")
    rows: list[Bar] = []
    for method, cell in zip(given["method"], given["ms per trip, first / last 50"], strict=True):
        first, last = numbers(cell)[:2]
        rows.append(Bar("trips 1 to 50", method, first, f"{first:,.0f}"))
        rows.append(Bar("trips 101 to 150", method, last, f"{last:,.0f}"))
    rows.sort(key=lambda row: len(row.group))
    colours = dict(zip(given["method"], (ORANGE, GREY, GREEN, BLUE), strict=False))
    return bars(rows, "time of a trip (ms)", colours)


PLOTS: dict[str, Callable[[], alt.TopLevelMixin]] = {
    "regret": regret,
    "roads-driven": roads,
    "lengthscales": lengthscales,
    "sumo-forecasts": sumo,
    "real-trips": trips,
    "learning-pays": pays,
    "risk-kept": risk,
    "engines": engines,
}


def main() -> None:
    """Write the pictures, or those named as arguments."""
    for name in sys.argv[1:] or PLOTS:
        chart = PLOTS[name]().configure_axis(labelFontSize=12, titleFontSize=12)
        chart = chart.configure_header(labelFontSize=13).configure_text(fontSize=12)
        chart.configure_legend(labelFontSize=12).save(IMAGES / f"{name}.svg")


if __name__ == "__main__":
    main()
