"""Charge functions over pieces whose steps are computed for the arms that are asked for.

A plan without a battery follows a few routes. A search with a battery asks for the steps of all
arms. They are then computed once, on a large network by one compiled pass.
"""

from functools import cached_property
from typing import Any

import numpy as np

from evroute.arrays import FloatArray, IntArray
from evroute.network.heights.pieces import Pieces
from evroute.planning.charge.charge_functions import ChargeFunctions
from evroute.planning.searches.compiled import compiled, read_only
from evroute.planning.searches.search import LARGE, numba_installed
from evroute.planning.spaces.request_arrays import RequestArrays


class OverPieces:
    """The charge functions of a arms over the pieces of their edges.

    Parameters
    ----------
    pieces, piece_wh, edge, energy_wh
        As in `ChargeFunctions.of_pieces`.
    """

    def __init__(
        self, pieces: Pieces, piece_wh: FloatArray, edge: IntArray, energy_wh: FloatArray
    ) -> None:
        self._given = pieces, piece_wh, edge
        self.energy_wh = energy_wh

    @cached_property
    def every(self) -> ChargeFunctions:
        """The functions of all arms."""
        pieces, piece_wh, edge = self._given
        if len(edge) < LARGE or not numba_installed():
            return ChargeFunctions.of_pieces(pieces, piece_wh, edge, self.energy_wh)
        start, step_wh = steps_over_pieces(pieces, piece_wh, edge, self.energy_wh)
        return ChargeFunctions(self.energy_wh, start, step_wh)

    def take(self, arms: IntArray) -> ChargeFunctions:
        """Return the functions of arms (k,), in their order. An arm may repeat."""
        if "every" in vars(self) or not len(arms):
            return self.every.take(arms)
        pieces, piece_wh, edge = self._given
        return ChargeFunctions.of_pieces(pieces, piece_wh, edge[arms], self.energy_wh[arms])


class StepsOnDemand(ChargeFunctions):
    """Charge functions of arms over pieces.

    Parameters
    ----------
    over
        The functions.
    """

    def __init__(self, over: OverPieces) -> None:
        self.__dict__.update(energy_wh=over.energy_wh, _over=over)

    @property
    def start(self) -> IntArray:
        """(a + 1,) first step of each arm."""
        start: IntArray = vars(self)["_over"].every.start
        return start

    @property
    def step_wh(self) -> FloatArray:
        """(r,) energies of the steps in driving order, Wh."""
        step_wh: FloatArray = vars(self)["_over"].every.step_wh
        return step_wh

    def take(self, arms: IntArray) -> ChargeFunctions:
        """Return the functions of arms (k,), in their order. An arm may repeat."""
        taken: ChargeFunctions = vars(self)["_over"].take(arms)
        return taken


class OwnBehind(ChargeFunctions):
    """Charge functions that all requests share, and behind them the functions of one request.

    Parameters
    ----------
    shared, own
        The functions.
    arrays
        Arrays of the request.
    """

    def __init__(
        self, shared: ChargeFunctions, own: ChargeFunctions, arrays: RequestArrays
    ) -> None:
        energy_wh = arrays.joined("energy_wh", lambda: shared.energy_wh, own.energy_wh)
        self.__dict__.update(energy_wh=energy_wh, _shared=shared, _own=own, _arrays=arrays)

    @cached_property
    def start(self) -> IntArray:
        """(a + 1,) first step of each arm."""
        shared, own, arrays = (vars(self)[name] for name in ("_shared", "_own", "_arrays"))
        behind = shared.start[-1] + own.start[1:]
        return read_only(arrays.joined("start", lambda: shared.start, behind))

    @cached_property
    def step_wh(self) -> FloatArray:
        """(r,) energies of the steps in driving order, Wh."""
        shared, own, arrays = (vars(self)[name] for name in ("_shared", "_own", "_arrays"))
        return read_only(arrays.joined("step_wh", lambda: shared.step_wh, own.step_wh))

    def take(self, arms: IntArray) -> ChargeFunctions:
        """Return the functions of arms (k,), in their order. An arm may repeat."""
        shared, own = vars(self)["_shared"], vars(self)["_own"]
        first = arms < len(shared.energy_wh)
        if first.all():
            taken: ChargeFunctions = shared.take(arms)
            return taken
        both = shared.take(arms[first]).joined(own.take(arms[~first] - len(shared.energy_wh)))
        order = np.where(first, np.cumsum(first), first.sum() + np.cumsum(~first)) - 1
        return both.take(order)


def steps_over_pieces(
    pieces: Pieces, piece_wh: FloatArray, edge: IntArray, energy_wh: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Return the steps of arms, as `ChargeFunctions.of_pieces` does.

    Parameters
    ----------
    pieces, piece_wh, edge, energy_wh
        As in `ChargeFunctions.of_pieces`.

    Returns
    -------
    start
        (a + 1,) arm i has the steps ``start[i]`` to ``start[i + 1]``.
    step_wh
        (r,) energies of the steps, Wh.
    """
    given = map(read_only, (pieces.start, piece_wh, edge, energy_wh))
    start, step_wh, size = compiled(_steps)(*given)
    return start, step_wh[:size].copy()


def _steps(first: Any, piece_wh: Any, edge: Any, energy_wh: Any) -> Any:
    """Return starts and energies of the steps, and their number."""
    size = 0
    for arm in range(len(edge)):
        size += first[edge[arm] + 1] - first[edge[arm]]
    start, step_wh = np.empty(len(edge) + 1, np.int64), np.empty(size)
    start[0] = row = 0
    for arm in range(len(edge)):
        begin, end = first[edge[arm]], first[edge[arm] + 1]
        more = energy_wh[arm]
        for piece in range(begin, end):
            more -= piece_wh[piece]
        more /= end - begin
        falls = False
        for piece in range(begin, end):
            energy = piece_wh[piece] + more
            if piece > begin and (energy < 0.0) == falls:
                step_wh[row - 1] += energy
            else:
                step_wh[row] = energy
                row += 1
            falls = energy < 0.0
        start[arm + 1] = row
    return start, step_wh, row
