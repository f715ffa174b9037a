"""Tables of the test for changes on made drivers, whose errors come in rides, days and weeks.

The errors of a day share a part, and those of a ride another one, in one driver also those of a
week. ``ChangeTest`` models days and weeks. `RankTest` counts single trips: the test of evroute up
to version 1.0.0rc1, at a higher threshold. Both thresholds are chosen by one rule, written before
the first run: of a list, the least by which no driver has more than `MOST_ALARMS` false alarms in
1,000 trips (`day-threshold`, on seeds of its own). So the delays of both are compared at equal
alarms. `day-alarms` has the alarms of drives in which nothing changes, by other seeds, and
`day-delays` the days that a driver drives with a change up to its alarm, the first and the last
included. A driver with an alarm before the change is left out, and one without an alarm after it
counts as `MOST_DAYS`.
"""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import zeta
from scipy.stats import chi2

from evroute.learning.change import SETTLING_TRIPS, THRESHOLD, ChangeTest
from studies.pages.tables import load, store

DRIVERS, TRIPS = 20, 10_000
CHANGED_DRIVERS, DAYS_BEFORE, MOST_DAYS = 100, 100, 365
TAIL = 5.0
"""Degrees of freedom of the Student t of each part of an error."""
MORE_RIDES, MORE_TRIPS = 0.5, 0.7
"""Mean number of rides of a day, and of trips of a ride, after the first one."""
RIDE = 0.2
"""Share of the variance that the trips of a ride have in common beside their day."""
MOST_ALARMS = 0.2
"""In 1,000 trips. Energies and times have a test each, and the goal of all is 0.3."""
CHOSEN_BY = 1000
"""First of the seeds that the thresholds are chosen by."""
POWERS = np.array([0.1, 0.3, 0.5, 0.7, 0.9])


class RankTest:
    """Test of single trips by the ranks of the sizes of their errors.

    A size that is among the share p of the largest pays ``p**(k - 1)``, divided by its mean over
    all ranks, for each power k. Evidence is Shiryaev and Roberts', as in ``ChangeTest``.
    """

    def __init__(self) -> None:
        self._sizes = list[float]()
        self._evidence = np.zeros(len(POWERS))

    @property
    def evidence(self) -> float:
        """Mean evidence over the powers."""
        return float(self._evidence.mean())

    def add(self, score: float, _: float = np.nan) -> None:
        """Add the score of the next trip."""
        size, n = abs(score), len(self._sizes) + 1
        below = bisect_left(self._sizes, size)
        if n > SETTLING_TRIPS:
            # the sum of i^(k-1) up to n, by Euler and Maclaurin
            total = n**POWERS / POWERS + ZETA + n ** (POWERS - 1) / 2
            total += (POWERS - 1) / 12 * n ** (POWERS - 2)
            self._evidence = (self._evidence + 1) * (n - below) ** (POWERS - 1.0) * n / total
        self._sizes.insert(below, size)


ZETA = np.array([zeta(1.0 - power) for power in POWERS])
Test = ChangeTest | RankTest
TESTS: dict[str, type[Test]] = {"by days and weeks": ChangeTest, "single trips": RankTest}
THRESHOLDS = {
    "by days and weeks": (500.0, 1000.0, 2000.0, 4000.0, 8000.0),
    "single trips": (5e5, 1e6, 2e6, 4e6, 8e6, 16e6, 32e6),
}


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


def false_alarms(driver: Driver, seed: int, kind: type[Test], threshold: float) -> int:
    """Return the alarms in `TRIPS` trips by which nothing changes. Each begins the test anew."""
    test, trips, alarms = kind(), 0, 0
    for day, errors in enumerate(driver.days(np.random.default_rng(seed))):
        for error in errors[: TRIPS - trips]:
            test.add(error, float(day))
            if test.evidence >= threshold:
                test, alarms = kind(), alarms + 1
        trips += len(errors)
        if trips >= TRIPS:
            break
    return alarms


def all_alarms(driver: Driver, first: int, kind: type[Test], threshold: float) -> int:
    """Return the alarms of all drives from a seed on."""
    seeds = range(first, first + DRIVERS)
    return sum(false_alarms(driver, seed, kind, threshold) for seed in seeds)


def delay_days(driver: Driver, seed: int, name: str, shift: float, scale: float) -> int:
    """Return the days with a change up to its alarm, or 0 if there is an alarm before it."""
    test, threshold = TESTS[name](), chosen(name)
    for day, errors in enumerate(driver.days(np.random.default_rng(seed))):
        changed_days = day - DAYS_BEFORE + 1
        for error in errors:
            test.add(shift + scale * error if changed_days > 0 else error, float(day))
            if test.evidence >= threshold:
                return max(changed_days, 0)
        if changed_days == MOST_DAYS:
            break
    return MOST_DAYS


def chosen(name: str) -> float:
    """Return the threshold of a test by table `day-threshold`."""
    (row,) = (row for row in load("day-threshold").rows if row[0] == name and row[-1])
    return float(row[1].replace(",", ""))


def rate(alarms: int, trips: int = DRIVERS * TRIPS) -> str:
    """Return alarms in 1,000 trips, with the exact 90 % interval of a Poisson count."""
    thousands = trips / 1000.0
    least = chi2.ppf(0.05, 2 * alarms) / 2.0 if alarms else 0.0
    most = chi2.ppf(0.95, 2 * alarms + 2) / 2.0
    return f"{alarms / thousands:.2f} ({least / thousands:.2f} to {most / thousands:.2f})"


