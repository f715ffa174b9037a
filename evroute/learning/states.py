"""States of parts of a belief by tables of names: the numbers of a part as arrays, and back.

A table has for each name of the state the attribute that it holds, or several numbers in one array.
Files keep the names, so a renamed attribute changes its table alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from evroute.model.base import State

Table = Mapping[str, str | Sequence[str]]


def state_of(part: object, table: Table) -> State:
    """Return the numbers and texts of a part as arrays, by the names of a table.

    Parameters
    ----------
    part
        The part.
    table
        Attributes by name. A tuple of texts becomes an array of texts.
    """
    found: State = {}
    for name, of in table.items():
        value = getattr(part, of) if isinstance(of, str) else [getattr(part, each) for each in of]
        found[name] = np.array(value, dtype=np.str_ if isinstance(value, tuple) else None)
    return found


def values_of(state: Mapping[str, Any], table: Table) -> dict[str, Any]:
    """Return the attributes that a state holds: numbers, arrays, and tuples of texts.

    Parameters
    ----------
    state
        As `state_of` returned it. It may have other names too.
    table
        As in `state_of`.
    """
    found: dict[str, Any] = {}
    for name, of in table.items():
        values = state[name]
        if not isinstance(of, str):
            found |= zip(of, values.tolist(), strict=True)
        elif values.dtype.kind == "U":
            found[of] = tuple(values.tolist())
        else:
            found[of] = values if values.ndim else values.item()
    return found


class Kept:
    """A part of a belief whose state is a table. See `learning.base.Part`."""

    STATE: ClassVar[Table] = {}
    """Its attributes by the names of the state."""

    def state(self) -> State:
        """Return all learned numbers as arrays."""
        return state_of(self, self.STATE)

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over a state."""
        for name, value in values_of(state, self.STATE).items():
            setattr(self, name, value)
