"""Verdicts on the claims of an experiment (`evroute.claims`), from one row per run.

The interval of a ratio of means is the interval of the paired differences ``x - at_most y`` over
the seeds by Student's t, divided by the mean of y.
"""

import json
import math
from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from evroute.bandits.sup_kernel_ucb import SupKernelOptions
from evroute.claims import Claim, Claims, Selection
from evroute.errors import EvrouteError, require
from evroute.experiments.runs import RunFolder
from evroute.methods.method import Method
from evroute.methods.parts import index_options, model_options
from evroute.report.charts.mean_interval import half_interval
from evroute.report.extras import pd
from evroute.report.results import read_bandit, read_rounds

LEVEL = 0.9
"""Level of the interval of a ratio."""
WORDS = ("holds", "undecided", "fails")
N_NAMES = 6
PARTS = ("model", "index", "radius")
PANEL = ("problem", "network", "trip", "world", "search", "prior", "kernel", "lengthscale")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a claim in one panel: ratio of the means, and its interval."""

    claim: Claim
    panel: str
    seeds: int
    mean: float
    against: float
    low: float
    high: float

    @property
    def word(self) -> str:
        """``holds``, ``fails``, or ``undecided`` if the interval contains the threshold."""
        if self.high < self.claim.at_most:
            return "holds"
        return "fails" if self.low > self.claim.at_most else "undecided"


def folder_verdicts(folder: RunFolder) -> list[Verdict]:
    """Judge the claims that the folder's experiment stated, or empty if it stated none.

    Raises
    ------
    EvrouteError
        If the claims are not those that the runs began with, or as `verdicts` raises.
    """
    manifest = folder.manifest()
    if not (stated := manifest["configuration"].get("claims")):
        return []
    claims = Claims.model_validate(stated)
    require(
        claims.digest() == manifest.get("claims_sha256"),
        f"the claims in {folder.path}/manifest.json were changed after the runs began. "
        "Simulate again",
    )
    return verdicts(claims, run_table(folder))


def claims_table(judged: list[Verdict]) -> "pd.DataFrame":
    """Return one row per claim and panel. The first `N_NAMES` columns are text."""
    return pd.DataFrame(
        [
            {
                "claim": each.claim.statement,
                "source": each.claim.source,
                "comparator": ", ".join(map(str, each.claim.against.values()))
                if isinstance(each.claim.against, dict)
                else f"{each.claim.against:g}",
                "statistic": each.claim.statistic,
                "panel": each.panel,
                "verdict": each.word,
                "seeds": each.seeds,
                "mean": each.mean,
                "of the comparator": each.against,
                "ratio": each.mean / each.against,
                "90 % from": each.low,
                "to": each.high,
                "at most": each.claim.at_most,
            }
            for each in judged
        ]
    )


def verdict_lines(judged: list[Verdict]) -> list[str]:
    """Return a line per claim: its verdict, the claim, and the ratios or the panels."""
    lines = []
    for claim, group in groupby(judged, key=lambda each: each.claim):
        panels = list(group)
        words = Counter(each.word for each in panels)
        ratios = ", ".join(f"{word} in {words[word]}" for word in WORDS if words[word])
        if len(panels) == 1:
            one = panels[0]
            ratios = f"ratio {one.low:.2f} to {one.high:.2f}, at most {claim.at_most:g}"
        lines.append(f"{overall(panels)}: {claim.statement} ({ratios}, {claim.source})")
    return lines


def overall(panels: list[Verdict]) -> str:
    """Return ``fails`` if a claim fails in any panel, ``holds`` if it holds in all."""
    words = {each.word for each in panels}
    return next((word for word in reversed(WORDS) if word in words), "holds")


def run_table(folder: RunFolder) -> "pd.DataFrame":
    """Return one row per finished run of ``evroute simulate`` or ``evroute bandit``.

    Columns: method (label), model, index and radius (their options as JSON), the columns of the
    panel, seed, horizon (rounds), and the statistics at the end: regret_wh, distinct_edges and beta
    on roads. Regret, seconds (CPU) and the diagnostics of the models in bandits.

    Raises
    ------
    EvrouteError
        If no run is finished, or a table cannot be read.
    """
    configuration = folder.manifest()["configuration"]
    if "problem" not in configuration:
        parts = {
            method.label: _parts(method)
            for method in map(Method.model_validate, configuration["methods"])
        }
        last = read_rounds(folder).sort_values("t").groupby("run", sort=False).last().reset_index()
        last["regret_wh"] = last["cumulative_regret_wh"]
        kept = ["method", *PANEL[1:], "seed", "t", "regret_wh", "distinct_edges", "beta"]
        of_parts = pd.DataFrame([parts[label] for label in last["method"]])
        return pd.concat([of_parts, last[kept]], axis=1).rename(columns={"t": "horizon"})
    runs = read_bandit(folder).groupby(["place", "seed"])
    last = runs.last().assign(seconds=runs["seconds"].sum()).reset_index()
    last["regret"] = last["cumulative_regret"]
    methods = [_bandit_parts(given) for given in configuration["methods"]]
    of_parts = pd.DataFrame([methods[place] for place in last["place"]])
    return pd.concat([of_parts, last], axis=1).rename(columns={"t": "horizon"})


def _bandit_parts(given: str | dict[str, Any]) -> dict[str, str]:
    options = {"method": given} if isinstance(given, str) else given
    if options.get("method") != "sup-k-ucb":
        return _parts(Method.model_validate(given))
    of = SupKernelOptions.checked(options)
    return {
        "model": f"sup-k-ucb ridge {of.ridge:g}",
        "index": "radius",
        "radius": _width(of.eta, 1.0),
    }


def _parts(method: Method) -> dict[str, str]:
    """Return model, index and radius of a method with all their options, as text."""
    of_index = index_options(method.index).checked(method.options).model_dump(mode="json")
    of_model = model_options(method.model).checked(method.options).model_dump(mode="json")
    fields = method.model_dump(mode="json", exclude={"index", *of_index}, exclude_none=True)
    radius = json.dumps(of_index)
    if of_index.get("form") == "constant":
        radius = _width(of_index["multiplier"], of_model.get("ridge", 1.0))
    elif "form" in of_index:
        radius = json.dumps({name: of_index[name] for name in of_index if name != "multiplier"})
    return {"model": json.dumps(of_model | fields), "index": method.index, "radius": radius}


def _width(deviations: float, ridge: float) -> str:
    """Return a constant radius as text, in deviations of the noise: ``beta~`` over R."""
    return f"constant {deviations * math.sqrt(ridge):.3g}"


def verdicts(claims: Claims, table: "pd.DataFrame") -> list[Verdict]:
    """Judge every claim in every panel.

    Parameters
    ----------
    claims
        The claims.
    table
        From `run_table`.

    Raises
    ------
    EvrouteError
        If a claim selects no run, or its comparator differs in more than the claim states: in
        radius, seeds or horizon.
    """
    return [each for claim in claims.claim for each in _judged(claim, table)]


def _judged(claim: Claim, table: "pd.DataFrame") -> list[Verdict]:
    against = claim.against if isinstance(claim.against, dict) else claim.runs
    fixed = claim.runs.keys() | against.keys()
    keys = [name for name in PANEL if name in table and name not in fixed]
    ours, theirs = (_selected(claim, table, each, keys) for each in (claim.runs, against))
    require(
        ours.keys() == theirs.keys(), f"claim '{claim.statement}': the comparator lacks some panels"
    )
    judged = []
    for panel, x in ours.items():
        y = theirs[panel]
        if isinstance(claim.against, dict):
            _check_alike(claim, x, y)
            values, reference = x[claim.statistic], y[claim.statistic]
        else:
            values, reference = x[claim.statistic], x[claim.statistic] * 0 + claim.against
        mean, base = float(values.mean()), float(reference.mean())
        require(
            base > 0,
            f"claim '{claim.statement}': the comparator's mean is {base:g}. A ratio needs one "
            "above 0",
        )
        half = half_interval((values - claim.at_most * reference).to_numpy(dtype=float), LEVEL)
        low, high = (mean - half) / base, (mean + half) / base
        judged.append(Verdict(claim, panel, len(x), mean, base, low, high))
    return judged


def _selected(
    claim: Claim, table: "pd.DataFrame", selection: Selection, keys: list[str]
) -> dict[str, "pd.DataFrame"]:
    """Return the selected runs by panel, indexed by seed."""
    if unknown := sorted({claim.statistic, *selection} - set(table)):
        raise EvrouteError(
            f"claim '{claim.statement}': no column '{unknown[0]}'. There are "
            f"{', '.join(map(str, table))}"
        )
    found = table
    for name, value in selection.items():
        found = found[found[name] == value]
        if found.empty:
            there = ", ".join(map(str, table[name].unique()))
            raise EvrouteError(
                f"claim '{claim.statement}': no run has {name} '{value}'. There are {there}"
            )
    varying = [name for name in keys if table[name].nunique() > 1]
    require(
        not found.duplicated([*varying, "seed"]).any(),
        f"claim '{claim.statement}': {selection} selects several runs of a seed. Name the method",
    )
    names = found[varying].astype(str).agg(" ".join, axis=1) if varying else found["seed"] * 0
    return {
        str(panel) if varying else "": group.set_index("seed")
        for panel, group in found.groupby(names, sort=False)
    }


def _check_alike(claim: Claim, ours: "pd.DataFrame", theirs: "pd.DataFrame") -> None:
    """Raise an error if runs and comparator differ in more than the claim states."""
    free = {"index": {"index", "radius"}}.get(claim.differs, {claim.differs})
    for name in ("seed", "horizon", *PARTS):
        mine, other = (
            sorted(set(each.index if name == "seed" else each[name])) for each in (ours, theirs)
        )
        ignored = name == "model" and "random" in {*ours["index"], *theirs["index"]}
        require(
            mine == other or name in free or ignored,
            f"claim '{claim.statement}': the comparator differs in {name}: {other}, not "
            f"{mine}. Compare runs that differ in {claim.differs} alone",
        )
