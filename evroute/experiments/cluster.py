"""Carrying out runs on a Dask cluster: the workers play, the caller alone writes the run folder.

Every host gets the networks once, as evroute stores them, into a folder of its own in the temporary
files; what is expensive to prepare (the prior's factor) is made there once and mapped by all
workers of the host. A run's files come back as bytes, the same as a run at home writes. Runs lost
with a worker are played again by Dask elsewhere; what has come back is safe in the folder, whatever
happens to the cluster.
"""

import asyncio
import getpass
import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evroute import __version__
from evroute.errors import EvrouteError, MissingPackageError
from evroute.experiments.execution import attempt
from evroute.experiments.runs import Run, RunFolder
from evroute.files import private_folder, replacing
from evroute.methods.setting import load_setting

if TYPE_CHECKING:
    from distributed import Client

TIMEOUT_S = 10.0
AHEAD = 4
"""Runs given to the cluster beyond one for each of its threads, so that none waits for the caller."""


def execute_on(
    address: str, runs: Sequence[Run], folder: RunFolder, *, on_progress: Callable[[int], None]
) -> None:
    """Carry out runs on the cluster at ``address``; ``on_progress`` hears the rounds of the runs that came back.

    Raises
    ------
    MissingPackageError
        If distributed is not installed.
    EvrouteError
        If nobody answers within ten seconds, the workers have other versions, a run needs a file
        that they cannot have, or the cluster was lost; the runs that came back are kept.
    """
    try:
        from distributed import Client
        from distributed.client import FutureCancelledError
        from distributed.comm.core import CommClosedError
    except ImportError:
        raise MissingPackageError("distributed", "dask") from None
    if not runs:
        return
    if by_file := [run for run in runs if run.vehicle.endswith(".toml")]:
        raise EvrouteError(
            f"a cluster has no file '{by_file[0].vehicle}'; name a vehicle of the catalogue"
        )
    stored = _stored({run.network for run in runs})
    try:
        asyncio.run(asyncio.wait_for(_answer(address), TIMEOUT_S))
        client = Client(address, timeout=TIMEOUT_S)
    except (OSError, ValueError, TimeoutError) as error:
        why = f" ({error})" if str(error) else ""
        raise EvrouteError(
            f"no Dask scheduler answers at {address} within {TIMEOUT_S:.0f} s{why}"
        ) from None
    with client:
        _check_versions(client, address)
        client.run(receive, stored)
        try:
            _play_all(client, runs, folder, stored, on_progress)
        except (FutureCancelledError, CommClosedError, TimeoutError):
            raise EvrouteError(
                f"lost the Dask cluster at {address}; the runs that came back are kept: run again to continue"
            ) from None


async def _answer(address: str) -> None:
    """Wait for a word from the scheduler; a client of its own would wait for ever where one listens and is silent."""
    from distributed import rpc

    async with rpc(address) as scheduler:
        await scheduler.identity()


def _play_all(
    client: "Client",
    runs: Sequence[Run],
    folder: RunFolder,
    stored: Mapping[str, bytes],
    on_progress: Callable[[int], None],
) -> None:
    from distributed import KilledWorker, as_completed

    waiting = iter(runs)
    by_key: dict[object, Run] = {}
    finished = as_completed()
    networks = client.scatter(stored, broadcast=True, hash=True)  # for workers that join later

    def submit() -> None:
        if (run := next(waiting, None)) is not None:
            future = client.submit(play_remotely, run, networks, pure=False, retries=2)
            by_key[future.key] = run
            finished.add(future)

    for _ in range(sum(client.nthreads().values()) + AHEAD):
        submit()
    rounds = 0
    for future in finished:
        run = by_key.pop(future.key)
        try:
            files = future.result()
        except KilledWorker as error:  # three times in a row: it is the run
            files = {}
            folder.write_failure(run.name, str(error))
        for name in sorted(files, key=lambda name: name.startswith("parts")):  # the part last
            with replacing(folder.path / name) as temporary:
                temporary.write_bytes(files[name])
        rounds += run.horizon
        on_progress(rounds)
        submit()


def _check_versions(client: "Client", address: str) -> None:
    ours = versions()
    workers = client.run(versions)
    if not workers:
        raise EvrouteError(f"the Dask cluster at {address} has no workers")
    for worker, theirs in workers.items():
        if others := [
            f"{name} {theirs[name]} (here {ours[name]})"
            for name in ours
            if theirs[name] != ours[name]
        ]:
            raise EvrouteError(f"worker {worker} has {', '.join(others)}; install the same there")


def versions() -> dict[str, str]:
    """Return what has to be the same everywhere for results to be the same."""
    import platform
    from importlib.metadata import version

    python = ".".join(platform.python_version_tuple()[:2])
    return {
        "evroute": __version__,
        "python": python,
        **{name: version(name) for name in ("numpy", "scipy")},
    }


def _stored(names: set[str]) -> dict[str, bytes]:
    """Return the stored form of networks by name."""
    from evroute.network import store

    stored = {}
    for name in names:
        if name.endswith(".npz"):
            raise EvrouteError(
                f"a cluster has no file '{name}'; keep the network under a name and use that"
            )
        with tempfile.TemporaryDirectory() as place:
            path = Path(place, "network.npz")
            store.save(load_setting(name, "reference").network, path)
            stored[name] = path.read_bytes()
    return stored


def receive(stored: Mapping[str, bytes]) -> None:
    """Keep networks on a worker's host, in a cache of its user alone, and use it from then on.

    Raises
    ------
    EvrouteError
        If another user has made a folder of that name.
    """
    digest = hashlib.sha256(
        b"".join(name.encode() + stored[name] for name in sorted(stored))
    ).hexdigest()[:16]
    user = getattr(os, "getuid", getpass.getuser)()
    cache = private_folder(Path(tempfile.gettempdir(), f"evroute-cluster-{user}-{digest}"))
    for name, content in stored.items():
        path = cache / "networks" / f"{name}.npz"
        if not path.is_file():
            with replacing(path) as temporary:
                temporary.write_bytes(content)
    os.environ["EVROUTE_CACHE_DIR"] = str(cache)


def play_remotely(run: Run, stored: Mapping[str, bytes]) -> dict[str, bytes]:
    """Play a run on a worker and return its files by their names in the run folder."""
    receive(stored)
    with tempfile.TemporaryDirectory() as place:
        folder = RunFolder(Path(place))
        attempt(run, folder, lambda t: None)
        files = [path for path in sorted(folder.path.rglob("*")) if path.is_file()]
        return {str(path.relative_to(folder.path)): path.read_bytes() for path in files}
