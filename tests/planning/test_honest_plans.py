"""Random plans keep their promises; `tests/oracles/honest_plans.py` checks thousands."""

from honest_plans import check


def test_random_plans_keep_their_promises() -> None:
    seen, bad = check(150, seed=1)
    assert not bad
    assert min(seen[kind] for kind in ("battery", "max_extra_time", "via", "physics")) > 10, seen
    assert min(seen[f"recommended {row}"] for row in ("energy", "energy-limited", "cost")) > 3, seen
    assert min(seen[kind] for kind in ("held", "alternatives", "turns ± 5 Wh")) > 10, seen
