"""A self-contained page on a run folder, and its figures as PNG files.

Curves are embedded as SVG, maps as PNG: their SVG would be a megabyte each.
"""

from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from json import dumps
from pathlib import Path
from typing import Any

from evroute.errors import EvrouteError, require
from evroute.experiments.runs import RunFolder
from evroute.network.catalog import load_network
from evroute.plugins import named
from evroute.report.abstract import abstract
from evroute.report.calibration import calibration_table, forecasts, reliability
from evroute.report.charts import CURVES, diagnostic, duration
from evroute.report.charts.curves import Curve
from evroute.report.charts.interval_scores import interval_table
from evroute.report.charts.profile import svg
from evroute.report.charts.styles import method_styles, panel_labels
from evroute.report.charts.worlds import has_physics, saved_by_world
from evroute.report.exploration import visits_chart
from evroute.report.extras import alt, pd
from evroute.report.findings import finding
from evroute.report.pages.beliefs import Learned, beliefs
from evroute.report.pages.claims import (
    N_NAMES,
    Verdict,
    claims_table,
    folder_verdicts,
    verdict_lines,
)
from evroute.report.reserve import charges, reserve_reliability, reserve_table
from evroute.report.results import read_diagnostics, read_rounds, read_timings, read_visits
from evroute.report.savings import MEANINGS as OF_SAVINGS
from evroute.report.savings import savings_table, vehicles_table
from evroute.report.table import MEANINGS as AT_THE_END
from evroute.report.table import final_table, label_columns
from evroute.text import counted, slug

