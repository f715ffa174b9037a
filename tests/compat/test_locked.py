"""Folders that a trip with an odd number locked heal by the next ``evroute learn``."""

from math import isnan
from pathlib import Path
from shutil import copytree

import pytest

import evroute
from evroute.learning.learn import learn

HERE = Path(__file__).parent
NETWORK = str(HERE / "denver.npz")


@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("departed", "departed_s of trip 'odd' is left out: -60 s, expected 0 to 4102444800"),
        ("travel160", "travel_s of trip 'odd' is left out: 26 of 26 times, such as 1e+160 s"),
        ("travel150", "travel_s of trip 'odd' is left out: 26 of 26 times, such as 1e+150 s"),
    ],
)
def test_a_locked_folder_heals(tmp_path: Path, name: str, note: str) -> None:
    """It has trip A, an odd trip, and one that came after the lock; another one is learned."""
    folder = copytree(HERE / "locked" / name, tmp_path / name)
    first, *lines = (HERE / "trips.csv").read_text().splitlines()
    driven = [line.replace("A,", "next,", 1) for line in lines if line.startswith("A,")]
    table = tmp_path / "next.csv"
    table.write_text("\n".join([first, *driven]))
    healed = learn(table, folder, network=NETWORK, vehicle=None)
    assert any(each.startswith(note) for each in healed.notes)
    rows = {row["trip"]: row for row in healed.trips.to_pylist()}
    assert list(rows) == ["A", "odd", "later", "next"]
    assert rows["odd"]["energy_wh"] == pytest.approx(rows["later"]["energy_wh"])
    assert isnan(rows["odd"]["travel_s"]) == (name != "departed")
    learned = evroute.load_belief(folder, network=evroute.load_network(NETWORK))
    route = evroute.plan(NETWORK, trip="B", belief=learned).routes["energy"]
    assert 20.0 < route.time_s < 600.0
    assert 100.0 < route.energy_wh < 1000.0
    files = sorted(path.name for path in (folder / "measured").iterdir())
    assert files == ["0001.parquet", "0002.parquet", "0003.parquet", "0004.parquet"]
    again = learn(table, folder, network=NETWORK, vehicle=None)
    assert (again.new, again.known, again.trips.num_rows) == (0, 1, 4)
    assert not any("left out" in each for each in again.notes)
