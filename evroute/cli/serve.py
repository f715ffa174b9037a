"""``evroute serve``: the HTTP service."""

import os
import socket
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from threadpoolctl import threadpool_limits

from evroute.errors import EvrouteError, MissingPackageError

LOCAL = "127.0.0.1"
LEAST_TOKEN = 16
GRACE_S = 30
"""Seconds that requests have left when the service is stopped."""


def serve(
    beliefs: Annotated[
        Path,
        typer.Option(metavar="FOLDER", help="Folder of the beliefs that learn the measured trips."),
    ] = Path("beliefs"),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for a free one.")] = 8000,
    host: Annotated[
        str, typer.Option(help="Address to listen on; all but 127.0.0.1 need --token-file.")
    ] = LOCAL,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Further name of this machine in requests; repeatable."),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="File with a secret that requests carry: Authorization: Bearer."
        ),
    ] = None,
) -> None:
    """Answer requests by HTTP until Ctrl-C. Its paths are listed at /openapi.json."""
    if find_spec("uvicorn") is None or find_spec("fastapi") is None:
        raise MissingPackageError("fastapi", "serve")
    token = token_file.read_text(encoding="utf-8").strip() if token_file else ""
    if token_file and len(token) < LEAST_TOKEN:
        raise EvrouteError(
            f"{token_file} has a token of {len(token)} characters; expected at least {LEAST_TOKEN}"
        )
    if host != LOCAL and not token:
        raise EvrouteError(f"--host {host} is open to others; give a secret: --token-file FILE")
    import uvicorn

    from evroute.service.app import LOCAL_HOSTS, make_app

    threadpool_limits(1)  # threads of small products wait for each other
    app = make_app(beliefs, token=token, hosts=(*LOCAL_HOSTS, host, *(allow_host or ())))
    try:
        server = socket.create_server((host, port))
    except OSError as error:
        raise EvrouteError(
            f"{host}:{port} cannot be listened on ({os.strerror(error.errno or 0)}); give "
            "another --port, or --port 0 for a free one"
        ) from None
    with server as listening:
        typer.echo(f"evroute: http://{host}:{listening.getsockname()[1]}", err=True)
        config = uvicorn.Config(
            app,
            log_level="warning",
            timeout_graceful_shutdown=GRACE_S,
            timeout_keep_alive=GRACE_S,
            server_header=False,
            use_colors=False,
        )
        uvicorn.Server(config).run(sockets=[listening])