_Drawing = tuple[str, str, Callable[[], "alt.TopLevelMixin"], bool]
"""Name, caption and function of a figure, and whether it is an SVG."""
_PNG_SCALE = 1.5
MOST_EXPLAINED = 3
"""Most rows of a table that is shown on its side, with the meaning of each number."""
_MANIFEST_KEYS = {"configuration", "networks", "vehicle", "regret", "versions"}
_DIAGNOSTICS = {
    "dictionary_size": (
        "Points in the dictionary",
        "Measured arms that a sparse model uses as inducing points.",
    ),
    "batches": (
        "Updates of mean and dictionary",
        "Closed batches of planned trips.",
    ),
    "last_batch_trips": ("Trips in the last batch", "Trips planned between the last two updates."),
    "guard_left_wh": (
        "Rest of the guard's budget (Wh)",
        "Energy that trials may still lose: the budget minus the most that they have lost so far.",
    ),
    "guard_trips": (
        "Trip from which the learner's routes are driven in most trips",
        "If these routes go on to save the part of the promised energy that trips showed so far, "
        "the guard drives them in more than half of the trips from this one on, once new roads are "
        "learned. Empty if they save nothing.",
    ),
    "guard_free": (
        "The learner's route is driven (share of worlds)",
        "In the other worlds the guard chose the route by physics alone.",
    ),
}


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the page: file name, caption, PNG, and its address in the page.

    width_px: greatest width in the page, or 0 for the whole page.
    """

    name: str
    caption: str
    png: bytes
    address: str
    width_px: int = 0


@dataclass(frozen=True, slots=True)
class Page:
    """The page, its abstract and figures, notes on omitted parts, and verdicts, one line each."""

    html: str
    abstract: tuple[str, ...]
    figures: tuple[Figure, ...]
    notes: tuple[str, ...]
    claims: tuple[str, ...] = ()


def build_page(folder: RunFolder, on_progress: Callable[[str], None] = lambda name: None) -> Page:
    """Build the page on the finished runs of a folder.

    Parameters
    ----------
    folder
        The run folder. Unfinished runs are left out.
    on_progress
        Called with the name of each figure before it is drawn.

    Raises
    ------
    EvrouteError
        If the folder is no run folder, no run in it is finished, or a file of it cannot be read.
    MissingPackageError
        If altair is not installed.
    """
    manifest = folder.manifest()
    if missing := _MANIFEST_KEYS - set(manifest):
        raise EvrouteError(
            f"{folder.path} is no folder of 'evroute simulate': its manifest.json lacks "
            f"{', '.join(sorted(missing))}"
        )
    rounds = read_rounds(folder)
    sentences = tuple(finding.text for finding in abstract(rounds))
    notes, figures = list[str](), list[Figure]()
    for name, caption, draw, as_svg in _drawings(folder, rounds, manifest["networks"], notes):
        on_progress(name)
        figures.append(figure_of(name, caption, draw(), as_svg=as_svg))
    learned = list(beliefs(folder, rounds))
    notes += [reason for reason in learned if isinstance(reason, str)]
    judged = judged_claims(folder, notes)
    n_names, calibrated = len(label_columns(rounds)), "half90_wh" in rounds
    html = template("page.html.j2").render(
        title=f"Learning to route: {folder.path.resolve().name}",
        lead=_lead(rounds),
        abstract=sentences,
        figures=figures,
        notes=notes,
        table=_explained(final_table(rounds, read_timings(folder)), n_names, AT_THE_END),
        claims=cells(claims_table(judged), N_NAMES) if judged else None,
        n_claim_names=N_NAMES,
        savings=_explained(savings_table(rounds), n_names, OF_SAVINGS)
        if "fastest_wh" in rounds
        else None,
        vehicles=_filled(vehicles_table(rounds), n_names + 1),
        reserve=_filled(reserve_table(rounds), n_names + 1),
        calibration=_filled(calibration_table(rounds), n_names + 1) if calibrated else None,
        intervals=_filled(interval_table(rounds), n_names + 2) if calibrated else None,
        n_names=n_names,
        learned=[_learned(belief) for belief in learned if isinstance(belief, Learned)],
        manifest=manifest,
    )
    return Page(html, sentences, tuple(figures), tuple(notes), tuple(verdict_lines(judged)))


def _drawings(
    folder: RunFolder, rounds: "pd.DataFrame", networks: dict[str, str], notes: list[str]
) -> Iterator[_Drawing]:
    """Yield each figure of a page, and add notes."""
    if has_physics(rounds):
        yield (
            "saved-by-world",
            "A dot is a world, a bar the mean of the worlds. True expectations of the last trips.",
            partial(saved_by_world, rounds),
            True,
        )
    for name in CURVES:
        curve: Curve = named(CURVES, "figure", name)
        if curve.wanted(rounds):
            found = finding(name, rounds) if panel_labels(rounds).nunique() == 1 else ""
            yield name, f"{found} {curve.caption}".lstrip(), partial(curve, rounds), True
    yield (
        "duration",
        "Sum of posterior, index, search and update. Medians of blocks of trips, log scale.",
        partial(duration, rounds, read_timings(folder)),
        True,
    )
    if "half90_wh" in rounds and not (predicted := forecasts(rounds)).empty:
        yield (
            "reliability",
            "Coverage of the intervals against their level, on the diagonal if calibrated.",
            partial(reliability, predicted),
            True,
        )
    if not (of_charge := charges(rounds)).empty and of_charge["p_reserve_widened"].notna().any():
        yield (
            "reserve",
            "Trips never below the reserve against its predicted probability, after 50 trips.",
            partial(reserve_reliability, of_charge),
            True,
        )
    for network_name, digest in networks.items():
        try:
            yield from _exploration(folder, rounds, network_name, digest)
        except EvrouteError as error:
            notes.append(f"No maps of {network_name}: {error}.")
    diagnostics = read_diagnostics(folder)
    for name, (title, caption) in _DIAGNOSTICS.items():
        if name in diagnostics:
            draw_one = partial(diagnostic, rounds, diagnostics, name, title)
            yield name.replace("_", "-"), caption, draw_one, True


def judged_claims(folder: RunFolder, notes: list[str]) -> list[Verdict]:
    """Return the verdicts on the folder's claims. If they cannot be judged, add a note."""
    try:
        return folder_verdicts(folder)
    except EvrouteError as error:
        notes.append(f"No verdicts: {error}.")
        return []


def png(chart: "alt.TopLevelMixin") -> bytes:
    """Return a chart as a PNG."""
    picture = BytesIO()
    chart.save(picture, format="png", scale_factor=_PNG_SCALE)
    return picture.getvalue()


