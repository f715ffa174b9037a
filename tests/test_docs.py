"""What the pages print works: commands and snippets run, options exist, links lead somewhere.

Blocks of ``sh`` and ``python`` on the pages of `RUN` are carried out in their order, in one folder
for each page; ``csv`` and ``toml`` blocks with a ``title`` are written there first. A comment
``<!-- not run: why
-->`` before a block means that its commands are only parsed, as every other command of ``evroute``
on any page is. Of the README, plans and reports are carried out, and simulations at a short
horizon. Of ``console`` blocks whose commands begin with ``$``, the lines below a command must be
printed by it in that order; ``...`` stands for lines left out.
"""

import csv
import os
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from typing import Any, get_args

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
RUN = sorted(
    ROOT / page
    for page in [
        "README.md",
        "docs/index.md",
        "docs/numbers.md",
        "docs/tutorial.md",
        "docs/own-trips.md",
    ]
)
RUN += [TWIZY := ROOT / "docs/tutorial-trips.md", *sorted((ROOT / "docs/how-to").glob("*.md"))]
DRIVES = Path(os.environ.get("EVROUTE_DATA_DIR", ""), "drives", "twizy.csv.gz")
_BLOCK = re.compile(
    r"(?P<skip><!-- not run: [^\n]+-->\n)?^```(?P<kind>\w+)(?: "
    r"title=\"(?P<title>[^\"]+)\")?\n(?P<text>.*?)^```$",
    re.M | re.S,
)
_LINK = re.compile(r"\]\((?P<target>[^()\s#:]*)(?:#(?P<anchor>[^()\s]+))?\)")
_OWN = {"curl", "dask", "git", "make", "export", "python", ".venv/bin/python", "pip", "pytest"}


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> Iterator[re.Match[str]]:
    return _BLOCK.finditer(page.read_text(encoding="utf-8"))


def commands(text: str) -> Iterator[list[str]]:
    lines = text.replace("\\\n", " ").splitlines()
    for line in [line[2:] for line in lines if line.startswith("$ ")] or lines:
        if words := shlex.split(line, comments=True):
            yield words


def check_command(words: list[str]) -> None:
    """Fail if a command of evroute does not exist or has no such option."""
    from evroute.cli import COMMANDS, PLUGIN, load

    assert words[1] in COMMANDS, f"there is no command '{' '.join(words)}'"
    found: Any = load(words[1])
    if hasattr(found, "registered_commands"):
        known = {
            each.name or each.callback.__name__: each.callback for each in found.registered_commands
        }
        assert words[2] in known, f"there is no command '{' '.join(words)}'"
        found = known[words[2]]
    options = {"--help", PLUGIN}
    for parameter in signature(found, eval_str=True).parameters.values():
        info = get_args(parameter.annotation)[1]
        declared = (
            (info.default, *(info.param_decls or ()))
            if isinstance(info.default, str)
            else info.param_decls
        )
        options |= {
            each
            for one in declared or (f"--{parameter.name.replace('_', '-')}",)
            for each in one.split("/")
        }
    unknown = [
        word for word in words[2:] if re.fullmatch(r"--[a-z][a-z-]*", word) and word not in options
    ]
    assert not unknown, f"'{' '.join(words)}' has no {unknown[0]}"


