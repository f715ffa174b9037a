"""The house: no circles of imports, light commands, and code that reads at sight.

`make lint` asks for the rest: layers and rooms of heavy packages by import-linter, complexity and
parameters by ruff.
"""

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
MODULES = sorted(PACKAGE.rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    """Yield the modules that a file imports, within functions too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))


def module_of(path: Path) -> str:
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return name.removesuffix(".__init__")


def test_no_files_import_each_other_in_a_circle() -> None:
    """Imports within functions and for type checkers alone count too."""
    after = {
        module_of(path): set(imports(path))
        for path in MODULES
        if path.parent != PACKAGE or path.name not in {"__init__.py", "__main__.py"}
    }
    left = {name: wanted & after.keys() - {name} for name, wanted in after.items()}
    while free := {name for name, wanted in left.items() if not wanted & left.keys()}:
        left = {name: wanted for name, wanted in left.items() if name not in free}
    assert not left, f"in a circle, or above one: {sorted(left)}"


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


DASHBOARD = sorted((ROOT / "app").rglob("*.py"))
AT_SIGHT = MODULES + DASHBOARD
DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp)
VERBS = re.compile(
    r"\b(is|are|was|were|has|have|had|does|do|can|cannot|may|must|will|"
    r"uses?|takes?|gives?|reads?|writes?|prints?|holds?|lists?|shows?|leads?|looks?|stands?)\b"
)
REST = re.compile(r"[:,;]|\b(that|which|who|where|because|as|if)\b")
"""What follows a noun: its explanation or a relative clause."""


def is_starred_display(node: ast.AST) -> bool:
    """Return whether values written out, or repeated or chosen there, are unpacked: ``*(x, y)``."""
    if not isinstance(node, ast.Starred):
        return False
    value = node.value
    while isinstance(value, ast.Subscript):
        value = value.value
    return isinstance(value, (*DISPLAYS, ast.BinOp, ast.IfExp))


def is_nested_condition(node: ast.AST) -> bool:
    """Return whether a conditional expression holds another one."""
    return isinstance(node, ast.IfExp) and any(
        isinstance(inner, ast.IfExp) for inner in ast.walk(node) if inner is not node
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


def test_no_display_is_starred() -> None:
    assert not all_found(is_starred_display)


def test_no_conditional_expression_is_nested() -> None:
    assert not all_found(is_nested_condition)


def test_a_module_has_one_title() -> None:
    titles = {
        str(path.relative_to(ROOT)): second
        for path in AT_SIGHT
        if (second := second_titles(ast.get_docstring(parsed(path)) or ""))
    }
    assert not titles


def patched_private_names(tree: ast.AST) -> list[str]:
    """Return the private names that a test replaces by ``setattr``."""
    return [
        each.value
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "setattr"
        for each in call.args[:2]
        if isinstance(each, ast.Constant)
        and isinstance(each.value, str)
        and re.match(r"_(?!_)", each.value.rpartition(".")[2])
    ]


def test_no_test_patches_a_private_name() -> None:
    tests = (ROOT / "tests").rglob("*.py")
    found = {str(path.relative_to(ROOT)): patched_private_names(parsed(path)) for path in tests}
    assert not {path: names for path, names in found.items() if names}
    assert patched_private_names(ast.parse("m.setattr('a._b', 1); m.setattr(a, '_c', 2)")) == [
        "a._b",
        "_c",
    ]


RULES = {
    "x = [*(1, 2), 3]": is_starred_display,
    "x = f(*[1] * 3)": is_starred_display,
    "x = [*['a note'][: bool(n)]]": is_starred_display,
    "x = [*([1] if n else [])]": is_starred_display,
    "x = 1 if a else 2 if b else 3": is_nested_condition,
    "x = f(1 if a else 2) if b else 3": is_nested_condition,
}
FINE = "a, b = 1, 2\nx, y, z = range(3)\nv = [*a, *f(b)]\nw = (1 if a else 2) + (3 if b else 4)"


@pytest.mark.parametrize("code", RULES)
def test_each_rule_finds_a_forbidden_example(code: str) -> None:
    assert any(map(RULES[code], ast.walk(ast.parse(code))))
    assert not any(map(RULES[code], ast.walk(ast.parse(FINE))))


def test_second_titles_by_hand() -> None:
    glued = "Cuts of a log into trips: at stops, and where the log has a gap."
    assert second_titles(f"A title.\n\nIts text\nin two lines.\n\n{glued}") == [glued]
    assert second_titles("Files; other files.") == ["Files; other files."]
    assert not second_titles("A title.\n\nCharts are 360 pixels wide, for a telephone.")
