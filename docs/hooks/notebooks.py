"""The notebooks as pages of the site, executed where EVROUTE_DOCS_ROUNDS has a number of trips.

Without that number a page has the outputs stored in its notebook, if it has any.

Outputs are put into the finished pages as they are: markdown would change HTML.
"""

import os
import re
from itertools import count
from pathlib import Path

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

FOLDER = Path(__file__).parents[2] / "notebooks"
DRIVES = Path(os.environ.get("EVROUTE_DATA_DIR", ""), "drives", "twizy.csv.gz")
PICTURES = ("image/svg+xml", "text/html")
STORED = "> Outputs as they are stored in `notebooks/{name}.ipynb`.\n"
NOTE = (
    "> Executed as the site was built, with {rounds} trips at most. `notebooks/{name}.ipynb` runs "
    "at full length.\n"
)
_PLACE = re.compile(r'<div class="notebook-output" id="(?P<key>[\w-]+)"></div>')
_outputs: dict[str, str] = {}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each notebook."""
    rounds = os.environ.get("EVROUTE_DOCS_ROUNDS", "")
    for path in sorted(FOLDER.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        if rounds and (path.stem != "real_trips" or DRIVES.exists()):
            execute(notebook, rounds)
        content = markdown(notebook, path.stem, rounds)
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=content))
    return files


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put the outputs into a page."""
    return _PLACE.sub(
        lambda found: f'<div class="notebook-output">{_outputs[found["key"]]}</div>', html
    )


def execute(notebook: nbformat.NotebookNode, rounds: str) -> None:
    """Execute a notebook in its folder with a number of trips; runs go to a temporary folder."""
    from tempfile import TemporaryDirectory

    from nbclient import NotebookClient

    with TemporaryDirectory() as runs:
        env = os.environ | {"EVROUTE_NOTEBOOK_ROUNDS": rounds, "EVROUTE_NOTEBOOK_RUNS": runs}
        client = NotebookClient(notebook, timeout=1200, resources={"metadata": {"path": FOLDER}})
        client.execute(env=env)


def markdown(notebook: nbformat.NotebookNode, name: str, rounds: str) -> str:
    """Return a notebook as markdown, with places for the outputs that `on_page_content` fills."""
    parts, keys = [], (f"{name}-{k}" for k in count())
    for cell in notebook.cells:
        if cell.cell_type != "code":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            kind = next((kind for kind in PICTURES if kind in data), None)
            if kind:
                key = next(keys)
                _outputs[key] = data[kind]
                parts.append(f'<div class="notebook-output" id="{key}"></div>')
            elif text := output.get("text") or data.get("text/plain"):
                parts.append(f"```text\n{text.rstrip()}\n```")
    if any(cell.get("outputs") for cell in notebook.cells):
        parts.insert(1, (NOTE if rounds else STORED).format(rounds=rounds, name=name))
    return "\n\n".join(parts)
