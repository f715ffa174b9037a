"""List the surface that releases keep: names, options, keys and columns, one a line, sorted.

    python tests/release/surface.py > tests/release/surface.txt

`docs/promises.md` explains what is kept and for how long. Columns are read from files that small
commands write, so a column counts whether or not a constant names it.
"""

import dataclasses
import inspect
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import typer

import evroute
from evroute.cli import app as commands
from evroute.resources import data_path
from evroute.service.app import make_app

COMMANDS = (
    "simulate --network denver --trip A --method gp-ts --horizon 2 --seeds 1 --out run",
    f"learn {data_path('examples', 'edges.csv')} --out car",
    "route --batch rows.csv --out batch.parquet",
    "route --matrix rows.csv rows.csv --by recommended --sd --reduced --out matrix.parquet",
    "route --matrix rows.csv rows.csv --by recommended --sd --reduced --out matrices",
)
"""Commands that write the tables whose columns are listed."""
ENDS = "Blake Street & 17th Street,Broadway & 20th Street"
ROWS = f"id,from,to,place\n1,{ENDS},Blake Street & 17th Street\n"


def lines() -> Iterator[str]:
    """Yield every line of the list, in no order."""
    for name in evroute.__all__:
        yield from _python(name, getattr(evroute, name))
    yield from _commands("evroute", typer.main.get_command(commands), None)
    yield from _service()
    with tempfile.TemporaryDirectory() as folder:
        yield from _columns(Path(folder))


def _python(name: str, value: Any) -> Iterator[str]:
    if not callable(value):
        yield f"python {name}"
        return
    protocol = getattr(value, "_is_protocol", False)
    yield f"python {name}{'' if protocol else _signature(value)}"
    if not inspect.isclass(value):
        return
    fields = (
        [each.name for each in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else []
    )
    for field in fields:
        if not field.startswith("_"):
            yield f"python {name}.{field}"
    for member, found in inspect.getmembers(value):
        own = any(member in vars(c) for c in value.__mro__ if c.__module__.startswith("evroute."))
        if member.startswith("_") or not own or member in {*fields, "model_config"}:
            continue
        yield f"python {name}.{member}{_signature(found) if callable(found) else ''}"


def _signature(value: Any) -> str:
    """Return names and defaults of the parameters, without annotations."""
    try:
        found = inspect.signature(value)
    except ValueError:
        return "(...)"
    bare = [
        p.replace(
            annotation=p.empty, default=p.empty if p.default is p.empty else _Default(p.default)
        )
        for p in found.parameters.values()
    ]
    return str(found.replace(parameters=bare, return_annotation=found.empty))


class _Default:
    """A default as it is shown: a plain value, or "..." for objects."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        plain = isinstance(self.value, (bool, int, float, str, tuple, type(None)))
        return repr(self.value) if plain else "..."


def _commands(name: str, command: Any, context: Any) -> Iterator[str]:
    own = command.context_class(command, parent=context)
    if hasattr(command, "list_commands"):
        for each in command.list_commands(own):
            _, found, _ = command.resolve_command(own, [each])  # what a call imports
            yield from _commands(f"{name} {each}", found, own)
        return
    yield f"command {name}"
    for parameter in command.params:
        many = " ..." if getattr(parameter, "multiple", False) or parameter.nargs != 1 else ""
        if parameter.param_type_name == "argument":
            yield f"command {name} {parameter.metavar or parameter.name}{many}"
            continue
        takes = "" if parameter.is_flag else " VALUE"
        for option in (*parameter.opts, *parameter.secondary_opts):
            yield f"command {name} {option}{takes}{many}"


def _service() -> Iterator[str]:
    document = make_app(Path()).application.application.openapi()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"service {method.upper()} {path}"
            for each in operation.get("parameters", ()):
                yield f"service {method.upper()} {path} ?{each['name']}"
            for status in operation["responses"]:
                yield f"service {method.upper()} {path} -> {status}"
    for name, schema in document["components"]["schemas"].items():
        for key in schema.get("properties", ()):
            yield f"key {name}.{key}"


def _columns(folder: Path) -> Iterator[str]:
    (folder / "rows.csv").write_text(ROWS)
    for words in COMMANDS:
        _run(words.split(), folder)
    seen: set[str] = set()
    for path in sorted(folder.rglob("*.parquet")):
        kind = path.relative_to(folder)
        name = "/".join(kind.parts[:-1]) or kind.name
        if kind.parts[0] in {"run", "car"} and len(kind.parts) == 2:
            name = str(kind)
        if name not in seen:
            seen.add(name)
            yield from (f"column {name} {column}" for column in pq.read_schema(path).names)
    stored = sorted(
        path for path in folder.rglob("*") if path.is_file() and path.suffix not in {"", ".csv"}
    )
    yield from (f"file {_general(path.relative_to(folder))}" for path in stored)
    for path in (folder / "run/manifest.json", folder / "car/manifest.json"):
        yield from (f"key {path.relative_to(folder)} {key}" for key in json.loads(path.read_text()))


def _general(path: Path) -> str:
    """Return a path whose file is named after a run as RUN."""
    single = len(path.parts) < 3 or path.parts[1] in {"measured"}
    return str(path if single else path.with_name("RUN" + path.suffix))


def _run(arguments: list[str], folder: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(Path(evroute.__file__).parents[1])}
    subprocess.run(
        [sys.executable, "-m", "evroute", *arguments],
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )


if __name__ == "__main__":
    print("\n".join(sorted(set(lines()))))
