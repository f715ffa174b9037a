"""Reference pages generated from the code: command line, TOML keys, models and indices."""

import dataclasses
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from inspect import Parameter, cleandoc, signature
from itertools import takewhile
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from typer.models import ArgumentInfo

ROOT = Path(__file__).parents[2]
_FIELD = re.compile(r"(?:^|(?<=  |; ))(?P<names>[A-Za-z]\w*(?:, [A-Za-z]\w*)*): ", re.M)
_SECTION = re.compile(r"\n\n?(?:Raises|Parameters|Attributes|Returns|Examples)\n-+")
_ENTRY = re.compile(r"^(?P<names>\w+(?:, \w+)*)\n(?P<text>(?: {4}.*(?:\n|\Z))+)", re.M)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for name, write in PAGES.items():
        files.append(File.generated(config, name, content=write()))
    return files


def command_line() -> str:
    """Write a section for each command of ``evroute``, from its declared options."""
    from evroute.cli import COMMANDS, load

    parts = [
        "# Command line",
        "",
        "Written from the program itself as this page was built. Every command has `--help`. "
        "Status 0: done; 1: done in part; 2: the request cannot be met; 70: an internal error, "
        "whose traceback `EVROUTE_DEBUG=1` shows; 130: interrupted.",
        "",
    ]
    listed = [each for name in COMMANDS for each in _commands(f"evroute {name}", load(name))]
    for words, callback in listed:
        usage, rows = [words], []
        for parameter in signature(callback, eval_str=True).parameters.values():
            names, takes, info = _names(parameter)
            needed = parameter.default is Parameter.empty
            shown = f"{names[0]} {takes}".strip()
            if needed:
                usage.append(shown)
            elif isinstance(info, ArgumentInfo):
                usage.append(f"[{shown}]")
            given = ", ".join(f"`{name}`" for name in names) + f" {takes}".rstrip()
            rows.append((given, info.help or "", _default(parameter)))
        parts += [f"## `{words}`", "", _documented(callback.__doc__, set())[0], ""]
        parts += ["```text", " ".join([*usage, *(["[OPTIONS]"] if rows else [])]), "```", ""]
        if rows:
            parts += [_table(("argument or option", "meaning", "default"), rows), ""]
    return "\n".join(parts)


def _commands(words: str, found: Any) -> Iterator[tuple[str, Callable[..., None]]]:
    """Yield the words and the function of a command, or of each command of a group."""
    for command in getattr(found, "registered_commands", ()):
        yield f"{words} {command.name or command.callback.__name__}", command.callback
    if callable(found) and not hasattr(found, "registered_commands"):
        yield words, found


_KINDS = {"<float>": "NUMBER", "<float range>": "NUMBER", "<int range>": "INTEGER"}


def _default(parameter: Parameter) -> str:
    """Return the default of an option in the table; empty where it is off or absent."""
    if parameter.default is Parameter.empty:
        return "(required)"
    return "" if parameter.default in (None, False) else f"`{parameter.default}`"


def _names(parameter: Parameter) -> tuple[list[str], str, Any]:
    """Return the names, the value type and the typer settings of a command-line parameter."""
    annotation, info = get_args(parameter.annotation)[:2]
    named = [each for each in get_args(annotation) if each is not type(None)] or [annotation]
    if isinstance(info, ArgumentInfo):
        return [parameter.name.upper()], "", info
    declared = (
        *([info.default] if isinstance(info.default, str) else ()),
        *(info.param_decls or ()),
    )
    names = [
        name for each in declared for name in each.split("/")
    ]  # typer takes a first name for the default
    names = names or ["--" + parameter.name.strip("_").replace("_", "-")]
    kind = named[0]
    takes = (
        ""
        if kind is bool
        else _KINDS.get(info.metavar, info.metavar)
        or {int: "INTEGER", float: "NUMBER", Path: "PATH"}.get(kind, "TEXT")
    )
    return names, takes, info


