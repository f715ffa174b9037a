"""DaySearches: the search problems of requests on one day, without roads to avoid."""

from functools import lru_cache

from evroute.planning.places import Places
from evroute.planning.searches.between import problem_between, problem_over_edges
from evroute.planning.searches.halt_roads import HaltRoads
from evroute.planning.searches.halts import Halt
from evroute.planning.searches.search import Search
from evroute.planning.searches.search_problem import SearchProblem
from evroute.planning.spaces.arm_numbers import ArmNumbers

MOST_CLOSED = 4
"""Number of sets of roads to avoid, and of halts, that are kept."""


class DaySearches:
    """The search problems of one day.

    Parameters
    ----------
    numbers
        The numbers of the arms.
    search
        The search over them.
    """

    def __init__(self, numbers: ArmNumbers, search: Search) -> None:
        self.numbers = numbers
        without = self._without = lru_cache(MOST_CLOSED)(search.without)
        self._with_halts = lru_cache(MOST_CLOSED)(  # without a reference to this object
            lambda halts, closed: HaltRoads.of(numbers, without(closed), halts, closed)
        )

    def over(self, stops: tuple[int, ...], closed: tuple[int, ...] = ()) -> SearchProblem:
        """Return the searches of a request over edges.

        Parameters
        ----------
        stops
            Edges to drive over in this order, or none for a problem without a request.
        closed
            Edges that are not driven.
        """
        return problem_over_edges(self.numbers, self._without(closed), stops)

    def between(self, places: Places, closed: tuple[int, ...] = ()) -> SearchProblem:
        """Return the searches between places, as `problem_between`.

        Parameters
        ----------
        places
            The places of a request.
        closed
            Edges that are not driven.
        """
        search = self._without(closed)
        return problem_between(self.numbers, search, places.starts, places.via, places.ends)

    def halting(
        self, places: Places, closed: tuple[int, ...], halts: tuple[Halt, ...]
    ) -> SearchProblem:
        """Return the searches between places where routes may stop at halts.

        Parameters
        ----------
        places, closed
            As in `between`.
        halts
            Positions at which routes may stop.
        """
        roads = self._with_halts(halts, closed)
        return roads.problem(places.starts, places.via, places.ends)
