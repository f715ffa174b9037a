"""The page about a run folder: whole, alone, and honest about what it leaves out."""

import json
import re

import pytest

from evroute.errors import EvrouteError
from evroute.experiments.runs import RunFolder
from evroute.report.pages.run_page import MOST_EXPLAINED, build_page
from evroute.report.results import read_rounds, read_timings
from evroute.report.table import MEANINGS, final_table, label_columns


def test_the_page_stands_alone_and_holds_every_figure(run_folder: RunFolder) -> None:
    heard: list[str] = []
    page = build_page(run_folder, heard.append)
    names = [figure.name for figure in page.figures]
    assert (
        names
        == heard
        == [
            "saving",
            "cumulative-regret",
            "beta",
            "duration",
            "explored-hill-T-potential-rectified",
        ]
    )
    assert all(figure.png.startswith(b"\x89PNG") for figure in page.figures)
    addresses = re.findall(r'(?:src|href)="([^"]{5})', page.html)
    assert addresses == ["data:"] * 5


def test_the_page_has_the_methods_their_configuration_and_the_meaning_of_regret(
    run_folder: RunFolder,
) -> None:
    html = build_page(run_folder).html
    for text in (
        "GP-TS",
        "BI-UCB",
        "geometric mean",
        "what the route cost above the least",
        "&#34;horizon&#34;: 4",
    ):
        assert text in html or text.replace("&#34;", '"') in html
    assert "<script>alert" not in html


def test_tables_of_few_methods_explain_each_number(run_folder: RunFolder) -> None:
    html = build_page(run_folder).html
    table = final_table(read_rounds(run_folder), read_timings(run_folder))
    assert len(table) <= MOST_EXPLAINED
    assert list(table.columns[len(label_columns(read_rounds(run_folder))) :]) == list(MEANINGS)
    for name, meaning in MEANINGS.items():
        assert re.search(rf">{re.escape(name)}<.*>{re.escape(meaning)}<", html), name


def test_another_network_of_that_name_leaves_the_maps_out_and_says_so(
    run_folder: RunFolder,
) -> None:
    path = run_folder.path / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["networks"] = dict.fromkeys(manifest["networks"], "another")
    path.write_text(json.dumps(manifest))
    page = build_page(run_folder)
    assert [figure.name for figure in page.figures] == [
        "saving",
        "cumulative-regret",
        "beta",
        "duration",
    ]
    assert "has changed since the run" in page.html


@pytest.mark.parametrize("content", ["{}", "[]", "not json"])
def test_a_manifest_of_something_else_is_one_sentence(run_folder: RunFolder, content: str) -> None:
    (run_folder.path / "manifest.json").write_text(content)
    with pytest.raises(EvrouteError):
        build_page(run_folder)
