"""Claims: verdicts by hand, fair comparators, tables of the docs, and runs played again."""

import importlib.util
import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from evroute.bandits.kernel_bandit import load_bandit, play
from evroute.claims import Claim, Claims
from evroute.errors import EvrouteError
from evroute.experiments.runs import RunFolder
from evroute.report.bandits import build_bandit_page
from evroute.report.pages.claims import folder_verdicts, run_table, verdict_lines, verdicts
from evroute.report.pages.run_page import judged_claims

ROOT = Path(__file__).parents[2]
SHORT = ROOT / "data" / "bandits" / "short.toml"
_spec = importlib.util.spec_from_file_location("claims_hook", ROOT / "docs" / "hooks" / "claims.py")
hook = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(hook)


def stated(**fields) -> Claims:
    given = {
        "statement": "ours is lower",
        "source": "by hand",
        "statistic": "regret",
        "runs": {"method": "ours"},
        "against": {"method": "theirs"},
    }
    return Claims(command="none", claim=(Claim(**(given | fields)),))


def table(ours=(1.0, 2.0, 3.0), theirs=(2.0, 4.0, 7.0), **of_theirs) -> pd.DataFrame:
    rows = [
        {"method": name, "model": name, "index": "radius", "radius": "lean", "horizon": 9}
        | {"seed": seed, "regret": value}
        | (of_theirs if name == "theirs" else {})
        for name, values in (("ours", ours), ("theirs", theirs))
        for seed, value in enumerate(values)
    ]
    return pd.DataFrame(rows)


def test_the_interval_of_a_ratio_comes_from_paired_differences() -> None:
    """d = -1, -2, -4: mean -7/3, deviation 1.527525; Student's t of 2 degrees at 95 %: 2.919986."""
    (found,) = verdicts(stated(), table())
    half = 2.919986 * 1.527525 / 3**0.5
    assert (found.mean, found.against) == (2.0, pytest.approx(13 / 3))
    assert found.high == pytest.approx(1 + (-7 / 3 + half) / (13 / 3), rel=1e-6)
    assert found.low == pytest.approx(1 + (-7 / 3 - half) / (13 / 3), rel=1e-6)


@pytest.mark.parametrize(
    ("theirs", "fields", "word"),
    [
        ((2.0, 4.0, 7.0), {}, "undecided"),
        ((2.0, 3.1, 3.9), {}, "holds"),
        ((0.0, 1.1, 1.9), {}, "fails"),
        ((2.0, 4.0, 6.0), {"at_most": 0.51}, "holds"),
        ((2.0, 4.0, 6.0), {"at_most": 0.49}, "fails"),
        ((2.0, 4.0, 7.0), {"against": 9.0}, "holds"),
        ((2.0, 4.0, 7.0), {"against": 2.5}, "undecided"),
        ((2.0, 4.0, 7.0), {"against": 0.1}, "fails"),
    ],
)
def test_a_verdict_follows_from_the_interval_and_the_threshold(theirs, fields, word) -> None:
    (found,) = verdicts(stated(**fields), table(theirs=theirs))
    assert found.word == word


def test_one_seed_decides_nothing() -> None:
    (found,) = verdicts(stated(), table(ours=(1.0,), theirs=(9.0,)))
    assert found.word == "undecided"


def test_a_claim_holds_if_it_holds_in_every_panel() -> None:
    better = table(theirs=(2.0, 3.1, 3.9)).assign(trip="A")
    other = table(theirs=(2.0, 4.0, 7.0)).assign(trip="B")
    found = verdicts(stated(), pd.concat([better, other]))
    assert [(each.panel, each.word) for each in found] == [("A", "holds"), ("B", "undecided")]
    assert verdict_lines(found) == [
        "undecided: ours is lower (holds in 1, undecided in 1, by hand)"
    ]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"radius": "constant 2"}, "differs in radius"),
        ({"horizon": 10}, "differs in horizon"),
        ({"index": "ts"}, "differs in index"),
    ],
)
def test_a_comparator_unlike_in_radius_or_horizon_is_an_error(other, message) -> None:
    with pytest.raises(EvrouteError, match=message):
        verdicts(stated(), table(**other))


def test_a_comparator_with_other_seeds_is_an_error() -> None:
    with pytest.raises(EvrouteError, match=r"differs in seed: \[0, 1\], not \[0, 1, 2\]"):
        verdicts(stated(), table(theirs=(2.0, 4.0)))


