"""What every kind of belief must do, on a small hilly network.

`Ratio` is a third kind, learned in closed form by one number. It passes; each of its variants that
does one thing wrong fails the check of that thing.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from evroute.arms import Belief as Marginals
from evroute.arms import Route
from evroute.energy.driving import DrivingConditions
from evroute.energy.prior import EQ8_CONDITIONS
from evroute.energy.vehicle import load_vehicle
from evroute.errors import EvrouteError
from evroute.learning import belief as kinds
from evroute.learning.base import Belief, Expected, learn_in_turn
from evroute.learning.intervals import PastErrors, TripPrediction
from evroute.learning.learn import learn
from evroute.learning.learned_belief import LearnedBelief
from evroute.learning.measured import MeasuredTrip
from evroute.learning.mixture.two_physics import TwoPhysics
from evroute.learning.pace import Pace
from evroute.learning.stored import read
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.method import Method
from evroute.methods.setting import Setting
from evroute.planning.forecasts.forecast import RouteForecast
from evroute.planning.planner import Planner

CAR = load_vehicle()
OVER, ROUND = ("in", "up", "down", "out"), ("in", "east", "west", "out")
COLUMNS = [
    "predicted_wh",
    "predicted_sd_wh",
    "low50_wh",
    "high50_wh",
    "low90_wh",
    "high90_wh",
]
EXTRA = 1.3
"""Measured energy over eq. 8 on every edge."""

Make = Callable[[], Belief]


def trip_of(setting: Setting, edges, name="x", factor=EXTRA, slow=1.5, **known) -> MeasuredTrip:
    """Return a trip that takes a factor of eq. 8 on each edge, and so many times the map's time."""
    rows = np.array([setting.network.row_of[edge] for edge in edges])
    energy_wh = factor * setting.arms.prior_mean_wh[rows]
    return MeasuredTrip(name, rows, energy_wh, slow * setting.network.time_s[rows], **known)


def trips_of(setting: Setting, n: int, seed: int = 0) -> list[MeasuredTrip]:
    """Return trips on both ways, with a tenth of noise, at all times of the day."""
    rng = np.random.default_rng(seed)
    return [
        trip_of(
            setting,
            (OVER, ROUND)[i % 2],
            str(i),
            EXTRA * rng.normal(1.0, 0.02),
            rng.uniform(1.4, 1.6),
            departed_s=3600.0 * (1 + 7 * i),
        )
        for i in range(n)
    ]


def taught(make: Make, n: int = 12) -> Belief:
    belief = make()
    for trip in trips_of(belief.setting, n):
        belief.learn(trip)
    return belief


def equal(one: dict, other: dict) -> bool:
    assert one.keys() == other.keys()
    pairs = [(np.asarray(one[name]), np.asarray(other[name])) for name in one]
    return all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in pairs)


def arms_of(belief: Belief, edges):
    day = belief.under(EQ8_CONDITIONS)
    rows = tuple(belief.network.row_of[edge] for edge in edges)
    return day, day.space.arms_of_route(Route(rows))


