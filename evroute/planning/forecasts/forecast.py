"""Forecasts of a route by a belief: its energy with an interval, and its charge with a battery.

The energy of a route is the sum over its arms of expected energies, which are *jointly* Gaussian
under the posterior, plus the noise of each passage. Adding the deviations of the arms would be
wrong: arms are correlated, and noise averages out along the way. An arm that is driven twice has
one expected energy and two noises.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol, Self

import numpy as np
from scipy.special import ndtr, ndtri

from evroute.arms import Arms
from evroute.arrays import FloatArray, IntArray, freeze
from evroute.model.base import EnergyModel, HasJoint
from evroute.planning.battery import TOLERANCE_WH, Battery, ChargeTrace
from evroute.planning.forecasts.first_passage import first_passage
from evroute.planning.forecasts.rest import DrivenPart, Left, rest

INTERVAL_LEVEL = 0.9
N_TRIPS = 1024
TIME_NOISE_S = (60.0, 40.0, 20.0)
"""Noise of travel times before any trip, s: of a trip, of the root of a km and of a km."""
SEED = 0
"""Of the trips that stand for all."""


class EnergyForecast(Protocol):
    """Forecast of the energy of one trip, as plans show it."""

    @property
    def mean_wh(self) -> float:
        """Expected energy, Wh."""

    @property
    def std_wh(self) -> float:
        """Standard deviation of the trip's energy, Wh."""

    @property
    def inflation(self) -> float:
        """Factor on the width of a normal interval that past trips call for."""

    @property
    def halving_trips(self) -> int | None:
        """Number of such trips that halve the deviation that trips share, None if unknown."""

    def beyond(self, deviates: float) -> float:
        """Return the probability of more energy than this many deviations above the mean."""

    def ever_beyond(self, deviates: float) -> float:
        """Return a bound of the probability that it is ever more than this along the trip."""

    def interval_wh(self, level: float = ...) -> tuple[float, float]:
        """Return the central interval that holds the energy with probability ``level``, Wh."""

    def numbers(self) -> Mapping[str, float]:
        """Return the forecast by name, as JSON documents hold it."""

    @property
    def time_noise_s(self) -> tuple[float, float, float]:
        """Noise of travel times, s: of a trip, of the root of a kilometre, and of a kilometre."""

    def rest(self, part: DrivenPart, arm_wh: FloatArray) -> tuple["EnergyForecast", Left]:
        """Return the forecast of the rest of the trip, by what a driven part took (`rest.rest`).

        Parameters
        ----------
        part
            The driven part.
        arm_wh
            (k,) expected energies of the arms of the whole trip as they are shown, Wh.
        """

    def charge(
        self, battery: Battery, expected: ChargeTrace, legs: "Legs | None" = None
    ) -> "ChargeForecast":
        """Forecast the charge along the route.

        Parameters
        ----------
        battery
            Charge at the start, capacity and reserve.
        expected
            Charge along the route by expected energies.
        legs
            Legs between stops to charge, or None for one leg.
        """


_NO_JOINT = "{} has no joint posterior, which an interval of a route needs"


