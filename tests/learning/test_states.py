"""Parts of a belief are stored by tables of names."""

import numpy as np
import pytest

from evroute.learning.battery_size import BatterySize
from evroute.learning.states import Kept, state_of, values_of


class Part:
    texts: tuple[str, ...] = ("a", "bc")
    none: tuple[str, ...] = ()
    numbers = np.array([1.5, np.nan])
    one = 7
    low, high = 0.1, 2.0


TABLE = {"texts": "texts", "none": "none", "n": "numbers", "one": "one", "ends": ("low", "high")}


def test_a_state_has_arrays_alone_and_gives_numbers_and_texts_back() -> None:
    state = state_of(Part(), TABLE)
    assert list(state) == list(TABLE)
    assert all(isinstance(each, np.ndarray) and each.dtype != object for each in state.values())
    assert state["none"].dtype.kind == "U"
    values = values_of(state | {"other": np.zeros(3)}, TABLE)
    assert values.pop("numbers").tolist() == pytest.approx([1.5, np.nan], nan_ok=True)
    assert values == {"texts": ("a", "bc"), "none": (), "one": 7, "low": 0.1, "high": 2.0}
    assert isinstance(values["one"], int)


def test_a_part_continues_bit_for_bit_from_its_state() -> None:
    one, other = BatterySize(), BatterySize()
    one.learn(3000.0, 9.0, 38.0, 3.0)
    other.restore(one.state())
    for each in (one, other):
        each.learn(2000.0, 5.5, 38.0, 40.0)
    assert (one.used, one.variance, one.trips) == (other.used, other.variance, other.trips)
    assert one.trips == 2


def test_a_state_that_lacks_a_name_is_refused() -> None:
    part = BatterySize()
    state = part.state()
    del state["trips"]
    with pytest.raises(KeyError):
        part.restore(state)
    assert Kept().state() == {}
