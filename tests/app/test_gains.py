"""A descent gains energy in the words of the card, of the map and of the table."""

import pytest

from evroute.cli.plan_table import print_plan
from evroute.energy.vehicle import load_vehicle
from evroute.network.road_network import RoadNetwork
from evroute.planning.plan import Plan, energy_text
from evroute.planning.planner import Planner
from evroute.report.words import totals


@pytest.fixture
def down(make_network) -> RoadNetwork:
    """Three kilometres that fall by 240 m."""
    ends = [(f"{k}", k, k + 1) for k in range(3)]
    return make_network(ends, [(1000.0 * k, 0.0, 240.0 - 80.0 * k) for k in range(4)])


def test_a_descent_gains_energy_everywhere(
    down: RoadNetwork, capsys: pytest.CaptureFixture[str]
) -> None:
    from cards import cards_of

    plan: Plan = Planner(down, load_vehicle()).plan("0", "2", soc=40, risk="mean")
    kwh = -plan.recommended_route.energy_wh / 1000
    assert kwh > 0.3
    (card,) = cards_of(down, plan, [plan.recommended], plan.recommended)
    assert f"gains {kwh:.2f} kWh" in card["numbers"]
    assert totals(plan.recommended_route).startswith(f"gains {kwh:.2f} kWh, ")
    print_plan(down, plan)
    table = capsys.readouterr().out
    assert f"gains {kwh:.3f}" in table
    assert f"gains {-plan.recommended_route.wh_per_km:.1f}" in table


@pytest.mark.parametrize(
    ("energy_wh", "text"),
    [(-570.0, "gains 0.57 kWh"), (-57.0, "gains 57 Wh"), (-0.3, "0 Wh"), (570.0, "0.57 kWh")],
)
def test_energies_by_hand(energy_wh: float, text: str) -> None:
    assert energy_text(energy_wh) == text
