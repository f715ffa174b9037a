"""Arrays that requests share: what each gets, against numpy, and when the next one gets them."""

import gc
from collections.abc import Callable

import numpy as np
import pytest

from evroute.errors import NotEnoughChargeError
from evroute.network.road_network import RoadNetwork
from evroute.planning.spaces import request_arrays
from evroute.planning.spaces.request_arrays import ROOM, SharedArrays
from evroute.testing.on_average import PlannerOnAverage as Planner


def added(
    one: np.ndarray, other: np.ndarray, by: float, out: np.ndarray | None = None
) -> np.ndarray:
    return np.add(one, by * other, out=out)


@pytest.mark.parametrize("n_own", [0, 3, ROOM + 5])
def test_each_request_has_the_shared_values_and_its_own(n_own: int) -> None:
    rng, arrays = np.random.default_rng(n_own), SharedArrays()
    shared = rng.normal(size=(2, 50))
    computed: list[int] = []

    def of(k: int) -> np.ndarray:
        computed.append(k)
        return shared[k]

    held = []
    for number in range(4):
        own = rng.normal(size=(2, n_own))
        request = arrays.of_request()
        one, other = (
            request.joined(k, lambda k=k: of(k), own_values) for k, own_values in enumerate(own)
        )
        expected = [np.concatenate([shared[k], own[k]]) for k in range(2)]
        both = request.combined(added, one, other, by=(2.5,))
        strange = request.combined(added, one, expected[1], by=(2.5,))
        held.append((one, both, expected))
        assert np.array_equal(one, expected[0])
        assert np.array_equal(both, expected[0] + 2.5 * expected[1])
        assert np.array_equal(strange, both)
        assert not one.flags.writeable
        if number == 1:
            held.clear()  # two requests have ended, so the last two compute nothing
            del one, other, both, request
    assert computed == [0, 1, 0, 1]
    for one, both, expected in held:
        assert np.array_equal(one, expected[0])
        assert np.array_equal(both, expected[0] + 2.5 * expected[1])


def test_a_view_keeps_the_values_of_its_request() -> None:
    arrays = SharedArrays()
    kept = arrays.of_request().joined("a", lambda: np.zeros(4), np.array([1.0]))[3:]
    arrays.of_request().joined("a", lambda: np.zeros(4), np.array([2.0]))
    assert kept.tolist() == [0.0, 1.0]


def test_plans_and_refusals_give_their_arrays_back_at_once(
    hilly: Callable[[int], RoadNetwork],
) -> None:
    """Without the collector: a cycle would hold the arrays of a region for seconds."""
    network = hilly(5)
    planner = Planner(network)
    gc.disable()
    try:
        for _ in range(3):
            planner.plan(0, network.n_edges - 1)
            with pytest.raises(NotEnoughChargeError):
                planner.plan(0, network.n_edges - 1, soc=0.001, risk="mean")
            assert len(planner.numbers.arrays._waiting.sets) == 1
    finally:
        gc.enable()


def bytes_waiting(*arrays: SharedArrays) -> int:
    """Return the bytes that wait for requests."""
    waiting = [buffers for each in arrays for _, buffers in each._waiting.sets]
    return sum(buffer.nbytes for buffers in waiting for _, buffer in buffers.values())


def test_the_least_recently_used_buffers_go_first_and_the_limit_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    n = 100
    one, other, size = SharedArrays(), SharedArrays(), 8 * (n + ROOM)
    computed: list[str] = []

    def ask(arrays: SharedArrays, names: str) -> None:
        request = arrays.of_request()
        for name in names:

            def shared(name: str = name) -> np.ndarray:
                computed.append(name)
                return np.full(n, float(ord(name)))

            assert request.joined(name, shared, np.empty(0)).tolist() == n * [float(ord(name))]

    gc.collect()  # what earlier tests left behind is older, so it goes before any of these
    monkeypatch.setattr(request_arrays, "MOST_BYTES", 3 * size)
    ask(one, "abc")
    assert bytes_waiting(one) == 3 * size
    ask(one, "a")  # the order of use is now b, c, a
    ask(other, "x")
    assert bytes_waiting(one, other) == 3 * size
    computed.clear()
    ask(one, "ca")
    assert computed == []
    ask(one, "b")
    assert computed == ["b"]
    ask(other, "x")
    assert computed == ["b", "x"]
    assert bytes_waiting(one, other) <= 3 * size
    monkeypatch.setattr(request_arrays, "MOST_BYTES", size - 1)
    ask(one, "a")
    assert bytes_waiting(one, other) == 0


def test_plans_without_room_for_buffers_are_the_same(
    hilly: Callable[[int], RoadNetwork], monkeypatch: pytest.MonkeyPatch
) -> None:
    network = hilly(5)

    def plans(planner: Planner) -> list[list[tuple[object, ...]]]:
        found = [planner.plan(first, network.n_edges - 1).routes for first in (0, 2, 0)]
        return [
            [(row, each.route.edges, each.energy_wh, each.time_s) for row, each in rows.items()]
            for rows in found
        ]

    usual = plans(Planner(network))
    monkeypatch.setattr(request_arrays, "MOST_BYTES", 0)
    without = Planner(network)
    assert plans(without) == usual
    assert bytes_waiting(without.numbers.arrays) == 0
