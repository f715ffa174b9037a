"""``evroute app``: the dashboard."""

from typing import Annotated

import typer


def app(port: Annotated[int, typer.Option(min=1, max=65535, help="Where it listens.")] = 8501) -> None:
    """Open the dashboard in a browser; Ctrl-C ends it."""
    import subprocess
    import sys
    from importlib.util import find_spec

    from evroute.errors import MissingPackageError
    from evroute.resources import app_path

    for package, name in (("streamlit", "streamlit"), ("streamlit_folium", "streamlit-folium")):
        if find_spec(package) is None:
            raise MissingPackageError(name, "app")
    script = str(app_path("streamlit_app.py"))
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port)]
    raise typer.Exit(subprocess.call(command))
