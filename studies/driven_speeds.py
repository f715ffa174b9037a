"""How drivers reach their speeds: ``python studies/driven_speeds.py FOLDER_OF_CYCLES``.

Prints what the constants of `evroute.energy.free_flow` were measured on: drives of a Renault Twizy
at 1 Hz (``EVROUTE_DATA_DIR``) and standard cycles, read as ``cycSecs, cycMps`` from the files of
FASTSim 2 (``fastsim/resources/cycles`` of an environment of its own). A drive lies between two
stops.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from evroute.arrays import FloatArray

CYCLES = (
    *("udds", "hwfet", "wltc_low_3", "wltc_medium_3b"),
    *("wltc_high_3b", "wltc_extrahigh_3"),
)
STANDING_MPS = 0.5
LEAST_ROWS = 5
MOST_GAP_S = 5.0
SLOW_MPS = 3.0
SHARE = 0.8
COLUMNS = ("length_m", "top_mps", "time_s", "mean_square", "speeds_up", "slows_down")
CLASSES_M = ((50, 500), (500, 1500), (1500, 20_000))


def drives(clock_s: FloatArray, speed_mps: FloatArray) -> Iterator[tuple[float, ...]]:
    """Yield the numbers of each drive between two stops, as `COLUMNS`."""
    step_s = np.diff(clock_s, append=clock_s[-1] + 1)
    step_s = np.where((step_s > 0) & (step_s < MOST_GAP_S), step_s, 0.0)
    at_m = np.append(0.0, np.cumsum(speed_mps * step_s)[:-1])
    turns = np.diff((speed_mps < STANDING_MPS).astype(int))
    begins, ends = (np.flatnonzero(turns == sign) + 1 for sign in (-1, 1))
    for begin in begins:
        after = ends[ends > begin]
        if not len(after) or after[0] - begin < LEAST_ROWS:
            continue
        part = slice(begin, after[0])
        mps, seconds, top = speed_mps[part], step_s[part], speed_mps[part].max()
        fast = begin + np.flatnonzero(mps >= SHARE * top)[[0, -1]]
        up_m, down_m = at_m[fast[0]] - at_m[begin], at_m[after[0]] - at_m[fast[1]]
        square = (mps**3 * seconds).sum() / (mps * seconds).sum() / top**2
        changed = (SHARE * top) ** 2 / 2
        rates = changed / max(up_m, 1.0), changed / max(down_m, 1.0)
        length_m, took_s = at_m[after[0]] - at_m[begin], clock_s[after[0]] - clock_s[begin]
        yield (length_m, top, took_s, square, *rates)


def twizy() -> pd.DataFrame:
    """Return the drives of the Twizy."""
    folder = Path(os.environ["EVROUTE_DATA_DIR"]) / "drives"
    table = pd.read_csv(folder / "twizy.csv.gz", parse_dates=["time"])
    found: list[tuple[float, ...]] = []
    for _, trip in table.groupby("trip"):
        clock_s = (trip.time - trip.time.iloc[0]).dt.total_seconds().to_numpy()
        found += drives(clock_s, trip.speed_kmh.to_numpy() / 3.6)
    return pd.DataFrame(found, columns=list(COLUMNS))


def cycles(folder: Path) -> pd.DataFrame:
    """Return the drives of the standard cycles."""
    found: list[tuple[float, ...]] = []
    for name in CYCLES:
        table = pd.read_csv(folder / f"{name}.csv").iloc[:, :2].to_numpy(dtype=float)
        found += drives(*table.T)
    return pd.DataFrame(found, columns=list(COLUMNS))


def main() -> None:
    """Print the medians by the length of the drives."""
    print("| drives | m | number | v²/L m/s² | lost s per m/s | mean square over v² |")
    print("| --- | --- | --- | --- | --- | --- |")
    sources = {"Twizy": twizy(), "cycles": cycles(Path(sys.argv[1]))}
    for name, table in sources.items():
        for low_m, high_m in CLASSES_M:
            some = table[(table.length_m > low_m) & (table.length_m <= high_m)]
            reached = some.top_mps**2 / some.length_m
            lost = (some.time_s - some.length_m / some.top_mps) / some.top_mps
            print(
                f"| {name} | {low_m} to {high_m} | {len(some)} | {reached.median():.2f} | "
                f"{lost.median():.2f} | {some.mean_square.median():.2f} |"
            )
    for name, table in sources.items():
        some = table[table.top_mps > SLOW_MPS]
        print(
            f"{name}: {len(some)} drives, {some.speeds_up.median():.2f} m/s² up to 80 % of the "
            f"speed, {some.slows_down.median():.2f} m/s² down from it"
        )


if __name__ == "__main__":
    main()
