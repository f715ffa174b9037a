"""Parts from outside a clone: people name them, data never do."""

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evroute import plugins
from evroute.bandits.kernel_bandit import load_bandit, play
from evroute.checked import read_arrays, write_arrays
from evroute.errors import EvrouteError, UnknownNameError
from evroute.experiments.experiment import load_experiment
from evroute.learning.belief import load_belief
from evroute.learning.learn import learn
from evroute.learning.readers.formats import read_measured
from evroute.methods.method import checked_method
from evroute.methods.parts import INDICES, index_options
from evroute.methods.setting import load_setting
from evroute.model.context_kernels import context_kernel
from evroute.resources import data_path
from evroute.worlds.world import load_world

CAUTIOUS = '''
from dataclasses import dataclass

from pydantic import Field

from evroute.model.context_kernels.rbf import RBF
from evroute.policy.base import Index, IndexOptions
from evroute.learning.readers.edges import READER
from evroute.worlds.conditions import Conditions


class Windy(Conditions):
    """A windy world."""

    kind: str
    wind_mps: float = 8.0
    wind_from_deg: float = 200.0


class Half(RBF):
    """A kernel of half the distance."""

    def __call__(self, x, y, lengthscales):
        return super().__call__(x, y, 2 * lengthscales)


@dataclass(frozen=True, slots=True)
class Cautious(Index):
    share: float

    def __call__(self, t, arms, model, rng):
        belief = model.posterior(arms)
        return belief.mean_wh + self.share * belief.std_wh


class CautiousOptions(IndexOptions):
    """The mean and a share of the deviation on top."""

    label = "cautious"
    share: float = Field(default=0.1, ge=0, description="share of the deviation")

    def build(self, setting) -> Cautious:
        return Cautious(self.share)
'''
EVIL = 'from pathlib import Path\nPath(__file__).with_name("ran").touch()\nclass X: pass\n'
REFUSED = r"'evil:X' is a plug-in. If you trust its code, repeat with --plugin evil"


