"""TripDay: energies of edges and routes on one day, by a belief of whole trips.

A planner holds it for the conditions of the day. The mean of an edge is the sum of its terms times
the coefficients in force, which lie in the cone of physical ones; the potential of searches is
``c z`` with c between the coefficients of metres down and metres up, so no edge takes less than its
rise. A forecast is that of the whole trip, with its noise and the spread of past errors.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from evroute.arms import Belief
from evroute.arrays import FloatArray, IntArray
from evroute.energy.vehicle import Vehicle
from evroute.errors import EvrouteError
from evroute.learning.intervals import TripPrediction
from evroute.learning.trip_belief import KM, TripBelief
from evroute.learning.trip_terms import FADE, returned_by_pieces
from evroute.learning.trip_times import TripTimes
from evroute.planning.battery import Battery, ChargeTrace
from evroute.planning.edge_space import EdgeSpace
from evroute.planning.forecast import INTERVAL_LEVEL, ChargeForecast
from evroute.planning.guarantee import Guarantee, RouteGuarantee


@dataclass(frozen=True, slots=True, eq=False)
class TripForecast:
    """Forecast of one trip along a route.

    Parameters
    ----------
    prediction
        Of the energy of the whole trip.
    reached_sd_wh
        (k + 1,) predictive standard deviation of the energy up to the start and after each edge,
        noise included, Wh.
    time
        Travel time of the whole trip by name (`TripTimes.expect`), s.
    """

    prediction: TripPrediction
    reached_sd_wh: FloatArray
    time: Mapping[str, float]

    @property
    def mean_wh(self) -> float:
        """Expected energy of the trip, Wh."""
        return self.prediction.mean_wh

    @property
    def std_wh(self) -> float:
        """Standard deviation of the trip's energy, Wh."""
        return self.prediction.sd_wh

    @property
    def inflation(self) -> float:
        """Half-width of the 90 % interval in multiples of that of a normal distribution."""
        quantile = self.prediction.spread.quantile(INTERVAL_LEVEL)
        return quantile / float(ndtri(0.5 + INTERVAL_LEVEL / 2))

    def interval_wh(self, level: float = INTERVAL_LEVEL) -> tuple[float, float]:
        """Return the central interval of a level in (0, 1), Wh."""
        return self.prediction.interval(level)

    def numbers(self) -> Mapping[str, float]:
        """Return the predictions of energy and travel time by name."""
        return {**self.prediction.numbers(), **self.time}

    def charge(self, battery: Battery, expected: ChargeTrace) -> ChargeForecast:
        """Forecast the charge along the route; one error, scaled, acts on the way and at its end.

        Parameters
        ----------
        battery
            Capacity, charge at the start and reserve.
        expected
            Charge along the route by expected energies.
        """
        spread, sd_wh = self.prediction.spread, self.reached_sd_wh
        half_wh = spread.quantile(INTERVAL_LEVEL) * sd_wh
        band_wh = expected.charge_wh[:, np.newaxis] + np.outer(half_wh, [-1.0, 1.0])
        band_percent = np.minimum(band_wh / battery.capacity_wh * 100, 100.0)
        room_wh = expected.charge_wh[1:] - battery.reserve_wh
        errors = room_wh / sd_wh[1:]
        return ChargeForecast(
            arrival_percent=battery.percent(float(expected.charge_wh[-1])),
            arrival_interval_percent=(float(band_percent[-1, 0]), float(band_percent[-1, 1])),
            arrives_above_reserve=spread.below(float(errors[-1])),
            never_below_reserve=spread.below(float(errors.min())),
            band_percent=band_percent,
        )


@dataclass(frozen=True, eq=False)
class TripDay:
    """Energies of all edges of a network under the conditions of one day.

    Parameters
    ----------
    belief
        Belief of whole trips; it must not learn while this object is in use.
    vehicle
        Battery, and the charge above which recuperation fades.
    space
        The edges, with the potential of the belief.
    terms
        (n, a) terms of the edges and features of fields, the full-battery term 0.
    columns
        (a,) columns of the belief that they are.
    unknown_wh2
        Function that returns the variance, up to each of edges (k,), that no column explains, Wh².
    times
        Travel times of trips.
    """

    belief: TripBelief
    vehicle: Vehicle
    space: EdgeSpace
    terms: FloatArray
    columns: IntArray
    unknown_wh2: Callable[[IntArray], FloatArray]
    times: TripTimes

    @cached_property
    def mean_wh(self) -> FloatArray:
        """(n,) expected energy of each edge where nothing is lost to a full battery, Wh."""
        return self.terms @ self.belief.coefficients.coefficients[self.columns]

    @property
    def noise_std_wh(self) -> FloatArray:
        """(n,) standard deviation of the noise of one passage, the trip's own part left out, Wh."""
        noise = self.belief.noise
        return np.sqrt(noise.variance(self.terms[:, KM]) - noise.trip_wh**2)

    @property
    def full_battery_fade(self) -> float:
        """Share of recuperation lost per 10 % of charge above that of a full battery."""
        return float(self.belief.coefficients.coefficients[FADE])

    def posterior(self) -> Belief:
        """Return mean and standard deviation of every edge, noise left out, (n,) Wh."""
        spread = self.terms @ self.belief.regression.root[self.columns]
        return Belief(self.mean_wh, np.sqrt((spread**2).sum(axis=1)))

    def forecast(
        self, arms_of_route: IntArray, energy_wh: FloatArray, expected: ChargeTrace | None = None
    ) -> TripForecast:
        """Forecast one trip.

        Parameters
        ----------
        arms_of_route
            (k,) edges in driving order.
        energy_wh
            (k,) expected energies as they are searched and shown, Wh.
        expected
            Charge along the route by expected energies; None where the charge is unknown.
        """
        terms = self.terms[arms_of_route]
        lost_wh = float((energy_wh - self.mean_wh[arms_of_route]).sum())
        if expected is not None:
            capacity_wh = self.vehicle.battery_kwh * 1000.0
            percent = expected.charge_wh[:-1] / capacity_wh * 100
            above = np.maximum(percent - self.vehicle.full_battery_percent, 0.0) / 10.0
            terms = terms.copy()
            prior = self.belief.prior.mean
            loaded = 1.0 + self.space.conditions.payload_kg / self.vehicle.mass_kg
            network, plain = self.space.network, terms[:, : len(prior)]
            terms[:, FADE] = -above * returned_by_pieces(
                network, arms_of_route, plain, prior, loaded
            )
            lost_wh += expected.lost_wh - self.full_battery_fade * float(terms[:, FADE].sum())
        reached = np.cumsum(terms, axis=0)
        unknown_wh2 = self.unknown_wh2(arms_of_route)
        variance = ((reached @ self.belief.regression.root[self.columns]) ** 2).sum(axis=1)
        variance += self.belief.noise.variance(reached[:, KM], unknown_wh2)
        row = np.zeros(len(self.belief.column))
        row[self.columns] = reached[-1]
        return TripForecast(
            self.belief.expect(row, float(unknown_wh2[-1])).shifted(lost_wh),
            np.concatenate([[0.0], np.sqrt(variance)]),
            self.times.expect(arms_of_route, speed_factor=self.space.conditions.speed_factor),
        )

    def guarantee(self, arms_of_route: IntArray, requested: Guarantee) -> RouteGuarantee:
        """Refuse: bounds with a guarantee need a regression with a kernel.

        Raises
        ------
        EvrouteError
            Always.
        """
        raise EvrouteError(
            "a belief of whole trips has no intervals with a guarantee; "
            "learn with model 'exact' or 'fixed-features', unfitted"
        )