def toml_keys() -> str:
    """Write the keys of every TOML file that evroute reads, from the classes that read them."""
    from evroute.bandits.kernel_bandit import BanditExperiment
    from evroute.bandits.starvation import StarvationExperiment
    from evroute.claims import Claim
    from evroute.energy.vehicle import Vehicle
    from evroute.experiments.experiment import Experiment
    from evroute.methods.method import Method
    from evroute.methods.parts import METHODS
    from evroute.plugins import named
    from evroute.worlds.world import WORLDS

    worlds = ROOT / "data" / "worlds"
    parts = [
        "# TOML keys",
        "",
        "Written from the classes that read the files. A key that is not listed is refused. An "
        "example of each is "
        "shown as it ships.",
        "",
        "## Experiments",
        "",
        "`evroute simulate FILE.toml`; those that ship are in `data/experiments`.",
        "",
        _keys(Experiment),
        "`closed_share`, if given, goes to each world.",
        "",
        _example("experiments/figure3.toml"),
        "### Claims",
        "",
        "`[claims]` holds the command that makes the runs, and one `[[claims.claim]]` for each "
        "statement.",
        "",
        _keys(Claim),
        "### A method",
        "",
        'A name (`methods = ["gp-ts"]`), or a table, such as `{ method = "bkb", q_bar = 5 }`.',
        "",
        _keys(Method),
        "Every other key is an option of the model or the index: see [models and "
        "indices](methods.md). Names that "
        "ship:",
        "",
        _table(
            ("name", "stands for"),
            [
                (f"`{name}`", ", ".join(f"{key} = `{value}`" for key, value in pair.items()))
                for name, pair in METHODS.items()
            ],
        ),
        "",
        "## Worlds",
        "",
        "`--world NAME`, `--world FILE.toml`, or a table in an experiment. `kind` is one of the "
        "kinds below. `name` is part of run names; its default comes from the options. Shipped "
        "worlds, files in `data/worlds`:",
        "",
        _table(
            ("name", "meaning"),
            [(f"`{path.stem}`", _comment(path)) for path in sorted(worlds.glob("*.toml"))],
        ),
        "",
    ]
    for kind in WORLDS:
        options = named(WORLDS, "world", kind)
        parts += [f'### `kind = "{kind}"`', "", _keys(options, without={"kind", "name"})]
    parts += [
        _example("worlds/congestion.toml"),
        "## Vehicles",
        "",
        "`--vehicle FILE.toml`. `[sources]` has the source of each number and is optional.",
        "",
        _keys(Vehicle),
        _example("vehicles/reference.toml"),
        "## Bandits",
        "",
        "`evroute bandit FILE.toml`: plain kernel bandits, without roads.",
        "",
        _keys(BanditExperiment),
        '### `problem = "variance-starvation"`',
        "",
        _keys(StarvationExperiment),
        _example("bandits/batches.toml"),
        "## Networks of the data folder",
        "",
        "`data/networks.toml` describes how the networks of `EVROUTE_DATA_DIR` are built.",
        "",
        _example("networks.toml"),
        "## Named trips",
        "",
        "`data/trips.toml`: by network and name, from edge to edge.",
        "",
    ]
    return "\n".join(parts)


def methods() -> str:
    """Write a section for each model and each index with its options and their defaults."""
    from evroute.methods.parts import INDICES, MODELS
    from evroute.plugins import named

    parts = [
        "# Models and indices",
        "",
        "Written from the code. `--model NAME --index NAME --option KEY=VALUE`, or `{ model = ..., "
        "index = ..., "
        "KEY = VALUE }` in an experiment; `evroute method show NAME` prints the same.",
        "",
    ]
    for title, table, what in (("Models", MODELS, "model"), ("Indices", INDICES, "index")):
        parts += [f"## {title}", ""]
        for name, place in table.items():
            target = named(table, what, name)
            parts += [f"### `{name}`", "", f"`{place.replace(':', '.')}`", ""]
            parts += [_documented(target.__doc__, set())[0], ""]
            rows = [
                (f"`{key}`", valid, f"`{_toml(target.model_fields[key].default)}`", sentence)
                for key, (valid, sentence) in target.described().items()
            ]
            if rows:
                parts += [_table(("option", "values", "default", "meaning"), rows), ""]
    return "\n".join(parts)


def limits() -> str:
    """Write a table of the limits, from the module that checks them."""
    from evroute.limits import LIMITS

    rows = [
        (f"`EVROUTE_MAX_{name.upper()}`", meaning, f"{default:,}")
        for name, (default, meaning) in LIMITS.items()
    ]
    parts = [
        "# Limits",
        "",
        "Files and downloads beyond these limits are refused in one line, before they fill memory "
        "or disk. Set the variable in the environment to change a limit for a file that you trust.",
        "",
        _table(("variable", "limit", "default"), rows),
        "",
    ]
    return "\n".join(parts)


PAGES: Mapping[str, Callable[[], str]] = {
    "reference/command-line.md": command_line,
    "reference/toml.md": toml_keys,
    "reference/methods.md": methods,
    "reference/limits.md": limits,
}