@dataclass(frozen=True, slots=True, eq=False)
class RouteForecast:
    """Predictive distribution of the energy of one trip along a route, from an unbounded battery.

    Parameters
    ----------
    edge_mean_wh
        (k,) mean of each edge in driving order, Wh.
    edge_covariance_wh2
        (k, k) covariance of the measurements of the trip, noise included, Wh².
    inflation
        Factor on the deviations of the belief. 1 for none.
    """

    edge_mean_wh: FloatArray
    edge_covariance_wh2: FloatArray
    inflation: float = 1.0

    def __post_init__(self) -> None:
        k = len(self.edge_mean_wh)
        freeze(
            self,
            edge_mean_wh=(self.edge_mean_wh, np.float64, (k,)),
            edge_covariance_wh2=(self.edge_covariance_wh2, np.float64, (k, k)),
        )

    @property
    def mean_wh(self) -> float:
        """Expected energy of the trip, Wh."""
        return float(self.edge_mean_wh.sum())

    @property
    def std_wh(self) -> float:
        """Standard deviation of the trip's measured energy, Wh."""
        return float(np.sqrt(self.edge_covariance_wh2.sum()))

    @property
    def halving_trips(self) -> int | None:
        """None: which part trips share is unknown."""
        return None

    def inflated(self, factor: float) -> "RouteForecast":
        """Return the forecast with every deviation multiplied by a factor."""
        return RouteForecast(
            self.edge_mean_wh, self.edge_covariance_wh2 * factor**2, self.inflation * factor
        )

    def around(self, edge_mean_wh: FloatArray) -> "RouteForecast":
        """Return the same with other means (k,) Wh."""
        return RouteForecast(edge_mean_wh, self.edge_covariance_wh2, self.inflation)

    def beyond(self, deviates: float) -> float:
        """Return the probability of more energy than this many deviations above the mean."""
        return float(ndtr(-deviates))

    def ever_beyond(self, deviates: float) -> float:
        """Return a bound of the probability that it is ever more than this (Lévy's inequality)."""
        return min(2.0 * self.beyond(deviates), 1.0)

    def interval_wh(self, level: float = INTERVAL_LEVEL) -> tuple[float, float]:
        """Return the central interval of the measured energy with probability ``level``, Wh."""
        half = float(ndtri(0.5 + level / 2)) * self.std_wh
        return self.mean_wh - half, self.mean_wh + half

    def numbers(self) -> Mapping[str, float]:
        """Return mean, standard deviation, and 50 and 90 % intervals by name, Wh."""
        (low50_wh, high50_wh), (low90_wh, high90_wh) = self.interval_wh(0.5), self.interval_wh(0.9)
        return {
            "mean_wh": self.mean_wh,
            "sd_wh": self.std_wh,
            "low50_wh": low50_wh,
            "high50_wh": high50_wh,
            "low90_wh": low90_wh,
            "high90_wh": high90_wh,
        }

    @property
    def time_noise_s(self) -> tuple[float, float, float]:
        """Noise of travel times, s: that before any trip."""
        return TIME_NOISE_S

    def rest(self, part: DrivenPart, arm_wh: FloatArray) -> tuple["RouteForecast", Left]:
        """Return the forecast of the rest of the trip.

        Parameters
        ----------
        part, arm_wh
            As in `EnergyForecast.rest`.
        """
        reached_wh2 = self.edge_covariance_wh2.cumsum(axis=0).cumsum(axis=1)
        left = rest(np.cumsum(arm_wh), reached_wh2, 0.0, part)
        of_edges_wh2 = np.diff(np.diff(left.covariance, axis=0, prepend=0.0), axis=1, prepend=0.0)
        mean_wh = np.diff(left.mean, prepend=0.0)
        return RouteForecast(mean_wh, of_edges_wh2, self.inflation), left

    def charge(
        self, battery: Battery, expected: ChargeTrace, legs: "Legs | None" = None
    ) -> "ChargeForecast":
        """Forecast the charge along the route.

        Parameters
        ----------
        battery, expected, legs
            As in `EnergyForecast.charge`.
        """
        dip_wh = expected.low_wh[1:] - expected.charge_wh[1:]
        return forecast_charge(self, battery, dip_wh, legs)


@dataclass(frozen=True, slots=True, eq=False)
class ChargeForecast:
    """Distribution of the charge along a route, % of the usable battery.

    Parameters
    ----------
    arrival_percent, arrival_interval_percent
        Mean and central 90 % interval of the charge on arrival.
    arrives_above_reserve
        Share of the trips that end at the reserve or above, in [0, 1].
    never_below_reserve
        Share of the trips that are at the reserve or above after every edge, and at the end at the
        charge to arrive with, in [0, 1].
    band_percent
        (k + 1, 2) central 90 % interval at the start and after each edge.
    supported_risk
        Least risk that past trips support. Smaller ones are extrapolated by the tail.
    """

    arrival_percent: float
    arrival_interval_percent: tuple[float, float]
    arrives_above_reserve: float
    never_below_reserve: float
    band_percent: FloatArray
    supported_risk: float = 1.0


