"""Size and plainness of a checkout: modules, words of docstrings, documented parameters, options.

    python studies/house_figures.py TREE [TREE ...]

`make price` has the cost of standard changes.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

PLAIN = {
    "what": {"what"},
    "tell, told, hear": {"tell", "tells", "told", "telling", "hear", "hears"},
}
MANY = 3
REPEATED = 6
OPTIONS = """
import typer
from typer.main import get_command, get_group
from evroute.cli import app
try:
    from evroute.cli import COMMANDS, load
except ImportError:
    commands = list(get_command(app).commands.values())
else:
    commands = []
    for name in COMMANDS:
        found, single = load(name), typer.Typer()
        if isinstance(found, typer.Typer):
            single.add_typer(found, name=name)
        else:
            single.command(name)(found)
        commands.append(get_group(single).commands[name])
def params(command):
    for each in getattr(command, "commands", {}).values():
        yield from params(each)
    yield from command.params
kinds = [p.param_type_name for c in commands for p in params(c)]
print(kinds.count("option") + len(get_command(app).params), kinds.count("argument"))
"""


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    """Yield the public functions and methods."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            if isinstance(node, ast.FunctionDef):
                yield node
            else:
                yield from functions(node)


def own_lines(text: str, *, docstrings: bool) -> list[str]:
    """Return the lines of a module without blank lines and imports, and without docstrings."""
    left_out: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            left_out.update(range(node.lineno, (node.end_lineno or 0) + 1))
        elif isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and not docstrings:
            first = node.body[0]
            if ast.get_docstring(node) is not None:
                left_out.update(range(first.lineno, (first.end_lineno or 0) + 1))
    lines = enumerate(text.splitlines(), start=1)
    return [line for number, line in lines if line.strip() and number not in left_out]


def repeated(modules: list[list[str]]) -> int:
    """Return the number of pairs of places with six or more equal lines, each pair once."""
    places: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    for k, lines in enumerate(modules):
        for start in range(len(lines) - REPEATED + 1):
            places.setdefault(tuple(lines[start : start + REPEATED]), []).append((k, start))
    pairs = {pair for equal in places.values() for pair in combinations(equal, 2)}
    return sum(((a, i - 1), (b, j - 1)) not in pairs for (a, i), (b, j) in pairs)


def figures(root: Path) -> dict[str, str]:
    """Return the figures of a checkout by name."""
    paths = sorted((root / "evroute").rglob("*.py"))
    texts = [path.read_text(encoding="utf-8") for path in paths]
    words: list[str] = []
    many = documented = 0
    for path, text in zip(paths, texts, strict=True):
        tree = ast.parse(text)
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                words += re.findall(r"[a-z']+", (ast.get_docstring(node) or "").lower())
        if path.parent.name == "cli":
            continue  # typer documents each option
        for each in functions(tree):
            given = [*each.args.posonlyargs, *each.args.args, *each.args.kwonlyargs]
            if len([a for a in given if a.arg not in ("self", "cls")]) >= MANY:
                many += 1
                documented += "Parameters\n" in (ast.get_docstring(each) or "")
    environment = {"PYTHONPATH": str(root), "PATH": "/usr/bin:/bin"}
    counted = subprocess.run(
        [sys.executable, "-c", OPTIONS],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    found = {
        "modules": f"{len(paths)}",
        "lines": f"{sum(text.count(chr(10)) for text in texts):,}",
        "longest module, lines": f"{max(text.count(chr(10)) for text in texts)}",
        "words of docstrings": f"{len(words):,}",
    }
    for name, some in PLAIN.items():
        rate = 1000 * sum(word in some for word in words) / len(words)
        found[f'"{name}" per 1,000 of them'] = f"{rate:.2f}"
    share = f"{100 * documented / many:.0f} % of {many}"
    found["public callables with 3 or more parameters that document them"] = share
    for name, docstrings in (("", False), (", with docstrings", True)):
        pairs = repeated([own_lines(text, docstrings=docstrings) for text in texts])
        lines = sum(text.count("\n") for text in texts)
        found[f"pairs of repeats in 10,000 lines{name}"] = f"{1e4 * pairs / lines:.1f}"
    found["options of all commands"] = counted[0]
    found["arguments without a name"] = counted[1]
    return found


def main() -> None:
    """Print the figures of each checkout."""
    columns = [figures(Path(root).resolve()) for root in sys.argv[1:]]
    for name in columns[0]:
        print(f"{name:64s}", *(f"{each[name]:>14s}" for each in columns))


if __name__ == "__main__":
    main()
