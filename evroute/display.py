"""``_repr_html_`` of objects in notebooks.

`evroute.report.pages.html` draws them. It lies above the objects in the order of packages, so they
take it through the package's door, which imports a name when it is used.
"""

from collections.abc import Callable
from typing import Any

import evroute
from evroute.errors import MissingPackageError


def drawn_by(name: str) -> Callable[[Any], str | None]:
    """Return a ``_repr_html_`` that calls a function of `evroute.report.pages.html`.

    Without the extra ``report`` it returns None, and notebooks show the text of the object.
    """

    def _repr_html_(shown: Any) -> str | None:
        try:
            html: str = getattr(evroute, name)(shown)
        except MissingPackageError:
            return None
        return html

    return _repr_html_
