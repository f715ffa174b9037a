"""Heights that cannot be true: a raster for each fault is refused, true terrain never.

The made-up city is a grid of streets over gentle hills, 300 m above the sea.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evroute.errors import EvrouteError
from evroute.network import catalog
from evroute.network.heights import elevation, height_checks, raster
from evroute.network.road_network import RoadNetwork
from evroute.network.sources import graphml, osm, sumo_net
from evroute.network.views.export import export

rasterio = pytest.importorskip("rasterio")

Faulty = Callable[[np.ndarray], np.ndarray]
X0, Y0, BLOCK_M, SIDE, CELL_M = 500_000.0, 4_800_000.0, 100.0, 12, 30.0
UNCHECKED = "--elevation-unchecked builds the network nevertheless"


def hills(x_m: np.ndarray, y_m: np.ndarray) -> np.ndarray:
    """Slopes of at most 70 / 300 + 40 / 400 = 1/3, and 12 % on average."""
    return 300 + 70 * np.sin((x_m - X0) / 300) + 40 * np.cos((y_m - Y0) / 400)


@pytest.fixture(scope="module")
def city(make_city: Callable[..., RoadNetwork]) -> RoadNetwork:
    return make_city(SIDE)


@pytest.fixture(scope="module")
def make_city() -> Callable[..., RoadNetwork]:
    """Offer square grids of two-way streets, heights at 0, by the junctions of a side.

    A spur of further junctions leads eastwards from the first row.
    """
    from evroute.network.source import Source
    from evroute.network.sources.meeting_turns import meeting_turns

    def make(side: int, spur: int = 0) -> RoadNetwork:
        junction = np.arange(side * side).reshape(side, side)
        outwards = np.append(side - 1, side * side + np.arange(spur))
        pairs = np.vstack(
            [
                np.column_stack([junction[:, :-1].ravel(), junction[:, 1:].ravel()]),
                np.column_stack([junction[:-1].ravel(), junction[1:].ravel()]),
                np.column_stack([outwards[:-1], outwards[1:]]),
            ]
        )
        tail, head = np.vstack([pairs, pairs[:, ::-1]]).T
        n, v = len(tail), side * side + spur
        column = np.append(junction.ravel() % side, side + np.arange(spur))
        row = np.append(junction.ravel() // side, np.zeros(spur, dtype=int))
        x_m, y_m = X0 + BLOCK_M * column, Y0 - BLOCK_M * row
        return RoadNetwork(
            name="city",
            edge_id=tuple(map(str, range(n))),
            tail=tail,
            head=head,
            length_m=np.full(n, BLOCK_M),
            speed_mps=np.full(n, 10.0),
            structure=np.zeros(n, dtype=int),
            street=("",) * n,
            road_class=("",) * n,
            turns=meeting_turns(tail, head),
            junction_id=tuple(map(str, range(v))),
            x_m=x_m,
            y_m=y_m,
            elevation_m=np.zeros(v),
            shape_start=2 * np.arange(n + 1),
            shape_x_m=np.column_stack([x_m[tail], x_m[head]]).ravel(),
            shape_y_m=np.column_stack([y_m[tail], y_m[head]]).ravel(),
            crs="EPSG:32632",
            source=Source("hand-made"),
        )

    return make


def write(path: Path, faulty: Faulty = lambda cells: cells, *, nodata: float | None = None) -> Path:
    """Write the hills, 300 m beyond the city on each side, with a fault put into them."""
    count = int((BLOCK_M * (SIDE - 1) + 600) / CELL_M)
    x_m = X0 - 300 + CELL_M * (np.arange(count) + 0.5)
    y_m = Y0 + 300 - CELL_M * (np.arange(count) + 0.5)
    cells = faulty(hills(x_m[None, :], y_m[:, None]).astype("float32"))
    grid = rasterio.Affine(CELL_M, 0.0, X0 - 300, 0.0, -CELL_M, Y0 + 300)
    shape = {"height": count, "width": count, "count": 1, "dtype": cells.dtype, "nodata": nodata}
    with rasterio.open(
        path, "w", driver="GTiff", crs="EPSG:32632", transform=grid, **shape
    ) as target:
        target.write(cells, 1)
    return path


def columns(cells: np.ndarray, first: float, last: float, value: float) -> np.ndarray:
    """Return the cells with another value between two shares of the city's width."""
    width = BLOCK_M * (SIDE - 1)
    low, high = (max(round((300 + share * width) / CELL_M), 0) for share in (first, last))
    changed = cells.copy()
    changed[:, low:high] = value
    return changed


