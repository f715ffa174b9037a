"""Street names of a second source by geometry."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from evroute.network.places import names
from evroute.network.places.street_names import add_names
from evroute.network.road_network import RoadNetwork
from evroute.network.source import Source

X, Y = 500_000.0, 4_800_000.0


def shifted(network: RoadNetwork, rng: np.random.Generator) -> RoadNetwork:
    """Return a network 3 m to the south-east, each shape point 1 m off in addition."""
    noise = rng.normal(0, 1, (2, len(network.shape_x_m)))
    return replace(
        network,
        shape_x_m=network.shape_x_m + 3 + noise[0],
        shape_y_m=network.shape_y_m - 3 + noise[1],
        source=Source(kind="osm", files=("second.osm",), attribution="second"),
    )


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_denver_without_names_gets_its_own_back(denver: RoadNetwork, missing: float) -> None:
    rng = np.random.default_rng(1)
    streets = sorted(set(denver.street))
    gone = set(rng.choice(streets, int(missing * len(streets)), replace=False))
    donor = shifted(denver.subset(np.array([s not in gone for s in denver.street])), rng)
    named = add_names(replace(denver, street=("",) * denver.n_edges), donor)
    pairs = list(zip(named.street, denver.street, strict=True))
    got = [own == true for own, true in pairs if own]
    wanted = [bool(own) for own, true in pairs if true and true not in gone]
    assert np.mean(got) >= 0.99  # a street that is missing there must not borrow its neighbour's
    assert np.mean(wanted) >= 0.98
    count, total = len(got), denver.n_edges
    assert f"second.osm: {count:,} of {total:,} unnamed edges, " in named.source.notes[-1]
    assert named.source.attribution.endswith("; second")
    if not missing:
        assert len(names.labels(named)) > 0.95 * len(names.labels(denver))


def test_own_names_stay_and_crossing_or_far_streets_give_none(
    make_network: Callable[..., RoadNetwork],
) -> None:
    def roads(*lines: tuple[float, float, float, float, str]) -> RoadNetwork:
        network = make_network(
            [(f"e{k}", 2 * k, 2 * k + 1) for k in range(len(lines))],
            [(X + line[k], Y + line[k + 1], 0.0) for line in lines for k in (0, 2)],
        )
        return replace(network, street=tuple(line[4] for line in lines))

    own = roads(
        (0, 0, 200, 0, ""), (0, 100, 200, 100, "Mine"), (0, 300, 30, 300, ""), (0, 500, 9, 500, "")
    )
    donor = roads(
        (200, 8, 0, 8, "Other way"),
        (0, 100, 200, 100, "Yours"),
        (15, 250, 15, 350, "Across"),
        (0, 521, 9, 521, "Far"),
    )
    assert add_names(own, donor).street == ("Other way", "Mine", "", "")


def test_places_of_both_are_kept_and_a_second_pass_adds_nothing(denver: RoadNetwork) -> None:
    lon, lat = (float(each[0]) for each in denver.junction_lon_lat)
    donor = denver.with_tables({"places": names.place_table([("Car park", lon, lat)])})
    named = add_names(denver, donor)
    assert "Car park" in names.labels(named)
    assert named.street == denver.street
    assert "Car park" in names.labels(add_names(named, denver))


@pytest.mark.data
def test_monaco_of_the_data_folder_has_streets_and_places(monaco: RoadNetwork) -> None:
    assert {"Rue Grimaldi", "Boulevard des Moulins"} <= set(monaco.street)
    assert {"Casino de Monte Carlo", "Avenue d'Ostende & Avenue de la Costa"} <= set(
        names.labels(monaco)
    )
    assert "795 of 3,475 unnamed edges, 65.5 of 476.9 km" in monaco.source.notes[-1]
    assert replace(monaco, street=("",) * monaco.n_edges).digest == monaco.digest
    lon, lat = monaco.junction_lon_lat
    (place,) = names.find(monaco, "casino de monte-carlo")
    assert np.hypot(lon - place.lon, lat - place.lat).min() < 0.002
