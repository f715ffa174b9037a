"""The house: who imports whom, where heavy packages stay, and code that reads at sight."""

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
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
    "door",
    "worlds",
    "bandits",
    "experiments",
    "report",
    "service",
    "testing",
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
    own = layer(module_of(path))  # `validation` stands with the modules at the top
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


def test_no_private_name_of_osmnx_is_used() -> None:
    private = re.compile(r"\bosmnx\._\w|from osmnx import _|from osmnx\._")
    users = [path.name for path in MODULES if private.search(path.read_text(encoding="utf-8"))]
    assert not users


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
    """It holds 2 to 20 modules; above fifteen, its docstring has a paragraph that says why."""
    n_modules = sum(path.name != "__init__.py" for path in folder.glob("*.py"))
    assert 1 < n_modules <= 20
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    assert n_modules <= 15 or len(text.split("\n\n")) > 1


DASHBOARD = sorted((ROOT / "app").rglob("*.py"))
AT_SIGHT = MODULES + DASHBOARD
MOST_COMPLEX = 15
MOST_PARAMETERS = 8
OPTIONS = "each parameter is an option of the command"
PUBLIC = "each parameter is a keyword with a default of a public Python call"
DOORS = {
    "evroute/cli/learn.py:learn": OPTIONS,
    "evroute/cli/network.py:build": OPTIONS,
    "evroute/cli/reach.py:reach": OPTIONS,
    "evroute/cli/route.py:route": OPTIONS,
    "evroute/cli/simulate.py:simulate": OPTIONS,
    "evroute/learning/learn.py:learn": PUBLIC,
    "evroute/planning/planner.py:plan": PUBLIC,
    "evroute/door/reachable.py:reachable": PUBLIC,
    "evroute/door/plan.py:plan": PUBLIC,
}
"""Functions with more parameters, and why."""
BRANCHES = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.IfExp,
    ast.comprehension,
)
DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
VERBS = re.compile(
    r"\b(is|are|was|were|has|have|had|does|do|can|cannot|may|must|will|"
    r"uses?|takes?|gives?|reads?|writes?|prints?|holds?|lists?|shows?|leads?|looks?|stands?)\b"
)
REST = re.compile(r"[:,;]|\b(that|which|who|where|because|as|if)\b")
"""What follows a noun: its explanation or a relative clause."""


def complexity(function: ast.AST) -> int:
    """Return 1 plus the branches of a function, without those of functions inside it."""
    total, left = 1, list(ast.iter_child_nodes(function))
    while left:
        node = left.pop()
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            continue
        total += isinstance(node, BRANCHES)
        total += len(node.values) - 1 if isinstance(node, ast.BoolOp) else 0
        left += ast.iter_child_nodes(node)
    return total


def n_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    given = function.args
    names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return sum(name not in {"self", "cls"} for name in names)


def is_starred_display(node: ast.AST) -> bool:
    """Return whether values written out, or repeated or chosen there, are unpacked: ``*(x, y)``."""
    if not isinstance(node, ast.Starred):
        return False
    value = node.value
    while isinstance(value, ast.Subscript):
        value = value.value
    return isinstance(value, (*DISPLAYS, ast.BinOp, ast.IfExp))


