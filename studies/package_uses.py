"""Where the packages of road networks and Gaussian processes are used: files and calls.

Usage: python -m studies.package_uses [TREE ...]

Prints, for each checkout and package, the files of the program and of the notebooks that import it,
and their calls of its functions.
"""

import ast
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("networkx", "osmnx", "geopandas", "torch", "gpytorch")
SHORT = {"nx": "networkx", "gpd": "geopandas"}
"""Names that `evroute.network.geo` has for packages."""
FOLDERS = {"program": ("evroute", "app"), "notebooks": ("notebooks",)}


@dataclass(frozen=True, slots=True)
class Uses:
    """Files that import a package, and calls of its functions."""

    files: int
    calls: int


def main() -> None:
    """Print the uses of each checkout."""
    for tree in [Path(each) for each in sys.argv[1:]] or [ROOT]:
        print(tree)
        for package in PACKAGES:
            cells = []
            for kind, folders in FOLDERS.items():
                found = uses_of(package, [tree / folder for folder in folders])
                cells.append(f"{kind} {found.files} files, {found.calls} calls")
            print(f"  {package}: {'; '.join(cells)}")


def uses_of(package: str, folders: list[Path]) -> Uses:
    """Return the uses of a package in the files of folders."""
    calls = [count for folder in folders for count in _calls(package, folder)]
    return Uses(len(calls), sum(calls))


def _calls(package: str, folder: Path) -> Iterator[int]:
    """Yield the number of calls of each file that imports a package."""
    for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.ipynb")]):
        for_all = ast.parse(source_of(path))
        names = {name for node in ast.walk(for_all) for name in names_of(node, package)}
        if names:
            calls = (node for node in ast.walk(for_all) if isinstance(node, ast.Call))
            yield sum(root_of(node.func) in names for node in calls)


def source_of(path: Path) -> str:
    """Return the Python of a module or of the cells of a notebook."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return text
    cells = json.loads(text)["cells"]
    return "\n".join("".join(each["source"]) for each in cells if each["cell_type"] == "code")


def names_of(node: ast.AST, package: str) -> Iterator[str]:
    """Yield the names that an import statement gives to a package or its parts."""
    if isinstance(node, ast.Import):
        for each in node.names:
            if each.name.partition(".")[0] == package:
                yield (each.asname or each.name).partition(".")[0]
    elif isinstance(node, ast.ImportFrom):
        own = (node.module or "").partition(".")[0] == package
        shared = node.module == "evroute.network.geo"
        for each in node.names:
            if own or (shared and SHORT.get(each.name, each.name) == package):
                yield each.asname or each.name


def root_of(node: ast.AST) -> str:
    """Return the name at the start of ``name.part.part``, empty for other expressions."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


if __name__ == "__main__":
    main()
