"""Inputs of the page Plan: a row for each, with widget, first value, range, field and words."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from dataclasses import field as made
from datetime import time
from typing import Any

import state
import streamlit as st
from literal import literal
from memory import Profile
from naming import car_title, title_of

from evroute.energy import defaults
from evroute.energy.vehicle import vehicle_names
from evroute.planning.fields import CHARGER, MEAN, PROMISE
from evroute.planning.request import entries
from evroute.text import counted

COMPASS = {"north": 0.0, "north-east": 45.0, "east": 90.0, "south-east": 135.0}
COMPASS |= {"south": 180.0, "south-west": 225.0, "west": 270.0, "north-west": 315.0}
ANY, PERCENT = "", "at least"
ENDS = {ANY: "any charge", PERCENT: "a charge (%)", CHARGER: "enough to reach a station"}
"""Words of each wish for the charge at the end."""

CURRENCIES = {"": "", "EUR": "€", "USD": "$", "GBP": "£"}
CURRENCIES |= {code: code for code in ("CHF", "CZK", "DKK", "HUF", "NOK", "PLN", "SEK")}
"""Signs of currencies by code. Prices are in the chosen one: no rates are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """An input of the page Plan.

    Parameters
    ----------
    label
        Label of its widget.
    widget
        Name of its widget of Streamlit, or empty if it has none or one of its own.
    first
        First value, or None for an input that is empty at first, or whose first value depends on
        the roads or the car.
    allowed
        Range (low, high) or list of the allowed values, or a function that returns it. None allows
        all.
    options
        Further arguments of its widget.
    field
        Name in texts of the field of a request that it shows, or empty for none.
    needs
        Name of an input without which the field does not count. The field sets a switch that has
        no field of its own.
    shown, meant
        Return its value for one of the field, and the reverse. None leaves it, or the field, out.
    said
        Returns a remembered value in words. None for an input that is not remembered.
    """

    label: str = ""
    widget: str = ""
    first: Any = None
    allowed: Any = None
    options: Mapping[str, Any] = made(default_factory=dict)
    field: str = ""
    needs: str = ""
    shown: Callable[[Any], Any] = lambda value: value
    meant: Callable[[Any], Any] = lambda value: value
    said: Callable[[Any], str] | None = None


def _bearing(degrees: float) -> str:
    """Return the point of the compass that is nearest to a bearing."""
    return min(COMPASS, key=lambda point: abs((COMPASS[point] - degrees + 180) % 360 - 180))


def _day(label: str, field: str, first: int, allowed: tuple[int, int], **more: Any) -> Input:
    """Return a number of the day."""
    row = {"shown": round} | more
    return Input(
        label=label,
        widget="slider",
        first=first,
        allowed=allowed,
        field=field,
        **row,
    )


def _money(label: str, field: str, most: float, step: float, said: str, **more: Any) -> Input:
    """Return an amount of money, of which 0 leaves it out."""
    return Input(
        label=label,
        widget="number_input",
        first=0.0,
        allowed=(0.0, most),
        options={"step": step} | more.pop("options", {}),
        field=field,
        meant=lambda amount: amount or None,
        said=said.format,
        **more,
    )


def _stop(label: str, field: str, step: float, said: str) -> Input:
    """Return a wish for the stops: its range and its sentence are those of its field."""
    entry = entries()[field]
    return Input(
        label=label,
        widget="number_input",
        first=float(entry.default),
        allowed=_range(field),
        options={"step": step, "format": "%g", "help": literal(entry.form.help)},
        field=field,
        needs="charge",
        said=said.format,
    )


def _range(field: str) -> tuple[float, float]:
    """Return the least and the greatest value of a field. The least of more than 0 is 1."""
    limits = entries()[field].form.limits
    return float(limits.get("minimum", 1.0)), float(limits["maximum"])


def _of_car(label: str, low: float, high: float, step: float, said: str) -> Input:
    """Return a number of a car."""
    return Input(
        label=label,
        widget="number_input",
        allowed=(low, high),
        options={"step": step},
        said=said.format,
    )


