"""The notebooks: committed without outputs, and every cell of them runs."""

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
ROUNDS = 8
PATIENCE_S = 600
DRIVES = Path(os.environ.get("EVROUTE_DATA_DIR", ""), "drives", "twizy.csv.gz")


def test_all_eight_are_there() -> None:
    assert [path.stem for path in NOTEBOOKS] == [
        "engines",
        "kernels",
        "luxembourg",
        "monaco",
        "own_car",
        "papers",
        "real_trips",
        "worlds",
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_committed_without_outputs(path) -> None:
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert cells
    assert all(not cell.outputs and cell.execution_count is None for cell in cells)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_from_the_first_cell_to_the_last(path, tmp_path, monkeypatch) -> None:
    if path.stem == "real_trips" and not DRIVES.exists():
        pytest.skip("EVROUTE_DATA_DIR names no folder with drives/twizy.csv.gz")
    monkeypatch.setenv("EVROUTE_NOTEBOOK_ROUNDS", str(ROUNDS))
    monkeypatch.setenv("EVROUTE_NOTEBOOK_RUNS", str(tmp_path))
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(path.parent)}}
    NotebookClient(
        notebook, timeout=None, startup_timeout=PATIENCE_S, resources=resources
    ).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert not [output for output in shown if output.get("name") == "stderr"]
    pictures = [
        output for output in shown if {"image/svg+xml", "text/html"} & output.get("data", {}).keys()
    ]
    assert len(pictures) >= 3
