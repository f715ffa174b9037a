"""Dask: runs on the workers of a scheduler, or of a cluster that is started on this machine."""

import logging
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from evroute.errors import EvrouteError, require
from evroute.experiments.engines import Engine
from evroute.optional import check_extra

LOCAL = "local:"
CONNECT_S = 15
LOGGERS = (
    "distributed",
    "distributed.client",
    "distributed.core",
    "tornado.application",
    "asyncio",
)
RETRIES = 3
"""Times that Dask repeats a run whose worker died."""
AHEAD = 3
"""Runs submitted per thread of a worker."""


@contextmanager
def cluster(address: str) -> Iterator[Engine]:
    """Yield the engine of a Dask cluster; runs that have not begun are cancelled at the end.

    Parameters
    ----------
    address
        ``tcp://HOST:8786`` of a scheduler, which stays; or ``local:N`` for a cluster of N processes
        on this machine.

    Raises
    ------
    MissingPackageError
        If the extra ``dask`` is not installed.
    EvrouteError
        If the address is no address, or no scheduler or no worker is there.
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
        if address.startswith(LOCAL):
            count = address.removeprefix(LOCAL)
            require(
                count.isdecimal() and int(count) > 0,
                f"the cluster '{address}' is not like local:2, with a number of processes",
            )
            place = LocalCluster(
                n_workers=int(count),
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",
                silence_logs=logging.CRITICAL,
            )
            stack.callback(_end, place)
        try:
            client = Client(place, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise EvrouteError(
                f"there is no Dask scheduler at {address} ({type(error).__name__}); start it with "
                "'dask scheduler', or give --cluster local:2"
            ) from error
        stack.callback(_close, client)
        threads = sum(client.nthreads().values())
        require(threads, f"the Dask scheduler at {address} has no worker; start 'dask worker'")

        def check() -> None:
            require(
                client.status == "running",
                f"the Dask scheduler at {address} is lost; the runs finished so far are kept: the "
                "same command continues",
            )

        executor = client.get_executor(pure=False, retries=RETRIES)
        yield Engine(executor, AHEAD * threads, check=check)


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


def _end(cluster: Any) -> None:
    """Kill the workers of a cluster of this machine, which have answered all or are given up."""
    for nanny in cluster.workers.values():
        nanny.auto_restart = False
        with suppress(OSError, TypeError):  # it ended by itself
            os.kill(nanny.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
    _close(cluster)


def _close(opened: Any) -> None:
    """Close a client or a cluster; workers that take longer end with this process."""
    with suppress(OSError, TimeoutError):
        opened.close(timeout=1)
