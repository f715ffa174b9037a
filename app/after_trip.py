"""After a trip: planned beside actual energy, and the trip added to the car's own trips."""

import streamlit as st
from lan import reads_only
from literal import literal, sentence
from own_trips import PERCENT_STEP, add_planned, folder_of, trip_count
from request import Request, planner_of
from state import choose_next

from evroute.errors import EvrouteError
from evroute.planning.plan import Plan
from evroute.text import counted

KWH_STEP = 0.1
ADDED = "added_trip"


def after_trip(request: Request, plan: Plan, name: str) -> None:
    """Ask for the actual energy of a trip, show it beside the plan, and learn from it.

    Parameters
    ----------
    request, plan
        Inputs and routes.
    name
        The driven row.
    """
    planned, battery = plan.routes[name], plan.battery
    assert battery is not None
    assert planned.charge is not None
    if added := st.session_state.pop(ADDED, ""):
        st.success(sentence(added))
    arrival = battery.percent(float(planned.charge.charge_wh[-1]))
    expected = round(min(max(arrival, 0.0), 100.0))
    actual = st.number_input(
        "Charge on arrival (%)",
        0,
        100,
        expected,
        help="As the car displays it.",
        key=f"arrived:{name}:{expected}",
    )
    kwh = st.number_input(
        "or energy of the trip (kWh)", -100.0, 1000.0, None, KWH_STEP, format="%.2f", key="drove"
    )
    minutes = st.number_input("Minutes (optional)", 0.1, 6000.0, None, 1.0, key="took")
    energy_wh = battery.start_wh - actual / 100 * battery.capacity_wh
    known_wh2 = (PERCENT_STEP / 100 * battery.capacity_wh) ** 2 / 6  # both ends are rounded
    if kwh is not None:
        energy_wh, known_wh2 = kwh * 1000, (KWH_STEP * 1000) ** 2 / 12
    st.write(
        f"Planned {planned.energy_wh / 1000:.2f} kWh, driven "
        f"{energy_wh / 1000:.2f} ± {known_wh2**0.5 / 1000:.2f} kWh."
    )
    if st.button("Add this trip", key="add_trip", disabled=reads_only()):
        try:
            learned = add_planned(
                request.network,
                planner_of(request),
                planned,
                start_percent=battery.percent(battery.start_wh),
                energy_wh=energy_wh,
                known_variance_wh2=known_wh2,
                travel_s=None if minutes is None else minutes * 60,
            )
        except EvrouteError as error:
            st.error(sentence(str(error)))
            return
        st.session_state[ADDED] = (
            f"added; the page My car shows {counted(learned.trips.num_rows, 'trip')} of this car"
        )
        choose_next("folder", learned.folder.name)
        st.rerun()
    if trips := trip_count(folder_of(request.network, request.vehicle)):
        st.caption(
            f"{literal(counted(trips, 'trip'))} of this car stored. "
            "The page My car shows and removes them."
        )
