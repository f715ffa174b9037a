"""Docstrings of the library: documented parameters, and plain words."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from numpydoc.hooks.validate_docstrings import AstValidator
from numpydoc.validate import validate

ROOT = Path(__file__).parents[1]
LIBRARY = sorted((ROOT / "evroute").rglob("*.py"))
CHECKS = {
    "PR01",  # parameters that are not documented
    "PR02",  # documented parameters that the signature does not have
    "PR07",  # parameters without a description
}
MANY = 3
"""numpydoc's own command, which `make lint` runs for other checks, cannot ask for the parameters
of such functions alone."""
DOCUMENTED = [path for path in LIBRARY if path.parent.name != "cli"]
"""All but the commands: typer documents each option, and prints their docstrings as help."""
PER_1000_WORDS = {
    ("what",): 1.0,
    ("tell", "tells", "told", "telling", "hear", "hears", "heard"): 0.3,
}


def definitions(
    node: ast.AST, ancestry: tuple[ast.AST, ...] = ()
) -> Iterator[tuple[ast.AST, tuple[ast.AST, ...]]]:
    """Yield every public function, method and class with a constructor, and its ancestors."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef) and not child.name.startswith("_"):
            yield child, (*ancestry, node)
            if isinstance(child, ast.ClassDef):
                yield from definitions(child, (*ancestry, node))


def problems(source: str, name: str = "source.py") -> list[str]:
    """Return the findings of numpydoc on the definitions with three or more parameters."""
    found = []
    for node, ancestry in definitions(ast.parse(source)):
        validator = AstValidator(ast_node=node, filename=name, obj_name=name, ancestry=ancestry)
        if len(validator.signature_parameters) < MANY:
            continue
        checked = validate(name, AstValidator, ast_node=node, filename=name, ancestry=ancestry)
        found += [
            f"{name}:{node.lineno} {node.name}: {code} {message}"
            for code, message in checked["errors"]
            if code in CHECKS
        ]
    return found


def docstrings(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (
            text := ast.get_docstring(node)
        ):
            yield text


def test_parameters_are_documented_as_in_the_signature() -> None:
    found = [problems(path.read_text(encoding="utf-8"), str(path)) for path in DOCUMENTED]
    assert not [each for some in found for each in some]


def test_undocumented_unknown_and_empty_parameters_are_found(tmp_path: Path) -> None:
    path = tmp_path / "source.py"
    signature = "def f(a, b, c):\n"
    sections = {
        "PR01": "a, b\n    1.\n",
        "PR02": "a, b, d\n    1.\nc\n    2.\n",
        "PR07": "a, b\n    1.\nc\n",
    }
    for code, section in sections.items():
        text = f"Return it.\n\nParameters\n----------\n{section}"
        source = signature + "".join(f"    {line}\n" for line in f'"""{text}"""'.split("\n"))
        path.write_text(source, encoding="utf-8")
        assert [code] == [each.split()[2] for each in problems(source, str(path))], source


@pytest.mark.parametrize("words", PER_1000_WORDS)
def test_docstrings_are_in_plain_words(words: tuple[str, ...]) -> None:
    sources = [*LIBRARY, *(ROOT / "app").rglob("*.py")]
    found = [
        word
        for path in sources
        for text in docstrings(path.read_text(encoding="utf-8"))
        for word in re.findall(r"[a-z']+", text.lower())
    ]
    assert len(found) > 10_000
    assert 1000 * sum(word in words for word in found) / len(found) <= PER_1000_WORDS[words]
