"""The abstract of a run, by hand on rounds whose every number is written down."""

import re
from math import sqrt

import numpy as np
import pandas as pd
import pytest

from evroute.experiments.runs import RunFolder
from evroute.report.abstract import abstract
from evroute.report.pages.run_page import build_page
from evroute.report.results import read_rounds

T_95_WITH_2_WORLDS = 6.313752  # tan(0.45 pi): Student's t with one degree of freedom is Cauchy's


def rounds(
    saved_by_seed: list[list[float]], *, physics_wh: float = 1000.0, **columns: object
) -> pd.DataFrame:
    """Return rounds with the saving of each trip of each world, Wh; forecasts are 5 % too high."""
    frames = []
    for seed, saved_wh in enumerate(saved_by_seed):
        true_wh = physics_wh - np.array(saved_wh)
        columns_of_seed = {
            "network": "toy",
            "trip": "T",
            "world": "wind",
            "method": "GP-TS",
            "run": f"run-{seed}",
            "seed": seed,
            "t": np.arange(1, len(saved_wh) + 1),
            "true_wh": true_wh,
            "energy_wh": true_wh,
            "predicted_wh": 1.05 * true_wh,
            "eq8_wh": physics_wh,
        }
        frames.append(pd.DataFrame(columns_of_seed | columns))
    return pd.concat(frames, ignore_index=True)


def sentences(table: pd.DataFrame) -> list[str]:
    return [finding.text for finding in abstract(table)]


def test_every_number_by_hand() -> None:
    table = rounds([[-500.0] * 20 + [80.0] * 20, [-500.0] * 20 + [100.0] * 20])
    table.loc[table["t"] <= 10, "predicted_wh"] = 1.25 * table["energy_wh"]
    half = T_95_WITH_2_WORLDS * np.std([8.0, 10.0], ddof=1) / sqrt(2)
    assert sentences(table) == [
        "In the last 20 of 40 trips forecasts are 5.0 % off (25 % in the first 10) and "
        "learned routes take 9.0 % less energy than routes by physics alone "
        f"(90 %: {9 - half:.1f} to {9 + half:.0f} %, 2 worlds)."
    ]


@pytest.mark.parametrize(
    ("saved_by_seed", "expected"),
    [
        ([[0.0] * 4], "nothing is saved: learned routes take 0.0 % less energy"),
        ([[4.9] * 4], "nothing is saved: learned routes take 0.5 % less energy"),
        ([[50.0] * 4], "and learned routes take 5.0 % less energy"),
        ([[-30.0] * 4, [-30.0] * 4], "nothing is saved: learned routes take 3.0 % more energy"),
        ([[0.0] * 4, [100.0] * 4], "there is no saving beyond noise yet: learned routes"),
    ],
)
def test_it_says_so_where_nothing_or_nothing_certain_is_saved(
    saved_by_seed: list[list[float]], expected: str
) -> None:
    (sentence,) = sentences(rounds(saved_by_seed))
    assert expected in sentence


@pytest.mark.parametrize(
    ("saved_by_seed", "saves"),
    [
        ([[90.0] * 4, [100.0] * 4], True),
        ([[0.0] * 4, [100.0] * 4], False),
        ([[100.0] * 4], False),
        ([[-90.0] * 4, [-100.0] * 4], False),
    ],
)
def test_it_saves_only_if_the_interval_over_worlds_is_above_zero(
    saved_by_seed: list[list[float]], saves: bool
) -> None:
    (finding,) = abstract(rounds(saved_by_seed))
    assert finding.saves is saves


def test_an_interval_of_a_loss_counts_the_loss_upwards() -> None:
    (sentence,) = sentences(rounds([[-30.0] * 2, [-40.0] * 2]))
    half = T_95_WITH_2_WORLDS * 0.5
    assert "take 3.5 % more" in sentence
    assert f"(90 %: {3.5 - half:.1f} to {3.5 + half:.1f} %, 2 worlds)" in sentence


def test_small_energies_are_compared_in_watt_hours() -> None:
    (sentence,) = sentences(rounds([[12.0] * 4], physics_wh=-20.0))
    assert "take 12 Wh less energy than routes by physics alone (1 world)" in sentence


def test_methods_and_trips_are_named_where_there_are_several() -> None:
    table = pd.concat(
        [
            rounds([[10.0] * 4]),
            rounds([[20.0] * 4], method="BI-TS", run="other"),
            rounds([[30.0] * 4], trip="U", run="third"),
        ]
    )
    openings = [re.split(r" the last", sentence)[0] for sentence in sentences(table)]
    assert openings == ["Toy T, GP-TS: in", "Toy T, BI-TS: in", "Toy U, GP-TS: in"]


def test_a_method_without_forecasts_has_its_saving_alone() -> None:
    (sentence,) = sentences(rounds([[50.0] * 4], predicted_wh=np.nan))
    assert sentence.startswith("In the last 2 of 4 trips learned routes take 5.0 % less")


@pytest.mark.parametrize(
    ("minutes", "expected"),
    [
        ([8.0, 9.0], "15 % less time on average, which is uncertain"),  # ± 64 %, two worlds
        ([8.5, 8.5], "They are also faster: 15 % less time, and they are slower in none of 2"),
        (
            [8.0, 11.0, 8.0],
            "10 % less time on average, which is uncertain: they are slower in 1 of 3",
        ),
        (
            [8.5] * 19 + [10.2],
            "They are also faster: 14 % less time, and they are slower in 1 of 20",
        ),
        ([12.0, 12.0], "They take 20 % more time."),
        ([10.0, 9.99], None),
        ([8.0], None),
    ],
)
def test_learned_routes_are_called_faster_by_the_rule_alone(
    minutes: list[float], expected: str | None
) -> None:
    table = rounds([[100.0 + world] * 4 for world in range(len(minutes))])
    table["eq8_s"] = 600.0
    table["time_s"] = [60 * minutes[seed] for seed in table["seed"]]
    (sentence,) = sentences(table)
    if expected is None:
        assert sentence.endswith("worlds)." if len(minutes) > 1 else "world).")
    else:
        assert expected in sentence
    assert ("also faster" in sentence) == (expected is not None and "also" in expected)


def test_without_times_the_abstract_has_energies_alone() -> None:
    assert "time" not in sentences(rounds([[90.0] * 4, [100.0] * 4]))[0]


def test_the_page_of_a_run_folder_begins_with_its_abstract(run_folder: RunFolder) -> None:
    page = build_page(run_folder)
    assert list(page.abstract) == sentences(read_rounds(run_folder))
    places = [page.html.index(sentence) for sentence in page.abstract]
    assert len(places) == 2
    assert max(places) < page.html.index('class="lead"') < page.html.index("<figure>")
