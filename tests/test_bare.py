"""A bare install from the wheel, without any extra, does what README says or names the extra."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from evroute.optional import EXTRAS

ROOT = Path(__file__).parents[1]
BARE = """
import sys


class Without:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        known = name.partition(".")[0] not in {absent!r}
        return self.finder.find_spec(name, path, target) if known else None

    def __getattr__(self, name):
        return getattr(self.finder, name)


sys.meta_path[:] = [Without(each) for each in sys.meta_path]
"""
"""Start of a process in which packages are as absent as in an environment without them."""
MISSING = re.compile(r"evroute: \S+ is not installed. Run: pip install 'evroute\[(\w+)\]'\n")

pytestmark = pytest.mark.slow


class Bare:
    """A process that finds the wheel's evroute and no package of an extra, in a folder."""

    def __init__(self, site: Path, folder: Path) -> None:
        self.folder, home = folder / "outside", folder / "home"
        for each in (self.folder, home):
            each.mkdir()
        (home / "sitecustomize.py").write_text(BARE.format(absent=absent()))
        own = {"PYTHONPATH": os.pathsep.join(map(str, (home, site))), "HOME": str(home)}
        self.environment = os.environ | own | {"EVROUTE_CACHE_DIR": str(home / "cache")}

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            env=self.environment,
        )

    def evroute(self, line: str) -> subprocess.CompletedProcess[str]:
        return self.python("-m", "evroute", *shlex.split(line.removeprefix("evroute ")))

    @property
    def files(self) -> set[Path]:
        return {each for each in self.folder.rglob("*") if each.is_file()}


@pytest.fixture
def bare(site: Path, tmp_path: Path) -> Bare:
    return Bare(site, tmp_path)


def absent() -> tuple[str, ...]:
    """Packages that the extras of pyproject.toml install, by the names they are imported by."""
    return tuple(package for packages in EXTRAS.values() for package in packages)


def lines_of_readme() -> list[str]:
    """Commands of evroute in README that need no clone, in its order."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"^```(?:sh|console)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = (line.removeprefix("$ ") for block in shown for line in block.splitlines())
    return [line for line in lines if line.startswith("evroute ")]


def test_the_table_of_extras_equals_the_table_in_pyproject() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    imported = {"vl_convert": "vl-convert-python", "prometheus_client": "prometheus-client"}
    transitive = {"branca": "folium", "pyogrio": "geopandas"}  # needed by these packages
    for extra, packages in EXTRAS.items():
        listed = {
            re.split(r"[<>=\[]", each)[0]
            for each in project["optional-dependencies"][extra]
            if not each.startswith("evroute")
        }
        assert {transitive.get(p, imported.get(p, p)) for p in packages} == listed
    base = {re.split(r"[<>=]", each)[0] for each in project["dependencies"]}
    assert base.isdisjoint(absent())


def test_the_process_is_bare_and_finds_the_wheel(bare: Bare, site: Path) -> None:
    code = (
        "import importlib.util, evroute, numpy; print(evroute.__file__);"
        f"print([name for name in {absent()!r} if importlib.util.find_spec(name)])"
    )
    done = bare.python("-c", code)
    assert done.stdout.splitlines() == [str(site / "evroute/__init__.py"), "[]"], done.stderr


def test_commands_of_the_readme_work_or_name_their_extra_before_they_begin(bare: Bare) -> None:
    lines, ended = lines_of_readme(), []
    assert len(lines) >= 4
    for line in lines:
        before = bare.files
        done = bare.evroute(line.replace("--horizon 60", "--horizon 3"))
        ended.append((line.split()[1], done.returncode))
        if done.returncode:
            assert done.returncode == 2
            assert MISSING.fullmatch(done.stderr), done.stderr
            assert bare.files == before
    assert ended == [("route", 0), ("simulate", 0), ("report", 2), ("route", 0)]


def test_python_of_the_readme_names_the_extra_of_its_map(bare: Bare) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    done = bare.python("-c", code)
    assert " kWh by physics\n" in done.stdout
    assert done.stdout.endswith(" kWh in 90 % of trips\n")
    assert done.stderr.splitlines()[-1].endswith("Run: pip install 'evroute[report]'")


@pytest.mark.parametrize(
    ("line", "extra"),
    [
        ("evroute route --network denver --trip A --map a.html", "report"),
        ("evroute range --network denver --from Broadway --soc 3 --map a.html", "report"),
        ("evroute network build m --place Monaco", "geo"),
        ("evroute network export denver --to a.gpkg", "geo"),
        ("evroute app", "app"),
        ("evroute serve", "serve"),
        (
            "evroute simulate --network denver --trip A --model svgp-gpytorch --horizon 3 "
            "--seeds 1 --out runs/sparse",
            "gp",
        ),
    ],
)
def test_a_command_without_its_extra_writes_nothing(bare: Bare, line: str, extra: str) -> None:
    done = bare.evroute(line)
    found = MISSING.fullmatch(done.stderr)
    assert found, done.stderr
    assert (done.returncode, done.stdout, found[1]) == (2, "", extra)
    assert not bare.files


@pytest.mark.parametrize(
    "line",
    [
        "evroute method list",
        "evroute network list",
        "evroute network info denver",
        "evroute vehicle show renault-zoe",
        "evroute route --network denver --trip A --geojson a.geojson --gpx a.gpx --json",
        "evroute range --network denver --from 'Blake Street & 17th Street' --soc 2 --reserve 1",
    ],
)
def test_commands_without_an_extra_work(bare: Bare, line: str) -> None:
    done = bare.evroute(line)
    assert (done.returncode, done.stderr) == (0, "")
