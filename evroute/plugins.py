"""Parts from outside: models, indices, kernels, worlds and readers that people name.

A part is looked up among those that ship with evroute, then among installed packages that register
it by an entry point, and at last among the modules that a person named to this process: by
``--plugin mypart``, by an option such as ``--index mypart:CautiousOptions``, or by `use`. A name in
a file, an upload or a request never imports anything else.
"""

import importlib
import logging
import re
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from evroute.errors import EvrouteError, UnknownNameError

log = logging.getLogger(__name__)
GROUPS = {
    "model": "evroute.models",
    "index": "evroute.indices",
    "kernel": "evroute.kernels",
    "world": "evroute.worlds",
    "reader": "evroute.readers",
}
"""Groups of entry points, by the kind of the part."""
_PART = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):[A-Za-z_]\w*")
_MODULE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_used: dict[str, None] = {}


def use(name: str) -> None:
    """Import a module that a person named, so that its parts can be looked up.

    The current folder joins the places where modules are looked for, as the last one.

    Parameters
    ----------
    name
        A module, or one part of it, ``module:name``. Then no other part of it can be looked up.

    Raises
    ------
    EvrouteError
        If it cannot be imported. The message has the reason.
    """
    if not _MODULE.fullmatch(name) and not is_part(name):
        raise EvrouteError(f"'{name}' is no plug-in. Give a module, or module:name")
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    try:
        if is_part(name):
            resolve_name(name)
        else:
            importlib.import_module(name)
    except EvrouteError:
        raise
    except Exception as error:  # whatever the code of somebody else raises
        raise EvrouteError(
            f"the plug-in '{name}' cannot be imported ({type(error).__name__}: {error}). It must "
            "be installed, or lie in the current folder"
        ) from error
    _used[name] = None


def use_parts(names: Iterable[str]) -> None:
    """Import the parts among several names of an option that are ``module:name``.

    Parameters
    ----------
    names
        Names. Two kernels may be joined by ``+`` or ``*``.

    Raises
    ------
    EvrouteError
        As `use`.
    """
    for name in names:
        for part in map(str.strip, re.split(r"[+*]", name)):
            if is_part(part):
                use(part)


def used() -> list[str]:
    """Return the names that this process was given, for a process that it starts."""
    return list(_used)


def forget() -> None:
    """Let no part of a person's modules be looked up any more. They stay imported."""
    _used.clear()


def is_part(name: str) -> bool:
    """Return True if a name has the form ``module:name``."""
    return _PART.fullmatch(name) is not None


def named(table: Mapping[str, str], kind: str, name: str) -> Any:
    """Return a part by its name.

    Parameters
    ----------
    table
        ``"module:name"`` of the shipped parts, by name.
    kind
        Kind of the parts in messages, such as ``model``. A key of `GROUPS`, or another kind that no
        package can add to.
    name
        Name of the part.

    Raises
    ------
    UnknownNameError
        If there is none. The message lists the names, or the option that is missing.
    EvrouteError
        If an installed part cannot be imported.
    """
    if name in table:
        return resolve_name(table[name])
    if is_part(name) and (name in _used or name.partition(":")[0] in _used):
        return _resolved(kind, name)
    installed = _installed(table, kind)
    if name in installed:
        return _loaded(kind, installed[name])
    if is_part(name) and kind in GROUPS:
        module = name.partition(":")[0]
        raise UnknownNameError(
            f"{kind} '{name}' is a plug-in. If you trust its code, repeat with --plugin {module}"
        )
    known = ", ".join([*table, *sorted(installed)])
    raise UnknownNameError(f"unknown {kind} '{name}'. There are {known}")


def _resolved(kind: str, name: str) -> Any:
    try:
        return resolve_name(name)
    except (ImportError, AttributeError) as error:
        raise UnknownNameError(f"there is no {kind} '{name}' ({error})") from error


def _installed(table: Mapping[str, str], kind: str) -> dict[str, EntryPoint]:
    """Return the parts that installed packages register, by name. A shipped name wins."""
    if kind not in GROUPS:
        return {}
    found = {each.name: each for each in entry_points(group=GROUPS[kind])}
    for name in sorted(found.keys() & table.keys()):
        log.warning("evroute's own %s '%s' is used, not %s", kind, name, found.pop(name).value)
    return found


def _loaded(kind: str, entry: EntryPoint) -> Any:
    try:
        return entry.load()
    except Exception as error:  # whatever the code of somebody else raises
        raise EvrouteError(
            f"{kind} '{entry.name}' cannot be imported from the installed {entry.value} "
            f"({type(error).__name__}: {error})"
        ) from error
