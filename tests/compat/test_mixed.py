"""A folder whose belief mixed two physics is learned again from its measured trips."""

from pathlib import Path
from shutil import copytree

import numpy as np
import pytest

import evroute
from evroute import physics_belief
from evroute.errors import DamagedFileError
from evroute.learning.learn import learn
from evroute.learning.records.parts import read_parts
from evroute.learning.records.repair import repair

HERE = Path(__file__).parent
NETWORK = str(HERE / "denver.npz")


@pytest.mark.parametrize("command", ["learn", "repair"])
def test_a_folder_that_mixed_two_physics_is_learned_again(tmp_path: Path, command: str) -> None:
    """The trips are those recorded, and the belief is that of the same trips in a new folder."""
    folder = copytree(HERE / "mixed", tmp_path / "old")
    network = evroute.load_network(NETWORK)
    with pytest.raises(
        DamagedFileError, match=r"mixes two physics.*evroute learn --repair"
    ) as said:
        evroute.load_belief(folder, network=network)
    assert "\n" not in str(said.value)
    parts = {path.name: path.read_bytes() for path in (folder / "measured").iterdir()}
    if command == "repair":
        repair(folder, network=network)
    else:
        learn(None, folder, network=network)
    again = evroute.load_belief(folder, network=network)
    assert {path.name: path.read_bytes() for path in (folder / "measured").iterdir()} == parts
    trips = read_parts(folder, network).values()
    alone = physics_belief(network, "nissan-leaf-40")
    for trip in trips:
        alone.learn(trip)
    assert again.trips == len(trips) == 2
    for name, numbers in alone.state().items():
        np.testing.assert_array_equal(again.state()[name], numbers, err_msg=name)
