"""Dask: runs on the workers of a scheduler, or of a cluster that is started on this machine."""

import logging
from collections.abc import Container, Iterator
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import active_children
from time import monotonic, sleep
from typing import Any

from evroute.errors import EvrouteError, require
from evroute.experiments.parallel.engine import POLL_S, Engine
from evroute.experiments.parallel.pool import interrupts_later
from evroute.optional import check_extra

LOCAL = "local:"
CONNECT_S = 15
START_S = 180
"""Longest time without a worker on this machine."""
LOGGERS = (
    "distributed",
    "distributed.client",
    "distributed.core",
    "tornado.application",
    "asyncio",
)
ENDED = {"failed", "closed"}
RETRIES = 3
"""Times that Dask repeats a run whose worker died."""
AHEAD = 3
"""Runs submitted per thread of a worker."""


@contextmanager
def cluster(address: str) -> Iterator[Engine]:
    """Yield the engine of a Dask cluster. Runs that have not begun are cancelled at the end.

    Parameters
    ----------
    address
        ``tcp://HOST:8786`` of a scheduler, which stays, or ``local:N`` for a cluster of N processes
        on this machine.

    Raises
    ------
    MissingPackageError
        If the extra ``dask`` is not installed.
    EvrouteError
        If the address is no address, no scheduler or no worker is there, or its processes do not
        start.
    """
    check_extra("dask")
    import dask
    from distributed import Client, LocalCluster

    quiet = {
        "distributed.worker.daemon": True,
        "distributed.admin.large-graph-warning-threshold": "1GB",
    }
    with dask.config.set(quiet), ExitStack() as stack:
        stack.enter_context(_silent())
        place: Any = address
        count = 0
        if address.startswith(LOCAL):
            text = address.removeprefix(LOCAL)
            require(
                text.isdecimal() and int(text) > 0,
                f"the cluster '{address}' is not like local:2, with a number of processes",
            )
            count = int(text)
            others = {child.pid for child in active_children()}
            with interrupts_later():  # for its threads and processes for good
                place = LocalCluster(
                    n_workers=0,
                    threads_per_worker=1,
                    dashboard_address="127.0.0.1:0",
                    silence_logs=logging.CRITICAL,
                )
            place.shutdown_on_close = False  # at the end of this process, which would take 10 s
            stack.callback(end_cluster, place, others)
        try:
            client = Client(place, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise EvrouteError(
                f"there is no Dask scheduler at {address} ({type(error).__name__}). Start it with "
                "'dask scheduler', or give --cluster local:2"
            ) from error
        stack.callback(_close, client)
        check = Check(client, address, place if count else None, count)
        if count:
            place.scale(count)
            while not place.scheduler.workers:  # the others join while it works
                check()
                sleep(POLL_S)
        threads = max(sum(client.nthreads().values()), count)
        require(threads, f"the Dask scheduler at {address} has no worker. Start 'dask worker'")
        executor = client.get_executor(pure=False, retries=RETRIES)
        yield Engine(executor, AHEAD * threads, check=check)


class Check:
    """Raises EvrouteError if a scheduler is lost, or all workers of a cluster of this machine.

    Parameters
    ----------
    client, address
        Client of the scheduler, and its address.
    cluster, count
        The cluster of this machine and its number of workers, or None and 0 for another's.
    """

    def __init__(self, client: Any, address: str, cluster: Any, count: int) -> None:
        self._client, self._address = client, address
        self._cluster, self._count = cluster, count
        self._seen_s = monotonic()

    def __call__(self) -> None:
        """Raise EvrouteError if the scheduler is lost, or all workers of this machine."""
        kept = "Repeat the command, which keeps finished runs"
        require(
            self._client.status == "running",
            f"the Dask scheduler at {self._address} is lost. {kept}",
        )
        now_s = monotonic()
        if self._cluster is None or self._cluster.scheduler.workers:
            self._seen_s = now_s
        if self._cluster is not None:
            self._replace()
        require(
            now_s - self._seen_s < START_S,
            f"no process of --cluster {self._address} was there for {START_S} s. {kept}",
        )

    def _replace(self) -> None:
        """Replace workers whose process died while it started, which Dask gives up and forgets."""
        cluster = self._cluster
        for name, each in tuple(cluster.workers.items()):
            if each.status.name in ENDED:
                cluster.worker_spec.pop(name, None)
        wanted = set(cluster.worker_spec)
        if len(wanted) < self._count or wanted - set(cluster.workers):
            cluster.scale(self._count)  # starts those that are not there


@contextmanager
def _silent() -> Iterator[None]:
    """Silence the logs of Dask in this process. An error that matters is one line of `Engine`."""
    loggers = [logging.getLogger(name) for name in LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def end_cluster(cluster: Any, others: Container[int | None]) -> None:
    """Kill the workers of a cluster of this machine, which have answered all or are given up.

    Parameters
    ----------
    cluster
        The cluster.
    others
        Processes of the caller that are older than the cluster.
    """
    for nanny in cluster.workers.values():
        nanny.auto_restart = False
    for child in active_children():  # those that are starting are not among the workers
        if child.pid not in others:
            child.kill()
    _close(cluster)


def _close(opened: Any) -> None:
    """Close a client or a cluster. Workers that take longer end with this process."""
    with suppress(OSError, TimeoutError):
        opened.close(timeout=1)
