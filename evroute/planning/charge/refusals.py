"""Refusals that help: the least start with stations, or the gap that no full charge bridges."""

from collections.abc import Callable
from math import ceil

from evroute.bisection import least_that_succeeds
from evroute.errors import NotEnoughChargeError
from evroute.planning.battery import TOLERANCE_WH, Battery, whole_percent
from evroute.planning.charge.chargers import ChargingStop
from evroute.planning.charge.station_needs import StationNeeds
from evroute.planning.charge.stops_within import StopsWithin

Stops = tuple[ChargingStop, ...]
Tried = Callable[[int], Stops | None]


def with_advice(
    error: NotEnoughChargeError,
    stops: Stops,
    needs: StationNeeds,
    battery: Battery,
    *,
    charging: bool,
    tried: Tried | None = None,
    within: StopsWithin | None = None,
) -> NotEnoughChargeError:
    """Return an error with the stops that mend it, the least start with stations, or the gap.

    Parameters
    ----------
    error
        Error of the plan without stops.
    stops
        Stops of a plan, or empty if there is none.
    needs
        Needs of the request with stations.
    battery
        Charge at the start, and reserve.
    charging
        Whether the request may charge on the way.
    tried
        Function that returns the stops of a plan that starts with a whole per cent, or None. It is
        asked where the needs are not exact. None if they are.
    within
        Plans with stops within the limit of risk, or None without a limit.
    """
    if stops:
        advice = f"or {', then '.join(stop.advice for stop in stops)} (--charge)"
        steps = [*error.steps, {"charge": True}]
        return NotEnoughChargeError(f"{error}, {advice}", error.start_percent, steps)
    found = _least(needs, battery, tried)
    if found is None:
        return _without_start(error, needs, battery, "" if within is None else "about ")
    percent, station = found
    least = f"{percent} %"
    useless = "Charging on the way does not help"
    if not station and error.start_percent is None:
        return NotEnoughChargeError(f"{error}: start with at least {least}. {useless}", percent)
    if not station or (error.start_percent or 101) <= percent:
        return NotEnoughChargeError(f"{error}. {useless}", error.start_percent)
    if not charging:
        advice = f"or with at least {least} and charging at {station} (--charge)"
        reason = str(error).replace("Charge on the way, or take", "Take")
        steps = [*error.steps, {"soc": percent, "charge": True}]
        return NotEnoughChargeError(f"{reason}, {advice}", error.start_percent, steps)
    reached = bool(needs.charges(battery))
    why = "no station that leads on is within reach" if reached else "no station is within reach"
    if within is not None:
        why = f"no plan with charging stops was found that keeps the limit of risk{_best(within)}"
    without = f", without a stop at least {error.start_percent} %" if error.start_percent else ""
    return NotEnoughChargeError(
        f"{why}: start with at least {least}, then charge at {station} "
        f"(started with {battery.percent(battery.start_wh):.4g} %, reserve "
        f"{battery.percent(battery.reserve_wh):.4g} %{without})",
        percent,
    )


def _best(within: StopsWithin) -> str:
    """Return the best chance of the plans with stops that were judged in words, or ""."""
    if within.safest is None:
        return ""
    risk, (_, stops) = within.safest
    charged = ", then ".join(stop.advice for stop in stops) or "drive on without a stop"
    return f" (the best keeps the reserve in {100 * (1 - risk):.0f} % of trips: {charged})"


def _without_start(
    error: NotEnoughChargeError, needs: StationNeeds, battery: Battery, about: str
) -> NotEnoughChargeError:
    """Return an error with the gap that no full charge bridges, if there is one."""
    reason = str(error).replace("Charge on the way, or take", "Take")
    reason = reason.removesuffix(". Charge on the way")
    gap = needs.gap(battery)
    if gap is None:
        return error
    advice = "no plan with charging stops was found, even with a full battery"
    if gap[0] > TOLERANCE_WH:
        advice = gap_text(gap, needs, battery, about)
    return NotEnoughChargeError(f"{reason}, {advice}", error.start_percent)


def _least(needs: StationNeeds, battery: Battery, tried: Tried | None) -> tuple[int, str] | None:
    """Return the least whole per cent at the start, and the first station, or None for none.

    Parameters
    ----------
    needs, battery, tried
        As in `with_advice`.
    """
    need = needs.least_start(battery)
    need_wh = need.charge_wh + needs.problem.warm_up.whole_wh
    held = need_wh <= battery.capacity_wh + TOLERANCE_WH
    if tried is None:
        return (whole_percent(battery, need_wh), need.station) if held else None
    asked = ceil(battery.percent(battery.start_wh) - 1e-9)
    guess = whole_percent(battery, need_wh) if held else 100
    percent = least_that_succeeds(lambda percent: tried(percent) is not None, asked, 100, guess)
    if percent is None:
        return None
    stops = tried(percent)
    return percent, stops[0].station if stops else ""


def gap_text(
    gap: tuple[float, str, str], needs: StationNeeds, battery: Battery, about: str = ""
) -> str:
    """Return which gap a full charge does not bridge, and the energy it lacks.

    Parameters
    ----------
    gap, needs
        The gap (`StationNeeds.gap`), and the needs of the request with stations.
    battery
        Capacity and reserve.
    about
        Word before numbers that are not exact.
    """
    missing_wh, begin, end = gap
    first = begin or "the start"
    last = f"the next station {end}" if end else "the destination"
    held = "a full charge"
    if not begin and needs.problem.warm_up:
        held = "a full charge leaves after the warm-up"
    if begin and needs.most_wh < battery.capacity_wh:
        held = f"a charge of {battery.percent(needs.most_wh):.4g} %"
    return (
        f"charging on the way does not help: from {first} to {last} takes "
        f"{about}{ceil(missing_wh - TOLERANCE_WH)} Wh more than {held}"
    )
