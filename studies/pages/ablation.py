"""Table of *real trips*: the belief of trips with one of its parts off.

Each log is learned in order of departure with a part and without it, on the same trips. Differences
of error and interval score have 90 % intervals by a paired block bootstrap. A part goes if no real
log gets significantly worse and the mean error of the real logs rises at most 0.1 point, also
without any one of them. Real logs: the Twizy by pieces and by points, each also without heights,
the bus, and the days of the Ioniq 5.
"""

import gzip
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from evroute.energy.driving import DrivingConditions
from evroute.experiments.benchmark.data import load_data
from evroute.experiments.benchmark.measures import MEASURES, Expected, paired
from evroute.learning.measured import MeasuredTrip
from evroute.learning.readers.formats import read_measured
from evroute.learning.trips import terms
from evroute.learning.trips.energies import TripEnergies
from evroute.learning.trips.regression import CoefficientPrior
from evroute.learning.trips.rows import Rows
from evroute.learning.trips.trip_belief import TripBelief
from evroute.methods.setting import Setting
from studies.pages.tables import store
from studies.pages.trips import data_folder, level

ALLOWED = 0.1
"""Rise of the mean error that is allowed, points."""
FIXED = 1e-9
ERROR, HELD, SCORE = MEASURES[:3]


@dataclass(frozen=True, slots=True, eq=False)
class Log:
    """A log: network and vehicle, trips in order of departure, physics, whether it is real."""

    name: str
    setting: Setting
    trips: list[MeasuredTrip]
    physics: str
    real: bool = True


def day_long(energies: TripEnergies) -> None:
    """Let the quarter of the day have no part in energies."""
    rows_on = energies.rows_on

    def of_all_day(conditions: DrivingConditions, *fields: object, **kept: bool) -> Rows:
        return rows_on(replace(conditions, departed_s=None), *fields, **kept)

    energies.rows_on = of_all_day  # type: ignore[assignment,method-assign]


def with_prior(change: Callable[[CoefficientPrior], CoefficientPrior]) -> Callable[..., None]:
    """Return a change of the prior of a belief."""

    def changed(energies: TripEnergies) -> None:
        belief = energies.belief
        given = change(belief.prior), belief.noise
        heights, roads = belief.scales.heights, belief.roads
        energies.belief = TripBelief(*given, heights=heights, roads=roads)

    return changed


def fixed(term: int) -> Callable[..., None]:
    """Return the change that leaves a coefficient at its prior mean."""

    def change(prior: CoefficientPrior) -> CoefficientPrior:
        std = prior.std.copy()
        std[term] = FIXED * max(abs(prior.mean[term]), 1.0)
        return replace(prior, std=std)

    return with_prior(change)


def no_sections(energies: TripEnergies) -> None:
    """Let no road have a deviation."""
    energies.belief.roads = None


def no_fit(energies: TripEnergies) -> None:
    """Leave all scales at their start."""
    energies.belief._refit = lambda _: None  # type: ignore[method-assign]


def no_errors(energies: TripEnergies) -> None:
    """Leave the spread of errors at its start."""
    errors = energies.belief._errors.all
    errors.add_untested = lambda *_, **__: None  # type: ignore[method-assign]


PARTS: dict[str, Callable[[TripEnergies], None]] = {
    "sections of roads": no_sections,
    "quarters of the day in energy": day_long,
    "learned drag": fixed(terms.DRAG),
    "learned minutes": fixed(terms.MINUTES),
    "full battery": fixed(terms.FADE),
    "level": fixed(terms.LEVEL),
    "cone": with_prior(lambda prior: replace(prior, cone=prior.cone[:0])),
    "fit of scales": no_fit,
    "past errors": no_errors,
}


def play(log: Log, without: Callable[[TripEnergies], None] | None = None) -> Expected:
    """Return the expectations of a log, with a part off."""
    energies, rows = TripEnergies(log.setting, physics=log.physics), []
    if without is not None:
        without(energies)
    for trip in log.trips:
        expected = energies.expected(trip)
        rows.append([expected[name] for name in ("predicted_wh", "low90_wh", "high90_wh")])
        energies.learn(trip)
    measured_wh = np.array([trip.energy_wh.sum() for trip in log.trips])
    return Expected(measured_wh, *np.array(rows).T)


def in_order(trips: Sequence[MeasuredTrip]) -> list[MeasuredTrip]:
    """Return trips in order of departure."""
    return sorted(trips, key=lambda trip: trip.departed_s or 0.0)


def logs() -> Iterator[Log]:
    """Yield the logs."""
    folder = data_folder()
    twizy, bus, days = load_data(folder, ["twizy", "bus", "ioniq5"])
    with TemporaryDirectory() as temporary:
        points = Path(temporary) / "trips.csv"
        points.write_bytes(gzip.decompress((folder / "drives/twizy.csv.gz").read_bytes()))
        for words, setting in (("", twizy.setting), (", no heights", level(twizy.setting))):
            yield Log(f"Twizy, pieces{words}", setting, in_order(twizy.trips), "eq8")
            parts = read_measured(points, setting, {"twizy"}).trips
            yield Log(f"Twizy, points{words}", setting, in_order(parts), "eq8")
    yield Log("bus", bus.setting, in_order(bus.trips), "eq8")
    yield Log("Ioniq 5, days", days.setting, in_order(days.trips), "eq8")
    for made in load_data(None):
        yield Log(made.name, made.setting, in_order(made.trips), "driving", real=False)


def words(change: tuple[float, float, float], scale: float, digits: int) -> str:
    """Return a change with its 90 % interval."""
    value, low, high = (f"{scale * each:+,.{digits}f}" for each in change)
    return f"{value} ({low} to {high})"


def ablation() -> None:
    """Write the changes of error and score by each part that is off, and the verdict."""
    rises: dict[str, list[float]] = {part: [] for part in PARTS}
    worse: dict[str, list[str]] = {part: [] for part in PARTS}
    cells: dict[str, list[list[str]]] = {part: [] for part in PARTS}
    for log in logs():
        whole = play(log)
        for part, without in PARTS.items():
            played = play(log, without)
            error, score = (paired(each, played, whole) for each in (ERROR, SCORE))
            held = 100 * paired(HELD, played, whole)[0]
            found = [words(error, 100, 2), words(score, 1, 0), f"{held:+.1f}"]
            cells[part].append([f"{part}: {log.name}", *found])
            if log.real:
                rises[part].append(100 * error[0])
                if error[1] > 0.0 or score[1] > 0.0:
                    worse[part].append(log.name)
    rows = []
    for part in PARTS:
        mean = np.mean(rises[part])
        left_out = [np.mean(np.delete(rises[part], k)) for k in range(len(rises[part]))]
        goes = not worse[part] and max(mean, *left_out) <= ALLOWED
        verdict = "goes" if goes else f"stays: {', '.join(worse[part]) or 'mean error'}"
        rows.append([f"{part}: mean of real logs", f"{mean:+.2f}", "", verdict])
        rows += cells[part]
    columns = ["without", "error, points", "interval score, Wh", "90 % held, points, or verdict"]
    store("ablation", columns, rows, command="python -m studies.pages --run ablation")
