"""The price of ten standard changes: files and lines of existing code that each touches.

    python studies/price [CHANGE ...]

Each change is made in a copy of this tree, and the tests of its axis judge it there. The committed
table may only fall: the exit status is 1 if a change costs more, or its tests fail.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from recipes import RECIPES, ROOT, Recipe, changed_files, committed, price

COPIED = ("app", "conftest.py", "data", "docs", "evroute", "pyproject.toml", "studies", "tests")
PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")


def copy_with(recipe: Recipe, to: Path) -> None:
    """Copy this tree and make a change in the copy."""
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, to / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, to / name)
    for file, text in changed_files(ROOT, recipe).items():
        (to / file).write_text(text, encoding="utf-8")


def judged(recipe: Recipe) -> tuple[bool, str]:
    """Return whether the tests of a change pass in a copy, and the last line of pytest."""
    selected = ("-k", recipe.example) if recipe.example else ()
    with TemporaryDirectory() as folder:
        copy_with(recipe, Path(folder))
        done = subprocess.run(
            [*PYTEST, *selected, *recipe.suite],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": folder},
            capture_output=True,
            text=True,
            check=False,
        )
    lines = done.stdout.strip().splitlines()
    if done.returncode:
        print(done.stdout[-4000:], file=sys.stderr)
    return not done.returncode, lines[-1] if lines else done.stderr.strip()[-200:]


def main(names: list[str]) -> int:
    """Print the price of each change beside the committed one."""
    before, worse = committed(), False
    print(f"{'change':20s} {'new files':>9s} {'files':>6s} {'lines':>6s}   committed   its tests")
    for name in names or RECIPES:
        recipe = RECIPES[name]
        now, (passed, result) = price(ROOT, recipe), judged(recipe)
        known = before[name]
        worse |= not passed or (now.files, now.lines) > (known.files, known.lines)
        print(
            f"{name:20s} {now.new_files:9d} {now.files:6d} {now.lines:6d}   "
            f"{known.files:3d} {known.lines:5d}   {result}",
            flush=True,
        )
    return int(worse)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
