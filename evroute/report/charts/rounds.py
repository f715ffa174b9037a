"""Figures over the rounds of simulations (altair): regret, savings and beta, each by one call.

Every figure takes the rounds of a run folder as a data frame (``results.read_rounds``; one row
per run and round) and returns a chart; nothing is drawn to a screen.
"""

import numpy as np

from evroute.arrays import FloatArray
from evroute.errors import require
from evroute.report.charts.curves import Curve, blocks, in_panels, thinned
from evroute.report.charts.styles import AXES, COLOURS, axes, panel_labels
from evroute.report.extras import alt, pd

N_BARS = 40
PHYSICS = "physics alone"


def _regret(rounds: "pd.DataFrame") -> "pd.DataFrame":
    """Return thinned rounds, and the rounds of physics alone, with the regret so far, kWh."""
    frame = thinned(pd.concat([rounds, physics_alone(rounds)], ignore_index=True))
    return frame.assign(value=frame["cumulative_regret_wh"] / 1000)


def physics_alone(rounds: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rounds of the routes of physics in the worlds of the method of most trips.

    Parameters
    ----------
    rounds
        From `results.read_rounds`.
    """
    longest = rounds.groupby("method", sort=False)["t"].max().idxmax()
    first = rounds[rounds["method"] == longest].sort_values(["run", "t"])
    lost_wh = (first["eq8_wh"] - first["best_wh"]).groupby(first["run"]).cumsum()
    return first.assign(
        run="physics alone/" + first["run"],
        method=PHYSICS,
        model=PHYSICS,
        index=PHYSICS,
        cumulative_regret_wh=lost_wh,
    )


def _saved(rounds: "pd.DataFrame") -> "pd.DataFrame":
    return rounds.assign(value=rounds["eq8_wh"] - rounds["true_wh"], t=blocks(rounds))


def has_forecasts(rounds: "pd.DataFrame") -> bool:
    """Return True if any method of these rounds forecasts its trips."""
    return "predicted_wh" in rounds and bool(rounds["predicted_wh"].notna().any())


def _errors(rounds: "pd.DataFrame") -> "pd.DataFrame":
    """Return rounds in blocks with the forecast error, % of the mean energy of their panel."""
    known = rounds[rounds["predicted_wh"].notna()]
    usual_wh = known["energy_wh"].abs().groupby(panel_labels(known)).transform("mean")
    error_wh = (known["energy_wh"] - known["predicted_wh"]).abs()
    return known.assign(value=100 * error_wh / usual_wh, t=blocks(known))


def duration(rounds: "pd.DataFrame", timings: "pd.DataFrame") -> "alt.FacetChart":
    """Draw the computing time of a trip, ms: medians over the blocks of `saving`.

    Parameters
    ----------
    rounds, timings
        From `results.read_rounds` and `results.read_timings`.
    """
    frame = rounds.merge(timings[["run", "t", "ms"]], on=["run", "t"])
    frame = frame.assign(t=blocks(frame))
    median = frame.groupby(["run", "t"])["ms"].median().rename("value").reset_index()
    first = frame.drop_duplicates(["run", "t"]).merge(median)
    return in_panels(first, "Computing time of a trip (ms)", log_scale=True)


def diagnostic(
    rounds: "pd.DataFrame", diagnostics: "pd.DataFrame", name: str, title: str
) -> "alt.FacetChart":
    """Draw a diagnostic number of the models over the rounds.

    Parameters
    ----------
    rounds, diagnostics
        From `results.read_rounds` and `results.read_diagnostics`.
    name
        Column of ``diagnostics``.
    title
        Title of the figure, with the unit.
    """
    frame = thinned(rounds.merge(diagnostics[["run", "t", name]].dropna(), on=["run", "t"]))
    return in_panels(frame.assign(value=frame[name]), title)


def has_beta(rounds: "pd.DataFrame") -> bool:
    """Return True if any method of these rounds has a beta."""
    return bool(np.isfinite(rounds["beta"].astype(float)).any())


def _betas(rounds: "pd.DataFrame") -> "pd.DataFrame":
    require(has_beta(rounds), "none of these runs has a beta: only confidence bounds do")
    frame = thinned(rounds)
    return frame[np.isfinite(frame["beta"])].assign(value=frame["beta"])


def _at_the_end(rounds: "pd.DataFrame") -> "pd.DataFrame":
    """Return the regret of all trips, kWh, with the lengthscale in the place of the trip."""
    names = {"network", "trip", *AXES, "method", "model", "index", "seed"} & set(rounds)
    final = rounds.groupby(sorted(names))["regret_wh"].sum().reset_index(name="value")
    return final.assign(value=final["value"] / 1000, t=final["lengthscale"], lengthscale=1.0)


def distribution(values: FloatArray, title: str, weights: FloatArray) -> "alt.Chart":
    """Draw a histogram of a road quantity, weighted by length in km.

    The lowest and the highest 1 % of the values are counted in the outermost bars.

    Parameters
    ----------
    values
        (n,) values of the edges. Those that are not finite are left out.
    title
        The quantity with its unit.
    weights
        (n,) lengths of the edges, km.
    """
    shown = np.isfinite(values)
    low, high = np.quantile(values[shown], [0.01, 0.99]) if shown.any() else (0.0, 1.0)
    edges = np.linspace(low, high if high > low else low + 1.0, N_BARS + 1)
    km, _ = np.histogram(np.clip(values[shown], low, high), edges, weights=weights[shown])
    bars = [
        {"from": round(float(a), 6), "to": round(float(b), 6), "km": round(float(k), 4)}
        for a, b, k in zip(edges[:-1], edges[1:], km, strict=True)
    ]
    return (
        alt.Chart(alt.Data(values=bars))
        .mark_bar(color=COLOURS["ts"])
        .encode(
            # domains of their own: a page that adds the bars later has no extent until then
            x=alt.X(
                "from:Q",
                title=title,
                bin="binned",
                scale=alt.Scale(domain=[bars[0]["from"], bars[-1]["to"]]),
            ),
            x2="to:Q",
            y=alt.Y(
                "km:Q",
                title="length of road (km)",
                stack=None,
                scale=alt.Scale(domain=[0, max(bar["km"] for bar in bars) or 1.0]),
            ),
            tooltip=[
                alt.Tooltip("from:Q", format=".3~g"),
                alt.Tooltip("to:Q", format=".3~g"),
                alt.Tooltip("km:Q", format=".1f"),
            ],
        )
    )


cumulative_regret = Curve(
    caption="Mean over the worlds. The band is ± 1 standard error.",
    title="Cumulative regret (kWh)",
    values=_regret,
    short="Energy lost against the best routes (kWh, all trips so far)",
    unit="kWh lost so far",
)
"""Energy above the best routes. What lies below the line of physics alone is gained."""
saving = Curve(
    caption="True expected energy of the route by physics alone minus the route driven.",
    title="Energy saved against physics alone (Wh per trip)",
    values=_saved,
    short="Energy saved against the route by physics (Wh per trip)",
    unit="Wh saved per trip",
    rule_at=0.0,
)
"""Above zero the learner saves energy. Trips are averaged over blocks of a fiftieth of all."""
forecast_error = Curve(
    caption="Mean over the worlds of the measured energy against the forecast, without sign.",
    title="Error of forecasts (%)",
    values=_errors,
    wanted=has_forecasts,
    short="Error of forecasts (% of the energy of a trip)",
    unit="% off",
)
beta = Curve(
    caption="Multiplier of the variance in the confidence bounds.",
    title="Beta",
    values=_betas,
    wanted=has_beta,
)
regret_by_lengthscale = Curve(
    caption="Mean over the worlds ± 1 standard error. Worlds and models have that lengthscale.",
    title="Cumulative regret at the end (kWh)",
    values=_at_the_end,
    wanted=lambda rounds: "lengthscale" in axes(rounds),
    by_trip=False,
)
