"""Why a route takes less: what the sentence says is what the two routes differ in."""

import re

import pytest

from evroute.experiments.runs import RunFolder
from evroute.planning.planner import plan
from evroute.report.results import read_rounds
from evroute.report.words import learned, why


def test_a_route_that_is_the_fastest_needs_no_reason() -> None:
    assert why(plan("denver", trip="A", max_extra_time=0.0)) == ""


def test_the_reasons_add_up_to_what_is_saved() -> None:
    planned = plan("denver", trip="A")
    told = why(planned)
    off_wh = [
        (1 if more == "more" else -1) * float(wh)
        for wh, more in re.findall(r"(\d+) Wh (more|less)", told)
    ]
    saved_wh = planned.routes["time"].energy_wh - planned.recommended_route.energy_wh
    assert -sum(off_wh) == pytest.approx(saved_wh, abs=0.5 * len(off_wh) + 1)
    assert re.search(r"driven at (\d+) km/h on average in place of (\d+) km/h", told)


def test_what_was_learned_names_the_method_of_least_regret(run_folder: RunFolder) -> None:
    (told,) = learned(read_rounds(run_folder))
    regrets = {"GP-TS": (50 + 20) / 2, "BI-UCB": (600 + 1000) / 2}
    assert f"GP-TS has the least regret, {regrets['GP-TS']:.0f} Wh in 4 trips" in told
    assert f"against {regrets['BI-UCB']:,.0f} Wh (BI-UCB)" in told