def slugs(page: Path) -> set[str]:
    """The anchors of a page, as GitHub and the site make them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.+)$", text, re.M)
    plain = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "") for title in titles)
    return {re.sub(r"[^\w\- ]", "", each.strip().lower()).replace(" ", "-") for each in plain}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_have_the_options_that_pages_give_them(page):
    for block in blocks(page):
        if block["kind"] in {"sh", "console"}:
            for words in commands(block["text"]):
                if words[0] == "evroute":
                    check_command(words)
                elif words[0] == "make":
                    assert re.search(
                        rf"^{words[1]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M
                    )
                else:
                    assert words[0] in _OWN, f"nobody checks '{' '.join(words)}'"
        elif block["kind"] == "toml":
            tomllib.loads(block["text"])
        elif block["kind"] == "python":
            compile(block["text"], name(page), "exec")


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    written = {
        "docs/reference/command-line.md",
        "docs/reference/toml.md",
        "docs/reference/methods.md",
        "docs/reference/limits.md",
    }
    for link in _LINK.finditer(page.read_text(encoding="utf-8")):
        target = (page.parent / link["target"]).resolve() if link["target"] else page
        if target.is_relative_to(ROOT) and str(target.relative_to(ROOT)) in written:
            continue
        assert target.exists(), f"{link[0]} leads nowhere"
        if link["anchor"] and target.suffix == ".md":
            assert link["anchor"] in slugs(target), f"{link[0]} has no such anchor"


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN, ids=name)
def test_pages_run(page, tmp_path, monkeypatch, capsys):
    from evroute.cli import main

    if page == TWIZY and not DRIVES.exists():
        pytest.skip("EVROUTE_DATA_DIR names no folder with drives/twizy.csv.gz")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "data").symlink_to(ROOT / "data")
    scope: dict[str, Any] = {"__name__": "page"}
    monkeypatch.setitem(sys.modules, "page", type(sys)("page"))
    found = list(blocks(page))
    for block in found:
        if block["title"]:
            Path(block["title"]).write_text(block["text"], encoding="utf-8")
    for block in found:
        if block["skip"]:
            continue
        if block["kind"] == "python":
            exec(compile(block["text"], name(page), "exec"), scope)
        elif block["kind"] == "sh" or block["text"].startswith("$ "):
            capsys.readouterr()
            for words in commands(block["text"]):
                if words[0] != "evroute":
                    continue
                monkeypatch.setattr(sys, "argv", words)
                with pytest.raises(SystemExit) as end:
                    main()
                assert not end.value.code, " ".join(words)
            printed = iter(capsys.readouterr().out.splitlines())
            for line in block["text"].splitlines() if block["kind"] == "console" else ():
                if not line.startswith("$ ") and line != "...":
                    assert any(line == each.rstrip() for each in printed), f"not printed: {line}"


def test_the_python_of_the_readme_has_the_numbers_of_its_table(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    exec(compile(code, "README.md", "exec"), {"__name__": "page"})
    (shown,) = re.findall(r"^ kWh from the +(\d\.\d{3}) ", readme, re.MULTILINE)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == f"{shown} kWh by physics"
    assert printed[1].startswith("forecast error before learning the trip: ")


def test_parts_of_the_guide_run_under_their_names(tmp_path, monkeypatch):
    import evroute
    from evroute.experiments.experiment import Experiment
    from evroute.learning.readers.formats import READERS, read_measured
    from evroute.methods.parts import INDICES, MODELS, named
    from evroute.methods.setting import load_setting
    from evroute.model.context_kernels import KERNELS
    from evroute.report.charts import CURVES
    from evroute.report.results import read_rounds
    from evroute.worlds.world import WORLDS

    page, module = ROOT / "docs/how-to/extend.md", type(sys)("page")
    monkeypatch.setitem(sys.modules, "page", module)
    for block in blocks(page):
        if block["kind"] == "python" and not block["skip"]:
            exec(compile(block["text"], name(page), "exec"), vars(module))
    written = page.read_text(encoding="utf-8")
    classes = dict(re.findall(r'"([\w-]+)": "evroute\.[\w.]+:(\w+)"', written))
    tables = {"cautious": INDICES, "rq": KERNELS, "rain": WORLDS, "newest": MODELS}
    tables |= {"teslamate": READERS, "on-best": CURVES}
    assert classes.keys() == tables.keys()
    for key, table in tables.items():
        monkeypatch.setitem(table, key, f"page:{classes[key]}")
    wanted = Experiment.model_validate(
        {
            "trips": {"denver": ["A"]},
            "methods": [{"model": "newest", "index": "cautious", "most": 50, "share": 0.2}],
            "kernel": "rq",
            "world": ["rain"],
            "horizon": 3,
            "seeds": 1,
        }
    )
    rounds = read_rounds(evroute.simulate(wanted, tmp_path / "runs"))
    assert rounds["multiplier"].tolist() == [0.2] * 3
    log, example = tmp_path / "positions.csv", ROOT / "data/examples/obd.csv"
    rows = csv.reader(example.read_text(encoding="utf-8").splitlines()[1:])
    points = [
        f"7,{at},{lat},{lon},{-float(volts) * float(amps) / 1000}"
        for at, lat, lon, volts, amps, *_ in rows
    ]
    log.write_text("\n".join(["drive_id,date,latitude,longitude,power", *points]))
    zoe = load_setting("denver", "renault-zoe")
    figure = named(CURVES, "figure", "on-best").draw(rounds).to_dict()
    assert [point["t"] for point in figure["data"]["values"]] == [1, 2, 3]
    reader = named(READERS, "reader", "teslamate")
    assert reader.accepts(["drive_id", "date"])
    (trip,) = reader.trips(reader.log(log), zoe, ["renault-zoe"]).trips
    (expected,) = read_measured(example, zoe, ["renault-zoe"]).trips
    assert trip.edge.tolist() == expected.edge.tolist()
    assert trip.energy_wh == pytest.approx(expected.energy_wh)


def test_the_reference_tells_every_option_that_help_tells(monkeypatch, capsys):
    pytest.importorskip("mkdocs")
    import runpy

    from evroute.cli import main

    page = runpy.run_path(str(ROOT / "docs/hooks/reference.py"))["command_line"]()
    sections = re.split(r"^## `(evroute [a-z ]+)`$", page, flags=re.M)
    assert len(sections) > 20
    for words, text in zip(sections[1::2], sections[2::2], strict=True):
        monkeypatch.setattr(sys, "argv", [*words.split(), "--help"])
        with pytest.raises(SystemExit):
            main()
        told = set(re.findall(r"^\s+(?:-\w, )?(--[a-z-]+)", capsys.readouterr().out, re.M)) - {
            "--help"
        }
        assert told <= set(re.findall(r"--[a-z-]+", text)), words


def test_the_site_builds_without_a_warning(tmp_path, monkeypatch):
    pytest.importorskip("material")
    import subprocess

    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--quiet",
        "--site-dir",
        str(tmp_path / "site"),
    ]
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr


def test_pictures_of_the_docs_read_tables_of_results(tmp_path, monkeypatch):
    pytest.importorskip("altair")
    import runpy

    plots = runpy.run_path(str(ROOT / "docs/hooks/plots.py"))
    assert plots["numbers"]("**−6.9 ± 8.7** (0 %)") == [-6.9, 8.7, 0]
    assert plots["numbers"]("89 / **1,199**, 65") == [89, 1199, 65]
    (tmp_path / "docs/tables").mkdir(parents=True)
    table = "# command: none\na,b\n,2\nx,3\n"
    (tmp_path / "docs/tables/one.csv").write_text(table, encoding="utf-8")
    monkeypatch.setitem(plots["table"].__globals__, "ROOT", tmp_path)
    assert plots["table"]("one").to_dict("list") == {"a": ["", "x"], "b": ["2", "3"]}


def test_every_picture_that_the_docs_draw_is_kept_small_and_shown():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for picture in (ROOT / "docs/images").glob("*.svg"):
        assert picture.stat().st_size < 100_000, picture.name
        assert f"images/{picture.name})" in text, f"no page shows {picture.name}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_files_that_commands_name_are_there(page):
    named = r"(?<![\w/.])(?:tests|notebooks|docs/hooks|data/(?:experiments|bandits))/[\w./-]+\.\w+"
    for path in re.findall(named, page.read_text(encoding="utf-8")):
        assert (ROOT / path).exists(), f"there is no {path}"
