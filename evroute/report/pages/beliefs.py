"""Beliefs at the end of a run folder, of one run of each method on each network."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evroute.arms import Arms
from evroute.arrays import IntArray
from evroute.errors import EvrouteError
from evroute.experiments.runs import RunFolder
from evroute.learning.belief import load_belief
from evroute.learning.learned_belief import LearnedBelief
from evroute.model.base import EnergyModel, HasJoint, HasSpectrum
from evroute.model.bounds.sets import ConfidenceSet
from evroute.model.coefficients import HasCoefficients
from evroute.network.catalog import load_network
from evroute.planning.forecasts.forecast import forecast
from evroute.policy.bounds import DEFAULT_DELTA, Kind, assume, bounds
from evroute.report.charts.styles import method_styles
from evroute.report.extras import pd
from evroute.report.pages.differences import coefficients_table, differences
from evroute.report.results import read_route

SHOWN_ROADS = 5
BAYES_95 = 1.96
GUARANTEES: tuple[Kind, ...] = ("cmm", "amm")
GUARANTEE_NORM = 10.0
"""Bound B of the guaranteed intervals. It held in worlds drawn from the prior."""


@dataclass(frozen=True, slots=True)
class Learned:
    """The belief of one run as tables.

    Parameters
    ----------
    method, run
        Label of the method, name of the run.
    roads
        The roads that differ most from eq. 8.
    coefficients
        Learned coefficients, if the model has some.
    intervals
        Intervals of the route driven last, if the model has a guarantee.
    """

    method: str
    run: str
    roads: "pd.DataFrame"
    coefficients: "pd.DataFrame | None"
    intervals: "pd.DataFrame | None"


def beliefs(folder: RunFolder, rounds: "pd.DataFrame") -> Iterator[Learned | str]:
    """Yield the belief of the first run of each method on each network, or why it is unreadable."""
    order = list(method_styles(rounds))
    for name, group in rounds.groupby("network", sort=False):
        try:
            network = load_network(str(name))
        except EvrouteError as error:
            yield f"No beliefs on {name}: {error}."
            continue
        first = group.drop_duplicates("method").set_index("method")["run"]
        for method in sorted(first.index, key=order.index):
            try:
                belief = load_belief(folder.path, first[method], network=network)
            except EvrouteError as error:
                yield f"No belief of {method} on {name}: {error}."
                continue
            if not isinstance(belief, LearnedBelief):
                yield f"No table of roads of {method} on {name}: it has no model of edges."
                continue
            model, edges = belief.model, belief.space.edges.reference
            roads = differences(belief.edge_posterior, edges, network).head(SHOWN_ROADS)
            coefficients = coefficients_table(model) if isinstance(model, HasCoefficients) else None
            intervals = None
            if isinstance(model, HasSpectrum) and isinstance(model, HasJoint):
                last = group[group["run"] == first[method]].nlargest(1, "t").iloc[0]
                driven = belief.route_arms(
                    read_route(folder, first[method], int(last["t"])), float(last["departed_s"])
                )
                intervals = route_intervals(model, *driven, float(last["true_wh"]))
            yield Learned(method, first[method], roads, coefficients, intervals)


def route_intervals(
    model: EnergyModel, arms: Arms, arms_of_route: IntArray, true_wh: float
) -> "pd.DataFrame":
    """Return intervals of the expected energy of a route, Bayesian and with a guarantee, Wh.

    Parameters
    ----------
    model
        A regression with a kernel.
    arms
        Arms that include the arms of the route.
    arms_of_route
        (k,) positions among ``arms``, in driving order.
    true_wh
        True expected energy of the route, Wh.
    """
    energy = forecast(model, arms, arms_of_route)
    noise_wh2 = float((model.noise_std(arms)[arms_of_route] ** 2).sum())
    half_wh = BAYES_95 * float(np.sqrt(max(energy.edge_covariance_wh2.sum() - noise_wh2, 0.0)))
    rows = [
        ("Bayes, 95 %", "the prior is right", energy.mean_wh - half_wh, energy.mean_wh + half_wh)
    ]
    if isinstance(model, HasSpectrum):
        for kind in GUARANTEES:
            try:
                low_wh, high_wh, b_min = route_bounds(model, arms, arms_of_route, kind)
                assumption = (
                    f"norm at most {GUARANTEE_NORM:g} (at least {b_min:.3g}), "
                    "no noise shared by a trip"
                )
                rows.append((f"{kind.upper()}, 95 %", assumption, low_wh, high_wh))
            except EvrouteError as error:
                rows.append((f"{kind.upper()}, 95 %", str(error), np.nan, np.nan))
    columns = ["interval of the last route", "assumes", "low (Wh)", "high (Wh)"]
    return pd.DataFrame(rows, columns=columns).assign(**{"true (Wh)": true_wh})


def route_bounds(
    model: HasSpectrum,
    arms: Arms,
    arms_of_route: IntArray,
    kind: Kind,
    norm: float = GUARANTEE_NORM,
) -> tuple[float, float, float]:
    """Bound the expected energy of a route, Wh, and return the least norm that fits too.

    Source: Flynn & Reeb (arXiv 2403.12732). The sum over a route is one more value of the unknown
    function, bounded over the confidence set as a whole, an extension of the paper. With
    probability 0.95 the bounds of all routes hold at all times if the expected energies differ from
    eq. 8 by a function of the given norm at most, and if the noise of every measurement is, given
    the past, sub-Gaussian with the model's deviation. Noise that all edges of a trip share, such as
    the error of a wrong mass, violates this.

    Parameters
    ----------
    model
        A regression with a kernel.
    arms
        Arms that include the arms of the route.
    arms_of_route
        (k,) positions among ``arms``, in driving order.
    kind
        Kind of the bounds.
    norm
        B, in prior deviations.

    Raises
    ------
    EmptySetError
        If no function of this norm fits the measurements.
    """
    spectrum = model.spectrum()
    confidence = ConfidenceSet(spectrum, assume(norm, 1.0, DEFAULT_DELTA, "mixture"))
    distinct, counts = np.unique(arms_of_route, return_counts=True)
    driven = arms.take(distinct)
    total = model.points(spectrum, driven).summed(
        counts.astype(np.float64), model.prior_covariance(driven)
    )
    joint = bounds(confidence, total, kind, count=model.n_measured())
    prior_wh = float(counts @ driven.prior_mean_wh)
    return prior_wh + float(joint.low[0]), prior_wh + float(joint.high[0]), confidence.b_min
