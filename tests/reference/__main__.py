"""Write the reference files: ``python tests/reference``."""

import json
import sys
from importlib import import_module
from pathlib import Path

import mpmath

HERE = Path(__file__).parent
NAMES = ("energy", "graph_kernel", "posterior", "indices", "dictionaries", "bounds")


def plain(value):
    """Return nested lists and dictionaries with doubles in place of multiple precision."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, mpmath.matrix):
        rows = value.tolist()
        return [plain(row[0]) for row in rows] if value.cols == 1 else plain(rows)
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return float(value) if isinstance(value, mpmath.mpf) else value


if __name__ == "__main__":
    mpmath.mp.dps = 50
    for name in sys.argv[1:] or NAMES:
        cases = plain(import_module(name).cases())
        lines = ",\n".join(json.dumps(case) for case in cases)
        (HERE / f"{name}.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
        print(f"{name}.json: {len(cases)} cases")
