"""Which roads differ most from eq. 8, known by hand; and the page that tells."""

import numpy as np
import pytest

from evroute.arms import Arms, Belief, Feedback
from evroute.energy.vehicle import load_vehicle
from evroute.experiments.runs import RunFolder
from evroute.learning.learned_belief import LearnedBelief
from evroute.methods.method import Method
from evroute.methods.setting import Setting
from evroute.model.coefficients import ConsumptionFactor
from evroute.report.pages.differences import coefficients_table, differences
from evroute.report.pages.run_page import build_page
from evroute.report.results import read_rounds


@pytest.fixture
def arms() -> Arms:
    return Arms(np.array([0, 1, 4]), np.zeros((3, 3)), np.array([50.0, -20.0, 30.0]))


def test_roads_are_ordered_by_the_size_of_the_difference(hill, arms) -> None:
    belief = Belief(np.array([53.0, -29.0, 30.0]), np.array([1.0, 3.0, 0.0]))
    table = differences(belief, arms, hill)
    assert table["edge"].tolist() == ["up", "in", "west"]
    assert table["difference (Wh)"].tolist() == [-9.0, 3.0, 0.0]
    assert table["physics (Wh)"].tolist() == [-20.0, 50.0, 30.0]
    assert table["learned (Wh)"].tolist() == [-29.0, 53.0, 30.0]
    assert table["z"].tolist() == [-3.0, 3.0, 0.0]


def test_coefficients_stand_with_their_units_and_deviations() -> None:
    model = ConsumptionFactor(np.zeros(2), np.full(2, 4.0), factor_std=0.5)
    model.update(
        Feedback(np.array([0]), np.zeros((1, 3)), np.array([8.0]), np.array([10.0]))
    )  # c - 1 = 1/4 at sd 1/2
    row = coefficients_table(model).iloc[0]
    assert row["coefficient"] == "consumption"
    assert row["deviation"] == pytest.approx(0.125)
    assert (row["sd"], row["prior sd"]) == (pytest.approx(np.sqrt(0.125)), 0.5)


def test_the_page_shows_learned_differences_and_unreadable_beliefs(
    run_folder: RunFolder, hill
) -> None:
    rounds = read_rounds(run_folder)
    setting = Setting(hill, load_vehicle("reference"))
    model = ConsumptionFactor(setting.potential_wh, setting.noise_std_wh, factor_std=0.25)
    run = rounds.loc[rounds["method"] == "GP-TS", "run"].iloc[0]
    method = Method(model="factor", index="ts")
    LearnedBelief(model, setting.space, method, setting).save(run_folder.belief_path(run))
    page = build_page(run_folder)
    learned = page.html[
        page.html.index("Learned coefficients") : page.html.index("Definition of regret")
    ]
    assert run in learned
    assert "consumption" in learned
    assert "prior sd" in learned
    assert all(
        f'<td class="name">{edge}</td>' in learned for edge in ("in", "up", "down", "east", "west")
    )
    assert [note for note in page.notes if "BI-UCB" in note and "damaged" in note]
    assert "&lt;table" not in page.html
