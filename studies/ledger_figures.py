"""The ledger alone on synthetic streams: breaks of the budget, and trips driven by the learner.

    python studies/ledger_figures.py

Streams are those of tests/policy/test_ledger.py, but 2,000 each: 400 trips, noise of 4 % that both
routes share. Each row: share of streams that break the budget, share in which the bound fails, and
the learner's share of the trips 51-100 and 351-400. Rows of noise that grows break an assumption of
the ledger on purpose, with its own probabilities and with one half in every trip. The last rows
have the trips that the ledger says it needs, and the trips from which 100 streams drive the
learner's route in most trips: first where the belief is right, then where it promises more than the
2 % that the streams save.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "policy"))

import numpy as np
import test_ledger
from test_ledger import NOISE, WORLDS, most_trips, play, promised_too_much

SAVING = (0.01, 0.02, 0.04, 0.08)


def main() -> None:
    """Print all rows."""
    test_ledger.STREAMS = 2000
    print("stream                   share  broke  bound fails  learner 51-100  learner last 50")
    for name, (loss, options) in WORLDS.items():
        row(name, 0.005, loss, options)
    for name, options in NOISE.items():
        row(name, 0.005, lambda t: 0.03, options)
        row("... p = 0.5", 0.005, lambda t: 0.03, options | {"p": 0.5})
    for saving in SAVING:
        for share in (0.0025, 0.01):
            row(f"saves {saving:.0%}", share, lambda t, saving=saving: -saving, {})
    row("saves 2%, first short", 0.0025, lambda t: -0.02, {"first_wh": 50.0})
    print("noise  trips needed  10 %, median and 90 % of streams that save 2 %")
    for noise in (0.01, 0.02, 0.03, 0.04, 0.06):
        needed, driven = most_trips(1000 * noise, 3000)
        low, median, high = np.percentile(driven, [10, 50, 90])
        print(f"{noise:5.0%} {needed:13.0f} {low:6.0f} {median:6.0f} {high:6.0f}")
    print("noise, promised; needed after 100 trips and driven from: 10 %, median, 90 %; within 2")
    for noise, trips in ((0.03, 1500), (0.04, 3000)):
        for times in (1.0, 3.0, 4.5, 6.0):
            needed, driven = promised_too_much(times, 1000 * noise, trips)
            ratio = needed / np.median(driven)
            shown = [
                ", ".join(f"{each:.0f}" for each in np.percentile(some, [10, 50, 90]))
                for some in (np.nan_to_num(needed, nan=1e6), driven)
            ]
            within = np.mean((ratio >= 0.5) & (ratio <= 2.0))
            print(f"{noise:.0%}, {2 * times:.0f} %; {shown[0]}; {shown[1]}; {within:.0%}")


def row(name, share, loss, options) -> None:
    """Print the row of one kind of stream."""
    broke, beyond, _, last = play(loss, share=share, trips=400, **options)
    *_, early = play(loss, share=share, trips=100, **options)
    print(
        f"{name:23} {share:6.2%} {broke.mean():6.2%} {beyond.mean():12.2%} "
        f"{1 - early:15.0%} {1 - last:16.0%}",
        flush=True,
    )


if __name__ == "__main__":
    main()
