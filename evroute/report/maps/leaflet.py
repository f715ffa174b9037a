"""Leaflet without a network: the copy shipped with evroute, as ``data:`` addresses.

folium's default addresses lead to content delivery networks, so its maps stay empty offline.
"""

import re
from base64 import b64encode
from functools import cache

from evroute.resources import app_path

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
