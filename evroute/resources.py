"""Shipped files: the ``data`` and ``app`` folders of a checkout, or their copies in a wheel."""

from pathlib import Path

_PACKAGE = Path(__file__).parent


def _folder(name: str) -> Path:
    inside = _PACKAGE / f"_{name}"
    return inside if inside.is_dir() else _PACKAGE.parent / name


def data_path(*parts: str) -> Path:
    """Return a path below the shipped ``data`` folder: networks, trips, vehicles, experiments."""
    return _folder("data").joinpath(*parts)


def app_path(*parts: str) -> Path:
    """Return a path below the shipped ``app`` folder (dashboard, vendored Leaflet)."""
    return _folder("app").joinpath(*parts)
