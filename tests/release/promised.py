"""The names that 1.x keeps: ``python tests/release/promised.py`` writes promised.txt.

They are the commands, the public names of ``evroute`` and the parameters of its functions. Of
options, and of the members of classes, they are those that README, the docs or the notebooks use.
A line of the file holds one group: its name, a colon and what belongs to it.
"""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import typer
from pydantic import BaseModel

import evroute
from evroute.cli import COMMANDS, load

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).with_name("promised.txt")
PAGES = ("README.md", "docs/**/*.md", "notebooks/*.ipynb")


def names() -> dict[str, list[str]]:
    """Return the names of each group, all that exist."""
    found = {f"evroute.{name}": sorted(_members(name)) for name in evroute.__all__}
    for name in COMMANDS:
        single, part = typer.Typer(), load(name)
        if isinstance(part, typer.Typer):
            single.add_typer(part, name=name)
        else:
            single.command(name)(part)
            single.command("second")(lambda: None)
        command = typer.main.get_group(single).commands[name]
        found[f"evroute {name}"] = _options(command)
        for each, inner in getattr(command, "commands", {}).items():
            found[f"evroute {name} {each}"] = _options(inner)
    return found


def _members(name: str) -> Iterator[str]:
    thing = getattr(evroute, name)
    if inspect.isclass(thing):
        yield from {each for each in dir(thing) if not each.startswith("_")} - set(dir(BaseModel))
    elif callable(thing):
        yield from inspect.signature(thing).parameters


def _options(command: object) -> list[str]:
    parameters = command.params  # type: ignore[attr-defined]
    return sorted(
        name
        for each in parameters
        if not getattr(each, "hidden", False)
        for name in each.opts
        if name.startswith("--")
    )


def used(groups: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the groups, and of options and of members of classes only those that a page uses."""
    text = "\n".join(
        page.read_text(encoding="utf-8") for pattern in PAGES for page in ROOT.glob(pattern)
    )
    words = set(re.findall(r"(?<=\.)[a-z]\w*|\b[a-z]\w*(?==)|--[a-z][a-z-]*", text))
    return {
        name: members if _is_function(name) else [each for each in members if each in words]
        for name, members in groups.items()
    }


def _is_function(group: str) -> bool:
    return inspect.isfunction(getattr(evroute, group.removeprefix("evroute."), None))


def written(groups: dict[str, list[str]]) -> str:
    """Return the text of promised.txt."""
    return "".join(f"{name}: {' '.join(groups[name])}".rstrip() + "\n" for name in sorted(groups))


def read() -> dict[str, list[str]]:
    """Return the names of promised.txt."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return {name: rest.split() for name, _, rest in (line.partition(":") for line in lines)}


if __name__ == "__main__":
    FILE.write_text(written(used(names())), encoding="utf-8")
