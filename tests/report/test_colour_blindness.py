"""Classes and series stay apart for colour-blind readers, by simulation.

Matrices for linear RGB at severity 1: G. M. Machado, M. M. Oliveira and L. A. F. Fernandes, "A
physiologically-based model for simulation of color vision deficiency", IEEE Transactions on
Visualization and Computer Graphics 15(6), 2009, table 1. Distances are CIE 1976 (L*, a*, b*).
"""

import re
from itertools import combinations, pairwise

import numpy as np
import pytest

from evroute.report.charts.styles import COLOURS
from evroute.report.colours import (
    CHARGE_COLOURS,
    ENERGY_CLASSES,
    PART_COLOURS,
    ROUTE_COLOURS,
    value_classes,
    visit_classes,
)
from evroute.resources import app_path

SIMULATIONS = {
    "none": np.eye(3),
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
}
SRGB_TO_XYZ = [
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
]
(OTHER_ROUTE,) = re.findall(
    r'OTHER_ROUTE = "(#\w{6})"', app_path("map_component", "map.js").read_text(encoding="utf-8")
)
LEAST = {
    "energy on the map": ((*ENERGY_CLASSES.colours, OTHER_ROUTE), 20),
    "a quantity": (value_classes("m", np.array([1.0, 2.0, 3.0])).colours, 20),
    "a difference": (value_classes("m", np.array([-3.0, 1.0, 2.0])).colours, 20),
    "charge": (CHARGE_COLOURS, 20),
    "visits": (visit_classes(100).colours, 18),
    "parts of the energy": (tuple(PART_COLOURS.values()), 16),
    "methods": (tuple(COLOURS.values()), 15),
    "routes": (tuple(dict.fromkeys(ROUTE_COLOURS.values())), 11),
}
"""Colours, and the least distance between two; routes and methods differ in dashes too."""


def linear(colour: str) -> np.ndarray:
    share = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    xyz = SRGB_TO_XYZ @ rgb / np.sum(SRGB_TO_XYZ, axis=1)
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def seen(colour: str, matrix: object) -> np.ndarray:
    return lab(np.clip(np.asarray(matrix) @ linear(colour), 0, 1))


def test_the_scale_of_distances() -> None:
    assert lab(linear("#ffffff")) == pytest.approx([100, 0, 0], abs=0.01)
    assert lab(linear("#ff0000")) == pytest.approx([53.24, 80.09, 67.20], abs=0.02)
    red, green = (seen(each, SIMULATIONS["deuteranopia"]) for each in ("#b05a00", "#6f7800"))
    assert np.linalg.norm(red - green) < 12, "a pair that deuteranopes confuse"


@pytest.mark.parametrize("sight", SIMULATIONS)
@pytest.mark.parametrize("name", LEAST)
def test_colours_are_apart(name: str, sight: str) -> None:
    colours, least = LEAST[name]
    matrix = SIMULATIONS[sight]
    distances = {
        pair: np.linalg.norm(seen(pair[0], matrix) - seen(pair[1], matrix))
        for pair in combinations(colours, 2)
    }
    worst = min(distances, key=lambda pair: distances[pair])
    assert distances[worst] >= least, worst


def test_the_parts_of_the_energy_repeat_no_colour_of_the_map() -> None:
    sight = SIMULATIONS["none"]
    for part, colour in PART_COLOURS.items():
        for other in ENERGY_CLASSES.colours:
            apart = np.linalg.norm(seen(colour, sight) - seen(other, sight))
            assert apart >= 25, (part, other)


@pytest.mark.parametrize("sight", SIMULATIONS)
def test_the_energy_of_a_route_darkens_with_the_class(sight: str) -> None:
    lightness = [seen(colour, SIMULATIONS[sight])[0] for colour in ENERGY_CLASSES.colours[1:]]
    assert all(light > dark + 10 for light, dark in pairwise(lightness))
