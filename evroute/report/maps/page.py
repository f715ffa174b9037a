"""The page of a folium map, put together as text.

branca compiles each rendered piece of a page a second time, as a Jinja template, and runs it. A
name from data that holds ``{{ ... }}`` would run there as Python. `MapPage` inserts the pieces
unchanged.
"""

from typing import Any

from evroute.errors import MissingPackageError

try:
    from branca.element import Element, Figure, MacroElement
    from jinja2 import Template
except ImportError:
    raise MissingPackageError("branca", "report") from None

__all__ = ["Figure", "MacroElement", "MapPage", "Template"]


class MapPage(Figure):
    """A page that inserts its pieces as text. Used by all maps of evroute."""

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
