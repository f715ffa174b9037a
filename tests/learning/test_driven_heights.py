"""Heights of junctions by the altitudes that trips recorded."""

import numpy as np
import pytest

from evroute.errors import EvrouteError
from evroute.learning.driven_heights import SMOOTHING_M, driven_heights
from evroute.learning.learn import learn
from evroute.network.elevation import fill, smooth
from evroute.network.store import load

DRIVEN_M = 10.0 * np.arange(7.0)
"""True heights of the junctions on the way, m."""


@pytest.fixture
def street(make_network):
    """Six edges of 300 m in a row, back again, and a side street that nobody drives."""
    there = [(f"{i}>{i + 1}", i, i + 1) for i in range(6)]
    back = [(f"{i + 1}>{i}", i + 1, i) for i in range(6)]
    side = [("side", 3, 7), ("side back", 7, 3)]
    places = [(500_000 + 300.0 * i, 4_000_000.0, 0.0) for i in range(7)]
    return make_network([*there, *back, *side], [*places, (500_900.0, 4_000_300.0, 0.0)])


@pytest.fixture
def log(street, tmp_path):
    """Two drives along the street, 3 m too high and 1 m too low."""
    from pyproj import Transformer

    to_degrees = Transformer.from_crs(street.crs, "EPSG:4326", always_xy=True)
    x_m = 500_000 + np.arange(10.0, 1800.0, 40.0)
    lon, lat = to_degrees.transform(x_m, np.full(len(x_m), 4_000_000.0))
    lines = ["trip,time,lat,lon,energy_wh,Altitude (m)"]
    for trip, off_m in (("a", 3.0), ("b", -1.0)):
        altitude_m = np.interp(x_m, 500_000 + 300.0 * np.arange(7), DRIVEN_M) + off_m
        lines += [
            f"{trip},{4 * k},{lat[k]:.7f},{lon[k]:.7f},{8 * k},{altitude_m[k]:.3f}"
            for k in range(len(x_m))
        ]
    path = tmp_path / "log.csv"
    path.write_text("\n".join(lines))
    return path


def test_heights_are_means_of_the_drives_filled_and_smoothed(street, log) -> None:
    found = driven_heights(log, street)
    mean_m = np.append(DRIVEN_M + 1.0, 0.0)
    known = np.isin(np.arange(8), [1, 2, 3, 4, 5])  # passed as a whole
    raw_m = fill(street, mean_m, known)
    assert raw_m[[0, 6, 7]] == pytest.approx([11.0, 51.0, 31.0])  # level beyond the known
    np.testing.assert_allclose(found.elevation_m, smooth(street, raw_m, SMOOTHING_M), atol=0.2)
    assert found.source.elevation == "altitudes of 2 drives at 5 of 8 junctions"


def test_a_log_without_altitudes_is_refused(street, log) -> None:
    log.write_text(log.read_text().replace("Altitude (m)", "speed"))
    with pytest.raises(EvrouteError, match="has no column 'altitude_m'"):
        driven_heights(log, street)


def test_heights_that_do_not_exist_are_refused(street, log) -> None:
    header, *rows = log.read_text().splitlines()
    high = [f"{row.rpartition(',')[0]},20000" for row in rows]
    log.write_text("\n".join([header, *high]))
    with pytest.raises(EvrouteError, match="lies at"):
        driven_heights(log, street)


def test_the_network_with_heights_is_kept_and_used_again(
    street, log, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evroute.methods.setting.load_network", lambda name: street)
    for names in (("a", "b"), ("c", "d")):
        log.write_text(
            log.read_text().replace("\na,", f"\n{names[0]},").replace("\nb,", f"\n{names[1]},")
        )
        learned = learn(log, tmp_path / "own", network="street", heights_from_trips=True)
    assert learned.trips.num_rows == 4
    kept = load(tmp_path / "own" / "network.npz")
    np.testing.assert_array_equal(kept.elevation_m, driven_heights(log, street).elevation_m)
    assert learned.trips["climb_m"][0].as_py() > 30.0
    assert "plan with --network" in learned.notes[-1]
