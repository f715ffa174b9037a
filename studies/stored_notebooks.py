"""Outputs of notebooks, stored so that they show where a notebook is only read.

Usage: python -m studies.stored_notebooks NAME... [--rounds 60]

Maps with controls are left out: they are large, and pages that show notebooks do not run them.
Coordinates of pictures are rounded to a tenth of a point.
"""

import argparse
import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbclient import NotebookClient

from evroute.files import replacing

FOLDER = Path(__file__).parents[1] / "notebooks"
SVG = "image/svg+xml"
LARGEST = 60_000
"""Characters of the largest HTML output that is stored; tables are smaller, maps larger."""
_PLACES = re.compile(r'( d="|transform="translate)[^"]*"')
_DIGITS = re.compile(r"(\d\.\d)\d+")


def main() -> None:
    """Execute the notebooks named and store their outputs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="+")
    parser.add_argument("--rounds", type=int, default=60)
    call = parser.parse_args()
    for name in call.name:
        path = FOLDER / f"{name}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        execute(notebook, call.rounds)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs = [stored(output) for output in cell.outputs if is_kept(output)]
        with replacing(path) as new:
            nbformat.write(notebook, new)
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


def execute(notebook: nbformat.NotebookNode, rounds: int) -> None:
    """Execute a notebook in its folder; its runs go to a temporary folder."""
    with TemporaryDirectory() as runs:
        changed = {"EVROUTE_NOTEBOOK_ROUNDS": str(rounds), "EVROUTE_NOTEBOOK_RUNS": runs}
        resources = {"metadata": {"path": str(FOLDER)}}
        client = NotebookClient(notebook, timeout=None, resources=resources, record_timing=False)
        client.execute(env=os.environ | changed)


def is_kept(output: dict[str, Any]) -> bool:
    """Return whether an output is a text, a table or a picture."""
    return len(output.get("data", {}).get("text/html", "")) <= LARGEST


def stored(output: dict[str, Any]) -> dict[str, Any]:
    """Return an output with the coordinates of its picture rounded."""
    if SVG in output.get("data", {}):
        output["data"][SVG] = _PLACES.sub(
            lambda found: _DIGITS.sub(r"\1", found[0]), output["data"][SVG]
        )
    return output


if __name__ == "__main__":
    main()
