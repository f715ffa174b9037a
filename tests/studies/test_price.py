"""The price of standard changes: as committed, never more; counted by hand on a small tree."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).parents[2] / "studies/price"


def loaded(name: str) -> Any:
    spec = spec_from_file_location(f"price_{name}", PROGRAM / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


recipes = loaded("recipes")
MOST_FILES = 3
ONE_LINE = (
    "index",
    "kernel",
    "world",
    "model",
    "reader",
    "vehicle",
    "layer",
    "figure",
)
"""Changes that cost one line of one existing file at most, and will not cost more."""


@pytest.mark.parametrize("name", recipes.RECIPES)
def test_the_price_of_a_change_equals_the_committed_table(name: str) -> None:
    """If it costs less now, write the smaller numbers into `prices.csv`."""
    assert recipes.price(recipes.ROOT, recipes.RECIPES[name]) == recipes.committed()[name]


def test_the_table_has_every_change_and_no_other() -> None:
    assert list(recipes.committed()) == list(recipes.RECIPES)


@pytest.mark.parametrize("name", ONE_LINE)
def test_a_sibling_is_at_most_one_line_in_one_file(name: str) -> None:
    assert recipes.committed()[name].files <= 1
    assert recipes.committed()[name].lines <= 1


@pytest.mark.parametrize("name", ["option", "weather"])
def test_an_option_and_a_condition_are_declared_in_few_files(name: str) -> None:
    assert recipes.committed()[name].files <= MOST_FILES


@pytest.mark.parametrize("name", recipes.RECIPES)
def test_new_python_compiles_and_its_suite_exists(name: str) -> None:
    recipe = recipes.RECIPES[name]
    known = {file for file in recipe.suite if file not in recipe.new}
    assert known
    assert all((recipes.ROOT / file).is_file() for file in known)
    for file, text in recipes.changed_files(recipes.ROOT, recipe).items():
        if file.endswith(".py"):
            compile(text, file, "exec")


BEFORE = "NAMES = {\n    'a': 1,\n}\n\n\ndef f(x):\n    return x\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "some.py").write_text(BEFORE)
    (tmp_path / "other.py").write_text("y = 1\n")
    return tmp_path


def recipe_with(*edits: Any, **new: Any) -> Any:
    return recipes.Recipe("x", ("some.py",), new, edits)


def test_lines_by_hand(tree: Path) -> None:
    """One line added to a table, one line changed to two, one line of another file changed."""
    change = recipe_with(
        recipes.entry("some.py", "NAMES", "'b': 2"),
        recipes.Edit("some.py", r"^def f\(x\):\n    return x$", "def f(x, y):\n    return x + y"),
        recipes.Edit("other.py", r"^y = 1$", "y = 2"),
        **{"new.py": lambda root: "z = 3\n"},
    )
    assert recipes.price(tree, change) == recipes.Price(new_files=1, files=2, lines=1 + 2 + 1)
    after = recipes.changed_files(tree, change)
    assert after["some.py"].startswith("NAMES = {\n    'b': 2,\n    'a': 1,\n}")
    assert after["new.py"] == "z = 3\n"
    assert (tree / "some.py").read_text() == BEFORE


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("a\nb\nc", "a\nb\nc", 0),
        ("a\nb\nc", "a\nx\nb\nc", 1),
        ("a\nb\nc", "a\nc", 1),
        ("a\nb\nc", "a\nx\nc", 1),
        ("a\nb\nc", "x\nb\ny\nz", 3),
    ],
)
def test_a_changed_line_counts_once(before: str, after: str, lines: int) -> None:
    assert recipes.lines_touched(before, after) == lines


@pytest.mark.parametrize("anchor", ["^nothing$", r"^(y|x)|1$"])
def test_an_anchor_has_one_place(tree: Path, anchor: str) -> None:
    with pytest.raises(recipes.AnchorError, match="places like"):
        recipes.price(tree, recipe_with(recipes.Edit("other.py", anchor, "y = 2")))


def test_a_new_file_does_not_exist_yet(tree: Path) -> None:
    with pytest.raises(recipes.AnchorError, match="exists already"):
        recipes.price(tree, recipe_with(**{"other.py": lambda root: ""}))
