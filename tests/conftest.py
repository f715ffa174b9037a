"""Shared by all tests: small networks built by hand, a browser and a dashboard."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import numpy as np
import pytest

from evroute.network.road_network import RoadNetwork
from evroute.testing.roads import hill as make_hill
from evroute.testing.roads import make_network

PATIENCE_S = 600


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--last-bits", type=int, metavar="SEED", help="move every drawn and stored input by 1e-15"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Move the last bits of inputs, as another processor does to the numbers computed from them.

    Drawn numbers, lengths and speeds of networks and numbers that tests read from JSON are times
    1 + 1e-15 or 1 - 1e-15.
    Equal numbers are moved alike.
    """
    seed = config.getoption("--last-bits")
    if seed is not None:
        Draws.moved = staticmethod(partial(moved, seed=seed))
        generator = np.random.default_rng
        np.random.default_rng = lambda seed=None: Draws(generator(seed).bit_generator)
        loads = json.loads

        def moved_numbers(text: str, **options: Any) -> Any:
            if Path(__file__).parent in Path(sys._getframe(1).f_code.co_filename).parents:
                options["parse_float"] = lambda number: float(Draws.moved(float(number)))
            return loads(text, **options)

        json.loads = moved_numbers
        freeze = RoadNetwork._freeze

        def moved_network(network: RoadNetwork) -> None:
            for name in ("length_m", "speed_mps"):
                object.__setattr__(network, name, Draws.moved(getattr(network, name)))
            freeze(network)

        RoadNetwork._freeze = moved_network


def moved(values: Any, *, seed: int) -> Any:
    """Return floats times 1 + 1e-15 or 1 - 1e-15, as their own bits and the seed decide."""
    if np.asarray(values).dtype != np.float64:
        return values
    flat = np.ravel(values)
    bits = flat.view(np.uint64) ^ np.uint64(seed * 0x9E3779B97F4A7C15 % 2**64)
    odd = (bits * np.uint64(0xBF58476D1CE4E5B9) >> np.uint64(40)) & np.uint64(1)
    return (flat * np.where(odd, 1 + 1e-15, 1 - 1e-15)).reshape(np.shape(values))[()]


class Draws(np.random.Generator):
    """A generator whose floats are moved by last bits."""

    moved: Callable[[Any], Any]

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name.startswith("_") or name in ("bit_generator", "spawn", "bytes", "shuffle"):
            return found
        return lambda *given, **named: Draws.moved(found(*given, **named))

    def __reduce__(self) -> tuple[Any, ...]:
        return Draws, (self.bit_generator,)


@pytest.fixture(autouse=True)
def _main_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Undo that AppTest makes the page the main module, which processes started later would run."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


@pytest.fixture(name="make_network")
def _make_network() -> Callable[..., RoadNetwork]:
    """Offer `make_network` to tests, which cannot import this file."""
    return make_network


@pytest.fixture
def hill(toy_hill: RoadNetwork) -> RoadNetwork:
    """Return `toy_hill`."""
    return toy_hill


@pytest.fixture(scope="session")
def toy_hill() -> RoadNetwork:
    """A way over a hill and a longer level way, both from ``in`` to ``out``, and a road back.

    in -> (over: up, down | round: east, west) -> out -> home -> in. Junctions 1..4 lie 1,000 m
    apart along x; the hilltop is 40 m high; the way round is 2,400 m long.
    """
    return make_hill()


@pytest.fixture
def hilly() -> Callable[[int], RoadNetwork]:
    """Random networks by seed: junctions up to 120 m high within 1 km, one- or two-way streets."""

    n_junctions, n_streets = 7, 12

    def draw(seed: int) -> RoadNetwork:
        rng = np.random.default_rng(seed)
        positions = rng.uniform([0, 0, 0], [1000, 1000, 120], size=(n_junctions, 3))
        streets = [(k, k + 1) for k in range(n_junctions - 1)]
        streets += [
            tuple(rng.choice(n_junctions, 2, replace=False))
            for _ in range(n_streets - len(streets))
        ]
        edges = []
        for k, (a, b) in enumerate(streets):
            edges.append((f"{k}+", int(a), int(b)))
            if rng.random() < 0.6:
                edges.append((f"{k}-", int(b), int(a)))
        return make_network(edges, positions.tolist(), speed_mps=rng.uniform(5, 25, len(edges)))

    return draw


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium; the test is skipped where there is none."""
    chromium = Path("/usr/bin/chromium")
    if not chromium.exists():
        pytest.skip("needs Chromium: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    quiet = ("background-networking", "component-update", "gpu", "quic", "sync")
    flags = [
        "--headless",
        "--no-sandbox",
        "--no-first-run",
        *(f"--disable-{what}" for what in quiet),
    ]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=str(chromium), args=flags)
        yield started
        started.close()


@pytest.fixture(scope="module")
def dashboard_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the dashboard of a module was started, and keeps its runs."""
    return tmp_path_factory.mktemp("dashboard")


@pytest.fixture(scope="module")
def dashboard(dashboard_folder: Path) -> Iterator[str]:
    """The address of a dashboard started as a user does."""
    with _served(dashboard_folder) as address:
        yield address


@pytest.fixture(scope="module")
def serve() -> Callable[..., AbstractContextManager[str]]:
    """Start a dashboard in a folder, with further options, and return its address."""
    return _served


@contextmanager
def _served(folder: Path, *further: str) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    environment = os.environ | {"STREAMLIT_SERVER_HEADLESS": "true"}
    environment["EVROUTE_PROFILE"] = str(folder / "profile.json")
    command = [sys.executable, "-m", "evroute", "app", "--port", str(port), *further]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            for _ in range(2 * PATIENCE_S):
                try:
                    with urlopen(f"{address}/_stcore/health"):
                        break
                except HTTPError:  # it answers, and refuses
                    break
                except URLError:
                    time.sleep(0.5)
            else:
                pytest.fail("the dashboard does not answer")
            yield address
        finally:
            server.terminate()
            server.wait()


@pytest.fixture
def every_route() -> Callable[[RoadNetwork, int, int], Iterator[list[int]]]:
    """Offer all routes from edge to edge that repeat no edge; a round trip only ever loses
    charge.
    """

    def routes(network: RoadNetwork, origin: int, destination: int) -> Iterator[list[int]]:
        following: dict[int, list[int]] = {e: [] for e in range(network.n_edges)}
        for a, b in network.turns.tolist():
            following[a].append(b)
        stack = [[origin]]
        while stack:
            route = stack.pop()
            if route[-1] == destination:
                yield route
                continue
            stack += [[*route, e] for e in following[route[-1]] if e not in route]

    return routes


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the wheel of this checkout is installed, without its dependencies."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir"]
    offline, root = ["--no-deps", "--no-index"], Path(__file__).parents[1]
    build = [*pip, "wheel", *offline, "--no-build-isolation", "--wheel-dir", folder, root]
    install = [*pip, "install", *offline, "--target", folder / "site"]
    for command in (lambda: build, lambda: [*install, *folder.glob("evroute-*.whl")]):
        done = subprocess.run(command(), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return folder / "site"
