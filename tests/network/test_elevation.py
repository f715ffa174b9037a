from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pyproj import Transformer
from scipy.optimize import minimize

from evroute.errors import EvrouteError
from evroute.network.heights import elevation
from evroute.network.road_network import RoadNetwork

rasterio = pytest.importorskip("rasterio")

MakeNetwork = Callable[..., RoadNetwork]
X0, Y0 = 500_000.0, 4_800_000.0  # metres in EPSG:32632, where the toy networks lie


def write_raster(
    path: Path,
    cells: np.ndarray,
    *,
    left: float = X0,
    top: float = Y0,
    crs: str | None = "EPSG:32632",
) -> Path:
    """Write heights on 100 m cells, rows from north to south; nan is a hole."""
    transform = rasterio.Affine(100.0, 0.0, left, 0.0, -100.0, top)
    shape = {"height": cells.shape[0], "width": cells.shape[1], "count": 1}
    kind = {"driver": "GTiff", "dtype": "float32", "nodata": -9999.0}
    with rasterio.open(path, "w", **shape, **kind, crs=crs, transform=transform) as target:
        target.write(np.where(np.isnan(cells), -9999.0, cells), 1)
    return path


def plane(rows: int = 10, columns: int = 10, *, left: float = X0, top: float = Y0) -> np.ndarray:
    """Cell centres on the plane of `height`, on which bilinear interpolation is exact."""
    x = left + 100.0 * (np.arange(columns) + 0.5)
    y = top - 100.0 * (np.arange(rows) + 0.5)
    return height(x[None, :], y[:, None])


