"""Flynn & Reeb's table of regrets: ``studies/flynn_table.py OUT.csv --repetitions 2``.

With ``PYTHONPATH=tests/oracles``. Rows are added to the file as runs end, and runs in the file are
not repeated. ``--summary`` prints the table beside the paper's numbers.
"""

import argparse
import csv
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from rkhs_bandit import METHODS, Problem, play

KERNELS = {
    "RBF .5": (np.inf, 0.5),
    "RBF .2": (np.inf, 0.2),
    "M5/2 .5": (2.5, 0.5),
    "M5/2 .2": (2.5, 0.2),
    "M3/2 .5": (1.5, 0.5),
    "M3/2 .2": (1.5, 0.2),
}
PAPER = {
    "DMM-UCB": ("32 ± 21", "491 ± 117", "130 ± 46", "795 ± 206", "196 ± 78", "814 ± 344"),
    "AMM-UCB": ("89 ± 6", "1206 ± 21", "197 ± 24", "1662 ± 90", "316 ± 51", "1741 ± 351"),
    "AY-GP-UCB": ("137 ± 13", "1518 ± 39", "332 ± 45", "2382 ± 135", "546 ± 70", "2421 ± 569"),
    "IGP-UCB": ("314 ± 111", "1433 ± 123", "553 ± 67", "1853 ± 106", "656 ± 67", "1708 ± 376"),
    "Random": (
        "4282 ± 1016",
        "3872 ± 784",
        "4265 ± 778",
        "3678 ± 559",
        "4175 ± 681",
        "3442 ± 1080",
    ),
}
"""Mean and standard deviation of 10 repetitions, d = 3, T = 1000 (their Table 1, rounded)."""
CMM_ROUNDS = 200
FIELDS = ("kernel", "method", "seed", "rounds", "regret", "seconds")


def runs(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table of runs; none if there is no table yet."""
    if not path.exists():
        return []
    with path.open(newline="") as handle:
        return list(csv.DictReader(handle))


def main() -> None:
    """Play the runs that are missing, or print the summary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--repetitions", type=int, default=2)
    parser.add_argument("--summary", action="store_true")
    given = parser.parse_args()
    if given.summary:
        print(table(runs(given.out)))
        return
    done = {(row["kernel"], row["method"], row["seed"], row["rounds"]) for row in runs(given.out)}
    with given.out.open("a", newline="") as handle:
        writer = csv.DictWriter(handle, FIELDS)
        if not done:
            writer.writeheader()
        for seed in range(given.repetitions):
            for kernel, (smoothness, lengthscale) in KERNELS.items():
                problem = Problem(smoothness, lengthscale)
                for method in METHODS:
                    rounds = CMM_ROUNDS if method == "CMM-UCB" else problem.horizon
                    if (kernel, method, str(seed), str(rounds)) in done:
                        continue
                    started = time.perf_counter()
                    regret = play(problem, method, seed, rounds=rounds)
                    seconds = round(time.perf_counter() - started, 2)
                    at = {rounds, CMM_ROUNDS}  # others at CMM's horizon too, to compare
                    for r in sorted(at):
                        row = (kernel, method, seed, r, round(float(regret[r - 1]), 2), seconds)
                        writer.writerow(dict(zip(FIELDS, row, strict=True)))
                    handle.flush()


def table(rows: list[dict[str, str]]) -> str:
    """Return a table of 1,000 rounds, ours then the paper's, and one of 200 rounds."""
    found = defaultdict(list)
    for row in rows:
        found[row["method"], row["kernel"], int(row["rounds"])].append(float(row["regret"]))

    def cells(method: str, rounds: int) -> list[str]:
        each = (found[method, kernel, rounds] for kernel in KERNELS)
        return [f"{np.mean(v):.0f} ± {np.std(v):.0f} ({len(v)})" if v else "" for v in each]

    lines = []
    for rounds in (1000, CMM_ROUNDS):
        lines += ["", f"{rounds} rounds:", "", f"| method | {' | '.join(KERNELS)} |"]
        lines.append("| --- " * (len(KERNELS) + 1) + "|")
        for method in METHODS:
            if not any(mine := cells(method, rounds)):
                continue
            if rounds == 1000:
                mine = [f"{a}; {b}" for a, b in zip(mine, PAPER[method], strict=True)]
            lines.append(f"| {method} | {' | '.join(mine)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
