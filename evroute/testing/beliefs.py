"""The contract of beliefs learned from trips: `check_belief`, on a small hilly network."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from evroute.arms import Route
from evroute.energy.driving import DrivingConditions
from evroute.energy.prior import EQ8_CONDITIONS
from evroute.energy.vehicle import Vehicle, load_vehicle
from evroute.learning.base import Belief, learn_in_turn
from evroute.learning.measured import MeasuredTrip
from evroute.learning.stored import read
from evroute.methods.setting import Setting
from evroute.planning.planner import Planner
from evroute.testing.base import close, ensure, equal, hold, refuses
from evroute.testing.days import arms_of, forecast_of, parts_wh, trips_to_each
from evroute.testing.roads import hill

OVER, ROUND = ("in", "up", "down", "out"), ("in", "east", "west", "out")
"""The two routes of the network."""
COLUMNS = ["predicted_wh", "predicted_sd_wh", "low50_wh", "high50_wh", "low90_wh", "high90_wh"]
EXTRA = 1.3
"""Measured energy over eq. 8 on every edge."""
SLOW = 1.5
"""Measured time over the map's."""


@dataclass(frozen=True)
class Subject:
    """The part that the checks are run on, and its surroundings.

    Parameters
    ----------
    make
        Makes a belief before any trip.
    """

    make: Callable[[], Belief]

    def taught(self, n: int = 12) -> Belief:
        """Return a belief that has learned n trips."""
        belief = self.make()
        for trip in trips_of(belief.setting, n):
            belief.learn(trip)
        return belief


def check_belief(kind: type[Belief]) -> None:
    """Check that a kind of belief keeps the protocol `Belief`, and its days the protocol `Day`.

    Parameters
    ----------
    kind
        The class. `Belief.of_method` makes a belief before any trip.

    Raises
    ------
    ContractError
        With the sentence of the protocol that it breaks.
    """
    setting = Setting(hill(), load_vehicle())
    make = partial(kind.of_method, {"model": kind.__name__.lower()}, setting)
    hold(CHECKS, Subject(make))


def trip_of(
    setting: Setting,
    edges: tuple[str, ...],
    name: str = "x",
    factor: float = EXTRA,
    slow: float = SLOW,
    **known: Any,
) -> MeasuredTrip:
    """Return a trip that takes a factor of eq. 8 on each edge, and so many times the map's time.

    Parameters
    ----------
    setting
        Network and vehicle.
    edges
        Ids of the edges.
    name
        Name of the trip.
    factor, slow
        Measured energy over eq. 8, and measured time over the map's.
    **known
        Further fields of the trip.
    """
    rows = np.array([setting.network.row_of[edge] for edge in edges])
    energy_wh = factor * setting.arms.prior_mean_wh[rows]
    return MeasuredTrip(name, rows, energy_wh, slow * setting.network.time_s[rows], **known)


def trips_of(setting: Setting, n: int, seed: int = 0) -> list[MeasuredTrip]:
    """Return trips on both ways, with a tenth of noise, at all times of the day.

    Parameters
    ----------
    setting
        Network and vehicle.
    n
        Number of trips.
    seed
        Seed of the noise.
    """
    rng = np.random.default_rng(seed)
    trips = []
    for i in range(n):
        factor, slow = EXTRA * rng.normal(1.0, 0.02), rng.uniform(1.4, 1.6)
        departed_s = 3600.0 * (1 + 7 * i)
        route = (OVER, ROUND)[i % 2]
        trips.append(trip_of(setting, route, str(i), factor, slow, departed_s=departed_s))
    return trips


def _equal_states(one: dict[str, Any], other: dict[str, Any]) -> None:
    ensure(one.keys() == other.keys(), "The names of the states differ.")
    for name, part in one.items():
        equal(part, other[name], f"{name} of the two states")


def an_expectation_has_nested_intervals_around_its_mean(subject: Subject) -> None:
    """An expectation is finite, with a 50 % interval around its mean inside of a 90 % interval."""
    belief = subject.taught()
    expected = belief.expected(trip_of(belief.setting, OVER))
    ensure([*expected][: len(COLUMNS)] == COLUMNS, f"Its columns are {[*expected]}.")
    ensure(bool(np.isfinite([*expected.values()]).all()), "A number is not finite.")
    names = ("low90_wh", "low50_wh", "predicted_wh", "high50_wh", "high90_wh")
    ends = [expected[name] for name in names]
    ensure(bool(np.all(np.diff(ends) > 0)), f"The ends and the mean are {ends}.")
    ensure(expected["predicted_sd_wh"] > 0, "The deviation is not above 0.")


def an_expectation_teaches_nothing(subject: Subject) -> None:
    """An expectation teaches nothing."""
    belief = subject.taught()
    before = {name: np.copy(part) for name, part in belief.state().items()}
    first = belief.expected(trip_of(belief.setting, ROUND))
    ensure(belief.expected(trip_of(belief.setting, ROUND)) == first, "A second one differs.")
    _equal_states(belief.state(), before)


