"""``evroute serve``: the HTTP service."""

import os
from pathlib import Path
from typing import Annotated

import typer

from evroute.errors import EvrouteError
from evroute.optional import check_extra

LOCAL = "127.0.0.1"
LEAST_TOKEN = 16


def serve(
    beliefs: Annotated[
        Path,
        typer.Option(metavar="FOLDER", help="Folder of the beliefs that learn the measured trips."),
    ] = Path("beliefs"),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port, 0 for a free one.")] = 8000,
    host: Annotated[
        str, typer.Option(help="Address to listen on. All but 127.0.0.1 need --token-file.")
    ] = LOCAL,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Further name of this machine in requests. Repeatable."),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="File with a secret that requests carry: Authorization: Bearer."
        ),
    ] = None,
    workers: Annotated[
        int,
        typer.Option(
            min=1,
            max=64,
            help="Processes that answer on the port. Each holds its own networks and beliefs.",
        ),
    ] = 1,
) -> None:
    """Answer requests by HTTP until Ctrl-C. Its paths are listed at /openapi.json."""
    check_extra("serve")
    token = token_file.read_text(encoding="utf-8").strip() if token_file else ""
    if token_file and len(token) < LEAST_TOKEN:
        raise EvrouteError(
            f"{token_file} has a token of {len(token)} characters, expected at least {LEAST_TOKEN}"
        )
    if host != LOCAL and not token:
        raise EvrouteError(f"--host {host} is open to others. Give a secret: --token-file FILE")
    from evroute.service.app import LOCAL_HOSTS
    from evroute.service.workers import Service, listen, run

    service = Service(beliefs, token, (*LOCAL_HOSTS, host, *(allow_host or ())))
    try:
        server = listen(host, port)
    except OSError as error:
        raise EvrouteError(
            f"{host}:{port} cannot be listened on ({os.strerror(error.errno or 0)}). Give "
            "another --port, or --port 0 for a free one"
        ) from None
    with server as listening:
        address = f"http://{host}:{listening.getsockname()[1]}"
        run(service, listening, workers, lambda: typer.echo(f"evroute: {address}", err=True))
