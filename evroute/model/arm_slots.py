"""Slots: consecutive numbers of the distinct arms (id and context), in order of first use."""

import numpy as np

from evroute.arrays import FloatArray, IntArray


class ArmSlots:
    """Arms by slot. -0.0 and 0.0 are the same context.

    Parameters
    ----------
    n_features
        Number d of context features.

    Attributes
    ----------
    id
        (U,) id of each slot's arm.
    features
        (U, d) context of each slot.
    """

    def __init__(self, n_features: int) -> None:
        self.id = np.empty(0, dtype=np.int64)
        self.features = np.empty((0, n_features))
        self._slot_of: dict[tuple[int, bytes], int] = {}

    def __len__(self) -> int:
        """Return the number of slots, U."""
        return len(self.id)

    def unmet(self, ids: IntArray, features: FloatArray) -> IntArray:
        """Return the positions of arms without a slot, (k,), once per distinct arm."""
        first: dict[tuple[int, bytes], int] = {}
        for i, key in enumerate(_keys(ids, features)):
            if key not in self._slot_of:
                first.setdefault(key, i)
        return np.array(list(first.values()), dtype=np.int64)

    def append(self, ids: IntArray, features: FloatArray) -> None:
        """Add one slot for each of some distinct arms that have none."""
        self._slot_of |= {key: len(self) + i for i, key in enumerate(_keys(ids, features))}
        self.id = np.concatenate([self.id, ids])
        self.features = np.concatenate([self.features, features + 0.0])

    def of(self, ids: IntArray, features: FloatArray) -> IntArray:
        """Return the slot of each arm, (k,). Every arm must have one."""
        return np.array([self._slot_of[key] for key in _keys(ids, features)], dtype=np.int64)


def _keys(ids: IntArray, features: FloatArray) -> list[tuple[int, bytes]]:
    return [(e, row.tobytes()) for e, row in zip(ids.tolist(), features + 0.0, strict=True)]
