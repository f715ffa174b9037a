"""Tables of claims in the docs: ``make pages`` writes them.

An experiment with claims (``data/experiments/NAME.toml``, ``data/bandits/NAME.toml``) and runs in
``runs/NAME`` gets ``NAME.runs.csv`` beside it by ``python docs/hooks/claims.py``: one row per run,
below the digest of the claims, the commit, the date and the digests of the roads. The pages show
claims with their verdicts (`table_of`) and statistics of the runs (`runs_table`), mean ± standard
error over the worlds.
"""

import subprocess
import sys
import tomllib
from collections import Counter
from datetime import UTC, datetime
from io import StringIO
from itertools import groupby
from pathlib import Path

import pandas as pd

from evroute.claims import Claims
from evroute.experiments.runs import RunFolder
from evroute.report.pages.claims import (
    PANEL,
    PARTS,
    Verdict,
    overall,
    run_table,
    verdicts,
)

ROOT = Path(__file__).parents[2]


def experiments() -> dict[Path, Claims]:
    """Return the claims of every shipped experiment that states some."""
    found = {}
    for path in sorted((ROOT / "data").glob("*/*.toml")):
        if stated := tomllib.loads(path.read_text(encoding="utf-8")).get("claims"):
            found[path] = Claims.model_validate(stated)
    return found


def store_runs(path: Path, claims: Claims, folder: RunFolder) -> None:
    """Write the run table beside the experiment; the runs must have begun with these claims.

    Panels with unfinished runs are left out.
    """
    if folder.manifest().get("claims_sha256") != claims.digest():
        sys.exit(f"{folder.path} was made with other claims than {path} states; run it again")
    table = finished_panels(run_table(folder))
    verdicts(claims, table)
    statistics = sorted({"beta", *(claim.statistic for claim in claims.claim)})
    kept = [
        name for name in ("method", *PANEL, *PARTS, "seed", "horizon", *statistics) if name in table
    ]
    rows = table[kept].to_csv(index=False, float_format="%.6g", lineterminator="\n")
    commit = ["git", "-C", str(ROOT), "rev-parse", "--short=8", "HEAD"]
    head = {
        "claims": claims.digest(),
        "commit": subprocess.run(commit, capture_output=True, text=True, check=True).stdout.strip(),
        "date": datetime.now(UTC).date().isoformat(),
    }
    if networks := folder.manifest().get("networks", {}):
        head["networks"] = ", ".join(f"{name} {digest[:12]}" for name, digest in networks.items())
    stated = "".join(f"# {key}: {value}\n" for key, value in head.items())
    path.with_suffix(".runs.csv").write_text(f"{stated}{rows}", encoding="utf-8")


def finished_panels(table: pd.DataFrame) -> pd.DataFrame:
    """Return the runs of panels, such as trips, in which every method has every seed."""
    keys = [name for name in PANEL if name in table]
    if not keys:
        return table
    runs = table.groupby(keys)["seed"].transform("size")
    return table[runs == runs.max()]


def stored(path: Path) -> tuple[dict[str, str], pd.DataFrame] | None:
    """Return the head and the run table beside an experiment, None if there is no table."""
    table = path.with_suffix(".runs.csv")
    if not table.exists():
        return None
    text = table.read_text(encoding="utf-8")
    stated = [line[2:] for line in text.splitlines() if line.startswith("# ")]
    head = dict(line.split(": ", 1) for line in stated)
    return head, pd.read_csv(StringIO(text), comment="#")


def table_of(path: Path, claims: Claims) -> str:
    """Return the table of the claims of an experiment, in Markdown."""
    known = stored(path)
    lines = [
        f"`{claims.command}`",
        "",
        "| claim (source) | comparator | mean, of the comparator | ratio, at most | verdict |",
        "| --- | --- | --- | --- | --- |",
    ]
    if known is None:
        for claim in claims.claim:
            lines.append(
                f"| {claim.statement} ({claim.source}) | | | {claim.at_most:g} | not run |"
            )
        return "\n".join(lines) + "\n"
    for _, group in groupby(verdicts(claims, known[1]), key=lambda each: each.claim):
        lines.append(_row(list(group)))
    return "\n".join(lines) + "\n"


def runs_table(path: Path, statistic: str) -> str:
    """Return a statistic of the stored runs by method and trip, in Markdown."""
    known = stored(path)
    if known is None:
        return "Not run.\n"
    runs = known[1].dropna(subset=[statistic])
    places = runs["network"].str.title() + " " + runs["trip"]
    cells = runs.groupby([runs["method"], places], sort=False)[statistic].agg(
        ["mean", "sem", "size"]
    )
    worlds = {place: int(group["size"].max()) for place, group in cells.groupby(level=1)}
    heads = [f"{place}, {n} worlds" for place, n in worlds.items()]
    lines = [f"| method | {' | '.join(heads)} |", "| --- |" + " --- |" * len(heads)]
    methods = cells.xs(next(iter(worlds)), level=1)["mean"].sort_values(ascending=False).index
    for method in methods:
        of = cells.loc[method]
        shown = [f"{_number(of.at[p, 'mean'])} ± {_number(of.at[p, 'sem'])}" for p in worlds]
        lines.append(f"| {method} | {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"


def _row(panels: list[Verdict]) -> str:
    claim, words = panels[0].claim, Counter(each.word for each in panels)
    verdict = overall(panels)
    if len(panels) > 1:
        verdict += f" ({', '.join(f'{word} {n}' for word, n in words.items())})"
    against = claim.against if isinstance(claim.against, float) else None
    comparator = "printed" if against else ", ".join(map(str, claim.against.values()))
    cells = [
        f"{claim.statement} ({claim.source})",
        comparator,
        f"{_span([each.mean for each in panels])}; {_span([each.against for each in panels])}",
        f"{_interval(panels)}; {claim.at_most:g}",
        verdict,
    ]
    return f"| {' | '.join(cells)} |"


def _interval(panels: list[Verdict]) -> str:
    if len(panels) == 1:
        return f"{panels[0].low:.2f} to {panels[0].high:.2f}"
    return _span([each.mean / each.against for each in panels])


def _span(values: list[float]) -> str:
    """Return the least and the greatest of the panels."""
    ends = [_number(min(values)), _number(max(values))]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def main() -> None:
    """Store the runs in ``runs/``."""
    for path, claims in experiments().items():
        if (folder := RunFolder(ROOT / "runs" / path.stem)).has_manifest:
            store_runs(path, claims, folder)


if __name__ == "__main__":
    main()
