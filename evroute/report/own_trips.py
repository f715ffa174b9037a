"""Page on the trips of a folder of ``evroute learn``: four figures, each under its finding.

Errors and intervals are from expectations made before the trip was learned.
"""

from collections.abc import Callable, Iterator, Sequence
from textwrap import wrap
from typing import Any

import numpy as np
import pyarrow as pa

from evroute.errors import DamagedFileError
from evroute.folder import Folder
from evroute.learning.base import Belief
from evroute.learning.belief import load_belief
from evroute.learning.findings import LAST, errors, findings, intervals, numbers_of
from evroute.learning.measured import MeasuredTrip
from evroute.learning.records.history import read_history
from evroute.learning.stored import subject
from evroute.learning.trips.energies import TripEnergies
from evroute.learning.trips.scales import is_refit_due
from evroute.learning.trips.terms import DRAG
from evroute.learning.trips.trip_belief import TripBelief
from evroute.network.road_network import RoadNetwork
from evroute.report.extras import alt, pd
from evroute.report.maps.network_maps import quantities_map
from evroute.report.pages.run_page import Figure, Page, cells, png, svg_address, template
from evroute.report.trip_charts import (
    coefficients_chart,
    coefficients_finding,
    energies_chart,
    intervals_chart,
)
from evroute.tables import read_columns
from evroute.text import counted

COLUMNS = {
    "trip": "trip",
    "length_m": "km",
    "energy_wh": "measured (Wh)",
    "predicted_wh": "expected (Wh)",
    "low90_wh": "from (Wh)",
    "high90_wh": "to (Wh)",
    "eq8_wh": "physics (Wh)",
}
"""Columns of the table of trips, by their names in ``trips.parquet``."""
READINGS = {
    "energies": "Each point is a trip. On the line, measured and expected energy are equal.",
    "intervals": "Each bar is the 90 % interval of a trip around its expected energy, each point "
    "its error, each cross the error of physics alone. Wide bars and far crosses are cut. Below: "
    f"share of the last {LAST} trips within their intervals.",
    "coefficients": "Mean and standard deviation (band) after each fit of the noise. The dotted "
    "line is the value of the vehicle file.",
}
LABELS = (
    "Wh per km",
    "Wh per metre up",
    "Wh back per metre down",
    "Wh per minute",
    "air drag, multiple of the vehicle file's",
    "full battery: recuperation lost per 10 %",
    "known power, multiple of its energy",
    "heating, Wh per minute and kelvin",
    "cold start, Wh per kelvin",
    "cooling, Wh per minute and kelvin",
    "level, share of the energy by physics",
    "stops and turns, multiple of the computed energy",
)
"""Coefficients of the trip belief, in the order of `trips.terms`."""
CLEAR_SD = 2.0
"""Standard deviations beyond which a road differs from physics."""


def build_trips_page(
    folder: Folder,
    network: RoadNetwork | None = None,
    on_progress: Callable[[str], None] = lambda name: None,
) -> Page:
    """Build the page on the trips that a folder has learned.

    Parameters
    ----------
    folder
        Folder of ``evroute learn``.
    network
        Network of the trips. Loaded by its name if None.
    on_progress
        Called with the name of each figure before it is drawn.

    Raises
    ------
    EvrouteError
        If a file of the folder cannot be read, or the network is another one.
    MissingPackageError
        If altair or folium is not installed.
    """
    learner = load_belief(folder.path, network=network)
    rows = read_trips(folder)
    measured = read_history(folder.path, learner.setting).learned
    trips = rows.to_pandas()
    captions = accuracy(rows)
    drawings: dict[str, tuple[str, Callable[[], alt.TopLevelMixin]]] = {
        "energies": (captions[0], lambda: energies_chart(trips)),
        "intervals": (captions[1], lambda: intervals_chart(trips)),
    }
    notes = []
    if isinstance(learner, TripEnergies):
        history = coefficient_history(learner, measured)
        drawings["coefficients"] = (
            coefficients_finding(history),
            lambda: coefficients_chart(history),
        )
    else:
        notes.append(
            f"Model '{learner.method_table['model']}' learns edges and has no coefficients of "
            "trips. The default model, 'trips', has them."
        )
    figures = []
    for name, (caption, draw) in drawings.items():
        on_progress(name)
        titled = png(draw().properties(title=wrap(caption, 52)))
        figures.append(Figure(name, caption, titled, svg_address(draw())))
    on_progress("map")
    roads = road_deviations(learner, measured)
    html = template("own_trips.html.j2").render(
        title=f"Trips learned: {folder.path.resolve().name}",
        lead=f"{counted(len(trips), 'trip')} of {trips['length_m'].sum() / 1000:,.0f} km "
        f"{subject(learner.setting)}.",
        figures=figures,
        readings=READINGS,
        map=roads,
        findings=[each for each in findings(rows, measured, learner) if each not in captions],
        notes=notes,
        table=cells(trips_table(trips), 1),
    )
    sentences = (*(each.caption for each in figures), roads["caption"])
    return Page(html, sentences, tuple(figures), tuple(notes))


