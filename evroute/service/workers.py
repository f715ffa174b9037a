"""Several processes that answer on one port, by the supervisor of uvicorn.

A process answers once it has loaded compiled code and the usual roads (`work.Work.load`).
Connections wait until then.

Each worker keeps networks, planners and beliefs of its own. A belief is read anew whenever its file
is another one, so that trips which one worker learned count in the plans of all workers.
"""

import multiprocessing
import os
import shutil
import signal
import socket
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import uvicorn
from filelock import FileLock, Timeout
from starlette.types import ASGIApp
from threadpoolctl import threadpool_limits
from uvicorn.supervisors import Multiprocess

from evroute.service.connections import GuardedConnection, prepare_process

METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Variable with which ``prometheus_client`` sums over processes, read at its import."""
PREFIX = "evroute-serve-"
"""Beginning of the names of the folders of services, in the folder of temporary files."""
OWNER = "owner.lock"
"""File of such a folder that its service locks."""
GRACE_S = 30
"""Seconds that requests have left when the service is stopped."""
HUNG_S = 120
"""Seconds after which a worker that does not answer its supervisor is replaced."""


@dataclass(frozen=True, slots=True)
class Service:
    """Makes the application in each process.

    Parameters
    ----------
    beliefs, token, hosts
        As in `make_app`.
    workers
        Number of processes, each with its share of the limits.
    metrics_folder
        Folder of the numbers of all workers, or None for one process.
    loaded
        Semaphore that a worker releases once it has loaded what it needs, or None for one process.
    """

    beliefs: Path
    token: str
    hosts: tuple[str, ...]
    workers: int = 1
    metrics_folder: Path | None = None
    loaded: Any = None

    def __call__(self) -> ASGIApp:
        """Return the application of this process."""
        from evroute.service.app import make_app
        from evroute.service.guard import Limits

        prepare_process()
        threadpool_limits(1)  # threads of small products wait for each other
        supervisor = multiprocessing.parent_process()
        if self.loaded is not None and supervisor is not None:
            threading.Thread(target=_end_after, args=(supervisor,), daemon=True).start()
        application = make_app(
            self.beliefs,
            token=self.token,
            hosts=self.hosts,
            limits=Limits().of_worker(self.workers),
            metrics_folder=self.metrics_folder,
            loaded=True,
        )
        if self.loaded is not None:
            self.loaded.release()
        return application


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens, whose connections send each part of an answer at once.

    asyncio does this for its own sockets only. A connection of any other socket holds the body of
    an answer back until the client confirms its head, which takes 40 ms.

    Parameters
    ----------
    host
        Address that is listened on.
    port
        Port, or 0 for a free one.

    Raises
    ------
    OSError
        If the port cannot be listened on.
    """
    listening = socket.create_server((host, port))
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # connections inherit it
    return listening


def run(
    service: Service,
    listening: socket.socket,
    workers: int = 1,
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Answer requests until the process is stopped.

    Parameters
    ----------
    service
        The application.
    listening
        Socket that is listened on.
    workers
        Number of processes.
    ready
        Called once all processes have loaded what they need.
    """
    if workers == 1:
        application = service()
        ready()
        uvicorn.Server(_configuration(lambda: application)).run(sockets=[listening])
        return
    _sweep_folders()
    with (
        tempfile.TemporaryDirectory(prefix=PREFIX) as folder,
        FileLock(Path(folder) / OWNER),
    ):
        os.environ[METRICS_FOLDER] = folder  # for the workers, which inherit it
        loaded = multiprocessing.get_context("spawn").Semaphore(0)
        of_each = replace(service, workers=workers, metrics_folder=Path(folder), loaded=loaded)
        threading.Thread(target=_when_loaded, args=(loaded, workers, ready), daemon=True).start()
        Multiprocess(_configuration(of_each, workers=workers), sockets=[listening]).run()


def _sweep_folders() -> None:
    """Delete the folders of services that were killed. No process holds their lock."""
    for lock in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{OWNER}"):
        with suppress(OSError, Timeout), FileLock(lock, timeout=0):
            shutil.rmtree(lock.parent, ignore_errors=True)


def _when_loaded(loaded: Any, workers: int, ready: Callable[[], None]) -> None:
    """Wait until all workers have loaded what they need."""
    for _ in range(workers):
        loaded.acquire()
    ready()


def _configuration(service: Callable[[], ASGIApp], **options: Any) -> uvicorn.Config:
    return uvicorn.Config(
        service,
        factory=True,
        backlog=prepare_process(),
        http=GuardedConnection,
        ws="none",
        log_level="warning",
        timeout_graceful_shutdown=GRACE_S,
        timeout_keep_alive=GRACE_S,
        timeout_worker_healthcheck=HUNG_S,
        server_header=False,
        use_colors=False,
        **options,
    )


def _end_after(supervisor: Any) -> None:
    """End this process after its supervisor, which may have been killed."""
    supervisor.join()
    os.kill(os.getpid(), signal.SIGTERM)
