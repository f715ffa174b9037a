"""The planners for which a belief is exported, and the document with their numbers and errors."""

from itertools import pairwise
from typing import Any
from urllib.parse import urlencode

import numpy as np

from evroute.arrays import IntArray
from evroute.export.base import Fitted, Target
from evroute.export.routes import Routes, drawn
from evroute.planning.forecasts.learned import note_of
from evroute.planning.planner import Planner
from evroute.plugins import named

TARGETS = {
    "abrp": "evroute.export.abrp:TARGET",
    "tomtom": "evroute.export.tomtom:TARGET",
}
"""Module and name of each target."""
FITTED, JUDGED = 300, 300
"""Number of routes that the numbers are fitted to, and on which they are judged."""
CLASSES_KMH = (30.0, 50.0, 80.0)
"""Limits between classes of the mean speed of a route, km/h."""


def exported(planner: Planner, target: str, seed: int = 0) -> dict[str, Any]:
    """Return the numbers that another planner asks for, with their errors on other routes.

    Parameters
    ----------
    planner
        Planner of a belief.
    target
        A name of `TARGETS`.
    seed
        Seed of the routes.

    Raises
    ------
    UnknownNameError
        If there is no such target.
    EvrouteError
        If the network has too few routes.
    """
    found: Target = named(TARGETS, "target", target)
    routes = drawn(planner, FITTED + JUDGED, seed)
    rows = np.arange(len(routes))
    fitted = found.fit(routes.some(rows[:FITTED]))
    return {
        "for": target,
        "about": found.about,
        "vehicle": planner.vehicle.name,
        "belief": note_of(planner.belief) or "physics alone",
        "network": planner.network.name,
        "parameters": dict(fitted.parameters),
        "query": urlencode(fitted.parameters, safe=",:"),
        "fitted_routes": FITTED,
        "judged_routes": JUDGED,
        "errors_against_the_belief": _errors(fitted, routes.some(rows[FITTED:])),
    }


def _errors(fitted: Fitted, routes: Routes) -> list[dict[str, Any]]:
    """Return median and 90th percentile of the errors by class of speed, and of all routes."""
    shares = 100.0 * np.abs(fitted.energy_wh(routes) - routes.energy_wh) / routes.scale_wh
    of_class = np.digitize(routes.speed_kmh, CLASSES_KMH)
    ends = ["0", *(f"{limit:g}" for limit in CLASSES_KMH)]
    names = [f"{low} to {high}" for low, high in pairwise(ends)]
    names.append(f"{ends[-1]} and more")

    def errors(name: str, rows: IntArray) -> dict[str, Any]:
        found = dict[str, Any](speed_kmh=name, routes=len(rows))
        if len(rows):
            median, high = np.percentile(shares[rows], [50, 90])
            found |= {
                "median_percent": round(float(median), 1),
                "p90_percent": round(float(high), 1),
            }
        return found

    classes = [errors(name, np.flatnonzero(of_class == k)) for k, name in enumerate(names)]
    return [*classes, errors("all", np.arange(len(routes)))]
