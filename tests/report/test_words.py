"""Reasons of routes: the sentence holds the differences between the two routes."""

from evroute.door.plan import plan
from evroute.network.road_network import RoadNetwork
from evroute.report.words import reason


def test_a_route_that_is_the_fastest_needs_no_cause(denver: RoadNetwork) -> None:
    planned = plan(denver, trip="A", max_extra_time=0.0)
    assert reason(denver, planned, "time") == "no route is faster or takes less energy"


def test_a_reason_names_the_greatest_saving_and_both_differences(denver: RoadNetwork) -> None:
    planned = plan(denver, trip="A", vehicle="reference", physics="eq8")
    fastest, best = planned.routes["time"], planned.recommended_route
    saved_wh = {part: fastest.parts_wh[part] - wh for part, wh in best.parts_wh.items()}
    assert max(saved_wh, key=lambda part: saved_wh[part]) == "drag"
    seconds, kwh = best.time_s - fastest.time_s, (fastest.energy_wh - best.energy_wh) / 1000
    words = reason(denver, planned, planned.recommended)
    assert words == f"lower speeds: {seconds:.0f} s longer, {kwh:.2f} kWh less"
    other = reason(denver, planned, "time")
    assert other == f"{seconds:.0f} s less, {kwh:.2f} kWh more than recommended"
