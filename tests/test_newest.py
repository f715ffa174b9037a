"""Values by the version of their source."""

import gc
import weakref

import pytest

from evroute.newest import Newest


class Value:
    """An object that a weak reference can watch."""


def test_a_value_is_made_once_a_version_and_the_older_one_is_dropped_before() -> None:
    kept, made = Newest[Value](), []

    def make() -> Value:
        gc.collect()
        assert all(each() is None for each in made)
        value = Value()
        made.append(weakref.ref(value))
        return value

    assert kept.of(1, make) is kept.of(1, make)
    kept.of((2, "b"), make)
    assert len(made) == 2


def test_a_value_that_cannot_be_made_is_asked_for_again() -> None:
    kept = Newest[int]()
    with pytest.raises(ZeroDivisionError):
        kept.of(1, lambda: 1 // 0)
    assert kept.of(1, lambda: 5) == 5