def is_flag_factor(node: ast.AST) -> bool:
    """Return whether a flag keeps or drops something: ``[x] * bool(n)``, ``x[: bool(n)]``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        flag, other = node.right, node.left
    elif isinstance(node, ast.Slice):
        flag, other = node.upper, ast.List()
    else:
        return False
    is_flag = isinstance(flag, ast.Call) and ast.unparse(flag.func) == "bool"
    is_text = isinstance(other, ast.Constant) and isinstance(other.value, str)
    return is_flag and (is_text or isinstance(other, (*DISPLAYS, ast.JoinedStr)))


def is_nested_condition(node: ast.AST) -> bool:
    """Return whether a conditional expression holds another one."""
    return isinstance(node, ast.IfExp) and any(
        isinstance(inner, ast.IfExp) for inner in ast.walk(node) if inner is not node
    )


def is_many_assignments(node: ast.AST) -> bool:
    """Return whether three or more values are written out for as many names."""
    return (
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Tuple | ast.List)
        and any(
            isinstance(target, ast.Tuple | ast.List) and len(target.elts) > 2
            for target in node.targets
        )
    )


def second_titles(text: str) -> list[str]:
    """Return what stands in a module's docstring beside its title.

    The title is the first paragraph: one line, one sentence. A semicolon there joins two titles.
    A later paragraph of one line without a verb of its own is the title of another module.
    """
    title, *others = text.split("\n\n")
    found = [title] if ";" in title or "\n" in title else []
    return found + [
        line
        for line in others
        if "\n" not in line and re.match(r"[\w`]", line) and not VERBS.search(REST.split(line)[0])
    ]


def found_in(path: Path, wanted: Callable[[ast.AST], bool]) -> list[str]:
    """Return the places of the wanted nodes of a file, ``file:line``."""
    nodes = [node for node in ast.walk(parsed(path)) if wanted(node)]
    lines = sorted(node.lineno for node in nodes if isinstance(node, ast.stmt | ast.expr))
    return [f"{path.relative_to(ROOT)}:{line}" for line in lines]


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def all_found(wanted: Callable[[ast.AST], bool]) -> list[str]:
    return [place for path in AT_SIGHT for place in found_in(path, wanted)]


def test_no_function_is_too_complex() -> None:
    """Counted as 1 + if, for, while, except, conditional expression, comprehension, and/or."""
    assert not all_found(
        lambda node: isinstance(node, FUNCTIONS) and complexity(node) > MOST_COMPLEX
    )


def test_no_function_has_too_many_parameters() -> None:
    many = {
        f"{path.relative_to(ROOT)}:{node.name}"
        for path in AT_SIGHT
        for node in ast.walk(parsed(path))
        if isinstance(node, FUNCTIONS) and n_parameters(node) > MOST_PARAMETERS
    }
    assert not many - DOORS.keys()


def test_no_display_is_starred() -> None:
    assert not all_found(is_starred_display)


def test_nothing_is_dropped_by_a_product_with_a_flag() -> None:
    assert not all_found(is_flag_factor)


def test_no_conditional_expression_is_nested() -> None:
    assert not all_found(is_nested_condition)


def test_no_three_values_are_assigned_at_once() -> None:
    assert not all_found(is_many_assignments)


def test_a_module_has_one_title() -> None:
    titles = {
        str(path.relative_to(ROOT)): second
        for path in AT_SIGHT
        if (second := second_titles(ast.get_docstring(parsed(path)) or ""))
    }
    assert not titles


RULES = {
    "x = [*(1, 2), 3]": is_starred_display,
    "x = f(*[1] * 3)": is_starred_display,
    "x = [*['a note'][: bool(n)]]": is_starred_display,
    "x = [*([1] if n else [])]": is_starred_display,
    "x = ['a note'] * bool(n)": is_flag_factor,
    "x = f'{n} notes' * bool(n)": is_flag_factor,
    "x = notes[: bool(n)]": is_flag_factor,
    "x = 1 if a else 2 if b else 3": is_nested_condition,
    "x = f(1 if a else 2) if b else 3": is_nested_condition,
    "x, y, z = 1, 2, 3": is_many_assignments,
    "x, (y, z), v = [1, w, 3]": is_many_assignments,
}
FINE = "a, b = 1, 2\nx, y, z = range(3)\nv = [*a, *f(b)]\nw = (1 if a else 2) + (3 if b else 4)"


@pytest.mark.parametrize("code", RULES)
def test_each_rule_finds_a_forbidden_example(code: str) -> None:
    assert any(map(RULES[code], ast.walk(ast.parse(code))))
    assert not any(map(RULES[code], ast.walk(ast.parse(FINE))))


def test_complexity_of_a_function_counted_by_hand() -> None:
    """One, and: for, if, or twice, try's except, comprehension, conditional expression, while."""
    code = """
def f(n):
    for k in range(n):
        if k or n or f:
            try:
                x = [1 if i else 2 for i in n]
            except ValueError:
                pass
    def inner():
        if n and k:
            return 1
    while x:
        pass
"""
    assert complexity(ast.parse(code).body[0]) == 1 + 8


def test_second_titles_by_hand() -> None:
    glued = "Cuts of a log into trips: at stops, and where the log has a gap."
    assert second_titles(f"A title.\n\nIts text\nin two lines.\n\n{glued}") == [glued]
    assert second_titles("Files; other files.") == ["Files; other files."]
    assert not second_titles("A title.\n\nCharts are 360 pixels wide, for a telephone.")
