"""ArmSlots: the distinct arms, an id and a context each, that a model has met, in order."""

import numpy as np

from evroute.arrays import FloatArray, IntArray


class ArmSlots:
    """Arms by slot: ``id`` (U,) and ``features`` (U, d). -0.0 and 0.0 are the same context."""

    def __init__(self, n_features: int) -> None:
        self.id = np.empty(0, dtype=np.int64)
        self.features = np.empty((0, n_features))
        self._slot_of: dict[tuple[int, bytes], int] = {}

    def __len__(self) -> int:
        """Return the number of arms with a slot, U."""
        return len(self.id)

    def unmet(self, ids: IntArray, features: FloatArray) -> IntArray:
        """Return the positions (k,) of arms without a slot, the first of each arm."""
        first: dict[tuple[int, bytes], int] = {}
        for i, key in enumerate(_keys(ids, features)):
            if key not in self._slot_of:
                first.setdefault(key, i)
        return np.array(list(first.values()), dtype=np.int64)

    def append(self, ids: IntArray, features: FloatArray) -> None:
        """Give a slot to each of some distinct arms that have none."""
        self._slot_of |= {key: len(self) + i for i, key in enumerate(_keys(ids, features))}
        self.id = np.concatenate([self.id, ids])
        self.features = np.concatenate([self.features, features + 0.0])

    def of(self, ids: IntArray, features: FloatArray) -> IntArray:
        """Return the slot of each of some arms that have one, (k,)."""
        return np.array([self._slot_of[key] for key in _keys(ids, features)], dtype=np.int64)


def _keys(ids: IntArray, features: FloatArray) -> list[tuple[int, bytes]]:
    return [(e, row.tobytes()) for e, row in zip(ids.tolist(), features + 0.0, strict=True)]
