"""Execution on a Dask cluster: workers play the runs, and only the caller writes the run folder.

Every host receives the stored networks once, in a separate folder of its temporary files.
Expensive preparations (the prior's factor) are made there once and memory-mapped by all workers
of the host. The files of a run come back as bytes, identical to those of a local run. Dask
repeats runs lost with a worker on another one; files that came back are safe in the folder.
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
"""Runs submitted beyond one per thread of the cluster, so that no thread waits for the caller."""


def execute_on(
    address: str, runs: Sequence[Run], folder: RunFolder, *, on_progress: Callable[[int], None]
) -> None:
    """Execute runs on the cluster at ``address``.

    Parameters
    ----------
    address
        Address of the Dask scheduler, ``tcp://host:port``.
    runs
        Runs to play.
    folder
        Run folder that receives the files.
    on_progress
        Called with the number of rounds of the runs that came back.

    Raises
    ------
    MissingPackageError
        If distributed is not installed.
    EvrouteError
        If no scheduler answers within ten seconds, the workers have other versions, a run needs a
        local file, or the cluster was lost; the runs that came back are kept.
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
                f"lost the Dask cluster at {address}; the runs that came back are kept: run again "
                "to continue"
            ) from None


async def _answer(address: str) -> None:
    """Wait for an answer of the scheduler; a `Client` waits forever for a silent listener."""
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
    networks = client.scatter(stored, broadcast=True, hash=True)  # for late workers too

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
        except KilledWorker as error:  # three times in a row: the run is the cause
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
    """Return the versions that must agree on all hosts for equal results."""
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
                f"a cluster has no file '{name}'; store the network under a name and use the name"
            )
        with tempfile.TemporaryDirectory() as place:
            path = Path(place, "network.npz")
            store.save(load_setting(name, "reference").network, path)
            stored[name] = path.read_bytes()
    return stored


def receive(stored: Mapping[str, bytes]) -> None:
    """Store networks in a cache of its user alone on a worker's host and use it from now on.

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
    """Play a run on a worker; return its files by their names in the run folder."""
    receive(stored)
    with tempfile.TemporaryDirectory() as place:
        folder = RunFolder(Path(place))
        attempt(run, folder, lambda t: None)
        files = [path for path in sorted(folder.path.rglob("*")) if path.is_file()]
        return {str(path.relative_to(folder.path)): path.read_bytes() for path in files}