def _keys(model: Any, without: Iterable[str] = ()) -> str:
    """Return the docstring of a pydantic model or dataclass and a table of its fields."""
    rows = []
    names, texts = {name for name, _ in _fields(model)}, dict[str, str]()
    for each in reversed(model.__mro__):  # each class documents the fields that it adds
        prose, of_class = _documented(vars(each).get("__doc__"), names)
        texts |= of_class
    for name, field in _fields(model):
        if name in without:
            continue
        needed = field.is_required()
        default = (
            "(required)" if needed else f"`{_toml(field.get_default(call_default_factory=True))}`"
        )
        rows.append(
            (f"`{name}`", _type(field.annotation, field.metadata), default, texts.get(name, ""))
        )
    return prose + "\n\n" + _table(("key", "type", "default", "meaning"), rows) + "\n"


def _fields(model: Any) -> Iterable[tuple[str, FieldInfo]]:
    if issubclass(model, BaseModel):
        return model.model_fields.items()
    return getattr(
        model, "__pydantic_fields__", {f.name: f for f in dataclasses.fields(model)}
    ).items()


_SIGNS = {"gt": "> ", "ge": ">= ", "lt": "< ", "le": "<= "}


def _type(annotation: Any, metadata: Iterable[Any] = ()) -> str:
    """Return a type in words, followed by its limits."""
    if get_origin(annotation) is Annotated:
        annotation, *more = get_args(annotation)
        metadata = [*more, *metadata]
    for each in list(metadata):
        metadata = [*metadata, *getattr(each, "metadata", ())]
    limits = [
        f"{sign}{value:g}"
        for each in metadata
        for key, sign in _SIGNS.items()
        if isinstance(value := getattr(each, key, None), int | float)
    ]
    return _plain(annotation) + (f", {', '.join(dict.fromkeys(limits))}" if limits else "")


def _plain(annotation: Any) -> str:
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type(annotation)
    if origin in (Union, UnionType):
        return " or ".join(_plain(each) for each in args if each is not type(None))
    if origin is Literal:
        return " or ".join(f"`{_toml(each)}`" for each in args)
    if origin is tuple:
        inner = [each for each in args if each is not Ellipsis]
        return (
            f"list of {_plain(inner[0])}"
            if Ellipsis in args
            else f"[{', '.join(map(_plain, inner))}]"
        )
    if origin is dict:
        return f"table of {_plain(args[1])}"
    names = {
        str: "text",
        float: "number",
        int: "whole number",
        bool: "true or false",
        Path: "file",
        Any: "any",
    }
    return names.get(annotation, getattr(annotation, "__name__", str(annotation)).lower())


def _toml(value: Any) -> str:
    if value is None or value is PydanticUndefined:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, BaseModel):
        return f'"{value.kind}"' if hasattr(value, "kind") else str(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _example(name: str) -> str:
    path = ROOT / "data" / name
    text = path.read_text(encoding="utf-8")
    tomllib.loads(text)
    return f'```toml title="data/{name}"\n{text.rstrip()}\n```\n'


def _comment(path: Path) -> str:
    """Return the comment that a TOML file opens with."""
    lines = takewhile(
        lambda line: line.startswith("#"), path.read_text(encoding="utf-8").splitlines()
    )
    return " ".join(line.lstrip("# ") for line in lines)


def _documented(docstring: str | None, known: set[str]) -> tuple[str, dict[str, str]]:
    """Split a docstring into its prose and the text on each of the ``known`` names.

    The text stands in a ``Parameters`` section, or in the prose as ``name: text``, two spaces
    between the names.
    """
    prose, texts = [], {}
    first_section, *sections = _SECTION.split(cleandoc(docstring or "").replace("``", "`"))
    for block in first_section.split("\n\n"):
        found = [each for each in _FIELD.finditer(block) if set(each["names"].split(", ")) <= known]
        if before := block[: found[0].start() if found else None].rstrip():
            prose.append(before)
        ends = [each.start() for each in found[1:]] + [len(block)]
        for field, end in zip(found, ends, strict=False):
            texts |= _named_texts(field["names"], block[field.end() : end])
    for section in sections:
        for entry in _ENTRY.finditer(section):
            if set(entry["names"].split(", ")) <= known:
                texts |= _named_texts(entry["names"], entry["text"])
    return "\n\n".join(prose), texts


def _named_texts(names: str, text: str) -> dict[str, str]:
    first, *others = names.split(", ")
    return {first: " ".join(text.split())} | dict.fromkeys(others, f"see `{first}`")


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(header)
    lines = [head, ["---"] * len(head), *(list(row) for row in rows)]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |"
        for line in lines
    )
