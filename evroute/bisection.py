"""The least whole number that succeeds, by doubling and halving."""

from collections.abc import Callable


def least_that_succeeds(
    succeeds: Callable[[int], bool], first: int, most: int, guess: int
) -> int | None:
    """Return the least whole number that succeeds, or None if the greatest does not.

    The steps from the guess double until the answer changes. Then the interval is halved.

    Parameters
    ----------
    succeeds
        Function of a number that turns from False to True once.
    first, most
        Least and greatest number that may succeed.
    guess
        Number that is tried first.
    """
    low, high = first - 1, most + 1
    at, step = min(max(guess, first), most), 1
    while high - low > 1:
        if succeeds(at):
            high = at
            at -= step
        else:
            low = at
            at += step
        step *= 2
        if not low < at < high:
            at = (low + high) // 2
    return high if high <= most else None
