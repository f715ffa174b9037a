"""Contract suites for parts from outside: each check raises with the broken sentence of a protocol.

>>> from evroute.model.context_kernels.rbf import RBF
>>> from evroute.testing import check_kernel
>>> check_kernel(RBF)

They need no test runner. `check_belief`, `check_index`, `check_kernel`, `check_model` and
`check_world` take a class, `check_reader` a reader and an example file.
"""

from evroute.testing.base import ContractError
from evroute.testing.beliefs import check_belief
from evroute.testing.indices import check_index
from evroute.testing.kernels import check_kernel
from evroute.testing.models import check_model
from evroute.testing.readers import check_reader
from evroute.testing.worlds import check_world

__all__ = [
    "ContractError",
    "check_belief",
    "check_index",
    "check_kernel",
    "check_model",
    "check_reader",
    "check_world",
]
