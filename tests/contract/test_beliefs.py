"""What every kind of belief must do, on a small hilly network.

`evroute.testing.beliefs` has the checks. `Ratio` is a third kind, learned in closed form by one
number. It passes; each of its variants that does one thing wrong fails the check of that thing.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from evroute.arms import Belief as Marginals
from evroute.energy.driving import DrivingConditions
from evroute.energy.prior import EQ8_CONDITIONS
from evroute.energy.vehicle import load_vehicle
from evroute.learning import belief as kinds
from evroute.learning.base import Belief, Expected
from evroute.learning.intervals import PastErrors, TripPrediction
from evroute.learning.learn import learn
from evroute.learning.learned_belief import LearnedBelief
from evroute.learning.trips.energies import TripEnergies
from evroute.methods.method import Method
from evroute.methods.setting import Setting
from evroute.planning.forecasts.forecast import RouteForecast
from evroute.planning.forecasts.pace import Pace
from evroute.testing import ContractError, check_belief
from evroute.testing.base import hold
from evroute.testing.beliefs import CHECKS, EXTRA, Subject, trips_of

CAR = load_vehicle()


@dataclass
class RatioDay:
    """Energies of one day: a ratio times eq. 8."""

    belief: "Ratio"
    conditions: DrivingConditions
    full_battery_fade: float = 0.0
    battery_share: float = 0.0
    undated: bool = False

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

    @property
    def halt_wh(self):
        return self.belief.ratio.mean * self.space.halt_wh

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
        self._pace.forget()


class Curious(Ratio):
    """It learns the trip that it is asked about."""

    def expect(self, trip):
        self.ratio.learn(float(trip.energy_wh.sum()), float(trip.energy_wh.sum()), 1e4)
        return super().expect(trip)


class Watchful(Ratio):
    """It learns the conditions of the days that plans ask for."""

    def under(self, conditions):
        self.ratio.learn(1.0, 1.0 + 1e-3 * conditions.payload_kg, 1e4)
        return super().under(conditions)


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


class Distracted(Ratio):
    """The energy of a part depends on the parts that are asked beside it."""

    def under(self, conditions):
        day = RatioDay(self, conditions)
        alone = day.stretch_wh
        day.stretch_wh = lambda arms, parts: alone(arms, parts) * (1.0 + 1e-15 * len(arms))
        return day


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
    Distracted: "a_part_of_an_edge_has_its_energy_whatever_is_asked_beside_it",
    Clockless: "an_unknown_departure_is_not_midnight",
    Curious: "an_expectation_teaches_nothing",
    Watchful: "days_and_plans_teach_nothing",
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
    "trips-driving": lambda setting: TripEnergies(setting, physics="driving"),
    "ratio": Ratio,
}
for _model in (
    "exact",
    "physics+gp",
    "independent",
    "factor",
    "svgp",
    "svgp-gpytorch",
    "bkb",
):
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


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("sibling", SIBLINGS)
def test_a_belief(sibling, check, setting) -> None:
    hold([check], Subject(lambda: SIBLINGS[sibling](setting)))


@pytest.mark.parametrize("wrong", WRONG, ids=lambda kind: kind.__name__)
def test_a_wrong_kind_fails_the_check_of_its_fault(wrong, setting) -> None:
    check = next(each for each in CHECKS if each.__name__ == WRONG[wrong])
    with pytest.raises(ContractError) as broken:
        hold([check], Subject(lambda: wrong(setting)))
    assert (check.__doc__ or "").partition("\n")[0] in str(broken.value)


def test_the_whole_suite_takes_a_class() -> None:
    check_belief(Ratio)
    with pytest.raises(ContractError, match="Measured energy is learned"):
        check_belief(Deaf)


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