INPUTS: Mapping[str, Input] = {
    "network": Input(
        label="Network", widget="selectbox", said=lambda name: f"roads of {title_of(str(name))}"
    ),
    "vehicle": Input(
        first=defaults.VEHICLE,
        allowed=vehicle_names,
        field="vehicle",
        said=lambda name: car_title(str(name)),
    ),
    "soc": Input(
        label="Charge at the start (%)",
        widget="slider",
        first=80,
        allowed=(1, 100),
        field="soc",
        shown=round,
        said="charge {} %".format,
    ),
    "range": Input(label="Show how far this charge reaches", widget="toggle", first=False),
    "charge": Input(
        label="Charge on the way where it falls short",
        widget="toggle",
        first=False,
        field="charge",
        said=lambda charges: "charging on the way" if charges else "no charging on the way",
    ),
    "reserve": Input(
        label="Charge to keep (%)",
        widget="slider",
        first=10,
        allowed=(0, 100),
        field="reserve",
        shown=round,
        said="keep {} %".format,
    ),
    "risk": Input(
        label="Chance of ever falling below the charge to keep, at most",
        widget="pills",
        first=100 * PROMISE,
        allowed=(0.0, 50.0),
        options={
            "format_func": lambda percent: f"{percent:g} %" if percent else "on average",
            "required": True,
        },
        field="risk",
        shown=lambda risk: 0.0 if risk == MEAN else 100 * risk,
        meant=lambda percent: percent / 100 or MEAN,
        said=lambda percent: f"risk at most {percent:g} %" if percent else "plans on average",
    ),
    "arrive": Input(
        label="Charge at the end, at least (%)",
        widget="slider",
        first=20.0,
        allowed=_range("arrive"),
        options={"step": 1.0, "format": "%g"},
        field="arrive",
        needs="arrive_how",
        shown=lambda value: None if value == CHARGER else value,
    ),
    "arrive_how": Input(
        label="Charge at the end",
        widget="radio",
        first=ANY,
        allowed=list(ENDS),
        options={"format_func": ENDS.__getitem__},
        field="arrive",
        needs="charge",
        shown=lambda value: CHARGER if value == CHARGER else PERCENT,
        meant=lambda how: CHARGER if how == CHARGER else None,
    ),
    "stop_from": _stop(
        "Arrive at a station with at least (%)", "stop_from", 5.0, "arrive at stations with {:g} %"
    ),
    "stop_to": _stop(
        "Leave a station with at most (%)", "stop_to", 5.0, "leave stations with {:g} %"
    ),
    "stop_minutes": _stop(
        "Minutes of a stop beside charging",
        "stop_minutes",
        1.0,
        "{:g} min of a stop beside charging",
    ),
    "least_kw": _stop("Power of a socket, at least (kW)", "least_kw", 1.0, "sockets from {:g} kW"),
    "avoid_stations": Input(
        label="Stations to avoid: name, charging network or id",
        widget="multiselect",
        first=[],
        options={"accept_new_options": True},
        field="avoid_stations",
        needs="charge",
        shown=list,
    ),
    "depart": Input(
        label="Departure",
        widget="time_input",
        options={"step": 300},
        field="depart",
        shown=time.fromisoformat,
        meant=lambda clock: f"{clock:%H:%M}" if clock else None,
    ),
    "with_temperature": Input(first=False),
    "temperature": _day("Temperature (°C)", "temperature", 20, (-30, 45), needs="with_temperature"),
    "wind": _day("Wind (m/s)", "wind", 0, (0, 25)),
    "bearing": Input(
        label="Wind from the",
        widget="selectbox",
        first="north",
        allowed=list(COMPASS),
        field="wind_from",
        needs="wind",
        shown=_bearing,
        meant=COMPASS.__getitem__,
    ),
    "speed": _day(
        "Speed against the limits (%)",
        "speed_factor",
        100,
        (30, 120),
        shown=lambda share: round(100 * share),
        meant=lambda percent: percent / 100,
    ),
    "payload": _day("Payload (kg)", "payload", 0, (0, 2000), options={"step": 25}),
    "limited": Input(label="Limit the extra time", widget="toggle", first=False),
    "extra": Input(
        label="Longer than the fastest by at most (%)",
        widget="slider",
        first=20,
        allowed=(0, 100),
        field="max_extra_time",
        needs="limited",
        shown=lambda share: round(100 * share),
        meant=lambda percent: percent / 100,
    ),
    "price": _money(
        "Own price of energy (per kWh)",
        "price",
        10.0,
        0.05,
        "{:g} per kWh",
        options={"help": "Price of the charge at the start, and of stations that name none."},
    ),
    "time_value": _money(
        "Value of time (per hour)",
        "time_value",
        1000.0,
        1.0,
        "{:g} per hour",
        needs="price",
        options={"help": "With a price, the plan of least cost is recommended."},
    ),
    "currency": Input(
        label="Currency",
        widget="selectbox",
        first="",
        allowed=list(CURRENCIES),
        options={"format_func": lambda code: code or "none"},
        said=lambda code: f"money in {code}" if code else "money without a currency",
    ),
    "mass_kg": _of_car("Mass (kg)", 500.0, 45_000.0, 10.0, "{:g} kg"),
    "drag": _of_car("Drag coefficient", 0.1, 1.5, 0.01, "drag {:g}"),
    "auxiliary_w": _of_car(
        "Heating, lights and others (W)", 0.0, 10_000.0, 50.0, "heating and lights {:g} W"
    ),
    "battery_kwh": _of_car("Usable battery (kWh)", 1.0, 1_000.0, 0.5, "{:g} kWh usable"),
}
"""Inputs by name, in the order in which the profile lists them. Those of a car are named with it,
such as ``drag:renault-zoe``."""