def test_a_claim_names_the_part_in_which_its_comparator_differs() -> None:
    unlike = table(theirs=(2.0, 3.1, 3.9), model="ours", radius="constant 2")
    with pytest.raises(EvrouteError, match="differs in radius"):
        verdicts(stated(), unlike)
    (found,) = verdicts(stated(differs="radius"), unlike)
    assert found.word == "holds"
    chance = table(theirs=(2.0, 3.1, 3.9), index="random", radius="{}")
    assert verdicts(stated(differs="index"), chance)[0].word == "holds"  # whatever its model


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"statistic": "time"}, "no column 'time'"),
        ({"against": {"method": "nobody"}}, "no run has method 'nobody'. There are ours, theirs"),
    ],
)
def test_a_claim_on_no_run_is_an_error(fields, message) -> None:
    with pytest.raises(EvrouteError, match=message):
        verdicts(stated(**fields), table())


def test_a_selection_of_several_methods_is_an_error() -> None:
    with pytest.raises(EvrouteError, match=r"several runs of a seed. Name the method"):
        verdicts(stated(runs={"index": "radius"}), table())


def test_a_comparator_of_mean_0_is_an_error() -> None:
    with pytest.raises(EvrouteError, match="mean is 0"):
        verdicts(stated(), table(theirs=(0.0, 0.0, 0.0)))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    folder = RunFolder(tmp_path_factory.mktemp("short") / "runs")
    play(load_bandit(SHORT), lambda done: None, folder.path)
    return folder


def test_claims_played_again_get_the_verdicts_of_the_docs(played: RunFolder) -> None:
    claims = hook.experiments()[SHORT]
    _, known = hook.stored(SHORT)
    again, before = folder_verdicts(played), verdicts(claims, known)
    assert len(again) >= 10
    assert [each.word for each in again] == [each.word for each in before]
    assert {each.word for each in again} == {"holds", "undecided", "fails"}


def test_another_comparator_turns_verdicts_or_is_refused(played: RunFolder) -> None:
    rows = run_table(played)
    claims = hook.experiments()[SHORT]
    chance = next(each for each in claims.claim if "random" in each.against.get("method", ""))
    swapped = chance.model_copy(update={"runs": chance.against, "against": chance.runs})
    words = [
        verdicts(Claims(command="", claim=(each,)), rows)[0].word for each in (chance, swapped)
    ]
    assert words == ["holds", "fails"]
    unfair = {"method": "K-GP-radius (form constant)"}
    exact = next(
        each for each in claims.claim if each.against == {"method": "K-GP-radius (form lean)"}
    )
    with pytest.raises(EvrouteError, match="differs in radius"):
        verdicts(Claims(command="", claim=(exact.model_copy(update={"against": unfair}),)), rows)


def test_claims_changed_after_the_runs_are_refused(played: RunFolder, tmp_path: Path) -> None:
    manifest = played.manifest()
    manifest["configuration"]["claims"]["claim"][0]["at_most"] = 2.0
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(EvrouteError, match="changed after the runs began"):
        folder_verdicts(RunFolder(tmp_path))


def test_the_page_of_a_bandit_shows_its_verdicts(played: RunFolder) -> None:
    page = build_bandit_page(played)
    assert len(page.claims) == len(folder_verdicts(played))
    assert page.html.count('<td class="name">holds</td>') == sum(
        line.startswith("holds: ") for line in page.claims
    )


def test_an_unfinished_folder_has_a_note_in_place_of_verdicts(
    played: RunFolder, tmp_path: Path
) -> None:
    shutil.copytree(played.path, tmp_path / "runs")
    (tmp_path / "runs" / "parts" / "0-s0.parquet").unlink()
    notes: list[str] = []
    assert judged_claims(RunFolder(tmp_path / "runs"), notes) == []
    assert "differs in seed" in notes[0]


def test_stored_runs_began_with_the_claims_of_today() -> None:
    for path, claims in hook.experiments().items():
        if known := hook.stored(path):
            stated = known[0]["claims"]
            assert stated == claims.digest(), f"{path.stem}: claims were changed after the runs"


def test_a_table_of_runs_has_mean_and_standard_error_by_method_and_trip(tmp_path) -> None:
    """1, 2, 6: mean 3, deviation sqrt(7), standard error sqrt(7 / 3) = 1.53."""
    rows = "method,network,trip,seed,beta\n"
    for method, values in (("a", (1, 2, 6)), ("b", (400, 500, 600))):
        rows += "".join(f"{method},monaco,A,{seed},{value}\n" for seed, value in enumerate(values))
    (tmp_path / "short.runs.csv").write_text(
        f"# claims: digest\n{rows}c,monaco,A,0,\n", encoding="utf-8"
    )
    assert hook.runs_table(tmp_path / "short.toml", "beta").splitlines() == [
        "| method | Monaco A, 3 worlds |",
        "| --- | --- |",
        "| b | 500 ± 57.7 |",
        "| a | 3 ± 1.53 |",
    ]
    assert hook.runs_table(tmp_path / "other.toml", "beta") == "Not run.\n"
