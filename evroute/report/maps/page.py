"""The page of a folium map, put together as text.

branca compiles each rendered piece of a page a second time, as a Jinja template, and runs it. A
name from data that holds ``{{ ... }}`` would run there as Python. `MapPage` inserts the pieces
unchanged.

Leaflet without a network: the copy shipped with evroute, as ``data:`` addresses.

folium's default addresses lead to content delivery networks, so its maps stay empty offline.
"""

import re
from base64 import b64encode
from functools import cache
from typing import Any

from branca.element import Element, Figure

from evroute.resources import app_path


class MapPage(Figure):
    """A page that inserts its pieces as text; used by all maps of evroute."""

    def __init__(self) -> None:
        super().__init__()
        for name in ("header", "html", "script"):
            part = _Pieces()
            part._parent = self
            part._children = getattr(self, name)._children
            setattr(self, name, part)


class _Pieces(Element):
    def render(self, **kwargs: Any) -> str:
        """Return the pieces one after the other, without compiling them a second time."""
        return "\n".join(
            child.render(**kwargs) if child._template_str is None else child._template_str
            for child in self._children.values()
        )


_MIME = {".js": "text/javascript", ".css": "text/css", ".png": "image/png"}


@cache
def embedded() -> tuple[str, str]:
    """Return script and style sheet of the shipped Leaflet as ``data:`` addresses, with images."""
    folder = app_path("static", "leaflet")
    css = re.sub(
        r"url\((images/[\w.-]+)\)",
        lambda found: f"url({_data_address((folder / found[1]).read_bytes(), '.png')})",
        (folder / "leaflet.css").read_text(encoding="utf-8"),
    )
    js = (folder / "leaflet.js").read_bytes()
    return _data_address(js, ".js"), _data_address(css.encode(), ".css")


def _data_address(content: bytes, suffix: str) -> str:
    return f"data:{_MIME[suffix]};base64,{b64encode(content).decode()}"
