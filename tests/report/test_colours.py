"""Colour classes and their legends."""

import numpy as np
import pytest

from evroute.report.colours import ENERGY_CLASSES, value_classes, visit_classes


def test_regenerating_roads_have_a_class_of_their_own() -> None:
    values = np.array([-80.0, -0.1, 0.0, 99.9, 100.0, 299.0, 300.0, 1e6])
    assert ENERGY_CLASSES.of(values).tolist() == [0, 0, 1, 1, 1, 2, 2, 2]


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
