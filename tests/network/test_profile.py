"""Heights inside edges: sampled, smoothed, stored, carried over, and refused where damaged."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import closures
import numpy as np
import pytest
from scipy.optimize import minimize

from evroute.errors import EvrouteError, NetworkFormatError, UnknownNameError
from evroute.network import store
from evroute.network.catalog import build
from evroute.network.heights.profile import on_terrain, sampled
from evroute.network.road_network import RoadNetwork
from evroute.network.sources import sumo_net

MakeNetwork = Callable[..., RoadNetwork]
X0, Y0 = 500_000.0, 4_800_000.0


def ridge_raster(path: Path, *, cell_m: float = 100.0, hole: int | None = None) -> Path:
    """Write a ridge along the y axis, 60 m high at X0 + 1,000 m and 0 m beyond 500 m of it.

    ``hole``: a column of cells without data.
    """
    rasterio = pytest.importorskip("rasterio")
    columns = round(2200 / cell_m)
    x_m = -100.0 + cell_m * (np.arange(columns) + 0.5)
    cells = np.tile(np.maximum(60.0 - 0.12 * np.abs(x_m - 1000.0), 0.0), (12, 1))
    if hole is not None:
        cells[:, hole] = -9999.0
    transform = rasterio.Affine(cell_m, 0.0, X0 - 100.0, 0.0, -cell_m, Y0 + 6.0 * cell_m)
    shape = {"height": 12, "width": columns, "count": 1, "nodata": -9999.0}
    options = {"driver": "GTiff", "dtype": "float32", "crs": "EPSG:32632", "transform": transform}
    with rasterio.open(path, "w", **shape, **options) as target:
        target.write(cells.astype(np.float32), 1)
    return path


@pytest.fixture
def road(make_network: MakeNetwork) -> RoadNetwork:
    """One road of 2 km across the ridge, there and back, with both ends at 0 m."""
    places = [(X0, Y0, 0.0), (X0 + 2000.0, Y0, 0.0)]
    return make_network([("there", 0, 1), ("back", 1, 0)], places)


def with_profile(network: RoadNetwork, *rasters: Path, **options: float) -> RoadNetwork:
    tables, notes = sampled(network, network, rasters, **{"smoothing_m": 0.0} | options)
    source = replace(network.source, notes=notes)
    return replace(network, source=source).with_tables(tables)


def test_a_road_over_a_ridge_climbs_it_and_ends_where_it_began(
    road: RoadNetwork, tmp_path: Path
) -> None:
    over = with_profile(road, ridge_raster(tmp_path / "ridge.tif"), spacing_m=50.0)
    assert over.climb_m.tolist() == [0.0, 0.0]
    # bilinear between cell centres at 950 and 1,050 m: the top is cut off at 54 m
    assert over.ascent_m == pytest.approx([54.0, 54.0], abs=1e-3)
    assert over.descent_m == pytest.approx([54.0, 54.0], abs=1e-3)
    pieces = over.pieces
    assert pieces is not None
    assert np.diff(pieces.start).tolist() == [40, 40]
    assert pieces.length_m == pytest.approx(50.0)
    assert pieces.climb_m[:40] == pytest.approx(-pieces.climb_m[40:][::-1], abs=1e-4)
    assert pieces.climb_m[14] == pytest.approx(6.0, abs=1e-3)
    assert "2 of 2 edges have several slopes" in over.source.notes[-1]


def test_without_the_table_an_edge_has_one_slope(hill: RoadNetwork) -> None:
    assert hill.pieces is None
    assert hill.ascent_m.tolist() == np.maximum(hill.climb_m, 0.0).tolist()
    assert hill.descent_m.tolist() == np.maximum(-hill.climb_m, 0.0).tolist()
    bump = {"start": np.array([0, 1, *[1] * 6]), "height_m": np.float32([5.0])}
    assert hill.with_tables({"profile": bump}).ascent_m[0] == 5.0  # not that without the table
    assert on_terrain(hill, None) is hill
    assert on_terrain(hill, "edge") is hill
    with pytest.raises(EvrouteError, match="'hill' has no profile"):
        on_terrain(hill, "profile")
    with pytest.raises(UnknownNameError, match=r"unknown terrain 'hills'. There are edge, profile"):
        on_terrain(hill, "hills")


def test_bridges_and_tunnels_stay_straight(road: RoadNetwork, tmp_path: Path) -> None:
    bridge = replace(road, structure=np.array([1, 0]))
    over = with_profile(bridge, ridge_raster(tmp_path / "ridge.tif"))
    assert over.ascent_m == pytest.approx([0.0, 54.0], abs=1.0)


def test_a_hole_is_straight_between_with_one_line(road: RoadNetwork, tmp_path: Path) -> None:
    over = with_profile(road, ridge_raster(tmp_path / "ridge.tif", hole=11), spacing_m=40.0)
    # the hole takes the heights above 950 and below 1,150 m: straight from 920 to 1,160 m
    assert over.pieces is not None
    assert over.ascent_m == pytest.approx([50.4, 50.4], abs=1e-3)
    assert over.pieces.climb_m[23:29] == pytest.approx(-1.6, abs=1e-3)
    (line,) = [note for note in over.source.notes if "unknown" in note]
    assert line == (
        "profile: 10 of 98 heights inside edges are unknown. The road is straight there"
    )


def test_coarse_cells_are_not_sampled(road: RoadNetwork, tmp_path: Path) -> None:
    flat = with_profile(road, ridge_raster(tmp_path / "coarse.tif", cell_m=200.0))
    assert flat.pieces is None
    assert flat.source.notes == (
        "profile: cells of 200 m (coarse.tif) show no terrain inside edges",
    )


def test_the_smoothing_minimises_the_documented_sum(
    make_network: MakeNetwork, road: RoadNetwork, tmp_path: Path
) -> None:
    path = ridge_raster(tmp_path / "ridge.tif")
    raw = with_profile(road, path, spacing_m=200.0)
    smooth = with_profile(road, path, spacing_m=200.0, smoothing_m=45.0)
    assert raw.pieces is not None
    assert smooth.pieces is not None
    d0, h = np.cumsum(raw.pieces.climb_m[:9]), 200.0
    strength = 45.0 * (100.0 / 30.0) ** 2

    def cost(d: np.ndarray) -> float:
        steps = np.diff(np.concatenate([[0.0], d, [0.0]]))
        return float(h / 60.0 * ((d - d0) ** 2).sum() + strength * (steps**2).sum() / h)

    least = minimize(cost, d0, tol=1e-12).x
    assert np.cumsum(smooth.pieces.climb_m[:9]) == pytest.approx(least, abs=1e-3)


@pytest.mark.parametrize("spacing_m", [10.0, 30.0, 60.0])
def test_the_ascent_hardly_depends_on_the_spacing(
    road: RoadNetwork, tmp_path: Path, spacing_m: float
) -> None:
    path = ridge_raster(tmp_path / "ridge.tif")
    over = with_profile(road, path, spacing_m=spacing_m, smoothing_m=30.0)
    assert over.ascent_m == pytest.approx([42.4, 42.4], abs=0.3)


def test_no_piece_is_steeper_than_a_quarter_or_than_its_edge(
    make_network: MakeNetwork, tmp_path: Path
) -> None:
    places = [(X0, Y0, 0.0), (X0 + 2000.0, Y0, 0.0), (X0 + 2000.0, Y0 + 100.0, 40.0)]
    steep = make_network([("over", 0, 1), ("up", 1, 2), ("down", 2, 1), ("back", 1, 0)], places)
    rasterio = pytest.importorskip("rasterio")
    with rasterio.open(ridge_raster(tmp_path / "ridge.tif"), "r+") as target:
        target.write(10.0 * target.read())
    over = with_profile(steep, tmp_path / "ridge.tif", spacing_m=20.0)
    assert over.pieces is not None
    slope = np.abs(over.pieces.climb_m / over.pieces.length_m)
    assert slope[: over.pieces.start[1]].max() == pytest.approx(0.25, abs=1e-4)
    assert over.pieces.climb_m[slice(*over.pieces.start[1:3])] == pytest.approx(8.0, abs=1e-4)
    assert over.source.notes[-1] == "profile: 2 edges are held at 25% inside"


def test_a_stored_profile_comes_back_and_a_damaged_one_is_refused(
    road: RoadNetwork, tmp_path: Path
) -> None:
    over = with_profile(road, ridge_raster(tmp_path / "ridge.tif"))
    store.save(over, tmp_path / "road.npz")
    loaded = store.load(tmp_path / "road.npz")
    assert loaded.content_digest == over.content_digest
    assert loaded.pieces is not None
    assert over.pieces is not None
    assert loaded.pieces.digest == over.pieces.digest
    assert loaded.digest == road.digest
    one_slope = on_terrain(loaded, "edge")
    assert one_slope.pieces is None
    assert one_slope.ascent_m.tolist() == [0.0, 0.0]
    start, height_m = over.tables["profile"]["start"], np.array(over.tables["profile"]["height_m"])
    height_m[3] = np.nan
    for table in ({"start": start, "height_m": height_m}, {"start": start[:-1]}, {}):
        with pytest.raises(NetworkFormatError, match="profile of network 'toy' is damaged"):
            _ = road.with_tables({"profile": table}).pieces


def test_closing_roads_keeps_the_profiles_of_the_others(
    make_network: MakeNetwork, tmp_path: Path
) -> None:
    places = [(X0, Y0, 0.0), (X0 + 2000.0, Y0, 0.0), (X0 + 2000.0, Y0 + 300.0, 0.0)]
    edges = [("there", 0, 1), ("on", 1, 2), ("too", 1, 2), ("back", 2, 0)]
    over = with_profile(make_network(edges, places), ridge_raster(tmp_path / "ridge.tif"))
    left = closures.close(over, np.array([False, True, False, False]), "left")
    assert over.pieces is not None
    assert left.pieces is not None
    assert left.ascent_m == pytest.approx(over.ascent_m[[0, 2, 3]])
    assert left.ascent_m[0] > 40.0


SUMO = """<net><location netOffset="-500000,-4800000" convBoundary="0,0,1,1" origBoundary="0,0,1,1"
 projParameter="+proj=utm +zone=32 +ellps=WGS84 +datum=WGS84 +units=m +no_defs"/>
<junction id="A" type="priority" x="0" y="0" z="0"/>
<junction id="B" type="priority" x="600" y="0" z="0"/>
<edge id="ab" from="A" to="B" shape="0,0,0 300,0,30 600,0,{end}">
<lane id="ab_0" index="0" speed="15" length="600" shape="0,0,0 600,0,0"/></edge>
<edge id="ba" from="B" to="A"><lane id="ba_0" index="0" speed="15" length="600" shape="600,0 0,0"/>
</edge>
<connection from="ab" to="ba" fromLane="0" toLane="0"/>
<connection from="ba" to="ab" fromLane="0" toLane="0"/>
</net>"""


@pytest.mark.parametrize(("end", "ascent_m"), [("0", 30.0), ("9", 0.0)])
def test_sumo_shapes_give_heights_unless_they_end_off_their_junctions(
    tmp_path: Path, end: str, ascent_m: float
) -> None:
    path = tmp_path / "town.net.xml"
    path.write_text(SUMO.replace("{end}", end), encoding="utf-8")
    built = build(sumo_net.read(path, "town", "junctions"), smoothing_m=0.0)
    assert built.ascent_m == pytest.approx([ascent_m, 0.0], abs=1e-3)
