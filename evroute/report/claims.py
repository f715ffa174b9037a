"""Verdicts on the claims of an experiment (`evroute.claims`), from one row per run.

The interval of a ratio of means is that of the paired differences ``x - at_most y`` over the seeds
by Student's t, divided by the mean of y.
"""

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evroute.bandits.sup_kernel_ucb import SupKernelOptions
from evroute.claims import Claim, Claims, Selection
from evroute.errors import EvrouteError
from evroute.experiments.runs import RunFolder
from evroute.methods.method import Method
from evroute.methods.parts import index_options, model_options
from evroute.report.mean_interval import half_interval
from evroute.report.results import read_rounds
from evroute.tables import read_columns

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.9
"""Level of the interval of a ratio."""
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


def run_table(folder: RunFolder) -> "pd.DataFrame":
    """Return one row per finished run of ``evroute simulate`` or ``evroute bandit``.

    Columns: method (label), model, index and radius (their options as JSON), the columns of the
    panel, seed, horizon (rounds), and the statistics at the end: regret_wh, distinct_edges and beta
    on roads; regret, seconds (CPU) and the diagnostics of the models in bandits.

    Raises
    ------
    EvrouteError
        If no run is finished, or a table cannot be read.
    """
    import pandas as pd

    configuration = folder.manifest()["configuration"]
    if "problem" not in configuration:
        parts = {
            method.label: _parts(method)
            for method in map(Method.model_validate, configuration["methods"])
        }
        frame = read_rounds(folder)
        last = frame.sort_values("t").groupby("run", sort=False).last().reset_index()
        last["regret_wh"] = last["cumulative_regret_wh"]
        kept = ["method", *PANEL[1:], "seed", "t", "regret_wh", "distinct_edges", "beta"]
        of_parts = pd.DataFrame([parts[label] for label in last["method"]])
        return pd.concat([of_parts, last[kept]], axis=1).rename(columns={"t": "horizon"})
    rows = []
    for place, given in enumerate(configuration["methods"]):
        for path in sorted((folder.path / "parts").glob(f"{place}-s*.parquet")):
            rounds = read_columns(path).to_pandas()
            row = (
                rounds.iloc[-1]
                .drop("regret")
                .rename({"cumulative_regret": "regret", "t": "horizon"})
            )
            row["seconds"] = rounds["seconds"].sum()
            rows.append({"problem": configuration["problem"]} | _bandit_parts(given) | dict(row))
    return pd.DataFrame(rows)


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
    if ours.keys() != theirs.keys():
        raise EvrouteError(f"claim '{claim.statement}': the comparator lacks some panels")
    judged = []
    for panel, x in ours.items():
        y = theirs[panel]
        if isinstance(claim.against, dict):
            _check_alike(claim, x, y)
            values, reference = x[claim.statistic], y[claim.statistic]
        else:
            values, reference = x[claim.statistic], x[claim.statistic] * 0 + claim.against
        mean, base = float(values.mean()), float(reference.mean())
        if not base > 0:
            raise EvrouteError(
                f"claim '{claim.statement}': the comparator's mean is {base:g}; a ratio needs one "
                "above 0"
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
            f"claim '{claim.statement}': no column '{unknown[0]}'; there are "
            f"{', '.join(map(str, table))}"
        )
    found = table
    for name, value in selection.items():
        found = found[found[name] == value]
        if found.empty:
            there = ", ".join(map(str, table[name].unique()))
            raise EvrouteError(
                f"claim '{claim.statement}': no run has {name} '{value}'; there are {there}"
            )
    varying = [name for name in keys if table[name].nunique() > 1]
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
        if mine != other and name not in free and not ignored:
            raise EvrouteError(
                f"claim '{claim.statement}': the comparator differs in {name}: {other}, not "
                f"{mine}; compare runs that differ in {claim.differs} alone"
            )
