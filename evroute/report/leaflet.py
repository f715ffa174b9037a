"""Leaflet without a network: the copy that ships with evroute, as ``data:`` addresses for pages that stand alone.

folium's own addresses lead to content delivery networks; offline they draw nothing, and say
nothing.
"""

import re
from base64 import b64encode
from dataclasses import dataclass
from functools import cache

from evroute.resources import app_path

_MIME = {".js": "text/javascript", ".css": "text/css", ".png": "image/png"}


@dataclass(frozen=True, slots=True)
class Leaflet:
    """Where a page gets Leaflet from: two addresses that a browser can open."""

    js: str
    css: str


@cache
def embedded() -> Leaflet:
    """Return the shipped Leaflet as ``data:`` addresses; the images that its style names are inside."""
    folder = app_path("static", "leaflet")
    css = re.sub(
        r"url\((images/[\w.-]+)\)",
        lambda found: f"url({_data_address((folder / found[1]).read_bytes(), '.png')})",
        (folder / "leaflet.css").read_text(encoding="utf-8"),
    )
    js = (folder / "leaflet.js").read_bytes()
    return Leaflet(js=_data_address(js, ".js"), css=_data_address(css.encode(), ".css"))


def _data_address(content: bytes, suffix: str) -> str:
    return f"data:{_MIME[suffix]};base64,{b64encode(content).decode()}"
