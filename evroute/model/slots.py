"""Slots of an exact posterior: single arms, and weighted sums of arms that were measured as one.

The total energy of a trip is one number. Its slot is the sum of the trip's arms. That is a linear
functional of the Gaussian process, and its prior covariance with any arm is the same sum of
covariances. So the posterior of arms is exact after measurements of both kinds.
"""

from collections.abc import Callable

import numpy as np

from evroute.arms import Arms, Total
from evroute.arrays import FloatArray, IntArray
from evroute.model.arm_slots import ArmSlots
from evroute.model.base import State
from evroute.model.kernels.arms import ArmKernel

OfArms = Callable[[IntArray, FloatArray], FloatArray]
"""Values (k, a) of arms, ids (k,) in contexts (k, d)."""
_FIRST: IntArray = np.zeros(1, dtype=np.int64)


class Slots:
    """Arms and sums by slot, in order of first measurement, with their prior covariances.

    Parameters
    ----------
    kernel
        Prior covariance of arms.
    n_features
        Number d of context features.

    Attributes
    ----------
    arms
        The U arms that were measured alone.
    of_arm
        (U,) slot of each of them.
    of_sum
        (S,) slot of each sum.
    """

    def __init__(self, kernel: ArmKernel, n_features: int) -> None:
        self._kernel = kernel
        self.arms = ArmSlots(n_features)
        self.of_arm: IntArray = np.empty(0, dtype=np.int64)
        self.of_sum: IntArray = np.empty(0, dtype=np.int64)
        self._noise_wh2: FloatArray = np.empty(0)
        self._start: IntArray = np.empty(0, dtype=np.int64)  # of each sum among these arms
        self._id: IntArray = np.empty(0, dtype=np.int64)
        self._features: FloatArray = np.empty((0, n_features))
        self._weight: FloatArray = np.empty(0)
        self._slot_of: dict[tuple[bytes, bytes, bytes], int] = {}

    def __len__(self) -> int:
        """Return the number of slots, D."""
        return len(self.of_arm) + len(self.of_sum)

    def append(self, ids: IntArray, features: FloatArray) -> None:
        """Add one slot for each of some distinct arms that have none."""
        first = len(self)
        self.of_arm = np.append(self.of_arm, first + np.arange(len(ids)))
        self.arms.append(ids, features)

    def slot_of(self, total: Total) -> int | None:
        """Return the slot of a sum, or None if it was not measured yet."""
        return self._slot_of.get(_key(total.id, total.features, total.weight))

    def append_sum(self, total: Total, noise_wh2: float) -> int:
        """Add a slot for a sum, and return it.

        Parameters
        ----------
        total
            Arms and weights of the sum.
        noise_wh2
            Noise variance of its measurement, Wh².
        """
        slot = len(self)
        self._slot_of[_key(total.id, total.features, total.weight)] = slot
        self.of_sum = np.append(self.of_sum, slot)
        self._noise_wh2 = np.append(self._noise_wh2, noise_wh2)
        self._start = np.append(self._start, len(self._id))
        self._id = np.append(self._id, total.id)
        self._features = np.concatenate([self._features, total.features])
        self._weight = np.append(self._weight, total.weight)
        return slot

    def noise_wh2(self, noise_std_wh: FloatArray) -> FloatArray:
        """Return the noise variance of the first measurement of each slot, (D,) Wh²."""
        noise_wh2 = np.empty(len(self))
        noise_wh2[self.of_arm] = noise_std_wh[self.arms.id] ** 2
        noise_wh2[self.of_sum] = self._noise_wh2
        return noise_wh2

    def points(self) -> tuple[IntArray, FloatArray]:
        """Return ids (p,) and contexts (p, d) of all arms, arms alone before arms of sums."""
        if not len(self.of_sum):
            return self.arms.id, self.arms.features
        ids = np.append(self.arms.id, self._id)
        return ids, np.concatenate([self.arms.features, self._features])

    def of_points(self, values: FloatArray) -> FloatArray:
        """Return values of all slots, (D, a), from the values of `points` (p, a), which add up."""
        if not len(self.of_sum):
            return values
        of_slots = np.empty((len(self), values.shape[1]))
        alone = len(self.of_arm)
        of_slots[self.of_arm] = values[:alone]
        of_slots[self.of_sum] = _sums(self._weight, values[alone:], self._start)
        return of_slots

    def over(self, values: OfArms) -> FloatArray:
        """Return values of all slots, (D, a), from values of arms, which add up over sums.

        The arms alone and the arms of each sum are asked for apart, as when they were first
        measured: the last bit of a covariance can depend on the others that are computed with it.
        """
        of_arms = values(self.arms.id, self.arms.features)
        if not len(self.of_sum):
            return of_arms
        of_slots = np.empty((len(self), of_arms.shape[1]))
        of_slots[self.of_arm] = of_arms
        for slot, part in zip(self.of_sum, self._parts(), strict=True):
            of_sum = values(self._id[part], self._features[part])
            of_slots[slot] = _sums(self._weight[part], of_sum, _FIRST)[0]
        return of_slots

    def _parts(self) -> list[slice]:
        """Return the places of each sum's arms."""
        ends = [*self._start[1:].tolist(), len(self._id)]
        return [slice(*ends) for ends in zip(self._start.tolist(), ends, strict=True)]

    def with_arms(self, edge: IntArray, features: FloatArray) -> FloatArray:
        """Return the prior covariance of the slots with arms, (D, a) Wh²."""
        return self.over(lambda e, f: self._kernel(e, f, edge, features))

    def of_arms(self, edge: IntArray, features: FloatArray) -> FloatArray:
        """Return the prior covariance of arms with the slots, (a, D) Wh²."""
        return self.over(lambda e, f: self._kernel(edge, features, e, f).T).T

    def among(self, slots: IntArray) -> FloatArray:
        """Return the prior covariance of all slots with some of them, (D, s) Wh²."""
        if not len(self.of_sum):
            return self.with_arms(self.arms.id[slots], self.arms.features[slots])
        of_all = self.over(lambda e, f: self.with_arms(e, f).T)
        return np.ascontiguousarray(of_all[slots].T)

    def rows_of(self, total: Total, arms: Arms) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the prior covariances of a sum with slots, itself and arms, as one row each.

        Parameters
        ----------
        total
            Arms and weights of the sum.
        arms
            The a arms.

        Returns
        -------
        tuple
            (1, D), (1, 1) and (1, a), Wh².
        """
        edge, features = total.id, total.features

        def row(with_sum: FloatArray) -> FloatArray:
            return _sums(total.weight, with_sum, _FIRST)

        own = row(row(self._kernel(edge, features, edge, features)).T)
        with_arms = row(self._kernel(edge, features, arms.id, arms.features))
        return row(self.with_arms(edge, features).T), own, with_arms

    @staticmethod
    def shapes(state: State, size: int, n_features: int) -> dict[str, tuple[int, ...]]:
        """Return the shape of each array of a state with ``size`` slots, by its name.

        Parameters
        ----------
        state
            State with the arrays.
        size
            Number of slots.
        n_features
            Number of context features.
        """
        n_sums, in_sums = len(state.get("sum_slot", ())), len(state.get("sum_edge", ()))
        arms: dict[str, tuple[int, ...]] = {"edge": (size - n_sums,)}
        arms["features"] = (size - n_sums, n_features)
        if not n_sums:
            return arms
        sums: dict[str, tuple[int, ...]] = {"sum_features": (in_sums, n_features)}
        sums |= dict.fromkeys(("sum_slot", "sum_start", "sum_noise_wh2"), (n_sums,))
        return arms | sums | dict.fromkeys(("sum_edge", "sum_weight"), (in_sums,))

    def sums_state(self) -> State:
        """Return the sums as arrays, or empty if there are none."""
        if not len(self.of_sum):
            return {}
        sums = {
            "sum_slot": self.of_sum,
            "sum_start": self._start,
            "sum_edge": self._id,
            "sum_features": self._features,
            "sum_weight": self._weight,
            "sum_noise_wh2": self._noise_wh2,
        }
        return {name: array.copy() for name, array in sums.items()}

    def restore(self, state: State) -> None:
        """Take over the arms and the sums of a state."""
        self.arms.append(state["edge"], state["features"])
        self.of_sum = state.get("sum_slot", self.of_sum)
        size = len(state["edge"]) + len(self.of_sum)
        self.of_arm = np.setdiff1d(np.arange(size), self.of_sum)
        if not len(self.of_sum):
            return
        self._start, self._id = state["sum_start"], state["sum_edge"]
        self._features, self._weight = state["sum_features"], state["sum_weight"]
        self._noise_wh2 = state["sum_noise_wh2"]
        for slot, part in zip(self.of_sum.tolist(), self._parts(), strict=True):
            key = _key(self._id[part], self._features[part], self._weight[part])
            self._slot_of[key] = slot


def _sums(weight: FloatArray, values: FloatArray, start: IntArray) -> FloatArray:
    """Return weighted sums (S, a) over rows of values (t, a), each from its start on.

    Without BLAS: a row computed again after a restart is the same to the last bit.
    """
    return np.add.reduceat(weight[:, np.newaxis] * values, start, axis=0)


def _key(ids: IntArray, features: FloatArray, weight: FloatArray) -> tuple[bytes, bytes, bytes]:
    return ids.tobytes(), (features + 0.0).tobytes(), weight.tobytes()
