"""TripEnergies: the default belief of ``evroute learn``: whole trips of one vehicle on one network.

With ``physics="driving"`` its arms are the turns, and its mean before any trip is the energy of the
driver's plan. With ``"eq8"`` they are the edges, at steady speed. `defaults.physics_of` chooses.

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

import pyarrow as pa

from evroute.arrays import FloatArray, part_of
from evroute.energy.defaults import PAPER_PHYSICS, check_physics, physics_of
from evroute.energy.driving import DrivingConditions
from evroute.learning.base import Belief, Expected, Part
from evroute.learning.battery_size import BatterySize
from evroute.learning.fleet.car_shares import Share, car_shares, ranking, resting
from evroute.learning.fleet.car_states import CarState, CarStates
from evroute.learning.measured import MeasuredTrip
from evroute.learning.roads.known_roads import KnownRoads
from evroute.learning.roads.places import TripPlaces
from evroute.learning.roads.restated import learned_terms, recorded_terms
from evroute.learning.roads.road_choice import DEFAULT_ROADS, check_choice, choice_of
from evroute.learning.roads.trip_record import Terms
from evroute.learning.trips.day import TripDay
from evroute.learning.trips.departures import Departures
from evroute.learning.trips.fields import HEIGHT_STD_M, EdgeFeatures
from evroute.learning.trips.kept_trips import ROAD, RoadsOfTrips
from evroute.learning.trips.noise import START
from evroute.learning.trips.rows import Rows
from evroute.learning.trips.sentences import sentences
from evroute.learning.trips.terms import (
    MINUTES,
    TURNING,
    coefficient_prior,
    potential_slope,
    size,
    weight_wh_per_m,
)
from evroute.learning.trips.times import TripTimes
from evroute.learning.trips.trip_belief import TripBelief
from evroute.methods.setting import Setting
from evroute.model.base import State
from evroute.network.places.zones import day_of
from evroute.planning.forecasts.pace import Pace
from evroute.planning.spaces.arm_space import SearchSpace
from evroute.planning.spaces.of_physics import of_any_date, shared_edges, shared_turns
from evroute.text import counted

MODEL = "trips"
"""Name of this belief among the models of ``evroute learn``."""


class TripEnergies(Belief):
    """Belief of whole trips on a network, with the pace of its roads. See `Belief`.

    Parameters
    ----------
    setting
        Network and vehicle.
    physics
        One of `defaults.KINDS_OF_PHYSICS`, or None for the one that fits the network.
    roads
        One of `road_choice.ROADS`.

    Attributes
    ----------
    places
        Roads and junctions that its trips reached.

    Raises
    ------
    UnknownNameError
        If the physics or the way to learn roads is unknown.
    """

    travels = True
    of_fleets = True
    options = ("physics", "roads")

    def __init__(
        self, setting: Setting, *, physics: str | None = None, roads: str = DEFAULT_ROADS
    ) -> None:
        self.setting = setting
        self.source = "this"
        network = setting.network
        self.physics = check_physics(physics or physics_of(network))
        driving = self.physics == "driving"
        self.roads = check_choice(roads)
        self.places = self._places_on(KnownRoads(network))
        prior = coefficient_prior(setting.vehicle, driving=driving)
        noise = START.times(size(setting.vehicle))
        deviation = self.places.choice.deviation(noise.root_km_wh)
        self.belief = TripBelief(
            prior,
            noise,
            heights=HEIGHT_STD_M * weight_wh_per_m(setting.vehicle),
            roads=RoadsOfTrips(self._choose_roads, self._roads_of, deviation),
        )
        self.times = TripTimes(self.places.known, driving=driving)
        self._departures = Departures()
        self.battery = BatterySize()
        self._states = CarStates()
        self._car: str | None = None

    @classmethod
    def of_method(cls, method: Mapping[str, Any], setting: Setting) -> "TripEnergies":
        """Return the belief before any trip. Parameters as in `Belief.of_method`."""
        physics = str(method.get("physics", PAPER_PHYSICS))
        return cls(setting, physics=physics, roads=str(method.get("roads", DEFAULT_ROADS)))

    @property
    def method_table(self) -> dict[str, Any]:
        """Model, physics and roads by name."""
        physics = {} if self.physics == PAPER_PHYSICS else {"physics": self.physics}
        roads = {} if self.roads == DEFAULT_ROADS else {"roads": self.roads}
        return {"model": MODEL, **physics, **roads}

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
        """Coefficients, times and departures of trips, the battery, and these for named cars."""
        own: dict[str, Part] = {"trips": self.belief, "times": self.times}
        own |= {"departures": self._departures, "battery": self.battery}
        return own | {"cars": self._states}

    @property
    def changed(self) -> bool:
        """Whether the errors of energies or times became larger."""
        return self.belief.changed or self.times.errors.changed

    @property
    def changed_after(self) -> int:
        """Number of trips before the last detected change, or 0 if there was none."""
        return self.places.changed_after

    @property
    def note(self) -> str:
        """Number of trips behind the forecasts, in words. Empty if there are none."""
        own = self._state(self._car).departures.trips if self._car else 0
        rest = resting(self.belief.trips, self._car, own, of_fleet=bool(self.cars))
        return "; ".join(filter(None, (rest, self.places.known.elsewhere))) if rest else ""

    def findings(self, trips: pa.Table) -> list[str]:
        """Return consumption, coefficients, roads, heights, noise and the rest, a sentence each.

        Parameters
        ----------
        trips
            Rows of ``trips.parquet``.
        """
        junctions = self.places.junctions if self.places.heights_unknown else None
        places = None if junctions is None else len(junctions)
        belief, choice = self.belief, self.places.choice
        columns = int((belief.column == ROAD).sum())
        roads = choice.words(belief.scales.roads, belief.noise.root_km_wh, columns)
        found = sentences(belief, self.vehicle, trips, roads, places, self.changed_after)
        return found + ranking(self.car_shares())

    def _placed(self, trip: MeasuredTrip) -> MeasuredTrip:
        """Return a trip on the roads of the belief. Those that it lacks are added to them.

        A total is on none.
        """
        if trip.record is None:
            return trip
        if trip.record.is_total:
            return replace(trip, edge=trip.edge[:0])
        edge = self.places.known.rows_of(trip.record.lines)
        self.times.extend()
        return replace(trip, edge=edge)

    def _beside(self, trip: MeasuredTrip) -> "TripEnergies":
        """Return the belief to ask about a trip, with roads of its own where it may lack some."""
        if trip.record is None:
            return self
        own = copy(self)
        own.places = self.places.beside()
        own.times = self.times.beside(own.places.known)
        return own

    def row(self, trip: MeasuredTrip) -> FloatArray:
        """Return the terms of a trip by the values known at its departure, (p,).

        A trip that is not wholly on the network has its recorded terms.
        """
        if trip.record is not None:
            then = recorded_terms(trip.record, self.physics, self.belief.prior, self.vehicle)
            return self.places.row(self.belief.column, then, trip.edge, self.share(trip))
        known = self._state(trip.car).departures.conditions(trip)
        b = self.belief.coefficients[: len(self.belief.prior.mean)]
        return self._with_fields(self.rows_on(known).of_trip(trip, b), trip)

    def rows_on(
        self,
        conditions: DrivingConditions,
        fields: Sequence[EdgeFeatures] = (),
        *,
        of_all: bool = False,
    ) -> Rows:
        """Return the terms of arms on a day at the learned pace.

        Parameters
        ----------
        conditions, fields, of_all
            As in `Rows`.
        """
        prior = self.belief.prior
        return Rows(self.setting, prior, conditions, self.pace, fields, of_all=of_all)

    def _with_fields(self, terms: FloatArray, trip: MeasuredTrip) -> FloatArray:
        """Return the row of a trip with its terms (p,)."""
        row = self.places.row(self.belief.column, terms, trip.edge, self.share(trip))
        row[self.belief.column == ROAD] *= trip.routes == 1
        return row

    def terms_of(self, numbers: Sequence[int]) -> list[Terms]:
        """Return the terms of trips by their numbers, for files of measured trips."""
        terms = learned_terms(self.belief.state(), self.belief.prior.names, numbers)
        return [{self.physics: of_trip} for of_trip in terms]

    def expect(self, trip: MeasuredTrip) -> Expected:
        """Return the expected energy and time of a trip, and its row."""
        own = self._beside(trip)
        return own._expect(own._placed(trip))

    def _expect(self, trip: MeasuredTrip) -> Expected:
        row = self.row(trip)
        days = self._state(trip.car).departures.days_before(trip.departed_s)
        belief = self.belief.of_car(trip.car, days)
        known_wh2 = self.places.known_wh2(trip, self.belief.scales.heights)
        doubt_wh2 = self._departures.season_wh2(trip, row, belief.present)
        doubt_wh2 += self._new_roads_wh2(trip)
        time = self.times.expect(
            trip.edge, departed_s=trip.departed_s, routes=trip.routes, share=self.share(trip)
        )
        return Expected(belief.expect(row, known_wh2 + doubt_wh2), time, row)

    def _new_roads_wh2(self, trip: MeasuredTrip) -> float:
        """Return the variance of the roads of a placed trip that are not learned, Wh².

        0 for a trip whose route is not known.
        """
        if trip.routes > 1:
            return 0.0
        unlearned = self.places.unlearned_of(trip.edge, self.share(trip))
        return self.belief.unlearned_wh2 * float(unlearned.sum())

    def share(self, trip: MeasuredTrip) -> FloatArray:
        """Return the share of each edge of a placed trip that was driven, (k,)."""
        return trip.share(self.places.known.length_m)

    def take(self, trip: MeasuredTrip, expected: Expected) -> None:
        """Learn the total energy of a trip, and its travel times.

        Parameters
        ----------
        trip
            Measured trip.
        expected
            Its expectation, with its row.
        """
        trip, row = self._placed(trip), expected.row
        if trip.record is None:  # its ends become landmarks where these are far
            self.belief.widen(self.places.admit_ends(trip.edge))
            row = self._with_fields(row[: len(self.belief.prior.mean)], trip)
        self.places.add(trip.edge, self.share(trip), known=trip.routes == 1)
        own = self._states.begin(trip.car) if trip.car else self._state("")
        days = own.departures.days_before(trip.departed_s)
        doubted = self._departures.season_unknown(trip)
        belief = self.belief.of_car(trip.car, days) if doubted else self.belief
        doubt_wh2 = self._departures.season_wh2(trip, row, belief.present)
        doubt_wh2 += self._new_roads_wh2(trip)
        heating = self._departures.heating_wh(trip, self.vehicle, float(row[MINUTES]))
        self.belief.on_day = self.times.errors.on_day = day_of(trip.departed_s, self.network)
        self.belief.learn(
            row,
            float(trip.energy_wh.sum()),
            self.places.known_wh2(trip, self.belief.scales.heights),
            doubt_wh2,
            after_days=days,
            part_wh=heating.energy_wh,
            part_wh2=heating.variance_wh2,
            car=trip.car,
        )
        fall, kwh = trip.soc_percent - trip.soc_end_percent, self.vehicle.battery_kwh
        own.battery.learn(float(trip.energy_wh.sum()), fall, kwh, days)
        for departures in {own.departures, self._departures}:  # of the car, and of all
            departures.end(trip, 60.0 * float(row[MINUTES]))
        share = self.share(trip)
        self.times.learn(trip.edge, trip.travel_s, trip.departed_s, share, car=trip.car)

    def restart(self) -> None:
        """Learn the pace and the deviations of roads anew. Coefficients and spread stay."""
        self.places.restart(self.trips)
        self.times.pace.forget()
        self.belief.restart()
        self.times.errors.restart()

    def under(self, conditions: DrivingConditions) -> TripDay:
        """Return the energies of a day with these conditions."""
        network = self.network
        days = self._state(self._car or "").departures.days_until(conditions.date)
        belief = self.belief.of_car(self._car, days)
        b = belief.present
        slope = potential_slope(b, weight_wh_per_m(self.vehicle))
        slope *= conditions.load(self.vehicle).mass_kg / self.vehicle.mass_kg
        features, columns, learned_wh = self.places.of_edges(belief.column, b)
        space = self._space(conditions, slope * network.elevation_m + learned_wh, b)
        return TripDay(
            belief,
            space,
            self.rows_on(conditions, features, of_all=True),
            columns,
            self.places,
            self.times,
            self._departures.season_wh_per_minute(conditions, b),
            self.battery.std_share,
            self._state(self._car or "").departures.undated,
        )

    def _space(
        self, conditions: DrivingConditions, junction_wh: FloatArray, b: FloatArray
    ) -> SearchSpace:
        """Return the arms with the potential of the belief.

        Parameters
        ----------
        conditions
            Conditions of the day.
        junction_wh
            (v,) potential of the junctions, Wh.
        b
            (p,) coefficients. The coefficient of stops and turns is the share of the kinetic
            energy.
        """
        roads = self.network, self.vehicle, of_any_date(conditions)
        edges = shared_edges(*roads).with_potential(junction_wh, conditions)
        if self.physics != "driving":
            return edges
        return shared_turns(*roads).with_potential(edges, float(b[TURNING]))

    @property
    def cars(self) -> tuple[str, ...]:
        """Names of the cars of a fleet."""
        return tuple(self._states.by_car)

    def of_car(self, car: str) -> "TripEnergies":
        """Return the belief of one car. Parameters and errors as in `Belief.of_car`."""
        own = copy(super().of_car(car))
        own._car, own.battery = car, self._states.of(car).battery
        return own

    def car_shares(self) -> dict[str, Share]:
        """Return what each car takes more than its type."""
        trips = {car: each.departures.trips for car, each in self._states.by_car.items()}
        return car_shares(self.belief.cars, self.belief.regression, trips)

    def _state(self, car: str) -> CarState:
        """Return departures and battery of a car, of the only one if its name is empty."""
        return self._states.of(car) if car else CarState(self._departures, self.battery)

    def state(self) -> State:
        """Return all that was learned, as arrays."""
        return super().state() | self.places.state(self.pace.passed)

    def restore(self, state: State) -> None:
        """Take over a state, also from a belief on another network.

        The car's part is taken over as it is. Roads are found again by their ids and lines.
        """
        known, moved = KnownRoads.restored(part_of(state, "known"), self.network)
        self.places = self._places_on(known)
        self.times = TripTimes(known, driving=self.physics == "driving")
        super().restore({**state, **moved.pace_of(state)})
        self.places.restore(state, moved)
        self._departures.arrive(moved)
        self._states.arrive(moved)

    def _places_on(self, known: KnownRoads) -> TripPlaces:
        """Return the places before any trip, on the roads of a belief."""
        return TripPlaces(known, choice_of(self.roads, self.setting, known))

    def _choose_roads(self) -> None:
        self.places.choose_roads()

    def _roads_of(self, numbers: Sequence[int]) -> FloatArray:
        """Return the features of the roads of trips by their numbers, (n, m)."""
        return self.places.features_of_trips(numbers)
