"""The source itself: wherever text could become markup, it goes through what escapes it."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
APP = sorted((ROOT / "app").rglob("*.py"))
MARKDOWN = {
    *("write", "markdown", "caption", "title", "header", "subheader", "latex", "badge", "toast"),
    *("error", "warning", "info", "success", "progress", "spinner", "status", "metric", "expander"),
    *("button", "download_button", "link_button", "toggle", "checkbox", "radio", "popover", "tabs"),
    *("selectbox", "multiselect", "slider", "number_input", "text_input", "file_uploader"),
}
"""Methods of Streamlit whose first argument is Markdown; of ``progress`` it is the second."""
ESCAPE = {"literal", "sentence"}
MAP_TEXT = {"tooltip", "popup", "name", "attr", "html"}
"""Arguments of folium that become HTML."""


def calls(path: Path) -> Iterator[tuple[ast.Call, set[str]]]:
    """Yield the calls of a module and the names of what each may call."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            functions = [node.func]
            if isinstance(node.func, ast.IfExp):
                functions = [node.func.body, node.func.orelse]
            yield node, {ast.unparse(function).rpartition(".")[2] for function in functions}


def is_escaped(value: ast.expr, escape: set[str]) -> bool:
    """Return whether an expression is constant, a formatted number, or escaped text."""
    match value:
        case ast.Constant():
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in escape
        case ast.IfExp(body=one, orelse=other):
            return is_escaped(one, escape) and is_escaped(other, escape)
        case ast.JoinedStr(values=parts) | ast.List(elts=parts):
            return all(is_escaped(part, escape) for part in parts)
        case ast.FormattedValue(value=inner, format_spec=None):
            return is_escaped(inner, escape)
        case ast.FormattedValue(format_spec=ast.JoinedStr(values=[ast.Constant(value=spec)])):
            return str(spec)[-1] in "def%g,"
        case _:
            return False


@pytest.mark.parametrize("path", APP, ids=lambda path: path.name)
def test_the_dashboard_shows_text_through_literal(path: Path) -> None:
    unescaped = [
        f"{path.name}:{call.lineno} {ast.unparse(text)}"
        for call, names in calls(path)
        for text in [
            *call.args["progress" in names :][:1],
            *(each.value for each in call.keywords if each.arg in {"label", "body", "help"}),
        ]
        if names & MARKDOWN and not is_escaped(text, ESCAPE)
    ]
    assert unescaped == []


@pytest.mark.parametrize("module", ["maps/network_maps.py", "maps/reach.py"])
def test_maps_give_folium_escaped_text(module: str) -> None:
    path = ROOT / "evroute/report" / module
    unescaped = [
        f"{path.name}:{call.lineno} {keyword.arg}={ast.unparse(keyword.value)}"
        for call, _ in calls(path)
        for keyword in call.keywords
        if keyword.arg in MAP_TEXT and not is_escaped(keyword.value, {"_text", "_inert"})
    ]
    assert unescaped == []


def test_no_other_module_draws_maps_or_prints_with_rich() -> None:
    maps = {"evroute/report/maps/network_maps.py", "evroute/report/maps/reach.py"}
    homes = {
        "folium": {*maps, "evroute/report/extras.py"},  # modules of reports take it from there
        "branca": {"evroute/report/maps/network_maps.py", "evroute/report/maps/page.py"},
        "rich.console": {"evroute/cli/console.py"},
        "jinja2": {"evroute/report/maps/page.py", "evroute/report/pages/run_page.py"},
    }
    for path in (*APP, *(ROOT / "evroute").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for package, modules in homes.items():
            if f"import {package}" in text or f"from {package}" in text:
                assert path.relative_to(ROOT).as_posix() in modules
        if re.search(r"report\.extras import[^\n]*folium", text):
            assert path.relative_to(ROOT).as_posix() in maps


@pytest.mark.parametrize("script", sorted((ROOT / "app").rglob("map_component/*.js")))
def test_the_components_make_text_nodes_only(script: Path) -> None:
    code = script.read_text(encoding="utf-8")
    assert not re.search(
        r"(inner|outer)HTML|insertAdjacent|document\.write|eval\(|Function\(", code
    )
    tooltips = re.findall(r"bind(?:Tooltip|Popup)\((\w+)", code)
    assert set(tooltips) <= {"node"}
    assert set(re.findall(r"html: (\w+)", code)) <= {"node"}


def test_the_components_have_constant_code() -> None:
    tree = ast.parse((ROOT / "app/map_component/__init__.py").read_text(encoding="utf-8"))
    (call,) = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "st.components.v2.component"
    )
    code = {each.arg: ast.unparse(each.value) for each in call.keywords}
    assert code["js"] == "''.join(map(_read, scripts))"
    scripts = "('map.js', 'fetched.js', 'labels.js', 'panels.js', 'names.js', 'route.js', 'way.js')"
    others = "'cards': ('cards.js',), 'tabs': ('tabs.js',), 'energy': ('energy.js',)"
    files = f"{{'map': {scripts}, {others}}}"
    assert f"_SCRIPTS = {files}" in ast.unparse(tree)
    assert code["css"] == "_read(f'{name}.css')"
    assert code["html"] == "f'<div class=\"evroute-{name}\"></div>'"


def test_the_page_of_a_report_trusts_no_text() -> None:
    template = (ROOT / "evroute/report/pages/page.html.j2").read_text(encoding="utf-8")
    assert "safe" not in template.replace("unsafe", "")
    assert "autoescape" not in template
    assert "innerHTML" not in template


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a_b *c* [d](e) `f` $g$ h:i", r"a\_b \*c\* \[d\](e) \`f\` \$g\$ h\:i"),
        ("<b> & ~~x~~ | \\", r"\<b\> \& \~\~x\~\~ \| \\"),
        ("# one\n\n- two", r"\# one - two"),
        ("1. one", r"1\. one"),
        ("x -> y", "x -\u2060\\> y"),
        ("Rue de l'Église, 4.5 km (100 %)", "Rue de l'Église, 4.5 km (100 %)"),
    ],
)
def test_literal_markdown_by_hand(text: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "app"))
    monkeypatch.delitem(sys.modules, "literal", raising=False)
    from literal import literal

    assert literal(text) == shown
