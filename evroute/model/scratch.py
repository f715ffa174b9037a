"""Scratch: named work arrays that are reused, so that a round allocates no memory."""

import numpy as np

from evroute.arrays import FloatArray


class Scratch:
    """Work arrays by name, with the numbers of their last use."""

    def __init__(self) -> None:
        self._flat: dict[str, FloatArray] = {}

    def __call__(self, name: str, shape: tuple[int, int]) -> FloatArray:
        """Return the array of a name in the given shape."""
        size = shape[0] * shape[1]
        if name not in self._flat or len(self._flat[name]) < size:
            self._flat[name] = np.empty(size + size // 2)
        return self._flat[name][:size].reshape(shape)