def cases_of(forecast: ChargeForecast, risk: float) -> str:
    """Return whose share a forecast states: trips, or cars where past trips do not support a risk.

    Parameters
    ----------
    forecast
        The forecast.
    risk
        The limit of risk.
    """
    return "cars like yours" if risk < forecast.supported_risk else "trips"


@dataclass(frozen=True, slots=True, eq=False)
class Legs:
    """The legs of a trip of k arms between its stops to charge.

    Parameters
    ----------
    first
        (k,) position of the first arm of the leg of each arm.
    started_wh
        (k,) charge that the leg of each arm begins with, Wh. After a stop it is known.
    arrive_wh
        Least charge at the end, at least the reserve, Wh.
    """

    first: IntArray
    started_wh: FloatArray
    arrive_wh: float

    @classmethod
    def of(
        cls,
        battery: Battery,
        k: int,
        stops: Sequence[tuple[int, float]] = (),
        arrive_wh: float = 0.0,
    ) -> Self:
        """Return the legs of a trip.

        Parameters
        ----------
        battery
            Charge at the start, capacity and reserve.
        k
            Number of its arms.
        stops
            Number of arms driven before each stop, and charge after it, %.
        arrive_wh
            Least charge at the end, Wh.
        """
        begins = np.array([0, *(after for after, _ in stops)])
        counts = np.diff(np.append(begins, k))
        starts_wh = [battery.start_wh, *(battery.capacity_wh * (to / 100) for _, to in stops)]
        return cls(
            np.repeat(begins, counts),
            np.repeat(np.array(starts_wh), counts),
            max(arrive_wh, battery.reserve_wh),
        )

    def since(self, reached_wh2: FloatArray) -> FloatArray:
        """Return the covariance of the energies since the start of each leg, (k, k) Wh².

        Parameters
        ----------
        reached_wh2
            (k, k) covariance of the energies since the start of the trip, Wh².
        """
        if not self.first.any():
            return reached_wh2
        before = np.pad(reached_wh2, ((1, 0), (1, 0)))
        since_wh2 = reached_wh2 - before[self.first, 1:]
        since_wh2 -= (before[1:] - before[self.first])[:, self.first]
        return since_wh2

    def room_wh(self, low_wh: FloatArray, end_wh: float, battery: Battery) -> FloatArray:
        """Return the expected charge above the least one on each arm, (k,) Wh.

        Parameters
        ----------
        low_wh
            (k,) lowest expected charge on each arm, Wh.
        end_wh
            Expected charge at the end, Wh.
        battery
            Reserve.
        """
        room_wh = low_wh - battery.reserve_wh
        room_wh[-1] = min(float(room_wh[-1]), end_wh - self.arrive_wh)
        return room_wh


def forecast(
    model: EnergyModel, arms: Arms, arms_of_route: IntArray, share: FloatArray | None = None
) -> RouteForecast:
    """Return the forecast energy of one trip from the joint posterior of its arms.

    Of an arm of whose edge a share is driven the deviation counts by this share, and so does the
    variance of its noise.

    Parameters
    ----------
    model
        A model with a joint posterior.
    arms
        Arms that include the arms of the trip.
    arms_of_route
        (k,) positions among ``arms``, in driving order.
    share
        (k,) shares of their edges that are driven, or None for whole edges.

    Raises
    ------
    TypeError
        If the model has no joint posterior.
    """
    if not isinstance(model, HasJoint):
        raise TypeError(_NO_JOINT.format(type(model).__name__))
    distinct, place = np.unique(arms_of_route, return_inverse=True)
    driven = arms.take(distinct)
    covariance = model.covariance(driven)[np.ix_(place, place)]
    noise_wh2 = model.noise_std(driven)[place] ** 2
    if share is not None:
        covariance *= np.outer(share, share)
        noise_wh2 *= share
    covariance += np.diag(noise_wh2)
    return RouteForecast(model.posterior(driven).mean_wh[place], covariance)