def row_of(name: str) -> Input:
    """Return the row of an input, such as of ``soc`` or of ``drag:renault-zoe``."""
    return INPUTS[name.partition(":")[0]]


def start(name: str, first: Any = None) -> Any:
    """Return the value of an input, or its first one where it has no allowed one.

    Parameters
    ----------
    name
        Name of the input.
    first
        First value, of an input that has none of its own.
    """
    row = row_of(name)
    if row.first is None and first is None:
        return st.session_state.setdefault(state.key(name), None)
    allowed = row.allowed() if callable(row.allowed) else row.allowed
    return state.starting(name, row.first if first is None else first, allowed)


def ask(
    name: str, *, first: Any = None, then: Callable[[], None] | None = None, **options: Any
) -> Any:
    """Show the widget of an input, and return its value.

    Parameters
    ----------
    name, first
        As in `start`.
    then
        Called after the driver has changed it.
    options
        Arguments of the widget in place of those of the row.
    """
    row = row_of(name)
    start(name, first)
    label = literal(options.pop("label", row.label))
    if isinstance(row.allowed, tuple) and row.widget != "pills":
        options = {"min_value": row.allowed[0], "max_value": row.allowed[1]} | options
    elif isinstance(row.allowed, list):
        options = {"options": row.allowed} | options
    return state.ask(getattr(st, row.widget), label, name, then=then, **{**row.options, **options})


def inputs_of(field: str, value: Any) -> dict[str, Any]:
    """Return the inputs that show a value of a field, by name. None show most fields."""
    found = {}
    for name, row in INPUTS.items():
        if row.field == field and (shown := row.shown(value)) is not None:
            found[name] = shown
            switch = INPUTS.get(row.needs)
            if switch and not switch.field and switch.first is False:
                found[row.needs] = True
    return found


def wishes(unavailable: Collection[str] = ()) -> dict[str, Any]:
    """Return the fields of a request by their names in texts, as the inputs have them.

    Parameters
    ----------
    unavailable
        Names of inputs that do not count now, nor do those that need them.
    """

    def counts(name: str) -> bool:
        if name in unavailable:
            return False
        needed = INPUTS[name].needs
        return not needed or (bool(start(needed)) and counts(needed))

    found = {}
    for name, row in INPUTS.items():
        if row.field and counts(name) and (meant := row.meant(start(name))) is not None:
            found[row.field] = meant
    return found


def is_remembered(name: str) -> bool:
    """Return True if the profile keeps an input."""
    row = INPUTS.get(name.partition(":")[0])
    return row is not None and row.said is not None


def remembered_words(profile: Profile) -> str:
    """Return the inputs and the number of places of a profile in words.

    Parameters
    ----------
    profile
        The profile. Inputs that the page does not have are left out.
    """
    known = []
    for name in [*INPUTS, *(each for each in profile.inputs if ":" in each)]:
        car, said = name.partition(":")[2], row_of(name).said if is_remembered(name) else None
        if said and name in profile.inputs:
            words = said(profile.inputs[name])
            known.append(f"{car_title(car)}: {words}" if car else words)
    listed = ", ".join(known) or "no inputs"
    return f"{listed[0].upper()}{listed[1:]}. {counted(len(profile.places), 'place')}."
