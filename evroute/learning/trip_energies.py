"""TripEnergies: the default belief of ``evroute learn``: whole trips of one vehicle on one network.

A measured trip is one row of terms (`trip_terms`) as they were at departure, with the pace of
earlier trips, and one energy. The belief of the coefficients is `trip_belief`; this module makes
the rows, and keeps belief and pace together on disk and for plans.
"""

from typing import Any

import numpy as np

from evroute.arms import Belief
from evroute.arrays import FloatArray, IntArray
from evroute.energy.driving import DrivingConditions
from evroute.energy.longitudinal import GRAVITY_MPS2, J_PER_WH
from evroute.energy.prior import EQ8_CONDITIONS
from evroute.energy.vehicle import Vehicle
from evroute.learning.learned_belief import check_subject
from evroute.learning.measured import MeasuredTrip
from evroute.learning.pace import Pace
from evroute.learning.trip_belief import TripBelief
from evroute.learning.trip_day import TripDay
from evroute.learning.trip_terms import coefficient_prior, edge_terms, potential_slope
from evroute.methods.setting import Setting
from evroute.model.base import State
from evroute.network.road_network import RoadNetwork
from evroute.planning.edge_space import EdgeSpace

MODEL = "trips"
"""Name of this belief among the models of ``evroute learn``."""
_TRIPS, _PACE = "trips/", "pace/"


class TripEnergies:
    """Belief of whole trips on a network, with the pace of its roads.

    Parameters
    ----------
    setting
        Network and vehicle.
    source
        File that it was read from, for messages.
    """

    def __init__(self, setting: Setting, source: str = "this") -> None:
        self.setting = setting
        self.source = source
        network = setting.network
        self.belief = TripBelief(coefficient_prior(setting.vehicle))
        self.pace = Pace(network.length_m, network.time_s / network.length_m)

    @property
    def network(self) -> RoadNetwork:
        """The network that it is about."""
        return self.setting.network

    @property
    def vehicle(self) -> Vehicle:
        """The vehicle that it is about."""
        return self.setting.vehicle

    @property
    def trips(self) -> int:
        """Number of trips that came, refused ones included."""
        return self.belief.seen

    @property
    def inflation(self) -> float:
        """Factor on the deviations of its forecasts: 1, for their spread is learned."""
        return 1.0

    @property
    def time_s(self) -> FloatArray:
        """(n,) expected travel time of each edge, s."""
        return self.pace.time_s

    @property
    def minutes_from(self) -> str:
        """Source of the travel times: ``"trips"`` if any trip measured them, else ``"map"``."""
        return "trips" if self.pace.trips else "map"

    @property
    def note(self) -> str:
        """Number of trips behind the forecasts, in words; empty if there are none."""
        n = self.belief.trips
        return f"intervals rest on {n} trip{'s' * (n != 1)}" if n else ""

    @property
    def edge_posterior(self) -> Belief:
        """Posterior of every edge, noise left out, (n,) Wh."""
        return self.under(EQ8_CONDITIONS).posterior()

    def row(self, trip: MeasuredTrip) -> FloatArray:
        """Return the terms of a trip by what is known at its departure, (p,)."""
        extra_w = np.nan_to_num(trip.auxiliary_w - self.vehicle.auxiliary_w)
        kept = {"extra_w": extra_w, "payload_kg": float(np.nan_to_num(trip.payload_kg))}
        terms = self._terms(trip.edge, **kept)
        if np.isfinite(trip.soc_percent):
            expected_wh = terms @ self.belief.coefficients.coefficients
            used_wh = np.cumsum(expected_wh) - expected_wh
            percent = trip.soc_percent - used_wh / (self.vehicle.battery_kwh * 10.0)
            terms = self._terms(trip.edge, soc_percent=np.minimum(percent, 100.0), **kept)
        total: FloatArray = terms.sum(axis=0)
        return total

    def expected(self, trip: MeasuredTrip) -> dict[str, float]:
        """Return the prediction of a trip before it is learned, by names of columns."""
        numbers = self.belief.expect(self.row(trip), trip.known_variance_wh2).numbers()
        ends = {name: numbers[name] for name in ("low50_wh", "high50_wh", "low90_wh", "high90_wh")}
        return {"predicted_wh": numbers["mean_wh"], "predicted_sd_wh": numbers["sd_wh"]} | ends

    def learn(self, trip: MeasuredTrip, expected: dict[str, Any]) -> None:
        """Learn a trip: its total energy, and its travel times.

        Parameters
        ----------
        trip
            Measured trip.
        expected
            Row of the trip; the belief keeps its own.
        """
        self.belief.learn(self.row(trip), float(trip.energy_wh.sum()), trip.known_variance_wh2)
        self.pace.learn(trip.edge, trip.travel_s)

    def under(self, conditions: DrivingConditions) -> TripDay:
        """Return the energies of a day with these conditions."""
        loaded = conditions.load(self.vehicle)
        terms = self._terms(
            np.arange(self.network.n_edges),
            extra_w=loaded.auxiliary_w - self.vehicle.auxiliary_w,
            payload_kg=conditions.payload_kg,
            conditions=conditions,
        )
        weight = self.vehicle.mass_kg * GRAVITY_MPS2 / J_PER_WH
        slope = potential_slope(self.belief.coefficients.coefficients, weight)
        slope *= loaded.mass_kg / self.vehicle.mass_kg
        junction_wh = slope * self.network.elevation_m
        space = EdgeSpace(
            self.network, self.vehicle, conditions=conditions, junction_wh=junction_wh
        )
        return TripDay(self.belief, self.vehicle, space, terms)

    def state(self) -> State:
        """Return all that was learned, as arrays."""
        parts = (_TRIPS, self.belief.state()), (_PACE, self.pace.state())
        return {prefix + name: array for prefix, state in parts for name, array in state.items()}

    def restore(self, state: State) -> None:
        """Take over a state of the same network."""
        for prefix, part in ((_TRIPS, self.belief), (_PACE, self.pace)):
            own = {name.removeprefix(prefix): a for name, a in state.items() if prefix in name}
            part.restore(own)

    def check(self, network: RoadNetwork, vehicle: Vehicle) -> None:
        """Check that the belief is about a network and a vehicle.

        Raises
        ------
        EvrouteError
            If it is about others; the message names both.
        """
        check_subject(self.source, self.setting, network, vehicle)

    def _terms(
        self,
        edge: IntArray,
        *,
        extra_w: float,
        payload_kg: float,
        soc_percent: FloatArray | float = np.nan,
        conditions: DrivingConditions = EQ8_CONDITIONS,
    ) -> FloatArray:
        """Return the terms of edges (k,), (k, p)."""
        network, vehicle = self.network, self.vehicle
        climb_m = network.climb_m[edge]

        def terms(mean_wh: FloatArray) -> FloatArray:
            return edge_terms(
                vehicle,
                length_m=network.length_m[edge],
                up_m=np.maximum(climb_m, 0.0),
                down_m=np.minimum(climb_m, 0.0),
                pace_spm=self.pace.spm[edge] / conditions.speed_factor,
                mean_wh=mean_wh,
                soc_percent=soc_percent,
                auxiliary_w=vehicle.auxiliary_w + extra_w,
                headwind_mps=conditions.headwind_mps(network)[edge],
                air_density_kgpm3=conditions.air_density_kgpm3,
                payload_kg=payload_kg,
            )

        plain = terms(np.zeros(len(edge)))
        return plain if np.isnan(soc_percent).all() else terms(plain @ self.belief.prior.mean)
