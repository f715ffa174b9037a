"""Charging stations from three formats, on a network of two streets and a motorway."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evroute.errors import EvrouteError
from evroute.network import catalog, store
from evroute.network.road_network import RoadNetwork
from evroute.network.sources.charger_files import Socket, Station
from evroute.network.sources.chargers import add_chargers, edges_at, stations


@pytest.fixture
def town(make_network: Callable[..., RoadNetwork]) -> RoadNetwork:
    """A two-way street eastwards of 500,000 E 5,400,000 N (zone 32), and a motorway 1 km north."""
    corners = [(5e5, 5.4e6, 0.0), (5.01e5, 5.4e6, 0.0), (5e5, 5.401e6, 0.0), (5.01e5, 5.401e6, 0.0)]
    edges = [("east", 0, 1), ("west", 1, 0), ("fast", 2, 3), ("back", 3, 0), ("up", 1, 2)]
    roads = ("residential", "residential", "motorway", "primary", "primary")
    return replace(make_network(edges, corners, name="town"), road_class=roads)


def place(network: RoadNetwork, east_m: float, north_m: float) -> tuple[float, float]:
    """Return longitude and latitude of a position from the first junction."""
    from evroute.network.coordinates import WGS84, transformer

    return transformer(network.crs, WGS84).transform(5e5 + east_m, 5.4e6 + north_m)


def station(title: str, at: tuple[float, float], *sockets: dict, **others: int) -> dict:
    about = {"Title": title, "Longitude": at[0], "Latitude": at[1]}
    return {"AddressInfo": about, "Connections": list(sockets), "StatusTypeID": 50, **others}


def test_an_open_charge_map_export_is_read_counted_and_merged(
    town: RoadNetwork, tmp_path: Path
) -> None:
    type2 = {"ConnectionTypeID": 25, "PowerKW": 22.0}
    near = place(town, 300, 20)
    listed = [
        station("Market", near, type2, {"ConnectionTypeID": 33, "PowerKW": 50}, ID=9109)
        | {"OperatorInfo": {"Title": "Grid; Co"}},
        # 11 kW assumed
        station("Market again", place(town, 320, 15), {"ConnectionTypeID": 25}, ID=7),
        station("Planned", near, type2, StatusTypeID=150),
        station("Its sockets are removed", near, type2 | {"StatusTypeID": 200}),
        station("Staff", near, type2, UsageTypeID=6),
        station("Far", place(town, 300, -900), type2),
        station("On the motorway", place(town, 500, 1020), type2),
        station("Unknown plug", near, {"ConnectionTypeID": 0}),
        station("Park", place(town, 800, 5), {"ConnectionTypeID": 28}),
    ]
    path = tmp_path / "ocm.json"
    path.write_text(json.dumps(listed))
    network, counts = add_chargers(town, path)
    assert [(each.name, each.sockets) for each in stations(network)] == [
        ("Market", (Socket("ac", 22.0), Socket("ccs", 50.0), Socket("ac", 11.0, "power"))),
        ("Park", (Socket("household", 2.3, "power"),)),
    ]
    assert [(each.id, each.network) for each in stations(network)] == [
        ("9109, 7", "Grid, Co"),
        ("", ""),
    ]
    assert [edges_at(network, each) for each in stations(network)] == [(0, 1), (0, 1)]
    assert counts == {
        "left out: planned or closed": 2,
        "left out: private": 1,
        "left out: more than 200 m from a road to stop on": 2,
        "left out: without a socket that cars have": 1,
        "same place twice: merged": 1,
        "power assumed: 11 kW for ac": 1,
        "power assumed: 2.3 kW for household": 1,
        "stations used": 2,
    }
    assert "Open Charge Map contributors" in network.source.attribution
    store.save(network, tmp_path / "town.npz")
    assert stations(catalog.load_network(tmp_path / "town.npz")) == stations(network)


def test_openstreetmap_is_read(
    town: RoadNetwork, tmp_path: Path, osm_text: Callable[..., str]
) -> None:
    pytest.importorskip("osmium")
    charger = {"amenity": "charging_station"}
    tags = {
        1: charger
        | {"name": "Square", "socket:type2": "2", "socket:type2:output": "22 kW"}
        | {"network": "Chargy", "operator": "City"},
        2: charger | {"operator": "Fast", "socket:type2_combo": "1", "socket:chademo": "no"},
        3: charger | {"name": "Mine", "access": "private", "socket:type2": "1"},
        4: charger | {"name": "Gone", "disused": "yes", "socket:type2": "1"},
        5: charger | {"name": "Sockets unknown"},
        6: {"amenity": "cafe", "socket:type2": "1"},
        7: charger | {"name": "Power alone", "charging_station:output": "22000"},
    }
    spots = {node: place(town, 100.0 * node, 10) for node in tags}
    nodes = {node: (1000 * (lon - 6), 1000 * (lat - 49)) for node, (lon, lat) in spots.items()}
    path = tmp_path / "town.osm"
    path.write_text(osm_text(nodes, {}, node_tags=tags))
    network, counts = add_chargers(town, path)
    assert [(each.name, each.sockets) for each in stations(network)] == [
        ("Square", (Socket("ac", 22.0),)),
        ("Fast", (Socket("ccs", 50.0, "power"),)),
        ("Power alone", (Socket("ac", 22.0, "socket"),)),
    ]
    assert [(each.id, each.network) for each in stations(network)] == [
        ("node/1", "Chargy"),
        ("node/2", "Fast"),
        ("node/7", ""),
    ]
    assert stations(network)[0].words == "Square (Chargy): ac 22 kW"
    assert counts["left out: planned or closed"] == counts["left out: private"] == 1
    assert counts["left out: without a socket that cars have"] == 1
    assert counts["power assumed: 50 kW for ccs"] == 1


def test_a_table_is_read(town: RoadNetwork, tmp_path: Path) -> None:
    lon, lat = place(town, 300, 20)
    path = tmp_path / "own.csv"
    path.write_text(
        "name,lat,lon,socket,kw,status,id,network\n"
        f"Depot,{lat},{lon},type2,7.4,,D1,Quick\nDepot,{lat},{lon},ccs,,open,D1,Quick\n"
        f"Later,{lat},{lon},ccs,50,planned,,\n"
    )
    network, counts = add_chargers(town, path)
    (found,) = stations(network)
    assert (found.id, found.network) == ("D1", "Quick")
    assert (found.name, found.sockets) == (
        "Depot",
        (Socket("ac", 7.4), Socket("ccs", 50.0, "power")),
    )
    assert counts["left out: planned or closed"] == 1


def test_prices_of_a_table_are_read_and_shown(town: RoadNetwork, tmp_path: Path) -> None:
    lon, lat = place(town, 300, 20)
    (tmp_path / "own.csv").write_text(
        "name,lat,lon,socket,kw,price_kwh,price_minute\n"
        f"Depot,{lat},{lon},type2,7.4,0.45,0.1\nDepot,{lat},{lon},ccs,50,,\n"
    )
    (found,) = stations(add_chargers(town, tmp_path / "own.csv")[0])
    assert found.sockets == (Socket("ac", 7.4, "", 0.45, 0.1), Socket("ccs", 50.0))
    assert found.words == "Depot: ac 7.4 kW, 0.45 a kWh, 0.1 a minute, ccs 50 kW"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "name,lat,lon\n", "lacks the column 'socket'"),
        ("a.csv", "name,lat,lon,socket\nA,49,six,ccs\n", "line 2: lat and lon"),
        ("a.csv", "name,lat,lon,socket\nA,49,6,usb\n", "line 2: unknown socket 'usb'"),
        ("a.csv", "name,lat,lon,socket,kw\nA,49,6,ccs,-3\n", "line 2: the power of a socket is -3"),
        (
            "a.csv",
            "name,lat,lon,socket,price_kwh\nA,49,6,ccs,free\n",
            "line 2: price_kwh is 'free'",
        ),
        ("a.csv", "name,lat,lon,socket,price_minute\nA,49,6,ccs,-1\n", "price_minute is '-1'. It"),
        ("a.csv", "name,lat,lon,socket\nA,49,6,ccs\n", "no station for network 'town'.*200 m"),
        ("a.json", "[{]", "cannot read stations from a.json: JSONDecodeError"),
        ("a.json", '[{"x": 1}]', "a.json: KeyError 'AddressInfo', expected a list of stations"),
        ("a.json", "[]", r"no station for network 'town' \(the file lists none\)"),
        ("a.osm", "<osm", "cannot read stations from a.osm: ExpatError"),
        ("a.txt", "", "is no .json, .csv, .osm"),
    ],
)
def test_bad_files_are_refused_in_one_line(
    town: RoadNetwork, tmp_path: Path, name: str, text: str, message: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(EvrouteError, match=message) as refused:
        add_chargers(town, path)
    assert "\n" not in str(refused.value)
    with pytest.raises(FileNotFoundError, match="missing"):
        add_chargers(town, tmp_path / "missing.csv")


def test_tables_of_spreadsheets_and_open_ends_of_exports_are_read(
    town: RoadNetwork, tmp_path: Path
) -> None:
    """A byte order mark, semicolons, decimal commas; a station without a list of sockets."""
    lon, lat = place(town, 300, 20)
    (tmp_path / "a.csv").write_text(
        f"\ufeffname;lat;lon;socket;kw\nDe\u202epot;{lat};{lon};type2;7,4\n".replace(".", ",")
    )
    (found,) = stations(add_chargers(town, tmp_path / "a.csv")[0])
    assert (found.name, found.sockets) == ("Depot", (Socket("ac", 7.4),))
    listed = [station("A", (lon, lat), {"ConnectionTypeID": 25}), station("B", (lon, lat))]
    listed[1]["Connections"] = None
    (tmp_path / "a.json").write_text(json.dumps(listed))
    assert [each.name for each in stations(add_chargers(town, tmp_path / "a.json")[0])] == ["A"]


@pytest.mark.parametrize(
    ("connection", "socket"),
    [
        ({"PowerKW": 43}, Socket("ac", 43.0, "socket")),
        ({"PowerKW": 43.5}, Socket("ccs", 43.5, "socket")),
        ({"PowerKW": 24, "CurrentTypeID": 30}, Socket("ccs", 24.0, "socket")),
        ({"Amps": 20}, Socket("ac", 4.6, "socket and power")),  # 230 V, one phase
        ({"Amps": 16, "CurrentTypeID": 20}, Socket("ac", 11.04, "socket and power")),
        ({"Amps": 200, "CurrentTypeID": 30}, None),  # a DC current of an unknown voltage
        ({}, None),
        ({"ConnectionTypeID": 8, "PowerKW": 9.6}, None),  # of the Tesla Roadster
    ],
)
def test_an_unknown_socket_is_the_usual_one_of_its_power(
    town: RoadNetwork, tmp_path: Path, connection: dict, socket: Socket | None
) -> None:
    at = place(town, 300, 20)
    sure = station("Sure", place(town, 800, 5), {"ConnectionTypeID": 33, "PowerKW": 50})
    path = tmp_path / "ocm.json"
    path.write_text(json.dumps([station("A", at, {"ConnectionTypeID": 0} | connection), sure]))
    network, counts = add_chargers(town, path)
    store.save(network, tmp_path / "town.npz")
    found = {s.name: s.sockets for s in stations(catalog.load_network(tmp_path / "town.npz"))}
    if socket is None:
        assert set(found) == {"Sure"}
        assert counts["left out: without a socket that cars have"] == 1
        return
    (read,) = found["A"]
    assert (read.kind, read.assumed) == (socket.kind, socket.assumed)
    assert read.kw == pytest.approx(socket.kw)
    assert read.words == f"{socket.kind} {socket.kw:g} kW ({socket.assumed} assumed)"
    assert counts[f"{socket.assumed} assumed: {socket.kw:g} kW for {socket.kind}"] == 1


def test_an_unknown_socket_of_a_table_needs_its_power(town: RoadNetwork, tmp_path: Path) -> None:
    (lon, lat), (east, north) = place(town, 300, 20), place(town, 800, 5)
    path = tmp_path / "own.csv"
    rows = [f"A,{lat},{lon},unknown,22", f"B,{north},{east},unknown,"]
    path.write_text("\n".join(["name,lat,lon,socket,kw", *rows]))
    network, counts = add_chargers(town, path)
    assert [(s.name, s.sockets) for s in stations(network)] == [
        ("A", (Socket("ac", 22.0, "socket"),))
    ]
    assert counts["left out: without a socket that cars have"] == 1


def test_tables_of_earlier_versions_state_all_values(town: RoadNetwork) -> None:
    lon, lat = place(town, 300, 20)
    at = {"name": ("A",), "lon": np.array([lon]), "lat": np.array([lat])}
    older = town.with_tables({"chargers": at | {"socket": ("ac",), "kw": np.array([22.0])}})
    assert stations(older)[0].sockets == (Socket("ac", 22.0),)


def test_a_damaged_table_is_refused(town: RoadNetwork) -> None:
    broken = town.with_tables({"chargers": {"name": ("A",), "lon": (6.0,), "lat": (49.0,)}})
    with pytest.raises(EvrouteError, match="Add them again"):
        stations(broken)
    assert stations(town) == ()
    assert Station("A", 6.0, 49.0, ()).name == "A"
