"""The map of the code and the table of packages name what exists."""

import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMES = re.findall(r"`([a-z_]+(?:\.\w+)*)`", (ROOT / "docs/map.md").read_text(encoding="utf-8"))
NAMES = sorted({name for name in NAMES if name not in ("evroute", "app", "learn", "simulate")})


def found(name: str) -> object:
    """Return the module, class, function or member of a name below evroute."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        module = ".".join(["evroute", *parts[:cut]])
        try:
            here: object = import_module(module)
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            here = getattr(here, part)
        return here
    raise AttributeError(name)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_the_map_exists(name: str) -> None:
    assert found(name) is not None


def test_the_map_has_names() -> None:
    assert len(NAMES) > 40


def test_contributing_names_every_package() -> None:
    table = re.findall(r"`(\w+)/`", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    packages = {path.parent.name for path in (ROOT / "evroute").glob("*/__init__.py")}
    assert packages <= set(table)


def test_the_lab_has_every_name_that_it_lists() -> None:
    lab = import_module("evroute.lab")
    assert all(callable(getattr(lab, name)) or name.isupper() for name in lab.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = lab.nothing
