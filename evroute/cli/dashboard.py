"""``evroute app``: the dashboard."""

import os
import socket
import sys
from contextlib import redirect_stderr, redirect_stdout, suppress
from typing import Annotated

import typer

from evroute.cli.terminal import itself
from evroute.errors import EvrouteError
from evroute.optional import check_extra
from evroute.resources import app_path

LAN = "EVROUTE_LAN"
"""Environment variable of the dashboard: ``read`` or ``write`` opens it to the network."""
LOCAL = ("127.0.0.1", "localhost")
ELSEWHERE = ("192.0.2.1", 9)
"""An address reserved for documentation (RFC 5737). Nothing is sent there."""


def app(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the server.")] = 8501,
    lan: Annotated[
        bool,
        typer.Option(
            "--lan",
            help="Let phones and computers of the network plan and read. Prints an address with a "
            "token. Not encrypted.",
        ),
    ] = False,
    lan_write: Annotated[
        bool, typer.Option("--lan-write", help="As --lan. They may also learn and remember.")
    ] = False,
) -> None:
    """Open the dashboard in a browser. Ctrl-C ends it."""
    import runpy

    check_extra("app")
    os.environ.pop(LAN, None)
    # in this process, so that its end is the end of the server
    sys.argv = ["streamlit", "run", str(app_path("server.py")), "--server.port", str(port)]
    if lan or lan_write:
        os.environ[LAN] = "write" if lan_write else "read"
        sys.argv += ["--server.address", "0.0.0.0", "--server.headless", "true"]
        hosts = hosts_in_network()
        sys.argv += ["--browser.serverAddress", hosts[0]]  # else an internet service is asked
        for host in (*LOCAL, *hosts):
            sys.argv += ["--server.allowedHosts", host]
    else:
        sys.argv += ["--server.address", "127.0.0.1"]  # in spite of other configuration
    with redirect_stdout(itself(sys.stdout)), redirect_stderr(itself(sys.stderr)):  # has colours
        runpy.run_module("streamlit", run_name="__main__")


def hosts_in_network() -> list[str]:
    """Return the IPv4 addresses of this machine in its networks, the address of its route first.

    Raises
    ------
    EvrouteError
        If it has none.
    """
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, suppress(OSError):
        probe.connect(ELSEWHERE)  # chooses a route; a datagram socket sends nothing by this
        found.append(str(probe.getsockname()[0]))
    with suppress(OSError):
        own = socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
        found += [str(address[0]) for *_, address in own]
    hosts = [each for each in dict.fromkeys(found) if not each.startswith(("127.", "0."))]
    if not hosts:
        raise EvrouteError("this machine has no address in a network. Leave out --lan")
    return hosts
