"""Commands that are killed at any moment leave whole files, and the next call ends as if nothing
had happened.

As a command, with the number of kills and a seed: ``python tests/safety/test_kills.py 50 1``.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow.parquet as pq
import pytest

from evroute.checked import read_arrays
from evroute.experiments.experiment import Experiment, simulate
from evroute.learning.records.parts import read_parts
from evroute.methods.setting import load_setting
from evroute.network import store
from evroute.tables import read_columns

KILLS, SEED = 3, 1
FROM_THE_START = 0.25
"""Share of the kills at any moment since the start; the others come once files are being written.
"""
NET = """<net><location netOffset="0,0" projParameter="+proj=utm +zone=32 +units=m"/>
{edges}<junction id="A" x="0" y="0" z="0"/><junction id="B" x="900" y="0" z="10"/>{turns}</net>"""
BANDIT = """problem = "bump"
methods = ["k-ucb", "bbkb"]
horizon = 25
repetitions = 2
"""


class Killed(ABC):
    """A command in a place of its own, and the state of the files that it writes."""

    def __init__(self, place: Path) -> None:
        self.place = place

    arguments: tuple[str, ...]
    """Of ``evroute``."""
    first_file: str
    """Pattern of a file that appears when the command begins to write."""

    @abstractmethod
    def prepare(self) -> None:
        """Write the input of the command."""

    @abstractmethod
    def state(self) -> dict[str, object]:
        """Return the content of every file that the command writes; all of them have to be
        whole.
        """

    def words(self) -> str:
        """Describe how far the command came."""
        return f"{len(self.state())} files"


class Learn(Killed):
    """A second table, learned on top of a first."""

    arguments = ("learn", "second.csv", "--out", "out", "--quiet")
    first_file = "out/.writer"

    def prepare(self) -> None:
        setting = load_setting("denver", "reference")
        rng = np.random.default_rng(7)
        for name in ("first", "second"):
            lines = ["trip,edge,energy_wh"]
            for trip in range(3):
                ends = rng.choice(setting.network.n_edges, 2, replace=False)
                for edge in setting.search.route(setting.network.time_s, *map(int, ends)).edges:
                    energy_wh = 1.1 * setting.prior.mean_wh[edge]
                    lines.append(f'{name}{trip},"{setting.network.edge_id[edge]}",{energy_wh}')
            (self.place / f"{name}.csv").write_text("\n".join(lines), encoding="utf-8")
        assert run(self, ["learn", "first.csv", "--out", "out", "--quiet"]) == 0

    def state(self) -> dict[str, object]:
        out, network = self.place / "out", load_setting("denver", "reference").network
        trips = read_parts(out, network)
        belief = read_arrays(out / "beliefs" / "denver-learned.npz")
        return {
            "measured": {name: trip.energy_wh.tolist() for name, trip in trips.items()},
            "trips": str(read_columns(out / "trips.parquet").to_pydict()),
            "routes": str(read_columns(out / "routes" / "denver-learned.parquet").to_pydict()),
            "belief": {name: array.tolist() for name, array in belief.items()},
        }

    def words(self) -> str:
        state = self.state()
        learned = re.search(r'"trips": (\d+)', state["belief"]["about"])[1]
        rows = pq.read_table(self.place / "out" / "trips.parquet").num_rows
        return f"{len(state['measured'])} trips measured, {rows} in the table, {learned} learned"


class Build(Killed):
    """A network, built again under its name from other roads."""

    arguments = ("network", "build", "two", "--sumo", "new.net.xml")
    first_file = "cache/networks/.two.*"

    def prepare(self) -> None:
        for name, speed in (("old", 10), ("new", 20)):
            lanes = {"up": ("A", "B", "0,0 900,0"), "down": ("B", "A", "900,0 0,0")}
            edges = "".join(
                f'<edge id="{edge}" from="{tail}" to="{head}"><lane index="0" speed="{speed}" '
                f'length="900" shape="{shape}"/></edge>'
                for edge, (tail, head, shape) in lanes.items()
            )
            turns = "".join(
                f'<connection from="{a}" to="{b}" fromLane="0" toLane="0"/>'
                for a, b in (("up", "down"), ("down", "up"))
            )
            (self.place / f"{name}.net.xml").write_text(NET.format(edges=edges, turns=turns))
        assert run(self, ["network", "build", "two", "--sumo", "old.net.xml"]) == 0

    def state(self) -> dict[str, object]:
        kept = (self.place / "cache" / "networks").glob("[!.]*")
        return {path.name: store.load(path).speed_mps.tolist() for path in kept}

    def words(self) -> str:
        age = "new" if self.state()["two.npz"] == [20.0, 20.0] else "old"
        left = bool(list(self.place.rglob(".*.evroute-*")))
        return f"the {age} network{' and half a file' * left}"


class Bandit(Killed):
    """Four runs of a bandit."""

    arguments = ("bandit", "bump.toml", "--out", "out", "--quiet")
    first_file = "out/.writer"

    def prepare(self) -> None:
        (self.place / "bump.toml").write_text(BANDIT, encoding="utf-8")

    def state(self) -> dict[str, object]:
        tables = sorted((self.place / "out").glob("**/[!.]*.parquet"))
        content = {
            str(path): str(pq.read_table(path).drop_columns("seconds").to_pydict())
            for path in tables
        }
        others = [path for path in (self.place / "out").glob("[!.]*.*") if path not in tables]
        sizes = {str(path): path.stat().st_size > 0 for path in others}
        return {
            name.removeprefix(str(self.place)): told for name, told in (content | sizes).items()
        }


class Report(Killed):
    """A report in the place of an older one."""

    arguments = ("report", "runs")
    first_file = "runs/.report*"

    def prepare(self) -> None:
        table = {"trips": {"denver": ["A"]}, "methods": ["bi-ts"], "horizon": 5, "seeds": 1}
        simulate(Experiment.model_validate(table), self.place / "runs")

    def state(self) -> dict[str, object]:
        pages = sorted((self.place / "runs").glob("report*"))
        for page in pages:
            end = page.read_bytes()[-12:]
            assert end.strip().endswith(b"</html>") or b"IEND" in end, f"{page} is cut off"
        return {page.name: page.read_bytes() for page in pages}


@contextmanager
def start(command: Killed, arguments: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Start a command; it is killed at the end of the block."""
    environment = os.environ | {"EVROUTE_CACHE_DIR": str(command.place / "cache")}
    with subprocess.Popen(
        [sys.executable, "-m", "evroute", *arguments],
        cwd=command.place,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def run(command: Killed, arguments: Sequence[str]) -> int:
    with start(command, arguments) as process:
        return process.wait()


def writing(command: Killed, process: subprocess.Popen[bytes]) -> None:
    """Wait until the command begins to write, or has ended."""
    while process.poll() is None and not list(command.place.glob(command.first_file)):
        time.sleep(0.0005)


def kill_and_repeat(kind: type[Killed], place: Path, rng: np.random.Generator) -> str:
    """Kill a command at a random moment; check its files, run it again, compare; return how far it
    came.
    """
    original, whole = kind(place / "original"), kind(place / "whole")
    if not whole.place.exists():
        original.place.mkdir(parents=True)
        original.prepare()
        shutil.copytree(original.place, whole.place)
        began = time.monotonic()
        with start(whole, whole.arguments) as process:
            writing(whole, process)
            wrote = time.monotonic()
            assert process.wait() == 0
        ended = time.monotonic()
        (place / "seconds").write_text(f"{ended - began} {ended - wrote}")
    whole_s, writing_s = map(float, (place / "seconds").read_text().split())
    killed = kind(place / "killed")
    shutil.copytree(original.place, killed.place)
    try:
        with start(killed, killed.arguments) as process:
            if rng.random() < FROM_THE_START:
                time.sleep(rng.uniform(0, whole_s))
            else:
                writing(killed, process)
                time.sleep(rng.uniform(0, writing_s))
        ended = process.returncode == 0
        words = killed.words()
        assert run(killed, killed.arguments) == 0
        assert killed.state() == whole.state(), f"{words}: another end"
        left = [path.name for path in killed.place.rglob(".*.evroute-*")]
        assert not left, f"{words}: {left} left"
        return "ended before" if ended else words
    finally:
        shutil.rmtree(killed.place)


KINDS = (Learn, Build, Bandit, Report)


@pytest.mark.slow
def test_a_killed_command_leaves_whole_files_and_the_next_call_ends_the_work(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(SEED)
    for number in range(KILLS):
        kind = KINDS[number % len(KINDS)]
        kill_and_repeat(kind, tmp_path / kind.__name__, rng)


def main(kills: int = 50, seed: int = SEED) -> None:
    rng, found = np.random.default_rng(seed), Counter[str]()
    with TemporaryDirectory() as place:
        for number in range(kills):
            kind = KINDS[number % len(KINDS)]
            words = kill_and_repeat(kind, Path(place, kind.__name__), rng)
            found[f"{kind.__name__.lower()}: {words}"] += 1
    for words, times in sorted(found.items()):
        print(f"{times:3d} {words}")
    print(f"{kills} kills; every next call ended as an undisturbed one, without a file left over")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
