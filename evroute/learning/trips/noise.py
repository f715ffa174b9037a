"""Noise of trip totals, ``v = a² + b² km + d² km² + q``.

a: ends of the trip; b: what averages out along the way; d: the trip's own factor (driver, wind,
load); q: variance known of the measurement itself. The scales a, b and d are fitted (`scales`).
"""

from dataclasses import dataclass, replace

import numpy as np

from evroute.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class TripNoiseScale:
    """Standard deviations of a trip's noise.

    Parameters
    ----------
    trip_wh, root_km_wh, km_wh
        Deviation per trip (a), per root of a km (b) and per km (d), Wh.
    """

    trip_wh: float = 42.0
    root_km_wh: float = 35.0
    km_wh: float = 8.0

    def times(self, factor: float) -> "TripNoiseScale":
        """Return the noise with all deviations multiplied."""
        return replace(
            self,
            trip_wh=self.trip_wh * factor,
            root_km_wh=self.root_km_wh * factor,
            km_wh=self.km_wh * factor,
        )

    def variance(self, km: FloatArray, known_wh2: FloatArray | float = 0.0) -> FloatArray:
        """Return the noise variance of trips, known variances included, (n,) Wh².

        Parameters
        ----------
        km
            (n,) length of the trips, km.
        known_wh2
            (n,) variances that are known, Wh².
        """
        return self.trip_wh**2 + self.root_km_wh**2 * km + self.km_wh**2 * km**2 + known_wh2

    def covariance(self, km: FloatArray) -> FloatArray:
        """Return the covariance of the noise of one trip up to k places on its way, (k, k) Wh².

        Parameters
        ----------
        km
            (k,) length so far, km.
        """
        shared: FloatArray = np.minimum.outer(km, km)
        return self.trip_wh**2 + self.root_km_wh**2 * shared + self.km_wh**2 * np.outer(km, km)

    def covariance_with(self, km: FloatArray, at: IntArray) -> FloatArray:
        """Return the covariance of the noise up to each of k places and up to another, (k,) Wh².

        Parameters
        ----------
        km
            As in `covariance`.
        at
            (k,) the other place of each.
        """
        shared = np.minimum(km, km[at])
        return self.trip_wh**2 + self.root_km_wh**2 * shared + self.km_wh**2 * km * km[at]


START = TripNoiseScale()
"""Noise of a Nissan Leaf before it is fitted, 97 Wh on 5 km.

Fits on real drives, in units of the vehicle's energy per km (`terms.size`), have 19, 56 and 3 Wh (a
Twizy) and 28, 24 and 19 Wh (a bus): 127 and 113 Wh on 5 km. A Leaf has 128 Wh on some 5 km without
its meter. The weather and the traffic of these drives are unknown, and part of it. 3,331 summer
records of e-Golf drivers have 122 Wh/km with a 99th percentile of 196, a deviation of 20 % in the
logarithm for drivers, roads and days together, so the factor of a single trip is well below.
`studies/first_bands.py`: with this noise 92 % of the 90 % intervals of first trips hold.
"""
