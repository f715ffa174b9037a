"""A packed symmetric matrix against the square of the same numbers."""

import numpy as np
import pytest

from evroute.model.packed import Packed


@pytest.mark.parametrize("size", [0, 1, 7, 128, 300])  # 300: two blocks and a part
def test_entries_columns_and_products_equal_the_square_matrix(size) -> None:
    rng = np.random.default_rng(size)
    square = rng.normal(size=(size, size))
    square += square.T
    packed = Packed.of(np.pad(np.tril(square), (0, 3)), size)
    assert len(packed.numbers) == size * (size + 1) // 2
    row, column = np.tril_indices(size)
    np.testing.assert_array_equal(packed.at(row, column), square[row, column])
    for number, below in enumerate(packed.columns()):
        np.testing.assert_array_equal(below, square[number:, number])
    left = rng.normal(size=(3, size))
    np.testing.assert_allclose(packed.after(left), left @ square, atol=1e-11)
