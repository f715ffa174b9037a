"""Reports of many runs: few panels, maps and methods, and a word about what was left out."""

import pandas as pd
import pytest

from evroute.report.charts.styles import panel_labels
from evroute.report.pages.condense import few_maps, few_methods, few_panels


def rounds(trips: int = 1, worlds: int = 1, methods: int = 1, seeds: int = 2) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "network": "denver",
                "trip": f"T{a}",
                "world": f"w{b}",
                "search": "potential",
                "seed": s,
                "t": 1,
            }
            | {"method": f"m{c:02}", "model": f"m{c:02}", "index": "ts"}
            for a in range(trips)
            for b in range(worlds)
            for c in range(methods)
            for s in range(seeds)
        ]
    )


def test_few_panels_and_methods_are_all_shown() -> None:
    frame = rounds(trips=4, worlds=3, methods=12)
    assert few_panels(frame) == (frame, [])
    assert few_methods(frame) == (frame, [])
    assert few_maps(rounds(trips=4))[1] == []


def test_many_trips_share_a_panel_and_their_worlds_stay_apart() -> None:
    frame, notes = few_panels(rounds(trips=30, seeds=3))
    assert set(panel_labels(frame)) == {"Denver 30 trips together"}
    assert frame["seed"].nunique() == 90
    assert "30 panels would be too many" in notes[0]


def test_panels_that_are_still_too_many_are_cut_and_counted() -> None:
    frame, notes = few_panels(rounds(trips=2, worlds=20))
    assert panel_labels(frame).nunique() == 12
    assert notes[1] == "Curves of 12 panels of 20. The tables have all panels."


@pytest.mark.parametrize("kind", ["methods", "trips"])
def test_methods_and_maps_beyond_the_first_are_counted(kind: str) -> None:
    limit, few, column = {"methods": (12, few_methods, "method"), "trips": (4, few_maps, "trip")}[
        kind
    ]
    frame, notes = few(rounds(**{kind: 15}))
    assert frame[column].nunique() == limit
    assert f"{limit} " in notes[0]
    assert "of 15" in notes[0]