def day_threshold() -> None:
    """Write the alarms of each threshold up to the one that is chosen."""
    rows = list[list[str]]()
    for name, kind in TESTS.items():
        for threshold in THRESHOLDS[name]:
            drivers = DRIVERS_BY_NAME.values()
            alarms = [all_alarms(driver, CHOSEN_BY, kind, threshold) for driver in drivers]
            few = max(alarms) <= MOST_ALARMS * DRIVERS * TRIPS / 1000.0
            rows.append([name, f"{threshold:,.0f}", *map(rate, alarms), "yes" if few else ""])
            if few:
                break
    columns = ("test", "threshold", *DRIVERS_BY_NAME, "chosen")
    store("day-threshold", columns, rows, command="python -m studies.pages --run day-threshold")
    if chosen("by days and weeks") != THRESHOLD:
        raise SystemExit(f"THRESHOLD is {THRESHOLD}, the table chooses another one")


def day_alarms() -> None:
    """Write the false alarms of drivers."""
    rows = list[list[str]]()
    for name, driver in DRIVERS_BY_NAME.items():
        alarms = [all_alarms(driver, 0, kind, chosen(test)) for test, kind in TESTS.items()]
        rows.append([name, f"{DRIVERS * TRIPS:,}", *map(rate, alarms)])
    columns = ("correlation", "trips", *(f"alarms in 1,000 trips, {test}" for test in TESTS))
    store("day-alarms", columns, rows, command="python -m studies.pages --run day-alarms")


def day_delays() -> None:
    """Write the delays of the alarms of changes."""
    rows = list[list[str]]()
    for name in ("0.3 within a day", "0.5 within a day"):
        driver = DRIVERS_BY_NAME[name]
        for change, (shift, scale) in CHANGES.items():
            delays = np.array(
                [
                    [delay_days(driver, seed, test, shift, scale) for test in TESTS]
                    for seed in range(CHANGED_DRIVERS)
                ]
            )
            delays = delays[(delays > 0).all(axis=1)]
            by_days, singly = delays.mean(axis=0)
            cells = [len(delays), f"{by_days:.1f}", f"{singly:.1f}", f"{by_days / singly:.2f}"]
            found = [f"{share:.0%}".replace("%", " %") for share in (delays < MOST_DAYS).mean(0)]
            rows.append([f"{change}, {name}", *map(str, cells), *found])
    columns = ("errors", "drivers", *(f"days, {test}" for test in TESTS), "ratio")
    found_by = (f"found within a year, {test}" for test in TESTS)
    command = "python -m studies.pages --run day-delays"
    store("day-delays", (*columns, *found_by), rows, command=command)


def undated() -> None:
    """Write how soon changes of independent trips without dates are found."""
    rng, rows = np.random.default_rng(4), list[list[str]]()
    for name, (shift, scale) in UNDATED.items():
        errors = rng.standard_normal((STREAMS, SETTLED + 10 * MOST_TRIPS))
        errors[:, SETTLED:] = shift + scale * errors[:, SETTLED:]
        row = [name]
        for signed in JUDGED.values():
            trips = np.array([trips_to_alarm(stream, signed=signed) for stream in errors.tolist()])
            trips = trips[trips > 0]
            share = f"{np.mean(trips <= MOST_TRIPS):.0%}".replace("%", " %")
            row += [share, f"{np.median(trips):.0f}"]
        rows.append(row)
    columns = [
        column
        for judged in JUDGED
        for column in (f"alarm within {MOST_TRIPS} trips, {judged}", f"median delay, {judged}")
    ]
    command = "python -m studies.pages --run changes"
    store("changes", ("errors after the change", *columns), rows, command=command)


def undated_alarms() -> None:
    """Write the false alarms of independent trips without dates."""
    row = [f"{DRIVERS * TRIPS:,}"]
    for signed in JUDGED.values():
        alarms = 0
        for seed in range(DRIVERS):
            test = ChangeTest(signed=signed)
            for error in np.random.default_rng(seed).standard_normal(TRIPS).tolist():
                test.add(error)
                if test.detected:
                    test, alarms = ChangeTest(signed=signed), alarms + 1
        row.append(rate(alarms))
    columns = ("trips", *(f"alarms in 1,000 trips, {judged}" for judged in JUDGED))
    command = "python -m studies.pages --run undated-alarms"
    store("undated-alarms", columns, [row], command=command)


def trips_to_alarm(errors: list[float], *, signed: bool) -> int:
    """Return the trips from the change to an alarm, at most 0 for one before it."""
    test = ChangeTest(signed=signed)
    for trip, error in enumerate(errors, start=1 - SETTLED):
        test.add(error)
        if test.detected:
            return trip
    return len(errors)


JUDGED = {"signed errors": True, "sizes alone": False}
STREAMS, SETTLED, MOST_TRIPS = 2000, 70, 20
UNDATED = {
    "mean shifts by 2 deviations": (2.0, 1.0),
    "mean shifts by 4 deviations": (4.0, 1.0),
    "twice as large": (0.0, 2.0),
    "four times as large": (0.0, 4.0),
}
RUNS = {
    "changes": undated,
    "undated-alarms": undated_alarms,
    "day-threshold": day_threshold,
    "day-alarms": day_alarms,
    "day-delays": day_delays,
}