def scattered(cells: np.ndarray, share: float, value: float) -> np.ndarray:
    return np.where(np.random.default_rng(3).random(cells.shape) < share, value, cells)


AT_FIRST = 10 * round((BLOCK_M * (SIDE - 1) + 600) // CELL_M) + 10
"""The cell that the first junction needs, 300 m from the raster's corner."""
FAULTS: dict[str, tuple[Faulty, str]] = {
    "feet": (lambda cells: cells / 0.3048, r"\d+\.\d% of the roads climb more than 25% of .* 10 m"),
    "holes at 0": (
        lambda cells: scattered(cells, 0.01, 0.0),
        r"\d+ junctions lie in holes of f.tif",
    ),
    "one hole at 0": (
        lambda cells: np.where(np.arange(cells.size).reshape(cells.shape) == AT_FIRST, 0.0, cells),
        r"1 junctions lie in holes of f\.tif that are written as 0 m",
    ),
    "half at 0": (lambda cells: columns(cells, -1, 0.5, 0.0), r"lie in holes of f\.tif .* 0 m"),
    "all at 0": (lambda cells: 0 * cells, r"f\.tif has 0 m at all junctions"),
    "random bytes": (
        lambda cells: np.random.default_rng(1).integers(0, 256, cells.shape).astype("uint8"),
        r"\d+\.\d% of the roads climb more|\d+ junctions lie in holes",
    ),
    "noise": (
        lambda cells: cells + np.random.default_rng(1).normal(0, 40, cells.shape),
        r"\d+\.\d% of the roads climb more",
    ),
    "ends early": (
        lambda cells: columns(cells, 0.4, 2, -9999.0),
        r"\d+ junctions \(\d\d\.\d\d%\), in holes of the rasters, are up to \d{3} m along .* known "
        r"height .*. Add a raster without holes",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_raster_with_a_fault_is_refused_with_the_figure_and_the_option(
    city: RoadNetwork, tmp_path: Path, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elevation, "GREATEST_MISSING_SHARE", 0.7)  # "ends early" is about distance
    faulty, figure = FAULTS[fault]
    path = write(tmp_path / "f.tif", faulty, nodata=-9999.0 if fault == "ends early" else None)
    with pytest.raises(EvrouteError, match=figure) as caught:
        catalog.build(city, rasters=[path])
    assert UNCHECKED in str(caught.value)
    assert "\n" not in str(caught.value)
    unchecked = catalog.build(city, rasters=[path], checked=False)
    assert unchecked.n_edges == city.n_edges


@pytest.mark.parametrize(
    "harmless",
    [
        lambda cells: cells,
        lambda cells: cells.astype("int16"),
        lambda cells: (cells - 200).astype("uint8"),  # up to 210 m
        lambda cells: cells - 320,  # a coast, with heights below the sea
        lambda cells: np.maximum(cells - 320, 0).astype("int16"),  # with sea at exactly 0
        lambda cells: cells + np.random.default_rng(1).normal(0, 3, cells.shape),
        lambda cells: columns(cells, 0.5, 0.6, -9999.0),  # a hole with heights on both sides
        lambda cells: columns(cells, 0.95, 2, -9999.0),  # ends 60 m before the last junctions
    ],
)
def test_true_terrain_passes(city: RoadNetwork, tmp_path: Path, harmless: Faulty) -> None:
    path = write(tmp_path / "f.tif", harmless)
    with rasterio.open(path, "r+") as target:
        if target.read(1).min() < -500:
            target.nodata = -9999.0
    catalog.build(city, rasters=[path])


def test_heights_of_a_true_raster_equal_the_hills(city: RoadNetwork, tmp_path: Path) -> None:
    built = catalog.build(city, rasters=[write(tmp_path / "f.tif")], smoothing_m=0.0)
    # Bilinear interpolation is off by at most curvature * cell² / 8, (70/300² + 40/400²) * 30² / 8.
    assert built.elevation_m == pytest.approx(hills(city.x_m, city.y_m), abs=0.12)


def gaps_of(
    city: RoadNetwork, known: np.ndarray, missing: np.ndarray, *, inside: np.ndarray | None = None
) -> height_checks.Gaps:
    """Return gaps where heights are missing; junctions neither known nor missing are on bridges."""
    covered = known if inside is None else inside
    return height_checks.Gaps(known, covered, ~known & ~missing)


def test_how_far_heights_are_extrapolated(city: RoadNetwork) -> None:
    known = city.x_m < X0 + 450  # five columns of streets; the next five lie within 500 m
    near, farther = ~known & (city.x_m < X0 + 950), ~known & (city.x_m < X0 + 1050)
    assert height_checks.check_extrapolation(city, gaps_of(city, known, near)) == []
    with pytest.raises(
        EvrouteError,
        match=r"12 junctions \(8\.33%\), outside the rasters, are up to 600 m .* \(at most 500 m, "
        r"or 1% of the junctions, are extrapolated\). Add the rasters that are missing",
    ):
        height_checks.check_extrapolation(city, gaps_of(city, known, farther))
    ring = (np.abs(city.x_m - X0 - 550) < 560) & (np.abs(city.y_m - Y0 + 550) < 560)
    hole = (np.abs(city.x_m - X0 - 550) < 460) & (np.abs(city.y_m - Y0 + 550) < 460)
    assert hole.sum() == 64 + 36  # 10 by 10 junctions, up to 500 m from the nearest beyond
    surrounded = gaps_of(city, ring & ~hole, hole, inside=ring)
    assert height_checks.check_extrapolation(city, surrounded) == []


@pytest.mark.parametrize(
    ("n_holes", "where"),
    [
        (0, "outside the rasters"),
        (12, "in holes of the rasters"),
        (5, "7 outside the rasters and 5 in their holes"),
    ],
)
def test_a_hole_is_called_a_hole(city: RoadNetwork, n_holes: int, where: str) -> None:
    known = city.x_m < X0 + 450
    missing = ~known & (city.x_m < X0 + 1050)
    far = np.flatnonzero(missing & (city.x_m > X0 + 950))
    inside = known.copy()
    inside[far[:n_holes]] = True
    with pytest.raises(EvrouteError, match=rf"true: 12 junctions \(8\.33%\), {where}, are up to"):
        height_checks.check_extrapolation(city, gaps_of(city, known, missing, inside=inside))


@pytest.mark.parametrize(("spur", "refused"), [(10, False), (11, True)])
def test_a_few_junctions_beyond_the_heights_are_a_note(
    make_city: Callable[..., RoadNetwork], spur: int, refused: bool
) -> None:
    """A street leads 1.0 or 1.1 km out of 576 junctions: 5 of 586 (0.9 %), 6 of 587 (1.02 %)."""
    city = make_city(24, spur=spur)
    known = city.x_m < X0 + 2350
    gaps = gaps_of(city, known, ~known)
    assert gaps.missing_on_ground.sum() == spur
    if refused:
        with pytest.raises(EvrouteError, match=r"6 junctions \(1\.02%\), outside .* up to 1,100 m"):
            height_checks.check_extrapolation(city, gaps)
        return
    assert height_checks.check_extrapolation(city, gaps) == [
        "5 junctions (0.85%), outside the rasters, are up to 1,000 m along the roads from the last "
        "known height. Their heights are extrapolated"
    ]


def test_parallel_roads_count_by_the_shorter_one(city: RoadNetwork) -> None:
    known = city.x_m < X0 + 450
    double = replace(
        city,
        edge_id=(*city.edge_id, *(f"{e}b" for e in city.edge_id)),
        **{
            name: np.concatenate([getattr(city, name)] * 2)
            for name in ("tail", "head", "speed_mps", "structure", "shape_x_m", "shape_y_m")
        },
        length_m=np.concatenate([city.length_m, city.length_m * 3]),
        street=city.street * 2,
        road_class=city.road_class * 2,
        shape_start=2 * np.arange(2 * city.n_edges + 1),
        turns=np.empty((0, 2), dtype=int),
    )
    gaps = gaps_of(double, known, ~known & (city.x_m < X0 + 950))
    assert height_checks.check_extrapolation(double, gaps) == []


def heights(city: RoadNetwork, height_m: np.ndarray, **signs: object) -> raster.RasterHeights:
    none = np.zeros(city.n_junctions, dtype=bool)
    fine = {"in_pit": none, "cell_m": CELL_M}
    given: dict[str, Any] = fine | signs
    return raster.RasterHeights(height_m, np.isfinite(height_m), **given)


@pytest.mark.parametrize(("lift_m", "refused"), [(0, False), (10, False), (40, True), (-40, True)])
def test_a_seam_between_tiles(city: RoadNetwork, lift_m: float, refused: bool) -> None:
    west = city.x_m < X0 + 600
    true_m = hills(city.x_m, city.y_m)
    tiles = [
        heights(city, np.where(west, true_m, np.nan)),
        heights(city, np.where(west, np.nan, true_m + lift_m)),
    ]
    source = np.where(west, 0, 1)
    if not refused:
        height_checks.check_rasters(city, ["w.tif", "e.tif"], tiles, source)
        return
    with pytest.raises(EvrouteError, match=r"jump between w\.tif and e\.tif: the 24 roads across"):
        height_checks.check_rasters(city, ["w.tif", "e.tif"], tiles, source)


@pytest.mark.parametrize(
    ("lift_m", "cell_m", "refused"),
    [
        (14, 30.0, False),
        (16, 30.0, True),
        (-50, 30.0, True),
        (44, 900.0, False),  # 5 % of 900 m are 45 m
        (46, 900.0, True),
    ],
)
def test_tiles_that_overlap_are_compared(
    city: RoadNetwork, lift_m: float, cell_m: float, refused: bool
) -> None:
    """The second tile covers three quarters; no road leads from one tile into the other."""
    true_m = hills(city.x_m, city.y_m)
    east = city.x_m > X0 + 250
    second_m = np.where(east, true_m + lift_m, np.nan)
    tiles = [heights(city, true_m), heights(city, second_m, cell_m=cell_m)]
    source = np.zeros(city.n_junctions, dtype=int)
    if not refused:
        height_checks.check_rasters(city, ["a.tif", "b.tif"], tiles, source)
        return
    message = (
        rf"a\.tif and b\.tif differ by {abs(lift_m)} m in the median at the 108 junctions that "
        rf"both cover \(true heights: at most {max(15, round(cell_m / 20))} m\)"
    )
    with pytest.raises(EvrouteError, match=message):
        height_checks.check_rasters(city, ["a.tif", "b.tif"], tiles, source)


@pytest.mark.parametrize(("n_shared", "refused"), [(9, False), (10, True)])
def test_a_few_common_junctions_say_nothing(
    city: RoadNetwork, n_shared: int, refused: bool
) -> None:
    true_m = hills(city.x_m, city.y_m)
    common = np.arange(city.n_junctions) < n_shared
    tiles = [heights(city, true_m), heights(city, np.where(common, true_m + 50, np.nan))]
    source = np.zeros(city.n_junctions, dtype=int)
    if not refused:
        height_checks.check_rasters(city, ["a.tif", "b.tif"], tiles, source)
        return
    with pytest.raises(EvrouteError, match=r"differ by 50 m in the median at the 10 junctions"):
        height_checks.check_rasters(city, ["a.tif", "b.tif"], tiles, source)


def test_a_second_raster_50_m_higher_is_refused(city: RoadNetwork, tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.tif")
    higher = write(tmp_path / "higher.tif", lambda cells: cells + 50)
    noisy = write(
        tmp_path / "noisy.tif",
        lambda cells: cells + np.random.default_rng(1).normal(0, 8, cells.shape),
    )
    assert catalog.build(city, rasters=[whole, noisy]).n_edges == city.n_edges
    with pytest.raises(EvrouteError, match=r"whole\.tif and higher\.tif differ by 50 m .* 144 jun"):
        catalog.build(city, rasters=[whole, higher])
    unchecked = catalog.build(city, rasters=[whole, higher], checked=False, smoothing_m=0.0)
    assert unchecked.elevation_m == pytest.approx(hills(city.x_m, city.y_m), abs=0.12)


def test_a_first_tile_with_unmarked_zeros_is_found_by_the_second(
    city: RoadNetwork, tmp_path: Path
) -> None:
    first = write(tmp_path / "first.tif", lambda cells: np.maximum(columns(cells, -1, 2, 0.0), 0))
    with pytest.raises(EvrouteError, match=r"first\.tif has 0 m at all junctions"):
        catalog.build(city, rasters=[first, write(tmp_path / "true.tif")])


def test_small_networks_have_their_range_checked_alone(
    make_city: Callable[..., RoadNetwork], tmp_path: Path
) -> None:
    hamlet = make_city(4)
    assert hamlet.n_edges == 48
    for fault in ("feet", "noise", "half at 0", "all at 0", "random bytes"):
        catalog.build(hamlet, rasters=[write(tmp_path / "f.tif", FAULTS[fault][0])])
    for height_m in (-501.0, 9001.0, np.nan):
        wrong = np.append(np.zeros(15), height_m)
        with pytest.raises(EvrouteError, match="junction '15' lies at"):
            height_checks.check_heights(hamlet, wrong)


def test_the_share_of_steep_roads(city: RoadNetwork) -> None:
    def lifted(n: int) -> np.ndarray:
        """Lift n junctions of the inner rows, apart from each other: 8 directed edges each."""
        height_m = np.zeros(city.n_junctions)
        height_m[[14 + 2 * k for k in range(n)]] = 35.1  # 25 % of 100 m, and 10 m
        return height_m

    assert 8 / city.n_edges < height_checks.GREATEST_STEEP_SHARE < 16 / city.n_edges
    height_checks.check_heights(city, lifted(1))
    with pytest.raises(EvrouteError, match=r"3\.0% of the roads climb"):
        height_checks.check_heights(city, lifted(2))
    height_checks.check_heights(city, lifted(2) * 34.9 / 35.1)
    bridges = replace(city, structure=(lifted(2)[city.tail] + lifted(2)[city.head] > 0).astype(int))
    height_checks.check_heights(bridges, lifted(2))


def test_heights_of_a_graph_are_checked_too(city: RoadNetwork, tmp_path: Path) -> None:
    true_m = hills(city.x_m, city.y_m)
    for height_m, message in ((true_m, ""), (true_m / 0.3048, "of the roads climb more")):
        long = np.maximum(city.length_m, 3 * np.abs(height_m[city.head] - height_m[city.tail]))
        export(replace(city, elevation_m=height_m, length_m=long), tmp_path / "c.graphml")
        text = (tmp_path / "c.graphml").read_text()
        for key in re.findall(r'<key id="(d\d+)" for="edge" attr.name="length"', text):
            text = re.sub(rf'<data key="{key}">[\d.]+<', f'<data key="{key}">100<', text)
        (tmp_path / "c.graphml").write_text(text)
        graph = graphml.read(tmp_path / "c.graphml", "c")
        if message:
            with pytest.raises(EvrouteError, match=message):
                catalog.build(graph)
        else:
            catalog.build(graph)


@pytest.mark.data
@pytest.mark.parametrize(
    ("source", "heights_of"),
    [
        ("monaco/most.net.xml.gz", None),
        ("monaco/most.net.xml.gz", "monaco/dem_n43e007_3arcsec.tif"),
        ("monaco/most.osm.gz", "monaco/dem_n43e007_3arcsec.tif"),
        ("monaco/monaco.osm.gz", "monaco/dem_n43e007_3arcsec.tif"),
        ("luxembourg/lust.net.xml.gz", "luxembourg/dem_luxembourg_30arcsec.tif"),
        ("luxembourg/lust.osm.gz", "luxembourg/dem_luxembourg_30arcsec.tif"),
    ],
)
def test_true_networks_on_true_heights_are_never_refused(
    data_dir: Path, source: str, heights_of: str | None
) -> None:
    read = sumo_net.read if ".net." in source else osm.read
    rasters = [data_dir / heights_of] if heights_of else []
    built = catalog.build(read(data_dir / source, "true"), rasters=rasters)
    assert np.ptp(built.elevation_m) > 50


def test_the_heights_that_ship_are_not_refused(denver: RoadNetwork) -> None:
    height_checks.check_heights(denver, denver.elevation_m)


@pytest.mark.data
@pytest.mark.parametrize("per_metre", [1 / 0.3048, 1 / 0.9144])
def test_monaco_in_feet_and_yards_is_refused(
    data_dir: Path, tmp_path: Path, per_metre: float
) -> None:
    network = sumo_net.read(data_dir / "monaco/most.net.xml.gz", "monaco")
    with rasterio.open(data_dir / "monaco/dem_n43e007_3arcsec.tif") as source:
        cells, profile = source.read(1), source.profile
    wrong = np.where(cells == profile["nodata"], cells, cells * per_metre).astype("int16")
    with rasterio.open(tmp_path / "feet.tif", "w", **profile) as target:
        target.write(wrong, 1)
    if per_metre < 2:  # 9 % too high looks like another hilly city
        catalog.build(network, rasters=[tmp_path / "feet.tif"])
    else:
        with pytest.raises(EvrouteError, match="of the roads climb more than 25%"):
            catalog.build(network, rasters=[tmp_path / "feet.tif"])
