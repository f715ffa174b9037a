"""Tables of the test for changes on made drivers, whose errors come in rides and days.

The errors of a day share a part, and those of a ride another one. ``ChangeTest`` counts them by
days, as ``evroute learn`` counts trips with dates, and singly, as trips without dates. `day-alarms`
has the alarms of drives in which nothing changes, and `day-delays` the days that a driver drives
with a change up to its alarm, the first and the last included. A driver with an alarm before the
change is left out, and one without an alarm after it counts as `MOST_DAYS`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from evroute.learning.change import ChangeTest
from studies.pages.tables import store

DRIVERS, TRIPS = 20, 10_000
CHANGED_DRIVERS, DAYS_BEFORE, MOST_DAYS = 100, 100, 365
TAIL = 5.0
"""Degrees of freedom of the Student t of each part of an error."""
MORE_RIDES, MORE_TRIPS = 0.5, 0.7
"""Mean number of rides of a day, and of trips of a ride, after the first one."""
RIDE = 0.2
"""Share of the variance that the trips of a ride have in common beside their day."""
COUNTED = ("by days", "singly")


@dataclass(frozen=True, slots=True)
class Driver:
    """Shares of the variance of errors that the trips of a day, and of a week, have in common."""

    day: float
    week: float = 0.0

    def days(self, rng: np.random.Generator) -> Iterator[list[float]]:
        """Yield the errors of the trips of each day, in deviations."""
        unit = np.sqrt((TAIL - 2.0) / TAIL)
        own = 1.0 - self.day - self.week - RIDE
        day, of_week = 0, 0.0
        while True:
            if day % 7 == 0:
                of_week = np.sqrt(self.week) * rng.standard_t(TAIL)
            of_day = of_week + np.sqrt(self.day) * rng.standard_t(TAIL)
            errors = list[float]()
            for _ in range(1 + rng.poisson(MORE_RIDES)):
                of_ride = of_day + np.sqrt(RIDE) * rng.standard_t(TAIL)
                trips = np.sqrt(own) * rng.standard_t(TAIL, 1 + rng.poisson(MORE_TRIPS))
                errors += (unit * (of_ride + trips)).tolist()
            yield errors
            day += 1


DRIVERS_BY_NAME = {
    "0.3 within a day": Driver(0.3),
    "0.4 within a day": Driver(0.4),
    "0.5 within a day": Driver(0.5),
    "0.4 within a day, 0.1 within a week": Driver(0.3, 0.1),
}
CHANGES = {
    "shift by 0.3 deviations": (0.3, 1.0),
    "shift by 0.5 deviations": (0.5, 1.0),
    "shift by 1 deviation": (1.0, 1.0),
    "shift by 2 deviations": (2.0, 1.0),
    "shift by 4 deviations": (4.0, 1.0),
    "twice as wide": (0.0, 2.0),
    "three times as wide": (0.0, 3.0),
}


def false_alarms(driver: Driver, seed: int, counted: str) -> int:
    """Return the alarms in `TRIPS` trips by which nothing changes. Each begins the test anew."""
    test, trips, alarms = ChangeTest(), 0, 0
    for day, errors in enumerate(driver.days(np.random.default_rng(seed))):
        for error in errors[: TRIPS - trips]:
            test.add(abs(error), float(day) if counted == "by days" else np.nan)
            if test.detected:
                test, alarms = ChangeTest(), alarms + 1
        trips += len(errors)
        if trips >= TRIPS:
            break
    return alarms


def delay_days(driver: Driver, seed: int, counted: str, shift: float, scale: float) -> int:
    """Return the days with a change up to its alarm, or 0 if there is an alarm before it."""
    test = ChangeTest()
    for day, errors in enumerate(driver.days(np.random.default_rng(seed))):
        changed_days = day - DAYS_BEFORE + 1
        for error in errors:
            score = abs(shift + scale * error) if changed_days > 0 else abs(error)
            test.add(score, float(day) if counted == "by days" else np.nan)
            if test.detected:
                return max(changed_days, 0)
        if changed_days == MOST_DAYS:
            break
    return MOST_DAYS


def rate(alarms: int) -> str:
    """Return alarms in 1,000 trips, with the exact 90 % interval of a Poisson count."""
    thousands = DRIVERS * TRIPS / 1000.0
    least = chi2.ppf(0.05, 2 * alarms) / 2.0 if alarms else 0.0
    most = chi2.ppf(0.95, 2 * alarms + 2) / 2.0
    return f"{alarms / thousands:.2f} ({least / thousands:.2f} to {most / thousands:.2f})"


def day_alarms() -> None:
    """Write the false alarms of drivers."""
    rows = list[list[str]]()
    for name, driver in DRIVERS_BY_NAME.items():
        by_count = [sum(false_alarms(driver, s, each) for s in range(DRIVERS)) for each in COUNTED]
        rows.append([name, f"{DRIVERS * TRIPS:,}", *map(rate, by_count)])
    columns = ("correlation", "trips", *(f"alarms in 1,000 trips, {each}" for each in COUNTED))
    store("day-alarms", columns, rows, command="python -m studies.pages --run day-alarms")


def day_delays() -> None:
    """Write the delays of the alarms of changes."""
    rows = list[list[str]]()
    for name in ("0.3 within a day", "0.5 within a day"):
        for change, (shift, scale) in CHANGES.items():
            delays = np.array(
                [
                    [
                        delay_days(DRIVERS_BY_NAME[name], seed, counted, shift, scale)
                        for counted in COUNTED
                    ]
                    for seed in range(CHANGED_DRIVERS)
                ]
            )
            delays = delays[(delays > 0).all(axis=1)]
            by_days, singly = delays.mean(axis=0)
            cells = [len(delays), f"{by_days:.1f}", f"{singly:.1f}", f"{by_days / singly:.2f}"]
            found = [f"{share:.0%}".replace("%", " %") for share in (delays < MOST_DAYS).mean(0)]
            rows.append([f"{change}, {name}", *map(str, cells), *found])
    columns = ("errors", "drivers", *(f"days, {each}" for each in COUNTED), "ratio")
    found_by = (f"found within a year, {each}" for each in COUNTED)
    command = "python -m studies.pages --run day-delays"
    store("day-delays", (*columns, *found_by), rows, command=command)


RUNS = {"day-alarms": day_alarms, "day-delays": day_delays}
