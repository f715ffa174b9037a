"""One thread for the small products of matrices that a plan takes."""

from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
T = TypeVar("T")


def one_thread(function: Callable[P, T]) -> Callable[P, T]:
    """Return a function during whose calls BLAS uses one thread.

    The threads of products of a hundred rows wait for each other: the eigenvectors of a forecast
    (`first_passage`) take up to ten times the CPU time on two threads. Where calls of several
    threads of Python overlap, BLAS may stay at one thread after them.

    Parameters
    ----------
    function
        A function whose products are small.
    """

    @wraps(function)
    def alone(*args: P.args, **kwargs: P.kwargs) -> T:
        with _libraries().limit(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return alone


@cache
def _libraries() -> ThreadpoolController:
    """Return the libraries of linear algebra that are loaded at the first call."""
    return ThreadpoolController()
