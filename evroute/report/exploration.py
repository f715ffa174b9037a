"""Driven roads as small static maps side by side, one for each method."""

import json
from collections.abc import Mapping
from textwrap import wrap
from typing import Any

import numpy as np

from evroute.arrays import IntArray
from evroute.network.road_network import RoadNetwork
from evroute.report.charts.styles import LABEL_LIMIT
from evroute.report.colours import visit_classes
from evroute.report.extras import alt
from evroute.report.lines import LonLat, thin_lines

_ROAD = "#d8d8d4"
_WIDTH = 250
_TITLE_LETTERS = 34
_COLUMNS = 4
_MARGIN = 0.05


def visits_chart(
    network: RoadNetwork,
    visits: Mapping[str, IntArray],
    title: str,
    *,
    around: IntArray | None = None,
) -> "alt.ConcatChart":
    """Draw one map per method: edges coloured by the number of times they were driven.

    All maps share their colours and their extent.

    Parameters
    ----------
    network
        The network that was driven.
    visits
        (n,) number of trips over each edge, by the title of the map.
    title
        Title above all maps.
    around
        (n,) counts. The maps show the surroundings of the edges with a positive count. Default: the
        sum of ``visits``. Pass the final counts to make pictures of several times match.
    """
    total = np.sum(list(visits.values()), axis=0) if around is None else around
    classes = visit_classes(max(int(counts.max()) for counts in visits.values()))
    roads = alt.Chart(
        _shapes({"roads": thin_lines(network, _around(network, np.flatnonzero(total)))})
    ).mark_geoshape(filled=False, stroke=_ROAD, strokeWidth=0.7)
    colour = alt.Color(
        "properties.label:N",
        scale=alt.Scale(domain=list(classes.labels), range=list(classes.colours)),
        legend=alt.Legend(
            title=classes.title, orient="bottom", symbolType="stroke", symbolStrokeWidth=4
        ),
    )
    maps = []
    for name, counts in visits.items():
        driven = np.flatnonzero(counts)
        of_driven = classes.of(counts[driven].astype(float))
        layers = {
            label: thin_lines(network, driven[of_driven == k])
            for k, label in enumerate(classes.labels)
        }
        routes = (
            alt.Chart(_shapes(layers))
            .mark_geoshape(filled=False, strokeWidth=2)
            .encode(stroke=colour)
        )
        shape = {"width": _WIDTH, "height": round(_WIDTH * 0.8)}
        maps.append(
            alt.layer(roads, routes)
            .project("mercator")
            .properties(**shape, title=alt.Title(wrap(name, _TITLE_LETTERS, max_lines=3)))
        )
    return (
        alt.concat(*maps, columns=min(_COLUMNS, len(maps)))
        .resolve_scale(stroke="shared")
        .properties(title=alt.Title(title, anchor="start", fontSize=14, limit=LABEL_LIMIT))
        .configure_view(stroke="#ddd")
    )


def _around(network: RoadNetwork, driven: IntArray) -> IntArray:
    """Return the edges that start within the bounds of those driven, widened by a margin."""
    x_m, y_m = network.x_m[network.tail], network.y_m[network.tail]
    inside = np.ones(network.n_edges, dtype=bool)
    for position_m in (x_m, y_m):
        low, high = position_m[driven].min(), position_m[driven].max()
        margin_m = _MARGIN * (np.ptp(x_m[driven]) + np.ptp(y_m[driven]))
        inside &= (position_m >= low - margin_m) & (position_m <= high + margin_m)
    return np.flatnonzero(inside)


def _shapes(lines: Mapping[str, list[list[LonLat]]]) -> Any:
    """Return labelled multi-lines as GeoJSON, as one string: altair would copy lists by point."""
    features = [
        {
            "type": "Feature",
            "properties": {"label": label},
            "geometry": {"type": "MultiLineString", "coordinates": group},
        }
        for label, group in lines.items()
        if group
    ]
    collection = json.dumps({"type": "FeatureCollection", "features": features})
    return alt.InlineData(
        values=collection, format=alt.DataFormat(type="json", property="features")
    )
