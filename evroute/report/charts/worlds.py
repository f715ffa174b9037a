"""Energy and time that a method saves, a dot for each world."""

from evroute.report.abstract import late_and_early
from evroute.report.charts.styles import method_styles, panel_labels
from evroute.report.extras import alt, pd

PANEL_WIDTH = 380
ROW_HEIGHT = 34
ENERGY, TIME = "energy saved (%)", "time saved (%)"


def has_physics(rounds: "pd.DataFrame") -> bool:
    """Return True if rounds have the energy and the time of the routes by physics alone."""
    return {"eq8_wh", "eq8_s"} <= set(rounds)


def saved_by_world(rounds: "pd.DataFrame") -> "alt.FacetChart":
    """Draw the energy and the time saved in each world against the routes by physics alone, %.

    A dot is a world, a bar the mean of the worlds. Savings are over the trips at the end, as in
    the abstract of a report, by the sums of true expectations over them.

    Parameters
    ----------
    rounds
        From `results.read_rounds`.
    """
    styles = method_styles(rounds)
    colours = [colour for colour, _ in styles.values()]
    dots = saved_shares(rounds)
    base = alt.Chart().encode(
        y=alt.Y("method:N", sort=list(styles), axis=None),
        color=alt.Color(
            "method:N",
            scale=alt.Scale(domain=list(styles), range=colours),
            legend=alt.Legend(title=None, orient="top", columns=6, labelLimit=240),
        ),
    )
    at = alt.X("value:Q", title="%", axis=alt.Axis(grid=False, tickCount=6))
    points = base.mark_circle(size=45, opacity=0.6).encode(
        x=at,
        tooltip=["method:N", "seed:N", alt.Tooltip("value:Q", title="saved (%)", format=".3~g")],
    )
    means = base.mark_tick(thickness=3, size=22).encode(x=alt.X("mean(value):Q"))
    rule = alt.Chart().mark_rule(color="#888").encode(x=alt.datum(0))
    layered = alt.layer(rule, points, means, data=dots).properties(
        width=PANEL_WIDTH, height=ROW_HEIGHT * len(styles)
    )
    return layered.facet(
        facet=alt.Facet("title:N", title=None, sort=list(dots["title"].unique())), columns=2
    ).properties(title="Saved against physics alone in each world (% of the last trips)")


def saved_shares(rounds: "pd.DataFrame") -> "pd.DataFrame":
    """Return the shares of energy and time saved in the last trips, a row a world and measure, %.

    Parameters
    ----------
    rounds
        From `results.read_rounds`.
    """
    late, _ = late_and_early(rounds)
    late = late.assign(panel=panel_labels(rounds)[late.index])
    sums = late.groupby(["panel", "method", "seed"])[["true_wh", "eq8_wh", "time_s", "eq8_s"]].sum()
    shares = pd.DataFrame(
        {
            ENERGY: 100 * (sums["eq8_wh"] - sums["true_wh"]) / sums["eq8_wh"].abs(),
            TIME: 100 * (sums["eq8_s"] - sums["time_s"]) / sums["eq8_s"],
        }
    )
    rows = shares.reset_index().melt(["panel", "method", "seed"], var_name="measure")
    several = rows["panel"].nunique() > 1
    title = rows["panel"] + ": " + rows["measure"] if several else rows["measure"]
    order = ["panel", "measure", "method", "seed"]
    return rows.assign(title=title).sort_values(order, ignore_index=True)
