"""Plainness of prose by place: semicolons, and "that of" or "those of", per 1,000 words.

    python studies/prose_figures.py TREE [TREE ...]

Prose is the text of pages without code, addresses and tables, docstrings without code and doctests,
and messages: all other strings of four or more words in `evroute/` and `app/`, with the help texts
of options. Cells of tables are shown apart: most of them are numbers.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

CODE = re.compile(
    r"```.*?```|``[^`]*``|`[^`]*`|<!--.*?-->|\]\([^)]*\)|&[a-z]+;|^\s*>>>.*?$", re.DOTALL | re.M
)
CELLS = re.compile(r"^\s*\|.*$", re.M)
MARKUP = re.compile(r"[{}<>]|=\"|: *#")
WORD = re.compile(r"[A-Za-z']+")
FEW = 4
FIRST = ("README.md", "CONTRIBUTING.md", "THIRD_PARTY.md", "CHANGELOG.md", "data/**/*.md")


def strings(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the kind ("docstrings" or "messages") and the text of each string of a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    seen = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and (text := ast.get_docstring(node)) is not None:
                seen.add(id(first.value))
                yield "docstrings", text
        if isinstance(node, ast.JoinedStr):
            seen.update(map(id, node.values))
    for node in ast.walk(tree):
        text = ""
        if isinstance(node, ast.JoinedStr):
            text = "".join(map(text_of, node.values))
        elif id(node) not in seen:
            text = text_of(node)
        if len(WORD.findall(text)) >= FEW and not MARKUP.search(text):
            yield "messages", text


def text_of(node: ast.AST) -> str:
    """Return the text of a node, empty if it is none."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def prose(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the place and the text of the prose of a checkout."""
    places = [("first pages", pattern) for pattern in FIRST] + [("pages", "docs/**/*.md")]
    for place, pattern in places:
        for path in sorted(root.glob(pattern)):
            text = CODE.sub(" ", path.read_text(encoding="utf-8"))
            yield place, CELLS.sub(" ", text)
            yield "tables", " ".join(CELLS.findall(text))
    for folder in ("evroute", "app"):
        for path in sorted((root / folder).rglob("*.py")):
            for kind, text in strings(path):
                yield kind, CODE.sub(" ", text)


def main() -> None:
    """Print the rates of each checkout by place."""
    for tree in sys.argv[1:]:
        counts: dict[str, list[int]] = {}
        for place, text in prose(Path(tree).resolve()):
            row = counts.setdefault(place, [0, 0, 0])
            row[0] += len(WORD.findall(text))
            row[1] += text.count(";")
            row[2] += len(re.findall(r"\b(?:that|those)\s+of\b", text, re.IGNORECASE))
        counts["all but tables"] = [
            sum(row[k] for place, row in counts.items() if place != "tables") for k in range(3)
        ]
        print(f"{tree}: semicolons, and 'that of' or 'those of', with their rates per 1,000 words")
        for place, (words, semicolons, those) in counts.items():
            rates = f"{1e3 * semicolons / words:8.2f}{those:8d}{1e3 * those / words:8.2f}"
            print(f"{place:16s}{words:9,d} words{semicolons:7d}{rates}")


if __name__ == "__main__":
    main()
