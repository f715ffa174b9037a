"""Run a loop compiled by numba (extra ``fast``), or as the plain Python that it is."""

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any, NamedTuple, TypeVar, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from evroute.planning.searches.search import Search

Kind = TypeVar("Kind", bound=np.generic)


def run(search: Search, loop: Callable[..., Any], *groups: NamedTuple) -> Any:
    """Return the result of a loop: compiled on arrays, or interpreted on lists.

    Parameters
    ----------
    search
        Search that states which of the two.
    loop
        Function that numba can compile, as it can the functions of the package that it calls.
    *groups
        Its arguments, with arrays of `read_only`.

    Raises
    ------
    TypeError
        If a value is not of the type that its group declares.
    """
    for group in groups:
        check(group)
    if search.compiled:
        return compiled(loop)(*groups)
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


def check(group: NamedTuple) -> None:
    """Check the values of a group of arguments against the types that it declares.

    Raises
    ------
    TypeError
        If an array is of another type, has several axes or could be written, or a number is of
        another type.
    """
    for (name, kind, n_axes), value in zip(_kinds(type(group)), group, strict=True):
        if n_axes:
            fits = (
                isinstance(value, np.ndarray)
                and np.issubdtype(value.dtype, kind)
                and value.ndim <= 2
                and value.flags.c_contiguous
                and not value.flags.writeable
            )
            expected = f"a read-only array of {kind.__name__}, contiguous"
        else:
            fits, expected = isinstance(value, kind), kind.__name__
        if not fits:
            got = f"array of {value.dtype}" if isinstance(value, np.ndarray) else repr(value)
            raise TypeError(f"{type(group).__name__}.{name} is {got}, expected {expected}")


@cache
def _kinds(group: type) -> tuple[tuple[str, Any, bool], ...]:
    """Return name and type of each field of a group, and whether it is an array of that type."""
    hints = get_type_hints(group)
    found = []
    for name, hint in hints.items():
        arguments = get_args(hint)
        kind = get_args(arguments[1])[0] if arguments else hint
        found.append((name, getattr(kind, "__origin__", kind), bool(arguments)))
    return tuple(found)


def _as_lists(group: Any) -> Any:
    values = [value.tolist() if isinstance(value, np.ndarray) else value for value in group]
    return type(group)(*values)


@cache
def compiled(loop: Callable[..., Any]) -> Any:
    """Return a loop as compiled by numba."""
    from numba import njit

    for called in called_by(loop):
        _let_loops_call(called)
    return njit(cache=True, nogil=True)(loop)


@cache
def _let_loops_call(function: Callable[..., Any]) -> None:
    from numba.extending import register_jitable

    register_jitable(function)


def called_by(function: Callable[..., Any]) -> set[FunctionType]:
    """Return the functions that a function calls by their names, and those that they call."""
    found: set[FunctionType] = set()
    open_: list[Any] = [function]
    while open_:
        caller = open_.pop()
        named = (caller.__globals__.get(name) for name in caller.__code__.co_names)
        called = {each for each in named if isinstance(each, FunctionType)} - found
        found |= called
        open_ += called
    return found