def accuracy(rows: pa.Table) -> list[str]:
    """Return the findings on errors and on 90 % intervals of rows of ``trips.parquet``."""
    columns = numbers_of(rows)
    return [errors(columns), next(intervals(columns), "no 90 % interval is known")]


def trips_table(trips: "pd.DataFrame") -> "pd.DataFrame":
    """Return lengths, energies and intervals of trips from the rows of ``trips.parquet``."""
    return trips[list(COLUMNS)].assign(length_m=trips["length_m"] / 1000).rename(columns=COLUMNS)


def coefficient_history(
    learner: TripEnergies, measured: Sequence[MeasuredTrip]
) -> "dict[str, pd.DataFrame]":
    """Return mean and deviation of each coefficient by its label, after each fit of the noise.

    They follow from learning the trips again, in the order recorded.

    Parameters
    ----------
    learner
        Belief after all trips.
    measured
        The same trips.

    Returns
    -------
    dict
        By label, rows of ``trips`` (number learned), ``mean`` and ``sd``. The first row is the
        prior, the last the belief as it is.
    """
    rows = {
        belief.trips: (
            belief.coefficients,
            np.sqrt(belief.regression.covariance.diagonal()),
        )
        for belief in _refits(learner, measured)
    }
    scale = np.ones(len(learner.belief.prior.mean))
    scale[DRAG] = learner.belief.prior.mean[DRAG]
    return {
        label: pd.DataFrame(
            [
                {"trips": n, "mean": mean[k] / scale[k], "sd": sd[k] / scale[k]}
                for n, (mean, sd) in rows.items()
            ]
        )
        for k, label in enumerate(LABELS[: len(scale)])
    }


def road_deviations(learner: Belief, measured: Sequence[MeasuredTrip]) -> dict[str, Any]:
    """Return a map of the roads driven, by learned energy minus that by physics.

    The result has ``caption``, the finding as a sentence, ``html``, the page of the map, and
    ``legends``, as HTML.

    Parameters
    ----------
    learner
        Belief after all trips.
    measured
        The same trips.
    """
    network, posterior = learner.network, learner.edge_posterior
    known = [trip.edge for trip in measured if trip.routes == 1 and trip.record is None]
    if not known:
        caption = "No trip has a known route, so no road is compared with physics."
        return {"caption": caption, "html": "", "legends": []}
    driven = np.unique(np.concatenate(known))
    km = network.length_m[driven] / 1000
    off_wh = (posterior.mean_wh - learner.setting.edges.reference.prior_mean_wh)[driven]
    std_wh = posterior.std_wh[driven]
    clear_km = km[np.abs(off_wh) > CLEAR_SD * std_wh].sum()
    quantities = {}
    for title, value_wh in (
        ("learned minus physics (Wh per km)", off_wh),
        ("its standard deviation (Wh per km)", std_wh),
    ):
        quantities[title] = np.full(network.n_edges, np.nan)
        quantities[title][driven] = value_wh / km
    chart, legends = quantities_map(network, quantities, driven)
    caption = (
        f"Learned energy differs from physics by more than {CLEAR_SD:.0f} standard "
        f"deviations on {clear_km:.1f} of {km.sum():.1f} km of road driven. The mean difference is "
        f"{round(off_wh.sum() / km.sum()):+d} Wh per km (n = {counted(len(known), 'trip')})."
    )
    return {"caption": caption, "html": chart.get_root().render(), "legends": legends}


def _refits(learner: TripEnergies, measured: Sequence[MeasuredTrip]) -> Iterator[TripBelief]:
    """Yield the belief before the first trip, after each fit of its noise, and as it is."""
    again = learner.anew()
    yield again.belief
    for trip in measured:
        again.learn(trip)
        if is_refit_due(again.belief.trips):
            yield again.belief
    yield learner.belief


def read_trips(folder: Folder) -> pa.Table:
    """Return the rows of ``trips.parquet`` of a folder of ``evroute learn``.

    Raises
    ------
    DamagedFileError
        If it cannot be read, or lacks a column.
    """
    path = folder.path / "trips.parquet"
    try:
        rows = read_columns(path)
        rows.select(["t", *COLUMNS])
        return rows
    except (OSError, pa.ArrowException, LookupError) as error:
        raise DamagedFileError(
            f"{path} is damaged ({str(error).splitlines()[0]}). Write it again: evroute learn "
            f"--repair {folder.path}"
        ) from None