class Checks:
    """Each takes a function that makes a belief before any trip; `name(make, tmp_path)`."""

    @staticmethod
    def an_expectation_has_nested_intervals_around_its_mean(make: Make, place: Path) -> None:
        belief = taught(make)
        expected = belief.expected(trip_of(belief.setting, OVER))
        assert [*expected][: len(COLUMNS)] == COLUMNS
        assert np.isfinite([*expected.values()]).all()
        mean, sd, low50, high50, low90, high90 = (expected[name] for name in COLUMNS)
        assert low90 < low50 < mean < high50 < high90
        assert sd > 0

    @staticmethod
    def an_expectation_teaches_nothing(make: Make, place: Path) -> None:
        belief = taught(make)
        before = {name: np.copy(part) for name, part in belief.state().items()}
        first = belief.expected(trip_of(belief.setting, ROUND))
        assert belief.expected(trip_of(belief.setting, ROUND)) == first
        assert equal(belief.state(), before)

    @staticmethod
    def a_trip_is_expected_from_the_trips_before_it(make: Make, place: Path) -> None:
        alone, together = make(), make()
        trips = trips_of(alone.setting, 9)
        rows = []
        for trip in trips:
            rows.append(alone.expected(trip))
            alone.learn(trip)
        assert list(learn_in_turn(together, trips)) == rows
        assert equal(together.state(), alone.state())
        silent = make()
        for trip in trips:  # nobody asked what was expected
            silent.learn(trip)
        assert equal(silent.state(), alone.state())
        assert alone.trips == together.trips == silent.trips == 9

    @staticmethod
    def measured_energy_is_learned(make: Make, place: Path) -> None:
        belief = taught(make, 30)
        for edges in (OVER, ROUND):
            trip = trip_of(belief.setting, edges)
            expected = belief.expected(trip)
            assert expected["predicted_wh"] == pytest.approx(trip.energy_wh.sum(), rel=0.06)
            assert expected["low90_wh"] <= trip.energy_wh.sum() <= expected["high90_wh"]
            assert expected["predicted_sd_wh"] < make().expected(trip)["predicted_sd_wh"]

    @staticmethod
    def a_total_is_learned_or_refused_in_one_line(make: Make, place: Path) -> None:
        belief = make()
        trips = [replace(trip, whole=True) for trip in trips_of(belief.setting, 30)]
        if not belief.learns_totals:
            before = belief.state()
            with pytest.raises(EvrouteError, match="total energy") as refused:
                belief.learn(trips[0])
            assert "\n" not in str(refused.value)
            assert equal(belief.state(), before)
            return
        for trip in trips:
            belief.learn(trip)
        for edges in (OVER, ROUND):
            trip = replace(trip_of(belief.setting, edges), whole=True)
            expected = belief.expected(trip)
            assert expected["predicted_wh"] == pytest.approx(trip.energy_wh.sum(), rel=0.06)
            wide = belief.expected(replace(trip, known_variance_wh2=1e4))
            assert wide["predicted_sd_wh"] ** 2 == pytest.approx(
                expected["predicted_sd_wh"] ** 2 + 1e4
            )

    @staticmethod
    def the_day_forecasts_what_the_belief_expects(make: Make, place: Path) -> None:
        belief = taught(make)
        for edges in (OVER, ROUND):
            day, arms = arms_of(belief, edges)
            energy_wh = day.mean_wh[arms]
            forecast = day.forecast(arms, energy_wh, None)
            expected = belief.expected(trip_of(belief.setting, edges))
            assert forecast.mean_wh == pytest.approx(expected["predicted_wh"])
            assert forecast.mean_wh == pytest.approx(energy_wh.sum())
            limits = expected["low90_wh"], expected["high90_wh"]
            assert forecast.interval_wh(0.9) == pytest.approx(limits)
            reached = day.reached_std_wh(arms, np.arange(-1, len(arms) - 1), np.full(len(arms), 50))
            for k, std_wh in enumerate(reached, start=1):
                part = day.forecast(arms[:k], energy_wh[:k], None)
                assert std_wh == pytest.approx(part.std_wh)

    @staticmethod
    def a_difference_of_routes_leaves_out_all_that_they_share(make: Make, place: Path) -> None:
        """The noise of trips, too: measured again and again, two routes are told apart."""
        belief = taught(make)
        (day, over), (_, level) = arms_of(belief, OVER), arms_of(belief, ROUND)
        apart_wh = day.difference_std_wh(over, level)
        assert apart_wh > 0
        assert day.difference_std_wh(level, over) == pytest.approx(apart_wh)
        assert day.difference_std_wh(over, over) == pytest.approx(0.0, abs=1e-6)
        assert day.difference_std_wh(over[::-1], level) == pytest.approx(apart_wh)
        alone_wh = [day.forecast(arms, day.mean_wh[arms], None).std_wh for arms in (over, level)]
        assert apart_wh < sum(alone_wh)

    @staticmethod
    def the_day_has_an_energy_and_a_time_for_every_arm(make: Make, place: Path) -> None:
        belief = taught(make)
        day = belief.under(EQ8_CONDITIONS)
        posterior, a = day.posterior(), day.space.size
        np.testing.assert_allclose(posterior.mean_wh, day.mean_wh)
        for values in (posterior.std_wh, day.noise_std_wh):
            assert values.shape == (a,)
            assert np.all(values > 0)
        assert np.all(day.time_s > 0)
        assert len(day.time_s) == belief.network.n_edges
        of_edges = belief.edge_posterior
        assert len(of_edges.mean_wh) == belief.network.n_edges
        assert 0 <= day.full_battery_fade < 2

    @staticmethod
    def conditions_of_the_day_are_in_its_energies(make: Make, place: Path) -> None:
        belief = taught(make)
        usual, cold = (
            belief.under(DrivingConditions(temperature_c=celsius)) for celsius in (None, -10.0)
        )
        assert np.all(cold.mean_wh > usual.mean_wh)

    @staticmethod
    def minutes_are_those_of_trips_where_they_measured_them(make: Make, place: Path) -> None:
        belief = make()
        assert belief.minutes_from == "map"
        belief = taught(make, 30)
        assert belief.minutes_from == "trips"
        rows = [belief.network.row_of[edge] for edge in OVER]
        time_s = belief.under(EQ8_CONDITIONS).time_s[rows]
        assert time_s == pytest.approx(1.5 * belief.network.time_s[rows], rel=0.1)

    @staticmethod
    def an_unknown_departure_is_not_midnight(make: Make, place: Path) -> None:
        """Nights are slow here, so a trip at midnight, 0 s, takes longer than any trip."""
        belief = make()
        for i in range(12):
            slow, hour = (2.4, 0) if i % 2 else (1.2, 12)
            day = {"departed_s": 86_400.0 * i + 3600.0 * hour}
            belief.learn(trip_of(belief.setting, OVER, str(i), slow=slow, **day))
        rows = [belief.network.row_of[edge] for edge in OVER]
        unknown_s, night_s, noon_s = (
            belief.under(DrivingConditions(departed_s=departed_s)).time_s[rows].sum()
            for departed_s in (None, 0.0, 43_200.0)
        )
        assert noon_s < 0.9 * unknown_s < unknown_s < 0.9 * night_s
        twin = make()
        for trip, clock in ((OVER, 0.0), (OVER, None)):
            twin.learn(trip_of(twin.setting, trip, departed_s=clock))
        profile = twin.pace.state()["profile"]
        assert profile[0].sum(axis=1).tolist() == [4.0, 0.0, 0.0, 0.0, 4.0]

    @staticmethod
    def a_file_holds_all_that_was_learned(make: Make, place: Path) -> None:
        belief = taught(make)
        belief.save(place / "beliefs" / "one.npz")
        stored = read(place / "beliefs" / "one.npz")
        assert stored.about.trips == 12
        again = type(belief).load(stored, stored.setting(belief.network))
        assert again.source == str(place / "beliefs" / "one.npz")
        assert (repr(again), again.note) == (repr(belief), belief.note)
        assert again.method_table == belief.method_table
        assert equal(again.state(), belief.state())
        again.prepare()
        for trip in trips_of(belief.setting, 5, seed=1):
            assert again.expected(trip) == belief.expected(trip)
            for each in (again, belief):
                each.learn(trip)
        assert equal(again.state(), belief.state())

    @staticmethod
    def a_new_one_has_learned_nothing(make: Make, place: Path) -> None:
        belief, new = taught(make), make()
        assert not new.note
        assert belief.note
        assert "12" in belief.note + repr(belief)
        again = belief.anew()
        assert again.trips == new.trips == 0
        trip = trip_of(belief.setting, OVER)
        assert again.expected(trip) == new.expected(trip) != belief.expected(trip)

    @staticmethod
    def it_is_about_its_network_and_vehicle(make: Make, place: Path) -> None:
        belief = make()
        belief.check(belief.network, CAR)
        with pytest.raises(EvrouteError, match="with these numbers"):
            belief.check(belief.network, replace(CAR, mass_kg=900.0))
        other = replace(belief.network, name="valley", elevation_m=belief.network.elevation_m / 2)
        with pytest.raises(EvrouteError, match="not about 'valley'"):
            belief.check(other, CAR)

    @staticmethod
    def a_restart_begins_the_test_for_changes_anew(make: Make, place: Path) -> None:
        belief = taught(make, 60)
        for t, trip in enumerate(trips_of(belief.setting, 60, seed=2)):
            if belief.changed:
                break
            far = replace(trip, energy_wh=trip.energy_wh + 40.0 * (t + 1))
            belief.take(far, belief.expect(far))
        belief.restart()
        assert not belief.changed

    @staticmethod
    def plans_are_made_on_it(make: Make, place: Path) -> None:
        belief = taught(make)
        planner, row = Planner(belief.network, CAR, belief), belief.network.row_of
        plan = planner.plan(row["in"], row["out"])
        route = plan.routes["energy"]
        assert plan.minutes_from == "trips"
        expected = belief.expected(trip_of(belief.setting, route.edges))
        assert route.energy_wh == pytest.approx(expected["predicted_wh"])