def days_and_plans_teach_nothing(subject: Subject) -> None:
    """Days, forecasts, plans, files and findings teach nothing: expectations keep their bytes."""
    belief = subject.taught()
    trip, row = trip_of(belief.setting, ROUND), belief.network.row_of
    before = {name: np.copy(part) for name, part in belief.state().items()}
    first = belief.expected(trip)
    for conditions in (EQ8_CONDITIONS, DrivingConditions(temperature_c=-10.0, payload_kg=100.0)):
        day = belief.under(conditions)
        day.posterior()
        for edges in (OVER, ROUND):
            arms = day.space.arms_of_route(Route(tuple(row[edge] for edge in edges)))
            forecast_of(day, arms)
            day.reached_std_wh(arms, np.arange(len(arms)) - 1, np.full(len(arms), 5_000.0))
        roads = belief.network, belief.setting.vehicle
        Planner(*roads, belief, conditions=conditions).plan(row["in"], row["out"])
    _ = belief.edge_posterior, belief.car_shares()
    _equal_states(belief.state(), before)
    ensure(belief.expected(trip) == first, "An expectation after them differs.")


def a_trip_is_expected_from_the_trips_before_it(subject: Subject) -> None:
    """A trip is expected from the trips before it, one by one and in blocks alike."""
    alone, together, silent = (subject.make() for _ in range(3))
    trips = trips_of(alone.setting, 9)
    rows = []
    for trip in trips:
        rows.append(alone.expected(trip))
        alone.learn(trip)
        silent.learn(trip)  # nobody asked what was expected
    ensure(list(learn_in_turn(together, trips)) == rows, "In blocks other energies are expected.")
    _equal_states(together.state(), alone.state())
    _equal_states(silent.state(), alone.state())
    counts = [each.trips for each in (alone, together, silent)]
    ensure(counts == [9, 9, 9], f"After 9 trips the numbers of trips are {counts}.")


def measured_energy_is_learned(subject: Subject) -> None:
    """Measured energy is learned, on both routes, and the deviation falls."""
    belief = subject.taught(30)
    for edges in (OVER, ROUND):
        trip = trip_of(belief.setting, edges)
        expected, measured_wh = belief.expected(trip), float(trip.energy_wh.sum())
        close(expected["predicted_wh"], measured_wh, "the expected energies", rtol=0.06)
        held = expected["low90_wh"] <= measured_wh <= expected["high90_wh"]
        ensure(held, "The 90 % interval does not hold the measured energy.")
        first = subject.make().expected(trip)["predicted_sd_wh"]
        ensure(expected["predicted_sd_wh"] < first, "The deviation does not fall.")


def a_total_is_learned_or_refused_in_one_line(subject: Subject) -> None:
    """The total energy of a trip is learned, with its meter's noise, or refused in one line."""
    belief = subject.make()
    trips = [replace(trip, whole=True) for trip in trips_of(belief.setting, 30)]
    if not belief.learns_totals:
        before = belief.state()
        message = refuses(partial(belief.learn, trips[0]))
        ensure("total energy" in message, f"It says: {message}")
        _equal_states(belief.state(), before)
        return
    for trip in trips:
        belief.learn(trip)
    for edges in (OVER, ROUND):
        trip = replace(trip_of(belief.setting, edges), whole=True)
        expected, measured_wh = belief.expected(trip), float(trip.energy_wh.sum())
        close(expected["predicted_wh"], measured_wh, "the expected energies", rtol=0.06)
        wide = belief.expected(replace(trip, known_variance_wh2=1e4))
        variance = expected["predicted_sd_wh"] ** 2 + 1e4
        close(wide["predicted_sd_wh"] ** 2, variance, "the variances with a meter's", rtol=1e-6)


def the_day_forecasts_what_the_belief_expects(subject: Subject) -> None:
    """The day forecasts the mean and the interval that the belief expects of a route."""
    belief = subject.taught()
    for edges in (OVER, ROUND):
        day, arms = arms_of(belief, edges)
        forecast, energy_wh = forecast_of(day, arms)
        expected = belief.expected(trip_of(belief.setting, edges))
        close(forecast.mean_wh, expected["predicted_wh"], "the means", rtol=1e-6)
        close(forecast.mean_wh, energy_wh.sum(), "the sums over the arms", rtol=1e-6)
        limits = expected["low90_wh"], expected["high90_wh"]
        close(forecast.interval_wh(0.9), limits, "the 90 % intervals", rtol=1e-6)
        before, charge_wh = np.arange(-1, len(arms) - 1), np.full(len(arms), 50)
        reached = day.reached_std_wh(arms, before, charge_wh, trips_to_each(day, arms))
        for k, std_wh in enumerate(reached, start=1):
            part, _ = forecast_of(day, arms[:k])
            close(std_wh, part.std_wh, "the deviations on the way", rtol=1e-6)


