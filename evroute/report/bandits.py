"""Figures and tables of kernel bandits: regret, CPU seconds, dictionaries and batches."""

from evroute.experiments.runs import RunFolder
from evroute.report.extras import alt, pd
from evroute.report.pages.claims import N_NAMES, claims_table, verdict_lines
from evroute.report.pages.run_page import Page, cells, figure_of, judged_claims, template
from evroute.report.results import read_bandit

SHOWN = {
    "cumulative_regret": "Cumulative regret",
    "cumulative_seconds": "CPU seconds",
    "dictionary_size": "Points in the dictionary",
    "last_batch_trips": "Pulls in the last batch",
}
N_POINTS = 100


def bandit_chart(rounds: "pd.DataFrame") -> "alt.ConcatChart":
    """Draw each measure of ``SHOWN`` over the rounds: one curve per method, mean over the seeds."""
    rounds = rounds.assign(
        cumulative_seconds=rounds.groupby(["method", "seed"])["seconds"].cumsum()
    )
    step = max(1, int(rounds["t"].max()) // N_POINTS)
    thinned = rounds[(rounds["t"] % step == 0) | (rounds["t"] == 1)]
    shown = [name for name in SHOWN if name in thinned and thinned[name].notna().any()]
    means = thinned.groupby(["method", "t"], sort=False)[shown].mean().reset_index()
    panels = [
        alt.Chart(means.dropna(subset=[name]))
        .mark_line()
        .encode(
            x=alt.X("t:Q", title="Round"),
            y=alt.Y(f"{name}:Q", title=SHOWN[name]),
            color=alt.Color("method:N", title="Method", sort=None),
        )
        .properties(width=280, height=240)
        for name in shown
    ]
    return alt.concat(*panels, columns=2).configure_legend(
        labelLimit=420, orient="bottom", columns=2
    )


def bandit_table(rounds: "pd.DataFrame") -> "pd.DataFrame":
    """Return one row per method: means over the seeds at the last round, and the SE of regret."""
    last = rounds[rounds["t"] == rounds["t"].max()].groupby("method", sort=False)
    whole = (
        rounds.groupby(["method", "seed"], sort=False)["seconds"]
        .sum()
        .groupby("method", sort=False)
        .mean()
    )
    table = last[["cumulative_regret"]].mean().rename(columns={"cumulative_regret": "regret"})
    table["se"] = last["cumulative_regret"].sem()
    table["seconds"] = whole
    for name, title in (
        ("dictionary_size", "points"),
        ("redraws", "dictionaries"),
        ("batches", "batches"),
    ):
        if name in rounds:
            table[title] = last[name].mean()
    return table.reset_index()


def build_bandit_page(folder: RunFolder) -> Page:
    """Build the page on the finished runs of a kernel bandit: figure, table and claims.

    Raises
    ------
    EvrouteError
        If no run is finished, or a file cannot be read.
    MissingPackageError
        If altair is not installed.
    """
    rounds, notes = read_bandit(folder), list[str]()
    judged = judged_claims(folder, notes)
    figure = figure_of("bandit", "Means over the repetitions.", bandit_chart(rounds), as_svg=True)
    html = template("page.html.j2").render(
        title=f"Kernel bandit: {folder.path.resolve().name}",
        figures=[figure],
        notes=notes,
        table=cells(bandit_table(rounds), 1),
        n_names=1,
        claims=cells(claims_table(judged), N_NAMES) if judged else None,
        n_claim_names=N_NAMES,
        manifest=folder.manifest(),
    )
    return Page(html, (), (figure,), tuple(notes), tuple(verdict_lines(judged)))


def starvation_chart(bands: "pd.DataFrame") -> "alt.ConcatChart":
    """Draw mean ± 3 deviations and the truth along the line, for the first seed.

    One panel for each number of evaluations.
    """
    first = bands[bands["seed"] == bands["seed"].min()]
    first = first.assign(
        low=first["mean"] - 3 * first["std"], high=first["mean"] + 3 * first["std"]
    )
    panels = []
    for n, group in first.groupby("evaluations"):
        base = alt.Chart(group, title=f"{n} evaluations").encode(x=alt.X("x:Q", title="x"))
        band = base.mark_area(opacity=0.3).encode(
            y=alt.Y("low:Q", title="mean ± 3 deviations, truth"), y2="high:Q"
        )
        lines = (
            base.mark_line().encode(y="mean:Q"),
            base.mark_line(strokeDash=[3, 3], color="black").encode(y="truth:Q"),
        )
        panels.append(alt.layer(band, *lines).properties(width=260, height=220))
    return alt.concat(*panels, columns=2)


def starvation_table(bands: "pd.DataFrame") -> "pd.DataFrame":
    """Return mean deviations over unmeasured points (x > 0.7), by the number of evaluations."""
    table = (
        bands[bands["x"] > 0.7]
        .groupby("evaluations")[["points", "std", "exact_std", "sor_std"]]
        .mean()
    )
    inside = (bands["truth"] - bands["mean"]).abs() <= 3 * bands["std"]
    table["truth within 3 std, %"] = 100 * inside.groupby(bands["evaluations"]).mean()
    return table.reset_index()
