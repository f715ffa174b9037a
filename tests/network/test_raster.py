from pathlib import Path

import numpy as np
import pytest

from evroute.errors import NetworkFormatError
from evroute.network import raster

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
    height_m, inside = raster.heights_at(path, "EPSG:32632", 500_000 + right, 4_800_000 - below)
    return height_m.tolist(), inside.tolist()


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
    height_m, inside = raster.heights_at(write(tmp_path / "r.tif"), "EPSG:4326", *antipode)
    assert np.isnan(height_m).all()
    assert not inside.any()


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
