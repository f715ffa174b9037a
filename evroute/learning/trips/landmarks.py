"""Landmarks: a Gaussian process as further coefficients, by whitened features at places on trips.

A field is ``s f``, f a Gaussian process of given covariance over places and s its standard
deviation. Places on trips become landmarks in the order in which they come. With L the Cholesky
factor of their covariance, the features of a place x are ``L^-1 k(landmarks, x)`` and f(x) is their
product with independent standard normal coefficients. A place that the landmarks determine but for
`TOLERANCE` of its variance becomes none, so features of earlier trips do not depend on later ones.
"""

from collections.abc import Callable

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.model.growing_factor import GrowingFactor

TOLERANCE = 0.01
LEAST_REST = 1e-4
"""Least share of the variance of a stored landmark whose road moved towards another one."""
MOST = 150
"""Landmarks of one field. Later places are described by these."""

Covariance = Callable[[IntArray, IntArray], FloatArray]


class Landmarks:
    """Landmarks of one field.

    Parameters
    ----------
    covariance
        Covariance of the field between two lists of places (a,) and (b,), (a, b), 1 at most.
    """

    def __init__(self, covariance: Covariance) -> None:
        self._covariance = covariance
        self.places: IntArray = np.empty(0, dtype=np.int64)
        self._factor = GrowingFactor()
        self._known: dict[bytes, FloatArray] = {}  # of the places asked last

    def __len__(self) -> int:
        return len(self.places)

    def admit(self, places: IntArray) -> int:
        """Make landmarks of those places (k,) that need it. Return how many."""
        before = len(self)
        for place in dict.fromkeys(places.tolist()):
            if len(self) == MOST:
                break
            self._add(place)
        return len(self) - before

    def restore(self, places: IntArray) -> None:
        """Make landmarks of all places (m,) of a stored belief."""
        for place in places.tolist():
            self._add(place, stored=True)

    def _add(self, place: int, *, stored: bool = False) -> None:
        """Make a landmark of a place that needs it. One that is stored always becomes one."""
        here = np.array([place])
        row, own = self.features(here)[0], float(self._covariance(here, here)[0, 0])
        rest = own - float(row @ row)
        if stored:
            rest = max(rest, LEAST_REST * own)
        elif rest <= TOLERANCE * own:
            return
        self._factor.append(row, rest)
        self.places = np.append(self.places, place)
        self._known = {}

    def features(self, places: IntArray) -> FloatArray:
        """Return the features of places (k,), (k, m)."""
        if not len(self):
            return np.empty((len(places), 0))
        known, asked = self._known, places.tobytes()  # another thread may replace `_known`
        if asked not in known:
            between = self._covariance(self.places, places)
            self._known = known = {asked: self._factor.features(between).T}
        return known[asked]

    def rest(self, places: IntArray) -> FloatArray:
        """Return the covariance of places (k,) that the landmarks leave unknown, (k, k)."""
        features = self.features(places)
        return self._covariance(places, places) - features @ features.T
