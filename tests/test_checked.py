"""Arrays on disk come back as they were, or not at all."""

import numpy as np
import pytest

from evroute.checked import digest_of, read_arrays, read_mapped, write_arrays, write_mapped
from evroute.errors import DamagedFileError

ARRAYS = {
    "numbers": np.arange(6.0).reshape(2, 3),
    "columns": np.asfortranarray(np.arange(6).reshape(2, 3)),
    "none": np.empty((0, 4)),
    "text": np.array(["a", "Straße"]),
    "one": np.array(7),
}


def test_arrays_come_back(tmp_path) -> None:
    write_arrays(tmp_path / "a.npz", ARRAYS)
    again = read_arrays(tmp_path / "a.npz")
    assert again.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(again[name], array)


def test_the_digest_is_of_names_types_shapes_and_values() -> None:
    digests = {
        digest_of(each)
        for each in (
            {"a": np.zeros(4)},
            {"b": np.zeros(4)},
            {"a": np.zeros(4, dtype=int)},
            {"a": np.zeros((2, 2))},
            {"a": np.array([0.0, 0.0, 0.0, 1e-300])},
        )
    }
    assert len(digests) == 5
    assert digest_of({"a": np.arange(8)[::2]}) == digest_of({"a": np.array([0, 2, 4, 6])})


def test_no_change_of_one_byte_is_read_as_other_numbers(tmp_path) -> None:
    path = tmp_path / "a.npz"
    write_arrays(path, ARRAYS)
    whole = path.read_bytes()
    rng = np.random.default_rng(5)
    refused = 0
    for place in rng.integers(len(whole), size=150):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        try:
            again = read_arrays(path)
        except DamagedFileError:
            refused += 1
        else:  # a byte that nothing reads, such as a date
            assert digest_of(again) == digest_of(ARRAYS)
    assert refused > 50


@pytest.mark.parametrize("array", list(ARRAYS.values())[:3])
def test_a_mapped_array_comes_back(tmp_path, array) -> None:
    path = tmp_path / "a.npy"
    write_mapped(path, array)
    again = read_mapped(path)
    np.testing.assert_array_equal(again, array)
    assert again.dtype == array.dtype
    assert np.array_equal(np.load(path), array), "other programs read it too"
    if array.size:
        with pytest.raises(ValueError, match="read-only"):
            again[0] = 1


def test_every_change_of_a_mapped_array_is_noticed(tmp_path) -> None:
    path = tmp_path / "a.npy"
    write_mapped(path, np.arange(5.0))
    whole = path.read_bytes()
    header = len(whole) - 32 - 5 * 8
    for place in range(header, len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(DamagedFileError, match=r"a\.npy is damaged"):
            read_mapped(path)
    for end in range(0, len(whole), 7):
        path.write_bytes(whole[:end])
        with pytest.raises(DamagedFileError, match=r"a\.npy is damaged"):
            read_mapped(path)
