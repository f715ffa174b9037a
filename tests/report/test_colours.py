"""Colour classes and their legends."""

from itertools import combinations

import numpy as np
import pytest

from evroute.arrays import FloatArray
from evroute.report.colours import ENERGY_CLASSES, value_classes, visit_classes


def test_what_regenerates_has_a_class_of_its_own() -> None:
    values = np.array([-80.0, -0.1, 0.0, 99.9, 100.0, 299.0, 300.0, 1e6])
    assert ENERGY_CLASSES.of(values).tolist() == [0, 0, 1, 1, 2, 3, 4, 4]


def _linear(colour: str) -> FloatArray:
    """Return the linear red, green and blue of a colour (sRGB), in [0, 1]."""
    share = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def _lab(linear: FloatArray) -> FloatArray:
    """Return the CIELAB coordinates (D65) of linear red, green and blue."""
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    x, y, z = np.cbrt(np.clip(to_xyz @ linear, 0.0, None) / (0.9505, 1.0, 1.089))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_more_energy_is_darker() -> None:
    lightness = [_lab(_linear(colour))[0] for colour in ENERGY_CLASSES.colours[1:]]
    assert np.all(np.diff(lightness) < -10)


def test_classes_of_energy_differ_without_green_cones() -> None:
    # deuteranopia: Machado, Oliveira & Fernandes (2009), table 1, severity 1
    blind = np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    )
    seen = [_lab(blind @ _linear(colour)) for colour in ENERGY_CLASSES.colours]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 15


@pytest.mark.parametrize("most", [1, 2, 3, 5, 7, 40, 12_345])
def test_every_count_of_visits_falls_into_the_class_that_its_label_names(most: int) -> None:
    classes = visit_classes(most)
    assert len(set(classes.colours)) == len(classes.labels) == len(classes.breaks) + 1
    for count in {1, 2, most // 2 + 1, most}:
        if count > most:
            continue
        label = classes.labels[classes.of(np.array([float(count)]))[0]]
        bounds = [int(part.replace(",", "")) for part in label.split(" to ")]
        assert bounds[0] <= count <= bounds[-1]


def test_the_legend_shows_every_class_and_its_unit() -> None:
    classes = ENERGY_CLASSES
    legend = classes.legend_html()
    assert "Wh per km" in legend
    assert all(
        colour in legend and label in legend
        for colour, label in zip(classes.colours, classes.labels, strict=True)
    )


def test_classes_of_a_quantity_hold_every_value_and_part_below_and_above_zero() -> None:
    rng = np.random.default_rng(0)
    for values in (
        rng.normal(size=500),
        rng.uniform(5, 90, size=500),
        np.zeros(4),
        np.array([-1.0, np.nan]),
    ):
        classes = value_classes("height (m)", values)
        assert len(classes.labels) == len(classes.colours) == len(classes.breaks) + 1
        assert np.all(np.diff(classes.breaks) > 0)
        if np.nanmin(values) < 0:
            assert 0.0 in classes.breaks
