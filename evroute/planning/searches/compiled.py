"""Run a loop compiled by numba (extra ``fast``), or as the plain Python that it is."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from evroute.planning.searches.search import Search

Kind = TypeVar("Kind", bound=np.generic)
Function = Callable[..., Any]


def run(search: Search, loop: Function, pieces: tuple[Function, ...], *groups: NamedTuple) -> Any:
    """Return the result of a loop: compiled on arrays, or interpreted on lists.

    Parameters
    ----------
    search
        Search that states which of the two.
    loop
        Function that numba can compile.
    pieces
        Functions that it calls. They are compiled with it.
    *groups
        Its arguments, with arrays of `read_only`.
    """
    if search.compiled:
        return compiled(loop, pieces)(*groups)
    return loop(*map(_as_lists, groups))


def read_only(array: NDArray[Kind]) -> NDArray[Kind]:
    """Return an array, or a view of it, that is not writeable.

    numba compiles anew for each kind of array, so all arrays of `run` are of this kind.
    """
    if array.flags.c_contiguous and not array.flags.writeable:
        return array
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def _as_lists(group: Any) -> Any:
    values = [value.tolist() if isinstance(value, np.ndarray) else value for value in group]
    return type(group)(*values)


@cache
def compiled(loop: Function, pieces: tuple[Function, ...]) -> Any:
    """Return a loop as compiled by numba."""
    from numba import njit
    from numba.extending import register_jitable

    for piece in pieces:
        register_jitable(piece)
    return njit(cache=True, nogil=True)(loop)