def difference_std_wh(
    model: EnergyModel,
    arms: Arms,
    arms_of_route: IntArray,
    others: IntArray,
    shares: tuple[FloatArray, FloatArray] | None = None,
) -> float:
    """Return the deviation of the difference of the expected energies of two routes, Wh.

    Parameters
    ----------
    model
        A model with a joint posterior.
    arms
        Arms that include the arms of the routes.
    arms_of_route, others
        Positions among ``arms``, in driving order.
    shares
        Shares of their edges that are driven, or None for whole edges.

    Raises
    ------
    TypeError
        If the model has no joint posterior.
    """
    if not isinstance(model, HasJoint):
        raise TypeError(_NO_JOINT.format(type(model).__name__))
    positions = np.concatenate([arms_of_route, others])
    sign = np.where(np.arange(len(positions)) < len(arms_of_route), 1.0, -1.0)
    distinct, place = np.unique(positions, return_inverse=True)
    times = np.bincount(place, sign if shares is None else sign * np.concatenate(shares))
    if not times.any():
        return 0.0
    apart = arms.take(distinct[times != 0])
    times = times[times != 0]
    return float(np.sqrt(max(times @ model.covariance(apart) @ times, 0.0)))


def predict(
    model: EnergyModel, arms: Arms, arms_of_route: IntArray, share: FloatArray | None = None
) -> tuple[float, float]:
    """Return mean and standard deviation of the measured energy of one trip, Wh.

    The deviation includes belief and noise. It is NaN if the model has no joint posterior.

    Parameters
    ----------
    model
        Any model.
    arms, arms_of_route, share
        As in `forecast`. The means count by the shares too.
    """
    mean_wh = means(model, arms, arms_of_route)
    if share is not None:
        mean_wh = share * mean_wh
    if isinstance(model, HasJoint):
        energy = forecast(model, arms, arms_of_route, share)
        return float(mean_wh.sum()), energy.std_wh
    return float(mean_wh.sum()), float("nan")


def means(model: EnergyModel, arms: Arms, arms_of_route: IntArray) -> FloatArray:
    """Return the posterior mean of each arm of a trip in driving order, (k,) Wh.

    Parameters
    ----------
    model
        Any model.
    arms, arms_of_route
        As in `forecast`.
    """
    distinct, place = np.unique(arms_of_route, return_inverse=True)
    return model.posterior(arms.take(distinct)).mean_wh[place]


