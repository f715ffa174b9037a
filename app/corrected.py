"""After a trip: planned and actual energy, and a correction of the plan in this session."""

from typing import TYPE_CHECKING

import streamlit as st
from literal import literal, sentence

from evroute.energy.driving import DrivingConditions
from evroute.errors import EvrouteError
from evroute.learning.consumption_calibration import ConsumptionCalibration
from evroute.methods.setting import Setting
from evroute.planning.plan import Plan, energy_text

if TYPE_CHECKING:
    from request import Request


def correction_of(request: "Request") -> ConsumptionCalibration | None:
    """Return the correction learned from this session's trips, None if there is none."""
    corrected = _kept().get(_about(request))
    return corrected if corrected is not None and corrected.trips else None


def after_trip(request: "Request", plan: Plan) -> None:
    """Ask for the actual energy of the trip, show it next to the plan, and learn from it."""
    least, corrected = plan.recommended_route, correction_of(request)
    if request.conditions != DrivingConditions():
        st.caption(
            "Corrections are learned on days without weather, load and traffic: switch these off."
        )
        return
    assert plan.battery is not None
    assert least.charge is not None
    arrival = plan.battery.percent(float(least.charge.charge_wh[-1]))
    actual = st.number_input("Charge on arrival (%)", 0.0, 100.0, round(max(arrival, 0.0), 1), 0.5)
    energy_wh = plan.battery.start_wh - actual / 100 * plan.battery.capacity_wh
    st.write(
        f"Planned {arrival:.1f} %, arrived with {actual:.1f} %: "
        f"{literal(energy_text(energy_wh))} driven."
    )
    left, right = st.columns(2)
    if left.button("Learn from it"):
        learner = _kept().setdefault(
            _about(request), ConsumptionCalibration(Setting(request.network, request.vehicle))
        )
        try:
            learner.learn(least.route, energy_wh)
        except EvrouteError as error:
            st.error(sentence(str(error)))
            return
        st.rerun()
    if corrected:
        trips = f"{corrected.trips} trip{'s' * (corrected.trips > 1)}"
        st.write(
            f"After {literal(trips)} this car is planned to dissipate "
            f"**{corrected.factor:.2f}** times the energy by physics."
        )
        if right.button("Forget the correction"):
            _kept().pop(_about(request))
            st.rerun()


def _kept() -> dict[tuple[str, str], ConsumptionCalibration]:
    kept: dict[tuple[str, str], ConsumptionCalibration] = st.session_state.setdefault(
        "corrections", {}
    )
    return kept


def _about(request: "Request") -> tuple[str, str]:
    return request.network.digest, repr(request.vehicle)
