"""``evroute app``: the dashboard."""

import sys
from contextlib import redirect_stderr, redirect_stdout
from importlib.util import find_spec
from typing import Annotated

import typer

from evroute.cli.terminal import itself
from evroute.errors import MissingPackageError
from evroute.resources import app_path


def app(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the server.")] = 8501,
) -> None:
    """Open the dashboard in a browser; Ctrl-C ends it."""
    import runpy

    if find_spec("streamlit") is None:
        raise MissingPackageError("streamlit", "app")
    # in this process, so that its end is the end of the server
    sys.argv = ["streamlit", "run", str(app_path("server.py")), "--server.port", str(port)]
    sys.argv += ["--server.address", "127.0.0.1"]  # in spite of other configuration
    with redirect_stdout(itself(sys.stdout)), redirect_stderr(itself(sys.stderr)):  # has colours
        runpy.run_module("streamlit", run_name="__main__")
