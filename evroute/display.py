"""``_repr_html_`` of objects in notebooks.

`evroute.report.pages.html` draws them. It lies above the objects in the order of packages, so it is
imported by its name, and when an object is shown.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from evroute.errors import MissingPackageError

DRAWING = "evroute.report.pages.html"


def drawn_by(name: str) -> Callable[[Any], str | None]:
    """Return a ``_repr_html_`` that calls a function of `evroute.report.pages.html`.

    Without the extra ``report`` it returns None, and notebooks show the text of the object.
    """

    def _repr_html_(shown: Any) -> str | None:
        try:
            html: str = getattr(import_module(DRAWING), name)(shown)
        except MissingPackageError:
            return None
        return html

    return _repr_html_