CHECKS = [name for name in vars(Checks) if not name.startswith("_")]


@dataclass
class RatioDay:
    """Energies of one day: a ratio times eq. 8."""

    belief: "Ratio"
    conditions: DrivingConditions
    full_battery_fade: float = 0.0

    def __post_init__(self) -> None:
        self.space = self.belief.setting.space.under(self.conditions)
        self.eq8_wh = self.space.reference.prior_mean_wh

    @property
    def time_s(self):
        edges = np.arange(self.space.size)
        return self.belief.pace.times(edges, self.conditions.departed_s)

    @property
    def mean_wh(self):
        return self.belief.ratio.mean * self.eq8_wh

    @property
    def noise_std_wh(self):
        return np.full(len(self.eq8_wh), Ratio.noise_wh)

    @property
    def heating_wh(self):
        return np.zeros(3)

    def posterior(self) -> Marginals:
        return Marginals(self.mean_wh, self.belief.ratio.variance**0.5 * np.abs(self.eq8_wh))

    @property
    def whole_wh(self):
        return self.mean_wh

    def stretch_wh(self, arms, stretches):
        return self.belief.ratio.mean * self.space.stretch_wh(arms, stretches)

    def forecast(self, arms_of_route, energy_wh, expected=None, stretches=None) -> RouteForecast:
        x = self.eq8_wh[arms_of_route]
        if stretches is not None:
            x = self.space.stretch_wh(arms_of_route, stretches)
        covariance = self.belief.ratio.variance * np.outer(x, x)
        covariance += Ratio.noise_wh**2 * np.eye(len(x))
        return RouteForecast(energy_wh, covariance).inflated(self.belief.errors.inflation)

    def difference_std_wh(self, arms_of_route, others, stretches=None):
        if stretches is not None:
            one, other = map(self.space.stretch_wh, (arms_of_route, others), stretches)
            return self.belief.ratio.variance**0.5 * abs(one.sum() - other.sum())
        apart_wh = self.eq8_wh[arms_of_route].sum() - self.eq8_wh[others].sum()
        return self.belief.ratio.variance**0.5 * abs(apart_wh)

    def reached_std_wh(self, arms, before, charge_wh, stretches=None):
        routes = []
        for arm, previous in zip(arms.tolist(), before.tolist(), strict=True):
            routes.append([*(routes[previous] if previous >= 0 else []), arm])
        mean_wh = self.mean_wh
        return np.array([self.forecast(np.array(r), mean_wh[r]).std_wh for r in routes])