def _exploration(
    folder: RunFolder, rounds: "pd.DataFrame", name: str, digest: str
) -> Iterator[_Drawing]:
    """Yield the maps of one network, as `_drawings` does."""
    network = load_network(name)
    require(
        network.digest == digest,
        f"the network '{name}' has changed since the run. Build it from the same source",
    )
    here = rounds[rounds["network"] == name]
    for names, group in here.groupby(label_columns(here)[1:-1], sort=False):
        runs_of = group.groupby("method")["run"].unique()
        visits = {
            method: read_visits(folder, runs_of[method], network.n_edges)
            for method in method_styles(group)
        }
        title = f"{panel_labels(here)[group.index[0]]}: roads driven"
        yield (
            slug("-".join(["explored", Path(name).stem, *map(str, names)])),
            "Edges by how often they were driven, all worlds together.",
            partial(visits_chart, network, visits, title),
            False,
        )


def svg_address(chart: "alt.TopLevelMixin") -> str:
    """Return a chart as an address of a page that holds it as SVG."""
    return _address("image/svg+xml", svg(chart).encode())


def figure_of(name: str, caption: str, chart: "alt.TopLevelMixin", *, as_svg: bool) -> Figure:
    """Return a figure of a chart, which the page holds as SVG or as PNG.

    Parameters
    ----------
    name, caption
        File name and caption.
    chart
        The chart.
    as_svg
        Whether the page holds it as SVG.
    """
    picture = png(chart)
    if as_svg:
        return Figure(name, caption, picture, svg_address(chart))
    width_px = int.from_bytes(picture[16:20], "big")  # from the header of a PNG
    return Figure(name, caption, picture, _address("image/png", picture), width_px)


def _address(mime: str, content: bytes) -> str:
    return f"data:{mime};base64,{b64encode(content).decode()}"


def _lead(rounds: "pd.DataFrame") -> str:
    runs, methods, worlds = (rounds[name].nunique() for name in ("run", "method", "seed"))
    trips, horizon = len(rounds[["network", "trip"]].drop_duplicates()), int(rounds["t"].max())
    return (
        f"{counted(runs, 'finished run')} of up to {counted(horizon, 'trip')}: "
        f"{counted(methods, 'method')} "
        f"on {counted(trips, 'named trip')}, each in up to {counted(worlds, 'world')}."
    )


def cells(table: "pd.DataFrame", n_names: int) -> dict[str, Any]:
    """Return the table as text. A row is ``first`` if another trip begins there.

    The first ``n_names`` columns are names.
    """
    rows, above = [], None
    for values in table.itertuples(index=False, name=None):
        names, numbers = values[:n_names], values[n_names:]
        rows.append({"first": names[:-1] != above, "cells": [*names, *map(_number, numbers)]})
        above = names[:-1]
    return {"columns": list(table.columns), "rows": rows}


def _explained(table: "pd.DataFrame", n_names: int, meanings: Mapping[str, str]) -> dict[str, Any]:
    """Return `cells` of a table, on its side with the meaning of each number if it has few rows."""
    if len(table) > MOST_EXPLAINED:
        return cells(table, n_names)
    labels = [", ".join(map(str, names[:n_names])) for names in table.itertuples(index=False)]
    rows = [
        {"first": False, "cells": [name, *map(_number, table[name]), meanings[name]]}
        for name in table.columns[n_names:]
    ]
    return {"columns": ["", *labels, "meaning"], "rows": rows, "explained": True}


def _filled(table: "pd.DataFrame", n_names: int) -> dict[str, Any] | None:
    """Return `cells` of a table, or None if it is empty."""
    return None if table.empty else cells(table, n_names)


def _learned(learned: Learned) -> dict[str, Any]:
    """Format the tables of a belief. The first two columns are names."""
    frames = (learned.coefficients, learned.intervals, learned.roads)
    tables = [cells(frame, 2) for frame in frames if frame is not None]
    for table in tables:
        table["rows"] = [row | {"first": False} for row in table["rows"]]
    return {"method": learned.method, "run": learned.run, "tables": tables}


def _number(value: float) -> str:
    """Return a number with three significant digits or all before the point, or empty for NaN."""
    if value != value:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def template(name: str) -> Any:
    """Return a template of a page, which escapes all values."""
    from jinja2 import Environment, FileSystemLoader

    environment = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True)
    environment.filters["json"] = partial(dumps, indent=2, sort_keys=True, ensure_ascii=False)
    return environment.get_template(name)
