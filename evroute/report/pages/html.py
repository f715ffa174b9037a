"""Plans, networks, folders of results and beliefs as HTML for notebooks (`evroute.display`).

All text from data is escaped: tables by pandas, maps by `maps`, the rest here.
"""

from html import escape

import numpy as np

from evroute.errors import EvrouteError
from evroute.experiments.runs import RunFolder
from evroute.folder import Folder
from evroute.learning.base import Belief
from evroute.learning.trips.energies import TripEnergies
from evroute.network.road_network import RoadNetwork
from evroute.network.views.summary import summary
from evroute.planning.plan import Plan
from evroute.report.abstract import abstract
from evroute.report.extras import pd
from evroute.report.maps.network_maps import base_map, route_map
from evroute.report.own_trips import accuracy, coefficient_history, read_trips, trips_table
from evroute.report.pages.differences import differences
from evroute.report.results import read_rounds, read_timings
from evroute.report.table import final_table, plan_table

MOST_DRAWN = 20_000
"""Edges of the largest network that is drawn. The map of a larger one would fill the notebook."""
SHOWN_ROWS = 10


def plan_html(plan: Plan) -> str:
    """Return the table of routes and the offline map of a plan."""
    return _table(plan_table(plan)) + str(route_map(plan.roads, plan)._repr_html_())


def network_html(network: RoadNetwork) -> str:
    """Return size, heights and origin of a network, and its map unless it is too large."""
    about = summary(network)
    size = (
        f"{about['edges']:,} edges, {about['junctions']:,} junctions, {about['turns']:,} turns, "
        f"{about['length_m'] / 1000:,.0f} km"
    )
    html = _lines(f"{network.name}: {size}", about["source"], f"heights: {about['elevation']}")
    if network.n_edges > MOST_DRAWN:
        return html
    return html + str(base_map(network, np.arange(network.n_edges))._repr_html_())


def folder_html(folder: Folder) -> str:
    """Return the findings and the last rows of learned trips, or of the finished runs."""
    try:
        if folder.manifest().get("kind") == "learned":
            trips = read_trips(folder)
            sentences = accuracy(trips)
            table = trips_table(trips.to_pandas()).tail(SHOWN_ROWS).set_index("trip")
        else:
            runs = RunFolder(folder.path)
            rounds = read_rounds(runs)
            sentences = [finding.text for finding in abstract(rounds)[:SHOWN_ROWS]]
            table = final_table(rounds, read_timings(runs)).set_index("method")
    except EvrouteError as error:
        return _lines(f"{error}.")
    return _lines(str(folder.path), *sentences) + _table(table)


def belief_html(belief: Belief) -> str:
    """Return the coefficients of a belief of trips, or the roads that differ most from physics."""
    if isinstance(belief, TripEnergies):
        rows = {
            label: [
                f"{mean + 0.0:.3g} ± {sd:.2g}"
                for mean, sd in of[["mean", "sd"]].iloc[[0, -1]].round(6).to_numpy()
            ]
            for label, of in coefficient_history(belief, []).items()
        }
        table = pd.DataFrame(rows, ["vehicle file", "learned"]).T
    else:
        roads = differences(belief.edge_posterior, belief.setting.edges.reference, belief.network)
        table = roads.head(SHOWN_ROWS).set_index("edge")
    return _lines(repr(belief)) + _table(table)


def _lines(*texts: str) -> str:
    return "".join(f"<div>{escape(text)}</div>" for text in texts)


def _table(table: "pd.DataFrame") -> str:
    return table.to_html(float_format=lambda value: f"{value:,.2f}")