class Number:
    """A normal number, updated by measurements of its multiples."""

    def __init__(self) -> None:
        self.mean, self.variance, self.trips = 1.0, 0.25, 0

    def learn(self, x: float, y: float, noise_variance: float) -> None:
        gain = self.variance * x / (self.variance * x**2 + noise_variance)
        self.mean += gain * (y - self.mean * x)
        self.variance *= 1 - gain * x
        self.trips += 1

    def state(self):
        return {"numbers": np.array([self.mean, self.variance, self.trips])}

    def restore(self, state) -> None:
        self.mean, self.variance, trips = state["numbers"].tolist()
        self.trips = int(trips)


class Ratio(Belief):
    """Whole trips take one ratio of eq. 8, which is learned."""

    noise_wh = 5.0

    def __init__(self, setting: Setting) -> None:
        self.setting, self.source = setting, "this"
        self.errors, self.ratio = PastErrors(), Number()
        self._pace = Pace.of_network(setting.network)

    @classmethod
    def of_method(cls, method, setting):
        return cls(setting)

    @property
    def method_table(self):
        return {"model": "ratio"}

    @property
    def label(self):
        return "of a ratio"

    @property
    def note(self):
        return f"{self.trips} trips" if self.trips else ""

    @property
    def trips(self):
        return self.ratio.trips

    @property
    def pace(self):
        return self._pace

    @property
    def parts(self):
        return {"errors": self.errors, "ratio": self.ratio, "pace": self._pace}

    @property
    def changed(self):
        return self.errors.changed

    def under(self, conditions):
        return RatioDay(self, conditions)

    @property
    def learns_totals(self):
        return True

    def expect(self, trip):
        x = float(self.setting.arms.prior_mean_wh[trip.edge].sum())
        variance = self.ratio.variance * x**2 + self.noise_wh**2 * len(trip.edge)
        variance += trip.known_variance_wh2
        spread, n = self.errors.spread, self.errors.trips
        return Expected(TripPrediction(self.ratio.mean * x, variance**0.5, spread, n, 0.0))

    def take(self, trip, expected):
        x = float(self.setting.arms.prior_mean_wh[trip.edge].sum())
        y = float(trip.energy_wh.sum())
        self.errors.add(y - expected.energy.mean_wh, expected.energy.sd_wh)
        self.ratio.learn(x, y, self.noise_wh**2 * len(trip.edge))
        self._pace.learn(trip.edge, trip.travel_s, trip.departed_s)

    def restart(self):
        trips, self.ratio = self.ratio.trips, Number()
        self.ratio.trips = trips
        self.errors.restart()