@pytest.fixture(autouse=True)
def _nothing_is_named(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("mypart", "evil"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    plugins.forget()
    yield
    plugins.forget()
    for name in ("mypart", "evil"):
        sys.modules.pop(name, None)


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of somebody with parts of their own, where commands are called."""
    (tmp_path / "mypart.py").write_text(CAUTIOUS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_part_is_looked_up_once_a_person_named_it(outside: Path) -> None:
    with pytest.raises(UnknownNameError, match="repeat with --plugin mypart"):
        index_options("mypart:CautiousOptions")
    plugins.use("mypart:CautiousOptions")
    assert index_options("mypart:CautiousOptions").label == "cautious"
    with pytest.raises(UnknownNameError, match="repeat with --plugin mypart"):
        context_kernel("mypart:Half")
    plugins.use("mypart")
    assert context_kernel("mypart:Half*rbf") is not None
    world = load_world("mypart:Windy")
    assert (world.kind, world.wind_mps) == ("mypart:Windy", 8.0)  # type: ignore[attr-defined]
    assert load_world({"kind": "mypart:Windy", "wind_mps": 3}).label == "mypart.Windy-windmps3"
    setting = load_setting("denver", "renault-zoe")
    table = data_path("examples", "edges.csv")
    assert read_measured(table, setting, ["renault-zoe"], reader="mypart:READER").trips
    assert plugins.used() == ["mypart:CautiousOptions", "mypart"]
    assert sys.path[-1] == str(outside), "the folder is the last place"


def test_a_part_of_another_kind_is_refused(outside: Path) -> None:
    plugins.use("mypart")
    for look_up in (index_options, load_world):
        with pytest.raises(UnknownNameError, match="'mypart:Half' is no class of"):
            look_up("mypart:Half")
    with pytest.raises(UnknownNameError, match="there is no index 'mypart:Nothing'"):
        index_options("mypart:Nothing")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere", "'nowhere' cannot be imported .ModuleNotFoundError"),
        ("mypart:Nothing", "cannot be imported .AttributeError"),
        ("broken", "cannot be imported .ZeroDivisionError: division by zero"),
        ("../mypart", "is no plug-in. Give a module"),
        ("a:b:c", "is no plug-in. Give a module"),
    ],
)
def test_a_name_that_cannot_be_used_is_refused_in_one_line(
    outside: Path, name: str, message: str
) -> None:
    (outside / "broken.py").write_text("1 / 0")
    with pytest.raises(EvrouteError, match=message) as refused:
        plugins.use(name)
    assert "\n" not in str(refused.value)
    assert plugins.used() == []


def test_installed_packages_register_parts_and_shipped_names_win(
    outside: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    about = outside / "site" / "mypart-1.0.dist-info"
    about.mkdir(parents=True)
    (outside / "mypart.py").rename(outside / "site" / "mypart.py")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mypart\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[evroute.indices]\ncautious = mypart:CautiousOptions\nts = mypart:CautiousOptions\n"
        "gone = mypart:Gone\n"
    )
    monkeypatch.syspath_prepend(str(outside / "site"))
    assert index_options("ts").label != "cautious"
    assert not caplog.records, "entry points are read for names alone that do not ship"
    with caplog.at_level(logging.WARNING):
        assert index_options("cautious").label == "cautious"
    assert [each.getMessage() for each in caplog.records] == [
        "evroute's own index 'ts' is used, not mypart:CautiousOptions"
    ]
    assert load_bandit(bandit_file(outside, "rbf", "cautious")).kernel == "rbf"
    with pytest.raises(
        UnknownNameError, match=r"unknown index 'x'. There are ucb.*, cautious, gone"
    ):
        index_options("x")
    with pytest.raises(EvrouteError, match="index 'gone' cannot be imported from the installed"):
        index_options("gone")
    assert "ts" in INDICES


def evroute(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Return status, output and errors of a command that is called in a folder."""
    environment = os.environ | {"COLUMNS": "200", "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-m", "evroute", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
def test_a_part_is_simulated_from_a_folder_outside_the_clone(outside: Path) -> None:
    run = ["simulate", "--network", "denver", "--trip", "A", "--horizon", "3", "--seeds", "2"]
    parts = ["--index", "mypart:CautiousOptions", "--option", "share=0.2", "--jobs", "2"]
    status, out, err = evroute(outside, *run, *parts, "--out", "runs/mine", "--quiet")
    assert status == 0, err
    assert "GP-cautious (share 0.2)" in out
    status, _, err = evroute(outside, "report", "runs/mine")
    assert status == 0, "what needs no code is shown"
    assert "repeat with --plugin mypart" in err
    assert evroute(outside, "report", "runs/mine", "--plugin", "mypart")[2] == ""
    status, out, _ = evroute(outside, "method", "show", "mypart:CautiousOptions")
    assert "share of the deviation" in out
    status, _, err = evroute(outside, "--plugin=nowhere", "network", "list")
    assert (status, err.count("\n")) == (2, 1)


@pytest.fixture
def evil(outside: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder, on the path, whose module must not run."""
    (outside / "evil.py").write_text(EVIL)
    monkeypatch.syspath_prepend(str(outside))
    yield outside
    assert not (outside / "ran").exists(), "the code of a name in data has run"
    assert "evil" not in sys.modules


EXPERIMENT = {
    "index": 'methods = [{model = "exact", index = "evil:X"}]',
    "model": 'methods = [{model = "evil:X", index = "ts"}]',
    "world": 'methods = ["gp-ts"]\nworld = [{kind = "evil:X"}]',
    "kernel": 'methods = ["gp-ts"]\nkernel = "evil:X"',
}


@pytest.mark.parametrize("part", EXPERIMENT)
def test_an_experiment_file_imports_nothing(evil: Path, part: str) -> None:
    path = evil / "evil.toml"
    head = 'horizon = 2\nseeds = 1\n[trips]\ndenver = ["A"]\n'
    path.write_text(EXPERIMENT[part] + "\n" + head)
    with pytest.raises(EvrouteError, match=REFUSED):
        load_experiment(path)
    status, _, err = evroute(evil, "simulate", str(path), "--out", "runs/evil")
    assert status == 2
    assert "repeat with --plugin evil" in err


def test_tables_names_and_world_files_import_nothing(evil: Path) -> None:
    (evil / "evil.toml").write_text('kind = "evil:X"\n')
    calls: list[Callable[[], Any]] = [
        lambda: checked_method({"model": "exact", "index": "evil:X"}),
        lambda: checked_method({"model": "evil:X", "index": "ts"}),
        lambda: load_world(evil / "evil.toml"),
        lambda: load_world("evil:X"),
        lambda: context_kernel("rbf+evil:X"),
        lambda: read_measured(
            data_path("examples", "edges.csv"),
            load_setting("denver", "renault-zoe"),
            ["renault-zoe"],
            reader="evil:X",
        ),
    ]
    for call in calls:
        with pytest.raises(EvrouteError, match=REFUSED):
            call()


BANDIT = """
problem = "bump"
horizon = 3
repetitions = 1
kernel = "{kernel}"
methods = [{{model = "bkb", index = "{index}"}}]
"""


def bandit_file(folder: Path, kernel: str, index: str) -> Path:
    path = folder / "bandit.toml"
    path.write_text(BANDIT.format(kernel=kernel, index=index))
    return path


@pytest.mark.parametrize(("kernel", "index"), [("evil:X", "radius"), ("rbf", "evil:X")])
def test_a_bandit_file_imports_nothing(evil: Path, kernel: str, index: str) -> None:
    path = bandit_file(evil, kernel, index)
    with pytest.raises(EvrouteError, match=REFUSED):
        load_bandit(path)
    assert evroute(evil, "bandit", str(path))[0] == 2


def test_a_bandit_plays_parts_that_a_person_named(outside: Path) -> None:
    path = bandit_file(outside, "mypart:Half*rbf", "mypart:CautiousOptions")
    plugins.use("mypart")
    rounds = play(load_bandit(path), lambda done: None, outside / "runs")
    assert rounds["method"].unique().to_pylist() == ["BKB-cautious"]


def test_an_uploaded_world_imports_nothing(evil: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "app"))
    from simulations import own_world

    with pytest.raises(EvrouteError, match="must be of kind physics or sampled-gp"):
        own_world(b'kind = "evil:X"\n')


@pytest.mark.parametrize("change", ["model", "kernel", "index"])
def test_a_belief_imports_nothing_and_the_service_neither(evil: Path, change: str) -> None:
    from evroute.service.requests import PlanBody
    from evroute.service.work import Work

    own = evil / "own"
    learn(data_path("examples", "edges.csv"), own, vehicle="renault-zoe", model="exact")
    manifest = own / "manifest.json"
    manifest.write_text(json.dumps(with_evil(json.loads(manifest.read_text()), change)))
    (stored,) = own.glob("beliefs/*.npz")
    arrays = read_arrays(stored)
    arrays["about"] = np.array(json.dumps(with_evil(json.loads(str(arrays["about"])), change)))
    write_arrays(stored, arrays)
    request = PlanBody(belief="own", trip="A")
    calls: list[Callable[[], Any]] = [
        lambda: load_belief(own),
        lambda: learn(None, own),
        lambda: Work(evil, 60.0).plan(request),
    ]
    for call in calls:
        with pytest.raises(EvrouteError, match="evil:X"):
            call()
    status, _, err = evroute(evil, "route", "--trip", "A", "--belief", "own")
    assert status == 2
    assert "repeat with --plugin evil" in err


def with_evil(made: dict[str, Any], change: str) -> dict[str, Any]:
    """Return settings of a belief that name a part by ``evil:X``."""
    if change == "kernel":
        return made | {"kernel": "evil:X"}
    return made | {"method": made["method"] | {change: "evil:X"}}


@pytest.mark.slow
def test_an_address_of_a_page_imports_nothing(evil: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from streamlit.testing.v1 import AppTest

    app = Path(__file__).parents[1] / "app"
    monkeypatch.syspath_prepend(str(app))
    for page in ("plan", "learn"):
        opened = AppTest.from_file(str(app / "views" / f"{page}.py"), default_timeout=600)
        for name in ("vehicle", "network", "trip", "folder", "run", "world", "method", "model"):
            opened.query_params[name] = "evil:X"
            opened.session_state[f"kept_{name}"] = "evil:X"
        opened.run()
        assert not [each for each in opened.exception if "evil" not in each.value]
