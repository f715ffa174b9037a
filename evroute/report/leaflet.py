"""Leaflet without a network: the copy shipped with evroute, as ``data:`` addresses.

folium's default addresses lead to content delivery networks, so its maps stay empty offline.
"""

import re
from base64 import b64encode
from dataclasses import dataclass
from functools import cache

from evroute.resources import app_path

_MIME = {".js": "text/javascript", ".css": "text/css", ".png": "image/png"}


@dataclass(frozen=True, slots=True)
class Leaflet:
    """Addresses of Leaflet for a page: script and style sheet, each readable by a browser."""

    js: str
    css: str


@cache
def embedded() -> Leaflet:
    """Return the shipped Leaflet as ``data:`` addresses, with the images of its style embedded."""
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