def height(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return 300.0 + 0.02 * (x - X0) - 0.05 * (y - Y0)


@pytest.fixture
def street(make_network: MakeNetwork) -> RoadNetwork:
    """Six junctions on a line, 137 m apart, inside a raster of 1 km by 1 km at the south-east of
    (X0, Y0).
    """
    places = [(X0 + 100 + 137 * k, Y0 - 130 - 71 * k, 0.0) for k in range(6)]
    return make_network([(f"e{k}", k, k + 1) for k in range(5)], places)


def test_smoothing_two_junctions_divides_the_climb_as_the_closed_form_says(
    make_network: MakeNetwork,
) -> None:
    # d/dz of z0² + (z1 - 10)² + 30 (z1 - z0)² / 100 vanishes where the climb is 10 / (1 + 2 · 30 /
    # 100).
    network = make_network([("e", 0, 1)], [(0, 0, 0), (100, 0, 0)])
    low, high = elevation.smooth(network, np.array([0.0, 10.0]), 30.0)
    assert high - low == pytest.approx(10 / 1.6)
    assert high + low == pytest.approx(10.0)


def test_smoothing_minimises_its_objective(hill: RoadNetwork) -> None:
    s = 500.0

    def objective(z: np.ndarray) -> float:
        climb = z[hill.head] - z[hill.tail]
        return float(((z - hill.elevation_m) ** 2).sum() + s * (climb**2 / hill.length_m).sum())

    best = minimize(objective, hill.elevation_m, tol=1e-12).x
    np.testing.assert_allclose(elevation.smooth(hill, hill.elevation_m, s), best, atol=1e-4)


def test_parallel_edges_and_loops_count_as_the_objective_says(make_network: MakeNetwork) -> None:
    edges = [("a", 0, 1), ("b", 0, 1), ("c", 1, 0), ("loop", 1, 1)]
    network = make_network(edges, [(0, 0, 0), (100, 0, 0)], length_m=[100, 100, 100, 50])
    low, high = elevation.smooth(network, np.array([0.0, 10.0]), 30.0)
    assert high - low == pytest.approx(10 / (1 + 2 * 3 * 30 / 100))


def test_smoothing_with_strength_zero_changes_nothing(hill: RoadNetwork) -> None:
    assert np.array_equal(elevation.smooth(hill, hill.elevation_m, 0.0), hill.elevation_m)


@pytest.mark.parametrize("strength", [-1.0, np.nan, np.inf])
def test_an_impossible_strength_is_refused(hill: RoadNetwork, strength: float) -> None:
    with pytest.raises(ValueError, match="smoothing_m"):
        elevation.smooth(hill, hill.elevation_m, strength)


def test_set_heights_lengthens_edges_shorter_than_the_straight_line_in_space(
    make_network: MakeNetwork,
) -> None:
    network = make_network(
        [("steep", 0, 1), ("long", 1, 2)], [(0, 0, 0), (30, 0, 0), (60, 0, 0)], length_m=[30, 90]
    )
    raised = elevation.set_heights(
        network, np.array([0.0, 40, 0]), smoothing_m=0.0, described="hand", notes=("n",)
    )
    assert raised.length_m.tolist() == [50.0, 90.0]
    assert np.sin(raised.incline_rad) == pytest.approx([40 / 50, -40 / 90])
    assert (raised.source.elevation, raised.source.smoothing_m) == ("hand", 0.0)
    assert raised.source.notes[0] == "n"
    assert raised.source.notes[1].startswith("2 edges are steeper than 25%")


def test_every_closed_walk_climbs_as_much_as_it_descends(hill: RoadNetwork) -> None:
    rough = elevation.set_heights(
        hill, np.array([3.0, -8, 55, 12, 0, 9]), smoothing_m=30.0, described="noise"
    )
    over, around = ("in", "up", "down", "out", "home"), ("in", "east", "west", "out", "home")
    for loop in (over, around):
        rows = [rough.row_of[edge] for edge in loop]
        assert rough.climb_m[rows].sum() == pytest.approx(0.0, abs=1e-12)


def test_unknown_heights_lie_on_an_even_grade_between_the_known(make_network: MakeNetwork) -> None:
    edges = [("a", 0, 1), ("b", 1, 2), ("c", 2, 3)]
    network = make_network(edges, [(0, 0, 0), (10, 0, 0), (40, 0, 0), (100, 0, 0)])
    known = np.array([True, False, False, True])
    filled = elevation.fill(network, np.array([20.0, np.nan, np.nan, 30.0]), known)
    assert filled == pytest.approx([20, 21, 24, 30])


def test_a_part_without_any_known_height_is_refused(make_network: MakeNetwork) -> None:
    network = make_network([("a", 0, 1), ("b", 2, 3)], [(0, 0, 0), (1, 0, 0), (5, 0, 0), (6, 0, 0)])
    with pytest.raises(EvrouteError, match="2 junctions lie in a part"):
        elevation.fill(network, np.zeros(4), np.array([True, True, False, False]))


def test_heights_on_a_plane_are_read_exactly(street: RoadNetwork, tmp_path: Path) -> None:
    height_m, described, notes = elevation.sample(
        street, [write_raster(tmp_path / "plane.tif", plane())]
    )
    assert height_m == pytest.approx(height(street.x_m, street.y_m), abs=1e-4)
    assert (described, notes) == ("bilinear from plane.tif", ())


def test_a_raster_in_degrees_gives_the_same_heights(street: RoadNetwork, tmp_path: Path) -> None:
    west, north, cell = 8.99, 43.36, 0.001
    lon, lat = np.meshgrid(
        west + cell * (np.arange(30) + 0.5), north - cell * (np.arange(30) + 0.5)
    )
    cells = height(
        *Transformer.from_crs("EPSG:4326", "EPSG:32632", always_xy=True).transform(lon, lat)
    )
    path = tmp_path / "degrees.tif"
    kind = {
        "driver": "GTiff",
        "dtype": "float32",
        "height": 30,
        "width": 30,
        "count": 1,
        "crs": "EPSG:4326",
    }
    with rasterio.open(
        path, "w", **kind, transform=rasterio.Affine(cell, 0, west, 0, -cell, north)
    ) as target:
        target.write(cells, 1)
    height_m, *_ = elevation.sample(street, [path])
    assert height_m == pytest.approx(height(street.x_m, street.y_m), abs=0.01)


def test_tiles_side_by_side_cover_together(street: RoadNetwork, tmp_path: Path) -> None:
    west = write_raster(tmp_path / "west.tif", plane(columns=5))
    east = write_raster(tmp_path / "east.tif", plane(columns=5, left=X0 + 500), left=X0 + 500)
    far = write_raster(tmp_path / "far.tif", plane(), left=X0 + 50_000)
    height_m, _, notes = elevation.sample(street, [west, east, far])
    # Within half a cell of a seam the nearest cells of one tile count: at most half a cell of slope
    # away.
    assert height_m == pytest.approx(height(street.x_m, street.y_m), abs=0.02 * 50)
    assert notes == ("far.tif does not overlap the network",)


def long_street(make_network: MakeNetwork, *, bridge: range = range(0)) -> RoadNetwork:
    """Forty junctions, 20 m apart, heading east from (X0 + 60, Y0 - 250)."""
    places = [(X0 + 60 + 20 * k, Y0 - 250, 0.0) for k in range(40)]
    network = make_network([(f"e{k}", k, k + 1) for k in range(39)], places)
    return replace(network, structure=np.isin(np.arange(39), bridge).astype(int))


def test_holes_are_reported_and_filled_along_the_road(
    make_network: MakeNetwork, tmp_path: Path
) -> None:
    network, cells = long_street(make_network), plane()
    cells[1, 0] = (
        np.nan
    )  # junctions run along the centres of row 2, which the cell above does not touch
    cells[2, 9] = (
        np.nan
    )  # needed beyond the centre of column 8, x = 850: none is there, the last stands at x = 840
    cells[2, 5] = (
        np.nan
    )  # needed between the centres of columns 4 and 6, x = 450..650: junctions 20..29
    with pytest.raises(
        EvrouteError, match=r"25.0% of the 40 junctions have no height: 0 lie outside .* 10 in"
    ):
        elevation.sample(network, [write_raster(tmp_path / "hole.tif", cells)])

    patch = write_raster(tmp_path / "patch.tif", np.full((1, 1), 7.0), left=X0 + 500, top=Y0 - 200)
    height_m, _, notes = elevation.sample(network, [tmp_path / "hole.tif", patch])
    # The patch covers x = 500..600, junctions 22..27; 20, 21, 28 and 29 stay in the hole.
    assert notes == ("4 junctions (10.0%) lie in holes of the rasters, filled along the roads",)
    assert (height_m[22:28] == 7.0).all()
    ground_m = height(network.x_m, network.y_m)
    assert height_m[19:23] == pytest.approx(np.linspace(ground_m[19], 7.0, 4), abs=1e-4)


def test_heights_that_do_not_exist_on_earth_count_as_holes(
    make_network: MakeNetwork, tmp_path: Path
) -> None:
    cells = plane()
    cells[2, 0] = -32768.0  # needed left of the centre of column 1, x = 150: junctions 0..4
    with pytest.raises(EvrouteError, match="5 in their holes"):
        elevation.sample(long_street(make_network), [write_raster(tmp_path / "hole.tif", cells)])


def test_a_bridge_runs_straight_over_a_valley(make_network: MakeNetwork, tmp_path: Path) -> None:
    network, cells = long_street(make_network, bridge=range(15, 30)), plane()
    cells[2, 4:6] = 100.0
    height_m, _, notes = elevation.sample(network, [write_raster(tmp_path / "valley.tif", cells)])
    # the junctions inside; both ends stand on the ground
    assert notes[-1].startswith("14 junctions on bridges and in tunnels lie on the straight grade")
    assert height_m[15:31] == pytest.approx(np.linspace(*height_m[[15, 30]], 16))


def test_a_network_of_bridges_alone_keeps_the_heights_of_the_raster(
    make_network: MakeNetwork, tmp_path: Path
) -> None:
    network = long_street(make_network, bridge=range(39))
    height_m, *_ = elevation.sample(network, [write_raster(tmp_path / "plane.tif", plane())])
    assert height_m == pytest.approx(height(network.x_m, network.y_m), abs=1e-4)


def test_a_raster_that_does_not_overlap_is_refused(street: RoadNetwork, tmp_path: Path) -> None:
    far = write_raster(tmp_path / "far.tif", plane(), left=X0 + 50_000)
    with pytest.raises(EvrouteError, match=r"elevation \(far.tif\) does not overlap network 'toy'"):
        elevation.sample(street, [far])


def test_too_many_junctions_outside_are_refused_with_their_share(
    street: RoadNetwork, tmp_path: Path
) -> None:
    half = write_raster(tmp_path / "half.tif", plane(columns=5))
    with pytest.raises(
        EvrouteError, match=r"50.0% of the 6 junctions have no height: 3 lie outside"
    ):
        elevation.sample(street, [half])


@pytest.mark.data
def test_monaco_from_satellite_heights_reports_its_holes_and_bridges(
    data_dir: Path, monaco: RoadNetwork
) -> None:
    height_m, _, notes = elevation.sample(monaco, [data_dir / "monaco/dem_n43e007_3arcsec.tif"])
    holes, bridges = notes
    assert (holes.split()[0], bridges.split()[0]) == ("3", "12")
    assert np.isfinite(height_m).all()
    assert np.corrcoef(height_m, monaco.elevation_m)[0, 1] > 0.99


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "percent"), [("monaco", [4.1, 12.3, 16.6, 25.6]), ("luxembourg", [0.8, 3.0, 5.2, 9.6])]
)
def test_inclines_of_the_cities_after_smoothing(
    request: pytest.FixtureRequest, name: str, percent: list[float]
) -> None:
    city: RoadNetwork = request.getfixturevalue(name)
    inclines = 100 * np.abs(city.climb_m) / city.length_m
    assert np.percentile(inclines, [50, 95, 99, 100]) == pytest.approx(percent, abs=0.06)
