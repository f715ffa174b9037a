"""TripEnergies: the default belief of ``evroute learn``: whole trips of one vehicle on one network.

With ``physics="driving"`` its arms are the turns, and its mean before any trip is the energy of the
driver's plan. With ``"eq8"`` they are the edges, at steady speed.

A measured trip is one row of terms (`trip_terms`) as they were at departure, with the pace of
earlier trips, and one energy. The belief of the coefficients is `trip_belief`. This module makes
the rows, and keeps belief and pace together on disk and for plans.

If a test detects a change of the errors of energies or times (`change`), the pace and the
deviations of roads are learned anew. The coefficients and the spread of the errors stay.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from evroute.arrays import FloatArray, IntArray, part_of
from evroute.energy.defaults import PAPER_PHYSICS, PHYSICS, check_physics
from evroute.energy.driving import DrivingConditions
from evroute.learning.base import Belief, Expected, Part
from evroute.learning.battery_size import BatterySize
from evroute.learning.fleet.car_shares import Share, car_shares, ranking, resting
from evroute.learning.fleet.car_states import CarState, CarStates
from evroute.learning.measured import MeasuredTrip
from evroute.learning.roads.known_roads import KnownRoads
from evroute.learning.roads.places import TripPlaces
from evroute.learning.roads.restated import learned_terms, recorded_terms
from evroute.learning.roads.trip_record import Terms
from evroute.learning.trips.at_pace import ArmTerms
from evroute.learning.trips.day import TripDay
from evroute.learning.trips.departures import Departures
from evroute.learning.trips.fields import HEIGHT_STD_M
from evroute.learning.trips.kept_trips import FIELD, LATE, TERM
from evroute.learning.trips.noise_fit import START, LateField
from evroute.learning.trips.sentences import sentences
from evroute.learning.trips.terms import (
    MINUTES,
    TURNING,
    coefficient_prior,
    departed,
    heaviness,
    potential_slope,
    weight_wh_per_m,
)
from evroute.learning.trips.times import TripTimes
from evroute.learning.trips.trip_belief import TripBelief
from evroute.learning.trips.usual import Weighed
from evroute.methods.setting import Setting
from evroute.model.base import State
from evroute.network.heights.stretches import Stretches
from evroute.planning.forecasts.pace import Pace
from evroute.planning.spaces.arm_space import SearchSpace
from evroute.planning.spaces.edge_space import EdgeSpace
from evroute.planning.spaces.turn_space import TurnSpace
from evroute.text import counted

MODEL = "trips"
"""Name of this belief among the models of ``evroute learn``."""
ROAD_WH_PER_KM = 15.0
"""Least deviation of roads that counts."""


class TripEnergies(Belief):
    """Belief of whole trips on a network, with the pace of its roads; see `Belief`.

    Parameters
    ----------
    setting
        Network and vehicle.
    physics
        One of `defaults.KINDS_OF_PHYSICS`.

    Attributes
    ----------
    places
        Roads and junctions that its trips reached.

    Raises
    ------
    UnknownNameError
        If the physics is unknown.
    """

    travels = True
    of_fleets = True
    options = ("physics",)

    def __init__(self, setting: Setting, *, physics: str = PHYSICS) -> None:
        self.setting = setting
        self.source = "this"
        self.physics = check_physics(physics)
        driving, network = physics == "driving", setting.network
        self.places = TripPlaces(KnownRoads(network))
        heavy = heaviness(setting.vehicle)
        self.belief = TripBelief(
            coefficient_prior(setting.vehicle, driving=driving),
            START.times(heavy),
            field_std=HEIGHT_STD_M * weight_wh_per_m(setting.vehicle),
            late=LateField(
                lambda trips: self.places.road_features_of(trips), ROAD_WH_PER_KM * heavy
            ),
        )
        self.times = TripTimes(self.places.known, driving=driving)
        self.arms = ArmTerms(setting, driving, self.belief.prior, self.times.pace)
        self._departures = Departures()
        self.battery = BatterySize()
        self._states = CarStates()
        self._car: str | None = None

    @classmethod
    def of_method(cls, method: Mapping[str, Any], setting: Setting) -> "TripEnergies":
        """Return the belief before any trip; parameters as in `Belief.of_method`."""
        return cls(setting, physics=str(method.get("physics", PAPER_PHYSICS)))

    @property
    def method_table(self) -> dict[str, Any]:
        """Model and physics by name."""
        physics = {} if self.physics == PAPER_PHYSICS else {"physics": self.physics}
        return {"model": MODEL, **physics}

    @property
    def label(self) -> str:
        """Number of trips in words."""
        return f"of {counted(self.trips, 'trip')}"

    @property
    def trips(self) -> int:
        """Number of trips that came, refused ones included."""
        return self.belief.seen

    @property
    def pace(self) -> Pace:
        """Pace of the edges, from the travel times of its trips."""
        return self.times.pace

    @property
    def learns_totals(self) -> bool:
        """True: it learns nothing else."""
        return True

    @property
    def parts(self) -> Mapping[str, Part]:
        """Coefficients, times of trips, their departures, the battery, and those of named cars."""
        own: dict[str, Part] = {"trips": self.belief, "times": self.times}
        own |= {"departures": self._departures, "battery": self.battery}
        return own | {"cars": self._states}

    @property
    def changed(self) -> bool:
        """Whether the errors of energies or times became larger."""
        return self.belief.changed or self.times.errors.changed

    @property
    def changed_after(self) -> int:
        """Number of trips before the last detected change; 0 if there was none."""
        return self.places.changed_after

    @property
    def note(self) -> str:
        """Number of trips behind the forecasts, in words; empty if there are none."""
        own = self._state(self._car).departures.trips if self._car else 0
        rest = resting(self.belief.trips, self._car, own, of_fleet=bool(self.cars))
        return "; ".join(filter(None, (rest, self.places.known.elsewhere))) if rest else ""

    @property
    def members(self) -> tuple[Weighed, ...]:
        """Its belief, with the whole weight."""
        return (Weighed(1.0, self.belief),)

    def findings(
        self,
        trips: pa.Table,
        members: Sequence[Weighed] = (),
        shares: Mapping[str, Share] | None = None,
    ) -> list[str]:
        """Return consumption, coefficients, roads, heights, noise and the rest, a sentence each.

        Parameters
        ----------
        trips
            Rows of ``trips.parquet``.
        members
            Beliefs of the consumption; its own if empty.
        shares
            What each car takes more than its type; by its own coefficients if None.
        """
        junctions = self.places.junctions if self.places.heights_unknown else None
        places = None if junctions is None else len(junctions)
        found = sentences(members or self.members, self.vehicle, trips, places, self.changed_after)
        return found + ranking(self.car_shares() if shares is None else shares)

    def placed(self, trip: MeasuredTrip) -> MeasuredTrip:
        """Return a trip on the roads of the belief. Those that it lacks are added to them."""
        if trip.record is None:
            return trip
        edge = self.places.known.rows_of(trip.record.lines)
        self.times.extend()
        return replace(trip, edge=edge)

    def row(self, trip: MeasuredTrip) -> FloatArray:
        """Return the terms of a trip by the values known at its departure, (p,).

        Those of a trip that is not wholly on the network are the recorded ones.
        """
        if trip.record is not None:
            then = recorded_terms(trip.record, self.physics, self.belief.prior, self.vehicle)
            return self._joined(then, trip)
        known = self._state(trip.car).departures.conditions(trip)
        b = self.belief.coefficients.coefficients[: len(self.belief.prior.mean)]
        terms = self.arms.of_trip(self.pace, trip, known, b)
        # the ends become landmarks where these are far
        self.belief.widen(self.places.admit_ends(trip.edge))
        heating = known.heating(self.vehicle)
        total = self.arms.halted(terms.sum(axis=0), trip.edge, known)
        sums = departed(total / trip.routes, heating, self.belief.prior)
        row = self._joined(sums, trip)
        row[self.belief.column == LATE] *= trip.routes == 1
        return row

    def terms_of(self, numbers: Sequence[int]) -> list[Terms]:
        """Return the terms of trips by their numbers, for files of measured trips."""
        terms = learned_terms(self.belief.state(), self.belief.prior.names, numbers)
        return [{self.physics: of_trip} for of_trip in terms]

    def expect(self, trip: MeasuredTrip) -> Expected:
        """Return the expected energy and time of a trip, and its row."""
        trip = self.placed(trip)
        share, routes = self.share(trip), trip.routes
        time = self.times.expect(trip.edge, departed_s=trip.departed_s, routes=routes, share=share)
        return replace(self.expect_energy(trip), time=time)

    def share(self, trip: MeasuredTrip) -> FloatArray:
        """Return the share of each edge of a placed trip that was driven, (k,)."""
        return trip.share(self.places.known.length_m)

    def expect_energy(self, trip: MeasuredTrip) -> Expected:
        """Return the expected energy of a trip, and its row."""
        trip = self.placed(trip)
        row = self.row(trip)
        days = self._state(trip.car).departures.days_before(trip.departed_s)
        belief = self.belief.of_car(trip.car, days)
        season_wh2 = self._departures.season_wh2(trip, row, belief.present)
        return Expected(belief.expect(row, self._known_wh2(trip) + season_wh2), row=row)

    def take(self, trip: MeasuredTrip, expected: Expected) -> None:
        """Learn the total energy of a trip, and its travel times.

        Parameters
        ----------
        trip
            Measured trip.
        expected
            Its expectation, with its row.
        """
        trip = self.placed(trip)
        self.places.add(trip.edge, self.share(trip), known=trip.routes == 1)
        own = self._states.begin(trip.car) if trip.car else self._state("")
        row, days = expected.row, own.departures.days_before(trip.departed_s)
        doubted = self._departures.season_unknown(trip)
        belief = self.belief.of_car(trip.car, days) if doubted else self.belief
        season_wh2 = self._departures.season_wh2(trip, row, belief.present)
        heating = self._departures.heating_wh(trip, self.vehicle, float(row[MINUTES]))
        self.belief.learn(
            row,
            float(trip.energy_wh.sum()),
            self._known_wh2(trip),
            season_wh2,
            after_days=days,
            part_wh=heating.energy_wh,
            part_wh2=heating.variance_wh2,
            car=trip.car,
        )
        fall, kwh = trip.soc_percent - trip.soc_end_percent, self.vehicle.battery_kwh
        own.battery.learn(float(trip.energy_wh.sum()), fall, kwh, days)
        for departures in {own.departures, self._departures}:  # of the car, and of all
            departures.end(trip, 60.0 * float(row[MINUTES]))
        self.times.learn(trip.edge, trip.travel_s, trip.departed_s, self.share(trip))

    def restart(self) -> None:
        """Learn the pace and the deviations of roads anew; coefficients and spread stay."""
        self.places.changed_after = self.trips
        self.times.pace.forget()
        self.belief.restart()
        self.times.errors.restart()

    def under(self, conditions: DrivingConditions) -> TripDay:
        """Return the energies of a day with these conditions."""
        network, edges = self.network, self.arms.edge
        days = self._state(self._car or "").departures.days_until(conditions.date)
        belief = self.belief.of_car(self._car, days)
        b = belief.present
        terms = self.arms.at(self.pace, np.arange(len(edges)), conditions)
        slope = potential_slope(b, weight_wh_per_m(self.vehicle))
        slope *= conditions.load(self.vehicle).mass_kg / self.vehicle.mass_kg
        junction_wh = slope * network.elevation_m
        columns, parts = [np.arange(terms.shape[1])], [terms]
        if self.belief.late_std:
            columns.append(np.flatnonzero(self.belief.column == LATE))
            parts.append(self.places.road_features(edges))
        if self.places.junctions is not None and self.places.heights_unknown:
            of_height = np.flatnonzero(self.belief.column == FIELD)
            features = self.places.junctions.features(np.arange(network.n_junctions))
            junction_wh += features @ b[of_height]
            columns.append(of_height)
            parts.append((features[network.head] - features[network.tail])[edges])
        space: SearchSpace
        space = EdgeSpace(network, self.vehicle, conditions=conditions, junction_wh=junction_wh)
        if self.physics == "driving":
            table, kinetic = self.setting.turn_table, float(b[TURNING])
            space = TurnSpace(space.edges, table, free_flow=True, kinetic=kinetic)
        return TripDay(
            belief,
            self.vehicle,
            space,
            np.hstack(parts),
            np.concatenate(columns),
            lambda arms, stretches: self._part_terms(arms, stretches, conditions),
            lambda driven: self._unknown_wh2(driven.edge, driven),
            self.places.roads,
            self.times,
            self._departures.season_wh_per_minute(conditions, b),
            self.battery.std_share,
            self._state(self._car or "").departures.undated,
            self.arms.halt_wh(conditions),
        )

    @property
    def cars(self) -> tuple[str, ...]:
        """Names of the cars of a fleet."""
        return tuple(self._states.by_car)

    def of_car(self, car: str) -> "TripEnergies":
        """Return the belief of one car; parameters and errors as in `KnowsCars.of_car`."""
        own = copy(super().of_car(car))
        own._car, own.battery = car, self._states.of(car).battery
        return own

    def car_shares(self) -> dict[str, Share]:
        """Return what each car takes more than its type."""
        trips = {car: each.departures.trips for car, each in self._states.by_car.items()}
        return car_shares(self.belief.cars, self.belief.regression, trips)

    def _state(self, car: str) -> CarState:
        """Return departures and battery of a car. Those of the only one if its name is empty."""
        return self._states.of(car) if car else CarState(self._departures, self.battery)

    def state(self) -> State:
        """Return all that was learned, as arrays."""
        return super().state() | self.places.state(self.pace.passed)

    def restore(self, state: State) -> None:
        """Take over a state, also that of a belief on another network.

        The car's part is taken over as it is; roads are found again by their ids and lines.
        """
        known, moved = KnownRoads.restored(part_of(state, "known"), self.network)
        self.places = TripPlaces(known)
        self.times = TripTimes(known, driving=self.physics == "driving")
        super().restore({**state, **moved.pace_of(state)})
        self.places.restore(state, moved)
        self._departures.arrive(moved)
        self._states.arrive(moved)

    def _joined(self, terms: FloatArray, trip: MeasuredTrip) -> FloatArray:
        """Return the row of a placed trip: its terms (p,), then the features of fields."""
        row, share = np.zeros(len(self.belief.column)), self.share(trip)
        row[self.belief.column == TERM] = terms
        if self.belief.late_std:
            row[self.belief.column == LATE] = share @ self.places.road_features(trip.edge)
        row[self.belief.column == FIELD] = self.places.rise(trip.edge, share)
        return row

    def _known_wh2(self, trip: MeasuredTrip) -> float:
        """Return the variance of a trip's energy from its meter and its unknown places, Wh²."""
        edge, unknown_wh2 = trip.edge, trip.known_variance_wh2
        if trip.routes > 1:  # roads that differ are as uncertain as one road of this length
            km = self.places.known.length_m[edge].sum() / 1000.0 / trip.routes
            edge, unknown_wh2 = edge[[0, -1]], unknown_wh2 + (self.belief.late_std * km) ** 2
        driven = trip.stretches(self.network) if trip.record is None else None
        return unknown_wh2 + float(self._unknown_wh2(edge, driven)[-1, -1])

    def _unknown_wh2(self, edge: IntArray, driven: Stretches | None = None) -> FloatArray:
        return self.places.unknown_wh2(edge, self.belief.late_std, self.belief.field_std, driven)

    def _part_terms(
        self, arms: IntArray, stretches: Stretches, conditions: DrivingConditions
    ) -> FloatArray:
        """Return the terms of arms of whose edges a part is driven, and of fields, (k, c)."""
        roads, rise = self.places.part_features(stretches)
        parts = [self.arms.at(self.pace, arms, conditions, stretches=stretches)]
        if self.belief.late_std:
            parts.append(roads)
        if self.places.junctions is not None and self.places.heights_unknown:
            parts.append(rise)
        return np.hstack(parts)
