"""After a trip: planned beside actual energy, the forecast judged, and the trip added to the car's.

A trip that is added changes the forecasts of further plans. The earlier plan stays on the
page as it was, beside the drive.
"""

import re
from dataclasses import dataclass

import streamlit as st
from lan import reads_only
from literal import literal, sentence
from own_trips import PERCENT_STEP, add_planned, folder_of, trip_count
from request import Request, planner_of
from state import put

from evroute.errors import EvrouteError
from evroute.planning.plan import Plan, PlannedRoute
from evroute.text import counted

KWH_STEP = 0.1
ADDED = "added_trip"


@dataclass(frozen=True)
class Added:
    """A trip that was added, as it was planned and as it was driven.

    Parameters
    ----------
    places
        Places of its request.
    words
        Sentences on plan, drive and forecast.
    """

    places: tuple[str, ...]
    words: tuple[str, ...]


def after_trip(request: Request, plan: Plan, name: str) -> None:
    """Ask for the actual energy of a trip, show it beside the plan, and learn from it.

    Parameters
    ----------
    request, plan
        Inputs and routes.
    name
        The driven row.
    """
    added = st.session_state.get(ADDED)
    if added and added.places == request.places:  # its row may have changed by the trip
        done, *judged = added.words
        st.success(sentence(done))
        for words in judged:
            st.write(sentence(words))
        st.button("Enter another drive", on_click=_forget, key="add_another")
    else:
        ask(request, plan, name)
    if trips := trip_count(folder_of(request.network, request.vehicle)):
        st.caption(
            f"{literal(counted(trips, 'trip'))} of this car stored. "
            "The page My car shows and removes them."
        )


def ask(request: Request, plan: Plan, name: str) -> None:
    """Ask for charge or energy and minutes of a drive, and add it.

    Parameters
    ----------
    request, plan, name
        As in `after_trip`.
    """
    planned, battery = plan.routes[name], plan.battery
    assert battery is not None
    assert planned.charge is not None
    actual = st.number_input(
        "Charge on arrival (%)", 0, 100, None, help="As the car displays it.", key="arrived"
    )
    kwh = st.number_input(
        "or energy of the trip (kWh)", -100.0, 1000.0, None, KWH_STEP, format="%.2f", key="drove"
    )
    minutes = st.number_input("Minutes (optional)", 0.1, 6000.0, None, 1.0, key="took")
    judged: tuple[str, ...] = ()
    energy_wh = known_wh2 = 0.0
    if kwh is not None:
        energy_wh, known_wh2 = kwh * 1000, (KWH_STEP * 1000) ** 2 / 12
    elif actual is not None:
        energy_wh = battery.start_wh - actual / 100 * battery.capacity_wh
        known_wh2 = (PERCENT_STEP / 100 * battery.capacity_wh) ** 2 / 6  # both ends are rounded
    is_driven = kwh is not None or actual is not None
    if is_driven:
        judged = judgement(planned, battery.capacity_wh, energy_wh, known_wh2**0.5)
    for words in judged:
        st.write(sentence(words))
    if st.button("Add this trip", key="add_trip", disabled=reads_only() or not is_driven):
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
            st.error(sentence(_without_ids(str(error))))
            return
        trips = counted(learned.trips.num_rows, "trip")
        done = f"added. The page My car shows {trips} of this car"
        st.session_state[ADDED] = Added(request.places, (done, *judged))
        put("folder", learned.folder.name)
        st.rerun()


def _without_ids(message: str) -> str:
    """Return why a trip cannot be added, without the file and the ids of a table of trips."""
    reason = re.sub(r"^.* can be used; '[^']*': ", "", message)
    return re.sub(r"edge '[^']*'", "a road", reason)


def judgement(
    planned: PlannedRoute, capacity_wh: float, energy_wh: float, rounded_wh: float
) -> tuple[str, ...]:
    """Return sentences on the planned and the driven energy, and on the forecast.

    Parameters
    ----------
    planned
        The route as planned.
    capacity_wh
        Capacity of the battery, Wh.
    energy_wh, rounded_wh
        Driven energy and the standard deviation of its reading, Wh.
    """
    driven_kwh, rounded_kwh = round(energy_wh / 1000, 2), round(rounded_wh / 1000, 2)  # as shown
    more_kwh = driven_kwh - round(planned.energy_wh / 1000, 2)
    driven = (
        f"planned {planned.energy_wh / 1000:.2f} kWh, driven "
        f"{driven_kwh:.2f} ± {rounded_kwh:.2f} kWh"
    )
    if abs(more_kwh) >= 0.005:
        driven += f": {abs(more_kwh):.2f} kWh {'more' if more_kwh > 0 else 'less'}"
    forecast = planned.charge_forecast
    if forecast is None:
        return (driven,)
    least, most = ((percent / 100) * capacity_wh for percent in forecast.band_percent[-1])
    assert planned.charge is not None
    # the band of the charge is one of the energy; charges on the way shift both alike
    start_wh = planned.charge.charge_wh[-1] + planned.energy_wh
    # no -0.00
    low_kwh, high_kwh = (round((start_wh - end_wh) / 1000, 2) + 0.0 for end_wh in (most, least))
    beyond_kwh = max(low_kwh - driven_kwh, driven_kwh - high_kwh)
    verdict = f"the 90 % band of the plan, {low_kwh:.2f} to {high_kwh:.2f} kWh"
    if beyond_kwh <= 0:
        return driven, f"within {verdict}"
    if beyond_kwh <= rounded_kwh:
        return driven, f"outside {verdict}, by less than the doubt of the reading"
    return driven, f"outside {verdict}"


def _forget() -> None:
    """Ask for another drive."""
    del st.session_state[ADDED]