class Curious(Ratio):
    """It learns the trip that it is asked about."""

    def expect(self, trip):
        self.ratio.learn(float(trip.energy_wh.sum()), float(trip.energy_wh.sum()), 1e4)
        return super().expect(trip)


class Forgetful(Ratio):
    """Its file lacks the ratio."""

    @property
    def parts(self):
        return {"errors": self.errors, "pace": self._pace}


class Deaf(Ratio):
    """It learns no energy."""

    def take(self, trip, expected):
        self.errors.add(0.0, expected.energy.sd_wh)
        self.ratio.trips += 1
        self._pace.learn(trip.edge, trip.travel_s, trip.departed_s)


class TwoFaced(Ratio):
    """Plans have other intervals than the table of trips."""

    def under(self, conditions):
        day = RatioDay(self, conditions)
        day.forecast = lambda arms, energy_wh, expected=None: RouteForecast(
            energy_wh, np.eye(len(arms))
        )
        return day


class Noisy(Ratio):
    """It counts the noise of single trips in the difference of two routes."""

    def under(self, conditions):
        day = RatioDay(self, conditions)
        day.difference_std_wh = lambda arms, others: self.noise_wh * len(arms) ** 0.5
        return day


class Late(Ratio):
    """A trip is expected after it was learned."""

    def learn_block(self, trips):
        rows = []
        for trip in trips:
            self.learn(trip)
            rows.append(self.expected(trip))
        return rows

    block = 3


class Careless(Ratio):
    """It serves any car."""

    def check(self, network, vehicle):
        return


class Indifferent(Ratio):
    """Days do not differ."""

    def under(self, conditions):
        return RatioDay(self, EQ8_CONDITIONS)


class Restless(Ratio):
    """Its test for changes goes on after a restart."""

    def restart(self):
        self.ratio = Number()


