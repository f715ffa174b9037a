import numpy as np

from evroute.network.sources.meeting_turns import meeting_turns


def by_hand(tail: list[int], head: list[int]) -> list[tuple[int, int]]:
    n, turns = len(tail), []
    for a in range(n):
        meet = [b for b in range(n) if tail[b] == head[a]]
        onward = [b for b in meet if head[b] != tail[a]]
        turns += [(a, b) for b in onward or meet]
    return sorted(turns)


def test_a_street_with_a_dead_end_turns_back_only_there() -> None:
    # 0 <-> 1 <-> 2: at both ends one turns back, in the middle one goes on.
    tail, head = np.array([0, 1, 1, 2]), np.array([1, 0, 2, 1])
    assert meeting_turns(tail, head).tolist() == [[0, 2], [1, 0], [2, 3], [3, 1]]


def test_random_streets_with_parallel_edges_and_loops_agree_with_enumeration() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        tail, head = rng.integers(6, size=(2, int(rng.integers(1, 15))))
        assert [tuple(t) for t in meeting_turns(tail, head).tolist()] == by_hand(
            tail.tolist(), head.tolist()
        )
