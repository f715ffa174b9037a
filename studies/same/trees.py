"""Two source trees, run by one interpreter: each with its own data folder, cache and outputs."""

import os
import subprocess
import sys
import tarfile
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

Units = dict[str, Any]
"""Results by name: one plan, one run, one table."""
THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA")
EARLIER_FLAGS = (
    *("arms", "audit", "closed_share", "guard", "in_flight", "lengthscale", "prior", "reserve"),
    "soc",
)
"""Options of ``--option`` that earlier commits took as flags of their own."""
EARLIER_DEFAULTS = {
    "route": {"physics": "eq8", "terrain": "edge"},
    "learn": {"model": "physics+gp", "physics": "eq8", "terrain": "edge"},
}
"""Values that earlier commits had in place of later defaults, by command and flag."""


class CommandError(Exception):
    """A command that ended with an unexpected status; its message is one line."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A checkout of the project, and the folder that its commands run in."""

    name: str
    root: Path
    scratch: Path

    @property
    def environment(self) -> dict[str, str]:
        """Variables of the tree's commands: its package, its cache, one thread."""
        own = {"PYTHONPATH": self.root, "EVROUTE_CACHE_DIR": self.scratch / "cache", "COLUMNS": 200}
        own |= {f"{library}_NUM_THREADS": 1 for library in THREADS}
        return os.environ | {name: str(value) for name, value in own.items()}

    def command(self, *arguments: object) -> list[str]:
        """Return a command of the interpreter; `environment` makes it this tree's."""
        return [sys.executable, *map(str, arguments)]

    def python(self, *arguments: object, statuses: tuple[int, ...] = (0,)) -> str:
        """Return the standard output of the interpreter with this tree's package first.

        Raises
        ------
        CommandError
            If the exit status is not one of ``statuses``.
        """
        self.scratch.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            self.command(*arguments),
            cwd=self.scratch,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in statuses:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            command = " ".join(map(str, arguments))[:150]
            raise CommandError(f"status {done.returncode} of '{command}': {last}")
        return done.stdout

    def as_typed(self, *arguments: object, statuses: tuple[int, ...] = (0,)) -> str:
        """Return the standard output of an ``evroute`` command with the tree's own defaults."""
        return self.python("-m", "evroute", *arguments, statuses=statuses)

    def evroute(self, *arguments: object, statuses: tuple[int, ...] = (0,)) -> str:
        """Return the standard output of an ``evroute`` command with the defaults of earlier trees.

        Raises as `python`.
        """
        given = as_flags(with_earlier_defaults(arguments, self), flags_of(self, str(arguments[0])))
        return self.python("-m", "evroute", *given, statuses=statuses)


@cache
def flags_of(tree: Tree, command: str) -> frozenset[str]:
    """Return the names of `EARLIER_FLAGS` that are flags of a command of a tree."""
    if command not in ("simulate", "learn"):
        return frozenset()
    shown = help_of(tree, command)
    return frozenset(name for name in EARLIER_FLAGS if f"--{name.replace('_', '-')} " in shown)


@cache
def help_of(tree: Tree, command: str) -> str:
    """Return the help text of a command."""
    return tree.python("-m", "evroute", command, "--help")


def with_earlier_defaults(arguments: Sequence[object], tree: Tree) -> list[object]:
    """Return arguments with the `EARLIER_DEFAULTS` of flags that a tree has and they leave out.

    Plans on a belief take their physics and terrain from its folder.
    """
    command, given = str(arguments[0]), list(arguments)
    if "--belief" in given:
        return given
    for name, value in EARLIER_DEFAULTS.get(command, {}).items():
        if f"--{name}" not in given and f"--{name} " in help_of(tree, command):
            given += [f"--{name}", value]
        elif f"{name}={value} " in help_of(tree, command):
            given += ["--option", f"{name}={value}"]
    return given


def as_flags(arguments: Sequence[object], flags: Collection[str]) -> list[object]:
    """Return arguments with ``--option NAME=VALUE`` as ``--NAME VALUE`` for the names in flags."""
    given: list[object] = []
    for argument in arguments:
        name, _, value = str(argument).partition("=")
        if given and given[-1] == "--option" and name in flags:
            given[-1] = f"--{name.replace('_', '-')}"
            given += [value] * (value != "true")
        else:
            given.append(argument)
    return given


def checked_out(commit: str, root: Path, to: Path) -> Path:
    """Write the files of a commit of the repository ``root`` to the folder ``to``, and return it.

    Raises
    ------
    CommandError
        If there is no such commit.
    """
    done = subprocess.run(
        ["git", "-C", str(root), "archive", "--format=tar", commit],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise CommandError(done.stderr.decode().strip().splitlines()[-1])
    with tarfile.open(fileobj=BytesIO(done.stdout)) as archive:
        archive.extractall(to, filter="data")
    return to


def check_import(tree: Tree) -> None:
    """Check that the tree's own package is imported.

    Raises
    ------
    CommandError
        If it is another one.
    """
    imported = Path(tree.python("-c", "import evroute; print(evroute.__file__)").strip())
    if not imported.is_relative_to(tree.root):
        raise CommandError(f"the {tree.name} tree imports {imported}, which is not in {tree.root}")


def side_by_side(
    tasks: Mapping[str, Callable[[Tree], Units]], old: Tree, new: Tree
) -> tuple[dict[str, Units], dict[str, Units | CommandError]]:
    """Return the results of every task in both trees, which work at the same time.

    Raises
    ------
    CommandError
        If a task fails in the old tree: there is nothing to compare with.
    """

    def results(tree: Tree) -> dict[str, Units | CommandError]:
        found: dict[str, Units | CommandError] = {}
        for name, task in tasks.items():
            try:
                found[name] = task(tree)
            except CommandError as error:
                found[name] = error
        return found

    with ThreadPoolExecutor(2) as pool:
        before, after = pool.map(results, (old, new))
    for name, units in before.items():
        if isinstance(units, CommandError):
            raise CommandError(f"{name} fails in the old tree: {units}")
    return before, after  # type: ignore[return-value]