def a_difference_of_routes_leaves_out_all_that_they_share(subject: Subject) -> None:
    """The difference of two routes leaves out all that they share, the noise of trips too."""
    belief = subject.taught()
    (day, over), (_, level) = arms_of(belief, OVER), arms_of(belief, ROUND)
    apart_wh = day.difference_std_wh(over, level)
    ensure(apart_wh > 0, f"The deviation of different routes is {apart_wh}.")
    close(day.difference_std_wh(level, over), apart_wh, "deviations both ways", rtol=1e-6)
    close(day.difference_std_wh(over, over), 0.0, "deviations of one route", atol=1e-6)
    close(day.difference_std_wh(over[::-1], level), apart_wh, "deviations by order", rtol=1e-6)
    alone_wh = [day.forecast(arms, day.mean_wh[arms], None).std_wh for arms in (over, level)]
    ensure(apart_wh < sum(alone_wh), f"It is {apart_wh:.3g} Wh, above the sum of both.")


def the_day_has_an_energy_and_a_time_for_every_arm(subject: Subject) -> None:
    """A day has an energy, a deviation and a noise for every arm, and a time for every edge."""
    belief = subject.taught()
    day = belief.under(EQ8_CONDITIONS)
    posterior = day.posterior()
    close(posterior.mean_wh, day.mean_wh, "the means of the posterior", rtol=1e-7)
    for values in (posterior.std_wh, day.noise_std_wh):
        ensure(values.shape == (day.space.size,), f"The shape is {values.shape}.")
        ensure(bool(np.all(values > 0)), "A deviation is not above 0.")
    ensure(bool(np.all(day.time_s > 0)), "A time is not above 0.")
    ensure(len(day.time_s) == belief.network.n_edges, f"There are {len(day.time_s)} times.")
    n = len(belief.edge_posterior.mean_wh)
    ensure(n == belief.network.n_edges, f"The posterior of edges has {n}.")
    ensure(0 <= day.battery_share < 1, f"battery_share is {day.battery_share}.")
    ensure(0 <= day.full_battery_fade < 2, f"full_battery_fade is {day.full_battery_fade}.")


def a_part_of_an_edge_has_its_energy_whatever_is_asked_beside_it(subject: Subject) -> None:
    """The energy of a part of an edge has the same bytes alone, among others and in any order."""
    belief = subject.taught(30)
    for edges in (OVER, ROUND):
        together_wh, alone_wh = parts_wh(*arms_of(belief, edges))
        equal(together_wh, alone_wh, "energies together and alone")


def conditions_of_the_day_are_in_its_energies(subject: Subject) -> None:
    """The conditions of a day are in its energies: at -10 °C each arm takes more."""
    belief = subject.taught()
    usual, cold = (
        belief.under(DrivingConditions(temperature_c=celsius)) for celsius in (None, -10.0)
    )
    ensure(bool(np.all(cold.mean_wh > usual.mean_wh)), "Here one does not.")


def minutes_are_those_of_trips_where_they_measured_them(subject: Subject) -> None:
    """Minutes come from trips where trips measured them, and else from the map."""
    ensure(subject.make().minutes_from == "map", "Before any trip they are not the map's.")
    belief = subject.taught(30)
    ensure(belief.minutes_from == "trips", f"After 30 trips they are the {belief.minutes_from}'s.")
    rows = [belief.network.row_of[edge] for edge in OVER]
    time_s = belief.under(EQ8_CONDITIONS).time_s[rows]
    close(time_s, SLOW * belief.network.time_s[rows], "the times", rtol=0.1)


def an_unknown_departure_is_not_midnight(subject: Subject) -> None:
    """An unknown departure is not midnight: where nights are slow, a trip at 0 s takes longer."""
    belief = subject.make()
    for i in range(12):
        slow, hour = (2.4, 0) if i % 2 else (1.2, 12)
        departed_s = 86_400.0 * i + 3600.0 * hour
        belief.learn(trip_of(belief.setting, OVER, str(i), slow=slow, departed_s=departed_s))
    rows = [belief.network.row_of[edge] for edge in OVER]
    unknown_s, night_s, noon_s = (
        float(belief.under(DrivingConditions(departed_s=departed_s)).time_s[rows].sum())
        for departed_s in (None, 0.0, 43_200.0)
    )
    found = f"At noon it takes {noon_s:.0f} s, unknown {unknown_s:.0f} s, at 0 s {night_s:.0f} s."
    ensure(noon_s < 0.9 * unknown_s < unknown_s < 0.9 * night_s, found)
    twin = subject.make()
    for clock in (0.0, None):
        twin.learn(trip_of(twin.setting, OVER, departed_s=clock))
    counts = twin.pace.state()["profile"][0].sum(axis=1)
    equal(
        counts, np.array([4.0, 0.0, 0.0, 0.0, 4.0]), "the numbers of edges by quarter, unknown last"
    )


