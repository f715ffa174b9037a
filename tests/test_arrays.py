"""Helpers for arrays."""

import numpy as np
import pytest

from evroute.arrays import distinct


@pytest.mark.parametrize("size", [0, 3, 40])
def test_distinct_rows_rise(size: int) -> None:
    """Three of ten rows are sorted, forty are counted."""
    rows = np.random.default_rng(0).integers(10, size=size)
    found = distinct(rows, 10)
    assert found.tolist() == sorted(set(rows.tolist()))
    assert found.dtype == np.int64