def forecast_charge(
    energy: RouteForecast,
    battery: Battery,
    dip_wh: FloatArray | float = 0.0,
    legs: Legs | None = None,
) -> ChargeForecast:
    """Return the distribution of the charge along a route. Regeneration beyond full is lost.

    `N_TRIPS` trips by fixed numbers stand for all. Their charges with and without the upper bound
    of the battery are compared, and the difference is added to the closed form without it. A trip
    that falls below the reserve is followed to its end, so that both shares are known.

    Parameters
    ----------
    energy
        From `forecast`.
    battery
        Usable capacity, charge at the start, and the reserve.
    dip_wh
        (k,) lowest charge on each edge minus that at its end, at most 0, Wh.
    legs
        Legs between stops to charge, or None for one leg.
    """
    # the smallest eigenvalues of a nearly certain route are rounding errors around 0
    value, vector = np.linalg.eigh(energy.edge_covariance_wh2)
    spread = (vector * np.sqrt(np.maximum(value, 0.0)))[:, ::-1]
    k = len(value)
    legs = Legs.of(battery, k) if legs is None else legs
    trips_wh = energy.edge_mean_wh + _standard(1 + k // 64)[:, :k] @ spread.T
    free_wh = _left_wh(legs, trips_wh)
    charge_wh = free_wh
    if free_wh.max() > battery.capacity_wh:
        charge_wh, left_wh = free_wh.copy(), np.full(N_TRIPS, battery.start_wh)
        for edge in range(k):
            if edge and legs.first[edge] == edge:
                left_wh = np.full(N_TRIPS, legs.started_wh[edge])
            left_wh = np.minimum(battery.capacity_wh, left_wh - trips_wh[:, edge])
            charge_wh[:, edge] = left_wh
    reached_wh2 = legs.since(energy.edge_covariance_wh2.cumsum(axis=0).cumsum(axis=1))
    std_wh = np.sqrt(np.maximum(reached_wh2.diagonal(), 0.0))
    mean_wh = _left_wh(legs, energy.edge_mean_wh[np.newaxis])[0]
    tails = [(1 - INTERVAL_LEVEL) / 2, (1 + INTERVAL_LEVEL) / 2]
    band_wh = mean_wh[:, np.newaxis] + np.outer(std_wh, ndtri(tails))
    if charge_wh is not free_wh:
        ranks = [round(tail * (N_TRIPS - 1)) for tail in tails]
        bounded, unbounded = (
            np.partition(each, ranks, axis=0)[ranks].T for each in (charge_wh, free_wh)
        )
        band_wh += bounded - unbounded
    end_wh = float(mean_wh[-1])
    room_wh = legs.room_wh(mean_wh + dip_wh, end_wh, battery) + TOLERANCE_WH
    kept = 1.0 - first_passage(room_wh, reached_wh2)
    above_wh = end_wh - battery.reserve_wh + TOLERANCE_WH
    certain = float(ndtr(above_wh / max(std_wh[-1], TOLERANCE_WH**2)))
    free, arrives = (
        float((each[:, -1] >= battery.reserve_wh - TOLERANCE_WH).mean())
        for each in (free_wh, charge_wh)
    )
    short_wh = mean_wh + dip_wh - (room_wh - TOLERANCE_WH)
    never_free, never = (
        float((each + dip_wh >= short_wh - TOLERANCE_WH).all(axis=1).mean())
        for each in (free_wh, charge_wh)
    )
    band_percent = np.vstack([np.full(2, battery.start_wh), band_wh]) / battery.capacity_wh * 100
    arrival_wh = mean_wh[-1] + (charge_wh - free_wh)[:, -1].mean()
    return ChargeForecast(
        arrival_percent=battery.percent(float(arrival_wh)),
        arrival_interval_percent=(float(band_percent[-1, 0]), float(band_percent[-1, 1])),
        arrives_above_reserve=float(np.clip(certain + arrives - free, 0.0, 1.0)),
        never_below_reserve=float(np.clip(kept + never - never_free, 0.0, 1.0)),
        band_percent=band_percent,
    )


def _left_wh(legs: Legs, energy_wh: FloatArray) -> FloatArray:
    """Return the charges after each arm of r trips without an upper bound, (r, k) Wh.

    energy_wh: (r, k) energies of the arms.
    """
    used_wh = np.cumsum(energy_wh, axis=1)
    before_wh = np.pad(used_wh, ((0, 0), (1, 0)))[:, legs.first]
    left_wh: FloatArray = legs.started_wh - (used_wh - before_wh)
    return left_wh


@cache
def _standard(blocks: int) -> FloatArray:
    """Return standard normal numbers, (`N_TRIPS`, 64 * blocks), whose columns are uncorrelated."""
    columns = np.repeat(
        ndtri((np.arange(N_TRIPS) + 0.5) / N_TRIPS)[:, np.newaxis], 64 * blocks, axis=1
    )
    mixed = np.random.default_rng(SEED).permuted(columns, axis=0)
    return np.linalg.solve(np.linalg.cholesky(mixed.T @ mixed / N_TRIPS), mixed.T).T