class Confident(Ratio):
    """It takes every meter for exact."""

    def expect(self, trip):
        return super().expect(replace(trip, known_variance_wh2=0.0))


class MapBound(Ratio):
    """It learns no times."""

    def take(self, trip, expected):
        super().take(replace(trip, travel_s=np.full(len(trip.edge), np.nan)), expected)


class Clockless(Ratio):
    """It takes an unknown departure for midnight."""

    def take(self, trip, expected):
        super().take(replace(trip, departed_s=trip.departed_s or 0.0), expected)


WRONG = {
    Clockless: "an_unknown_departure_is_not_midnight",
    Curious: "an_expectation_teaches_nothing",
    Forgetful: "a_file_holds_all_that_was_learned",
    Deaf: "measured_energy_is_learned",
    TwoFaced: "the_day_forecasts_what_the_belief_expects",
    Noisy: "a_difference_of_routes_leaves_out_all_that_they_share",
    Late: "a_trip_is_expected_from_the_trips_before_it",
    Careless: "it_is_about_its_network_and_vehicle",
    Indifferent: "conditions_of_the_day_are_in_its_energies",
    Restless: "a_restart_begins_the_test_for_changes_anew",
    Confident: "a_total_is_learned_or_refused_in_one_line",
    MapBound: "minutes_are_those_of_trips_where_they_measured_them",
}
"""Wrong kinds, and the check that each fails."""


@pytest.fixture
def setting(hill) -> Setting:
    return Setting(hill, CAR)


SIBLINGS = {
    name: lambda setting, kind=kind, name=name: kind.of_method({"model": name}, setting)
    for name, kind in kinds.KINDS.items()
} | {
    "trips-both": TwoPhysics,
    "trips-driving": lambda setting: TripEnergies(setting, physics="driving"),
    "ratio": Ratio,
}
for _model in ("exact", "physics+gp", "independent", "factor", "edge-speeds", "svgp", "bkb"):
    SIBLINGS[_model] = lambda setting, model=_model: LearnedBelief.before_trips(
        Method(model=model, index="greedy"), setting
    )
for _model in ("exact", "factor"):
    SIBLINGS[f"{_model}-turns"] = lambda setting, model=_model: LearnedBelief.before_trips(
        Method(model=model, index="greedy", arms="turns"), setting
    )
SIBLINGS["exact-change-test"] = lambda setting: LearnedBelief.before_trips(
    Method(model="exact", index="greedy", change_test=True), setting
)


FROM_TIMES = {"edge-speeds"}
"""Beliefs that measured energies teach nothing."""


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("sibling", SIBLINGS)
def test_a_belief(sibling, check, setting, tmp_path) -> None:
    if sibling in FROM_TIMES and check == "measured_energy_is_learned":
        pytest.skip("it learns from times alone")
    getattr(Checks, check)(lambda: SIBLINGS[sibling](setting), tmp_path)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda kind: kind.__name__)
def test_a_wrong_kind_fails_the_check_of_what_it_does_wrong(wrong, setting, tmp_path) -> None:
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        getattr(Checks, WRONG[wrong])(lambda: wrong(setting), tmp_path)


def test_a_third_kind_is_learned_saved_and_continued_by_its_line_in_the_table(
    setting, tmp_path, monkeypatch
) -> None:
    monkeypatch.setitem(kinds.KINDS, "ratio", Ratio)
    table = tmp_path / "trips.csv"
    for count in (3, 5):
        rows = [
            f"{trip.trip},{setting.network.edge_id[edge]},{wh}"
            for trip in trips_of(setting, count)
            for edge, wh in zip(trip.edge, trip.energy_wh, strict=True)
        ]
        table.write_text("\n".join(["trip,edge,energy_wh", *rows]))
        learned = learn(table, tmp_path / "out", network=setting.network, model="ratio")
    assert (learned.new, learned.known) == (2, 3)
    belief = kinds.load_belief(tmp_path / "out", network=setting.network)
    assert isinstance(belief, Ratio)
    assert belief.ratio.mean == pytest.approx(EXTRA, rel=0.02)