def a_file_holds_all_that_was_learned(subject: Subject) -> None:
    """A file holds all that was learned, and a belief that was read continues."""
    belief = subject.taught()
    with TemporaryDirectory() as folder:
        path = Path(folder, "beliefs", "one.npz")
        belief.save(path)
        stored = read(path)
        ensure(stored.about.trips == 12, f"It says {stored.about.trips} trips of 12.")
        again = type(belief).load(stored, stored.setting(belief.network))
        ensure(again.source == str(path), f"Its source is {again.source}.")
        for what in (repr, lambda each: each.note, lambda each: each.method_table):
            ensure(what(again) == what(belief), f"It is {what(again)}, and was {what(belief)}.")
        _equal_states(again.state(), belief.state())
        again.prepare()
    for trip in trips_of(belief.setting, 5, seed=1):
        ensure(again.expected(trip) == belief.expected(trip), "It expects another energy.")
        for each in (again, belief):
            each.learn(trip)
    _equal_states(again.state(), belief.state())


def a_new_one_has_learned_nothing(subject: Subject) -> None:
    """A new belief has learned nothing, and one made anew forgets."""
    belief, new = subject.taught(), subject.make()
    ensure(not new.note, f"Its note is: {new.note}")
    ensure("12" in belief.note + repr(belief), "After 12 trips note and repr do not say so.")
    again = belief.anew()
    ensure(again.trips == new.trips == 0, "It has trips.")
    trip = trip_of(belief.setting, OVER)
    ensure(again.expected(trip) == new.expected(trip), "Anew it expects another energy.")
    ensure(belief.expected(trip) != new.expected(trip), "Trips change no expectation.")


def it_is_about_its_network_and_vehicle(subject: Subject) -> None:
    """A belief refuses other numbers of the vehicle and other roads, by name."""
    belief, car = subject.make(), subject.make().setting.vehicle
    belief.check(belief.network, car)
    heavy: Vehicle = replace(car, mass_kg=900.0)
    message = refuses(partial(belief.check, belief.network, heavy))
    ensure("with these numbers" in message, f"It says: {message}")
    other = replace(belief.network, name="valley", elevation_m=belief.network.elevation_m / 2)
    message = refuses(partial(belief.check, other, car))
    ensure("not about 'valley'" in message, f"It says: {message}")


def a_restart_begins_the_test_for_changes_anew(subject: Subject) -> None:
    """A restart begins the test for changes anew, and the pace of the roads."""
    belief = subject.taught(60)
    for t, trip in enumerate(trips_of(belief.setting, 60, seed=2)):
        if belief.changed:
            break
        far = replace(trip, energy_wh=trip.energy_wh + 40.0 * (t + 1))
        belief.take(far, belief.expect(far))
    belief.restart()
    ensure(not belief.changed, "It still has a change.")
    ensure(not len(belief.pace.passed), "It still has the pace of roads before the change.")


def plans_are_made_on_it(subject: Subject) -> None:
    """A plan on a belief has the energy that the belief expects of its route."""
    belief = subject.taught()
    planner = Planner(belief.network, belief.setting.vehicle, belief)
    row = belief.network.row_of
    plan = planner.plan(row["in"], row["out"])
    route = plan.routes["energy"]
    ensure(plan.minutes_from == "trips", f"Its minutes are from the {plan.minutes_from}.")
    expected = belief.expected(trip_of(belief.setting, route.edges))["predicted_wh"]
    close(route.energy_wh, expected, "energies of plan and belief", rtol=1e-6)


CHECKS: tuple[Callable[[Subject], None], ...] = (
    an_expectation_has_nested_intervals_around_its_mean,
    an_expectation_teaches_nothing,
    days_and_plans_teach_nothing,
    a_trip_is_expected_from_the_trips_before_it,
    measured_energy_is_learned,
    a_total_is_learned_or_refused_in_one_line,
    the_day_forecasts_what_the_belief_expects,
    a_difference_of_routes_leaves_out_all_that_they_share,
    the_day_has_an_energy_and_a_time_for_every_arm,
    a_part_of_an_edge_has_its_energy_whatever_is_asked_beside_it,
    conditions_of_the_day_are_in_its_energies,
    minutes_are_those_of_trips_where_they_measured_them,
    an_unknown_departure_is_not_midnight,
    a_file_holds_all_that_was_learned,
    a_new_one_has_learned_nothing,
    it_is_about_its_network_and_vehicle,
    a_restart_begins_the_test_for_changes_anew,
    plans_are_made_on_it,
)
