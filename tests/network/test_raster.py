from pathlib import Path

import numpy as np
import pytest

from evroute.errors import LimitError, NetworkFormatError
from evroute.network.heights import raster

rasterio = pytest.importorskip("rasterio")

CELLS = np.array([[10.0, 20.0], [30.0, 60.0]])


def write(
    path: Path,
    *,
    crs: str | None = "EPSG:32632",
    unit: str = "",
    scale: float = 1.0,
    offset: float = 0.0,
) -> Path:
    """Two by two cells of 1 m with the upper left corner at (500000, 4800000)."""
    transform = rasterio.Affine(1.0, 0.0, 500_000.0, 0.0, -1.0, 4_800_000.0)
    shape = {"height": 2, "width": 2, "count": 1, "dtype": "float32"}
    with rasterio.open(path, "w", driver="GTiff", crs=crs, transform=transform, **shape) as target:
        target.write(CELLS, 1)
        target.units = (unit,)
        target.scales, target.offsets = (scale,), (offset,)
    return path


def heights(path: Path, *places: tuple[float, float]) -> tuple[list[float], list[bool]]:
    """Heights at places given as metres right of and below the upper left corner."""
    right, below = np.array(places).T
    found = raster.heights_at(path, "EPSG:32632", 500_000 + right, 4_800_000 - below)
    return found.height_m.tolist(), found.inside.tolist()


def test_between_four_centres_the_height_is_bilinear(tmp_path: Path) -> None:
    at_centre, middle, off = (0.5, 0.5), (1.0, 1.0), (0.75, 1.25)
    # off: across 1/4 and down 3/4, so 10 · 3/16 + 20 · 1/16 + 30 · 9/16 + 60 · 3/16.
    found, inside = heights(write(tmp_path / "r.tif"), at_centre, middle, off)
    assert found == pytest.approx([10, 30, (30 + 20 + 270 + 180) / 16], abs=1e-4)
    assert inside == [True, True, True]


def test_within_half_a_cell_of_the_border_the_nearest_centres_count_and_outside_is_nan(
    tmp_path: Path,
) -> None:
    found, inside = heights(
        write(tmp_path / "r.tif"), (0.1, 0.2), (1.0, 1.9), (-0.1, 0.5), (0.5, 2.1)
    )
    assert found[:2] == pytest.approx([10, 45], abs=1e-4)
    assert np.isnan(found[2:]).all()
    assert inside == [True, True, False, False]


def test_scale_and_offset_of_the_raster_are_applied(tmp_path: Path) -> None:
    found, _ = heights(write(tmp_path / "r.tif", scale=0.1, offset=100.0), (0.5, 0.5))
    assert found == pytest.approx([101.0])


def test_points_that_the_rasters_projection_cannot_hold_lie_outside(tmp_path: Path) -> None:
    antipode = np.array([-171.0]), np.array([-43.35])
    found = raster.heights_at(write(tmp_path / "r.tif"), "EPSG:4326", *antipode)
    assert np.isnan(found.height_m).all()
    assert not found.inside.any()


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NetworkFormatError, match="cannot read the raster"):
        heights(tmp_path / "none.tif", (0, 0))


def test_a_file_that_is_no_raster_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.tif").write_text("heights")
    with pytest.raises(NetworkFormatError, match="cannot read the raster"):
        heights(tmp_path / "r.tif", (0, 0))


def test_a_raster_that_does_not_say_where_it_lies_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NetworkFormatError, match="no coordinate system"):
        heights(write(tmp_path / "r.tif", crs=None), (0, 0))


def test_a_raster_in_feet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NetworkFormatError, match="in 'ft', not in metres"):
        heights(write(tmp_path / "r.tif", unit="ft"), (0, 0))


def test_a_cut_off_raster_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "r.tif")
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(NetworkFormatError, match=r"raster .*r\.tif"):
        heights(path, (0.5, 0.5))


def signs(
    path: Path, cells: np.ndarray, *, cell_m: float = 1.0, nodata: float | None = None
) -> raster.RasterHeights:
    """Write cells and read them at their centres, row by row."""
    grid = rasterio.Affine(cell_m, 0.0, 500_000.0, 0.0, -cell_m, 4_800_000.0)
    shape = {"height": cells.shape[0], "width": cells.shape[1], "count": 1, "dtype": cells.dtype}
    kind = {"driver": "GTiff", "crs": "EPSG:32632", "transform": grid, "nodata": nodata}
    with rasterio.open(path, "w", **kind, **shape) as target:
        target.write(cells, 1)
    row, column = np.indices(cells.shape).reshape(2, -1) + 0.5
    x_m, y_m = 500_000 + cell_m * column, 4_800_000 - cell_m * row
    return raster.heights_at(path, "EPSG:32632", x_m, y_m)


def test_zeros_amid_high_cells_are_pits_and_coasts_are_not(tmp_path: Path) -> None:
    cells = np.full((9, 9), 300, dtype="int16")
    cells[3:5, 4:6] = 0
    assert signs(tmp_path / "r.tif", cells).in_pit.sum() == 4
    assert signs(tmp_path / "r.tif", -cells).in_pit.sum() == 4
    cells[3, 3] = 15  # a beach
    assert not signs(tmp_path / "r.tif", cells).in_pit.any()
    slope = np.add.outer(50 * np.arange(-4, 5), 0 * np.arange(9)).astype("int16")
    assert (slope == 0).any()
    assert not signs(tmp_path / "r.tif", slope).in_pit.any()  # higher above, lower below
    wide = np.full((9, 9), 60, dtype="int16")
    wide[4, 4] = 0
    assert signs(tmp_path / "r.tif", wide, cell_m=100).in_pit.sum() == 1
    assert not signs(tmp_path / "r.tif", wide, cell_m=900).in_pit.any()  # 60 m in 900 m are gentle
    sea = np.zeros((9, 9), dtype="int16")
    assert not signs(tmp_path / "r.tif", sea).in_pit.any()


def test_tiles_of_a_large_raster_give_the_same_heights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = np.random.default_rng(1).normal(500.0, 50.0, (60, 70))
    whole = signs(tmp_path / "r.tif", cells)
    monkeypatch.setattr(raster, "TILE_CELLS", 16)
    parts = signs(tmp_path / "r.tif", cells)
    assert whole.height_m == pytest.approx(cells.ravel())
    assert parts.height_m.tolist() == whole.height_m.tolist()


def test_a_block_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVROUTE_MAX_CELLS", "3")
    with pytest.raises(LimitError, match=r"has blocks of 4 cells. The limit is 3"):
        heights(write(tmp_path / "r.tif"), (0.5, 0.5))
