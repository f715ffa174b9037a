"""A folder with several types in one belief says how to split it, and loses no trip by that."""

from pathlib import Path
from shutil import copytree

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import evroute
from evroute.errors import EvrouteError
from evroute.learning.learn import learn
from evroute.learning.records.repair import repair

HERE = Path(__file__).parent
NETWORK = str(HERE / "denver.npz")
LINE = r"\A.+ has several types of cars in one belief. .*: evroute learn --repair \S+\Z"


def test_a_folder_of_several_types_is_split_by_one_command_alone(tmp_path: Path) -> None:
    folder, network = copytree(HERE / "types", tmp_path / "old"), evroute.load_network(NETWORK)
    before = {path: path.read_bytes() for path in folder.rglob("*.*") if path.is_file()}
    with pytest.raises(EvrouteError, match=LINE):
        evroute.load_belief(folder, network=network)
    with pytest.raises(EvrouteError, match=LINE):
        learn(None, folder, network=network)
    assert {path: path.read_bytes() for path in folder.rglob("*.*") if path.is_file()} == before
    learned = repair(folder, network=network)
    assert learned.trips.num_rows == 8
    rows = pq.read_table(HERE / "types" / "measured" / "0001.parquet")
    columns = ["trip", "car", "edge", "energy_wh"]
    parts = {name: folder / name / "measured" / "0001.parquet" for name in learned.by_type}
    split = pa.concat_tables([pq.read_table(path, columns=columns) for path in parts.values()])
    order = [("trip", "ascending")]
    assert split.sort_by(order) == rows.select(columns).sort_by(order).replace_schema_metadata()
    for car, vehicle in (("leaf-1", "nissan-leaf-40"), ("van-1", "ford-e-transit")):
        belief = evroute.load_belief(folder, network=network, car=car)
        assert (belief.vehicle.name, belief.trips, belief.cars) == (vehicle, 4, (car,))
        alone = learn(parts[vehicle], tmp_path / vehicle, network=network, vehicle=vehicle)
        fresh = evroute.load_belief(alone.folder, network=network)
        for name, numbers in fresh.state().items():
            assert (belief.state()[name] == numbers).all(), name
