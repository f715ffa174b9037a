"""Wrong calls of drivers, fleets and researchers, and the messages that they get.

    python studies/wrong_calls.py TREE [TREE ...] [--messages]

TREE is a checkout of the project. The calls of `wrong_calls.toml` and the words that a good message
contains were written before any answer was read. A call is handled well if it ends with status 2
(in Python: with EvrouteError) and one line that names the value got, the values expected, and the
remedy. A call whose mistake passes unnoticed ends with status 0.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

LIST = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
PYTHON = """
import sys, evroute, evroute.errors
try:
    {}
except Exception as error:
    print(f"{{type(error).__name__}}: {{error}}", file=sys.stderr)
    sys.exit(2 if isinstance(error, evroute.errors.EvrouteError) else 1)
"""
FACTS = ("status 2", "one line", "got", "expected", "remedy", "all five")


def answer(tree: Path, call: dict[str, str]) -> tuple[str, list[bool]]:
    """Make a call in a folder with the files of the list; return its end and the `FACTS`."""
    line = call["call"]
    inline = line.removeprefix("py ")
    run = ["-c", PYTHON.format(inline)] if inline != line else ["-m", "evroute", *shlex.split(line)]
    with TemporaryDirectory() as place:
        for name, text in LIST["files"].items():
            Path(place, name).parent.mkdir(exist_ok=True)
            Path(place, name).write_text(text, encoding="utf-8")
        own = {"PYTHONPATH": str(tree), "EVROUTE_CACHE_DIR": f"{place}/cache"}
        environment = {k: v for k, v in os.environ.items() if k != "EVROUTE_DATA_DIR"} | own
        done = subprocess.run(
            [sys.executable, *run], cwd=place, env=environment, capture_output=True, text=True
        )
    message = done.stderr.strip().replace(place, "")
    facts = [done.returncode == 2, len(message.splitlines()) == 1]
    facts += [bool(re.search(call[word], message, re.IGNORECASE)) for word in FACTS[2:5]]
    last = "\n      ".join(message.splitlines()[-3:])
    return f"status {done.returncode}: {last}", [*facts, all(facts)]


def main() -> None:
    """Print what each tree misses in each call, and the counts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tree", nargs="+", type=Path)
    parser.add_argument("--messages", action="store_true", help="print every message")
    chosen = parser.parse_args()
    counts = {tree.resolve(): [0] * len(FACTS) for tree in chosen.tree}
    for number, call in enumerate(LIST["call"], 1):
        print(f"{number:2d} {call['user']}, {call['kind']}: {call['call']}")
        for tree, count in counts.items():
            end, facts = answer(tree, call)
            counts[tree] = [total + fact for total, fact in zip(count, facts, strict=True)]
            missed = [name for name, fact in zip(FACTS[:5], facts, strict=False) if not fact]
            print(f"   {tree.name}: {'misses ' + ', '.join(missed) if missed else 'good'}")
            if missed or chosen.messages:
                print(f"      {end}", flush=True)
    for tree, count in counts.items():
        shown = ", ".join(f"{name} {n}" for name, n in zip(FACTS, count, strict=True))
        print(f"{tree.name}, of {len(LIST['call'])}: {shown}")


if __name__ == "__main__":
    main()
