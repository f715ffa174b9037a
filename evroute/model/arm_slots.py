"""Slots: the arms that a model has met, an edge and a context each, numbered in the order in which it met them."""

import numpy as np

from evroute.arrays import FloatArray, IntArray


class ArmSlots:
    """Arms by slot: ``edge`` (U,) and ``features`` (U, d). -0.0 and 0.0 are the same context."""

    def __init__(self, n_features: int) -> None:
        self.edge = np.empty(0, dtype=np.int64)
        self.features = np.empty((0, n_features))
        self._slot_of: dict[tuple[int, bytes], int] = {}

    def __len__(self) -> int:
        """Return how many arms have a slot, U."""
        return len(self.edge)

    def unmet(self, edge: IntArray, features: FloatArray) -> IntArray:
        """Return the positions of arms that have no slot, (k,): the first of each."""
        first: dict[tuple[int, bytes], int] = {}
        for i, key in enumerate(_keys(edge, features)):
            if key not in self._slot_of:
                first.setdefault(key, i)
        return np.array(list(first.values()), dtype=np.int64)

    def append(self, edge: IntArray, features: FloatArray) -> None:
        """Give a slot to each of some arms, all unmet and no two of them the same."""
        self._slot_of |= {key: len(self) + i for i, key in enumerate(_keys(edge, features))}
        self.edge = np.concatenate([self.edge, edge])
        self.features = np.concatenate([self.features, features + 0.0])

    def of(self, edge: IntArray, features: FloatArray) -> IntArray:
        """Return the slot of each arm, all of which were met, (k,)."""
        return np.array([self._slot_of[key] for key in _keys(edge, features)], dtype=np.int64)


def _keys(edge: IntArray, features: FloatArray) -> list[tuple[int, bytes]]:
    return [(e, row.tobytes()) for e, row in zip(edge.tolist(), features + 0.0, strict=True)]
