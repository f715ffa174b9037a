"""The contents of a profile, in the words of the pages."""

from collections.abc import Callable, Mapping

from memory import Profile, Value
from naming import car_title, title_of

from evroute.text import counted

WORDS: Mapping[str, Callable[[Value], str]] = {
    "network": lambda name: f"roads of {title_of(str(name))}",
    "vehicle": lambda name: car_title(str(name)),
    "soc": lambda percent: f"charge {percent} %",
    "reserve": lambda percent: f"keep {percent} %",
    "charge": lambda charges: "charging on the way" if charges else "no charging on the way",
    "risk": lambda percent: f"risk at most {percent:g} %" if percent else "plans on average",
    "price": lambda price: f"{price:g} per kWh",
    "time_value": lambda value: f"{value:g} per hour",
    "stop_from": lambda percent: f"arrive at stations with {percent:g} %",
    "stop_to": lambda percent: f"leave stations with {percent:g} %",
    "stop_minutes": lambda minutes: f"{minutes:g} min of a stop beside charging",
    "least_kw": lambda kw: f"sockets from {kw:g} kW",
    "mass_kg": lambda kg: f"{kg:g} kg",
    "drag": lambda drag: f"drag {drag:g}",
    "auxiliary_w": lambda watts: f"heating and lights {watts:g} W",
    "battery_kwh": lambda kwh: f"{kwh:g} kWh usable",
}
"""Words of an input, or of a number of a car, by its name."""


def remembered_words(profile: Profile) -> str:
    """Return the inputs and the number of places of a profile in words.

    Parameters
    ----------
    profile
        The profile. Inputs that the pages do not have are left out.
    """
    known = []
    of_cars = [name for name in profile.inputs if ":" in name]
    for name in [*WORDS, *of_cars]:
        part, _, car = name.partition(":")
        if name in profile.inputs and part in WORDS:
            words = WORDS[part](profile.inputs[name])
            known.append(f"{car_title(car)}: {words}" if car else words)
    listed = ", ".join(known) or "no inputs"
    return f"{listed[0].upper()}{listed[1:]}. {counted(len(profile.places), 'place')}."
