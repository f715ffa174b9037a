"""The notebooks: every cell runs, and their outputs are stored."""

import os
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
LARGEST_BYTES = 800_000
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


def code_cells(path: Path) -> list[nbformat.NotebookNode]:
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_imports_the_public_names_alone(path) -> None:
    code = "\n".join(cell.source for cell in code_cells(path))
    modules = re.findall(r"^ *(?:from|import) (evroute[\w.]*)", code, re.MULTILINE)
    assert modules
    assert set(modules) <= {"evroute", "evroute.lab"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_committed_with_outputs_of_one_run_and_no_large_ones(path) -> None:
    cells = code_cells(path)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert not [o for o in outputs if o.output_type == "error" or o.get("name") == "stderr"]
    assert len([o for o in outputs if "image/svg+xml" in o.get("data", {})]) >= 2
    assert not [o for o in outputs if "<script" in o.get("data", {}).get("text/html", "")]
    assert path.stat().st_size < LARGEST_BYTES
    assert "/tmp" not in path.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_from_the_first_cell_to_the_last(path, tmp_path, monkeypatch) -> None:
    if path.stem == "real_trips" and not DRIVES.exists():
        pytest.skip("EVROUTE_DATA_DIR names no folder with drives/twizy.csv.gz")
    monkeypatch.setenv("EVROUTE_NOTEBOOK_ROUNDS", str(ROUNDS))
    monkeypatch.setenv("EVROUTE_NOTEBOOK_RUNS", str(tmp_path))
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}  # a notebook runs in any folder
    NotebookClient(
        notebook, timeout=None, startup_timeout=PATIENCE_S, resources=resources
    ).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert not [output for output in shown if output.get("name") == "stderr"]
    pictures = [
        output for output in shown if {"image/svg+xml", "text/html"} & output.get("data", {}).keys()
    ]
    assert len(pictures) >= 3
