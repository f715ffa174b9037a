"""Kernels on contexts by name: ``matern-5/2``, ``rbf`` and others, and the sum or product of two.

A further kernel is one file in this package, with a class that meets `base.ContextKernel`, and
one line in `KERNELS`. It then runs through ``tests/contract/test_kernels.py``.
"""

from evroute.errors import UnknownNameError
from evroute.model.context_kernels.base import ContextKernel, Product, Sum
from evroute.plugins import named

KERNELS = {
    "matern-1/2": "evroute.model.context_kernels.matern:Matern12",
    "matern-3/2": "evroute.model.context_kernels.matern:Matern32",
    "matern-5/2": "evroute.model.context_kernels.matern:Matern52",
    "rbf": "evroute.model.context_kernels.rbf:RBF",
}
"""Classes by name, as ``"module:class"``."""
DEFAULT_KERNEL = "matern-5/2"


def context_kernel(name: str) -> ContextKernel:
    """Return a kernel on contexts by name.

    Parameters
    ----------
    name
        A key of `KERNELS`, or two keys joined by ``+`` (the mean of both kernels) or ``*`` (their
        product).

    Returns
    -------
    ContextKernel
        The kernel, 1 at distance 0.

    Raises
    ------
    UnknownNameError
        If a name is not in `KERNELS`, or more than two are joined.
    """
    for sign, combination in (("+", Sum), ("*", Product)):
        first, found, second = name.partition(sign)
        if found:
            return combination(_named(first.strip()), _named(second.strip()))
    return _named(name)


def check_kernel(name: str) -> str:
    """Return the name of a kernel. Raise UnknownNameError if there is none of that name."""
    context_kernel(name)
    return name


def _named(name: str) -> ContextKernel:
    try:
        kernel: ContextKernel = named(KERNELS, "kernel", name)()
    except UnknownNameError as error:
        raise UnknownNameError(f"{error}. Two kernels may be joined by + or *") from None
    return kernel
