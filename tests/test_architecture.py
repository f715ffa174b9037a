"""Who may import whom: downwards only, and heavy packages only where the house keeps them."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evroute.cli import app
from evroute.network.catalog import load_network
from evroute.network.line_graph import LineGraph
from evroute.planning.places import load_trips
from evroute.planning.searches.search import Search

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "evroute"
LAYERS = (
    "",
    "network",
    "energy",
    "model",
    "planning",
    "policy",
    "methods",
    "learning",
    "worlds",
    "bandits",
    "experiments",
    "report",
    "service",
    "cli",
)
MODULES = sorted(PACKAGE.rglob("*.py"))
TOP_OF_MODULE = {"numpy", "scipy", "pydantic"}
HOMES = {
    "torch": "model",
    "gpytorch": "model",
    "osmnx": "network",
    "rasterio": "network",
    "folium": "report",
}


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield the modules imported, and whether at the top of the module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    top = set(map(id, tree.body))
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            yield name, id(node) in top


def layer(module: str) -> int:
    parts = module.split(".")
    return LAYERS.index(parts[1]) if len(parts) > 1 and parts[1] in LAYERS else 0


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_point_downwards(path: Path) -> None:
    parts = path.relative_to(PACKAGE).parts
    own = LAYERS.index(parts[0]) if len(parts) > 1 else 0
    if path.name in {"__main__.py", "__init__.py"} and len(parts) == 1:
        return  # the package's doors open onto everything, lazily
    above = [name for name, _ in imports(path) if name.startswith("evroute.") and layer(name) > own]
    assert not above, f"{path.name} imports upwards: {above}"


def module_of(path: Path) -> str:
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return name.removesuffix(".__init__")


def test_no_files_import_each_other_in_a_circle() -> None:
    """Imports within functions and for type checkers alone count too."""
    after = {
        module_of(path): {name for name, _ in imports(path)}
        for path in MODULES
        if path.parent != PACKAGE or path.name not in {"__init__.py", "__main__.py"}
    }
    left = {name: wanted & after.keys() - {name} for name, wanted in after.items()}
    while free := {name for name, wanted in left.items() if not wanted & left.keys()}:
        left = {name: wanted for name, wanted in left.items() if name not in free}
    assert not left, f"in a circle, or above one: {sorted(left)}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_heavy_packages_stay_in_their_rooms(path: Path) -> None:
    room = path.relative_to(PACKAGE).parts[0]
    for name, at_top in imports(path):
        package = name.split(".")[0]
        assert package != "streamlit", "streamlit belongs to app/"
        assert HOMES.get(package, room) == room, (
            f"{package} belongs to evroute/{HOMES.get(package)}"
        )
        if at_top and package in {
            "networkx",
            "osmnx",
            "geopandas",
            "rasterio",
            "folium",
            "altair",
            "shapely",
            "pandas",
        }:
            pytest.fail(
                f"{package} is imported at the top of {path.name}; import it where it is used"
            )


def test_help_loads_no_heavy_package() -> None:
    code = (
        "import sys\n"
        "from evroute.cli import main\n"
        "sys.argv = ['evroute', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'scipy', 'torch', 'networkx', 'osmnx', 'pydantic', 'pyarrow'} & "
        "set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("wanted", ["learn", "route"])
def test_own_trips_and_their_belief_need_no_experiment(tmp_path: Path, wanted: str) -> None:
    """In a fresh process that learns trips, or plans on a belief, through the command line."""
    table, out = tmp_path / "trips.csv", tmp_path / "out"
    network = load_network("denver")
    trip = load_trips("denver")["A"]
    rows = [network.row_of[each] for each in (trip.origin, trip.destination)]
    edges = Search(LineGraph.from_network(network)).route(network.time_s, *rows).edges
    lines = [f't,"{network.edge_id[edge]}",{20 * network.length_m[edge] / 100}' for edge in edges]
    table.write_text("\n".join(["trip,edge,energy_wh", *lines]))
    learning = ["learn", str(table), "--model", "factor", "--out", str(out)]
    planning = ["route", "--trip", "A", "--belief", str(out), "--json"]
    if wanted == "route":
        assert CliRunner().invoke(app, learning).exit_code == 0
    code = (
        "import sys\n"
        "from evroute.cli import main\n"
        f"sys.argv = ['evroute', *{learning if wanted == 'learn' else planning!r}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        "parts = ('evroute.experiments', 'evroute.worlds', 'evroute.bandits')\n"
        "loaded = [name for name in sys.modules if name.startswith(parts)]\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr


def test_no_module_outgrows_its_idea() -> None:
    long = {
        p.name: n for p in MODULES if (n := len(p.read_text(encoding="utf-8").splitlines())) > 400
    }
    assert not long


FOLDERS = sorted({path.parent for path in MODULES})


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda p: str(p.relative_to(PACKAGE.parent)))
def test_a_folder_is_a_room_and_not_a_street(folder: Path) -> None:
    """It holds two modules or more; above fifteen, its docstring has a paragraph that says why."""
    n_modules = sum(path.name != "__init__.py" for path in folder.glob("*.py"))
    assert n_modules > 1
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    assert n_modules <= 15 or len(text.split("\n\n")) > 1
