"""Forecasts of a route by a belief: its energy with an interval, and its charge with a battery.

The energy of a route is the sum over its arms of expected energies, which are *jointly* Gaussian
under the posterior, plus the noise of each passage. Adding the deviations of the arms would be
wrong: arms are correlated, and noise averages out along the way, except for noise that the arms of
a trip share. An arm that is driven twice has one expected energy and two noises.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from evroute.arms import Arms
from evroute.arrays import FloatArray, IntArray, freeze
from evroute.model.base import EnergyModel, HasJoint, HasTripNoise

INTERVAL_LEVEL = 0.9
N_TRIPS = 20_000


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
        Factor on the deviations of the belief; 1 for none.
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

    def inflated(self, factor: float) -> "RouteForecast":
        """Return the forecast with every deviation multiplied by a factor."""
        return RouteForecast(
            self.edge_mean_wh, self.edge_covariance_wh2 * factor**2, self.inflation * factor
        )

    def around(self, edge_mean_wh: FloatArray) -> "RouteForecast":
        """Return the same with other means (k,) Wh."""
        return RouteForecast(edge_mean_wh, self.edge_covariance_wh2, self.inflation)

    def interval_wh(self, level: float = INTERVAL_LEVEL) -> tuple[float, float]:
        """Return the central interval of the measured energy with probability ``level``, Wh."""
        half = float(ndtri(0.5 + level / 2)) * self.std_wh
        return self.mean_wh - half, self.mean_wh + half


@dataclass(frozen=True, slots=True, eq=False)
class ChargeForecast:
    """Distribution of the charge along a route over simulated trips, % of the usable battery.

    Parameters
    ----------
    arrival_percent, arrival_interval_percent
        Mean and central 90 % interval of the charge on arrival.
    arrives_above_reserve
        Share of the trips that end at the reserve or above, in [0, 1].
    never_below_reserve
        Share of the trips that are at the reserve or above after every edge, in [0, 1].
    band_percent
        (k + 1, 2) central 90 % interval at the start and after each edge.
    """

    arrival_percent: float
    arrival_interval_percent: tuple[float, float]
    arrives_above_reserve: float
    never_below_reserve: float
    band_percent: FloatArray


def forecast(model: EnergyModel, arms: Arms, passed: IntArray) -> RouteForecast:
    """Return the forecast energy of one trip from the joint posterior of its arms.

    Parameters
    ----------
    model
        A model with a joint posterior.
    arms
        Arms that include those of the trip.
    passed
        (k,) positions among ``arms``, in driving order.

    Raises
    ------
    TypeError
        If the model has no joint posterior.
    """
    if not isinstance(model, HasJoint):
        raise TypeError(
            f"{type(model).__name__} has no joint posterior, which an interval of a route needs"
        )
    distinct, place = np.unique(passed, return_inverse=True)
    driven = arms.take(distinct)
    covariance = model.covariance(driven)[np.ix_(place, place)] + noise_covariance(
        model, arms, passed
    )
    return RouteForecast(model.posterior(driven).mean_wh[place], covariance)


def predict(model: EnergyModel, arms: Arms, passed: IntArray) -> tuple[float, float]:
    """Return mean and standard deviation of the measured energy of one trip, Wh.

    The deviation includes belief and noise; it is NaN if the model has no joint posterior.

    Parameters
    ----------
    model
        Any model.
    arms, passed
        As in `forecast`.
    """
    if isinstance(model, HasJoint):
        energy = forecast(model, arms, passed)
        return energy.mean_wh, energy.std_wh
    distinct, place = np.unique(passed, return_inverse=True)
    mean_wh = model.posterior(arms.take(distinct)).mean_wh[place]
    return float(mean_wh.sum()), float("nan")


def noise_covariance(model: EnergyModel, arms: Arms, passed: IntArray) -> FloatArray:
    """Return the covariance of the noise of one trip, (k, k) Wh².

    Parameters
    ----------
    model
        Any model.
    arms, passed
        As in `forecast`.
    """
    distinct, place = np.unique(passed, return_inverse=True)
    driven = arms.take(distinct)
    covariance: FloatArray = np.diag(model.noise_std(driven)[place] ** 2)
    if isinstance(model, HasTripNoise):
        shared_wh = model.trip_noise(driven)[place]
        covariance += np.outer(shared_wh, shared_wh)
    return covariance


def forecast_charge(
    energy: RouteForecast,
    *,
    capacity_wh: float,
    start_wh: float,
    reserve_wh: float,
    rng: np.random.Generator,
    n_trips: int = N_TRIPS,
) -> ChargeForecast:
    """Return the charge of simulated trips along a route; energy beyond a full battery is lost.

    A trip that falls below the reserve is followed to its end, so that both shares are known.

    Parameters
    ----------
    energy
        From `forecast`.
    capacity_wh, start_wh, reserve_wh
        Usable battery, charge at the start, and the reserve, Wh.
    rng
        Source of the simulated trips.
    n_trips
        Simulated trips; the shares have a standard error of at most ``0.5 / sqrt(n_trips)``.
    """
    # the smallest eigenvalues of a nearly certain route are rounding errors around 0
    value, vector = np.linalg.eigh(energy.edge_covariance_wh2)
    spread = vector * np.sqrt(np.maximum(value, 0.0))
    trips_wh = energy.edge_mean_wh + rng.standard_normal((n_trips, len(value))) @ spread.T
    charge_wh = np.full(n_trips, float(start_wh))
    lowest_wh = charge_wh.copy()
    tail = (1 - INTERVAL_LEVEL) / 2
    ranks = [round(tail * (n_trips - 1)), round((1 - tail) * (n_trips - 1))]
    band_wh = [(start_wh, start_wh)]
    for edge_wh in trips_wh.T:
        charge_wh = np.minimum(capacity_wh, charge_wh - edge_wh)
        np.minimum(lowest_wh, charge_wh, out=lowest_wh)
        low_wh, high_wh = np.partition(charge_wh, ranks)[ranks]
        band_wh.append((float(low_wh), float(high_wh)))
    band_percent = np.array(band_wh) / capacity_wh * 100
    return ChargeForecast(
        arrival_percent=float(charge_wh.mean() / capacity_wh * 100),
        arrival_interval_percent=(float(band_percent[-1, 0]), float(band_percent[-1, 1])),
        arrives_above_reserve=float((charge_wh >= reserve_wh).mean()),
        never_below_reserve=float((lowest_wh >= reserve_wh).mean()),
        band_percent=band_percent,
    )
