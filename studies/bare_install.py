"""A bare install: the lines of README in an empty environment, outside the clone.

Usage: python -m studies.bare_install [PYTHON ...]

For each Python the wheel of this checkout is installed without extras, with the versions of
`constraints.txt`. Prints the size of the install, the time of ``import evroute`` beside an empty
process, and the end of each line of README that needs no clone. Needs a package index.
"""

import argparse
import re
import shlex
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

ROOT = Path(__file__).parents[1]
PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet")
SHORT = ("--horizon 60", "--horizon 3")
REPEATS = 15


def main() -> None:
    """Install the wheel for each Python and run the lines of README."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python", nargs="*", default=[sys.executable])
    for python in parser.parse_args().python:
        with TemporaryDirectory() as place:
            run_all(python, Path(place))


def run_all(python: str, place: Path) -> None:
    """Print the figures of one Python."""
    wheels, outside = place / "wheels", place / "outside"
    outside.mkdir()
    checked(sys.executable, *PIP, "wheel", "--no-deps", "--wheel-dir", str(wheels), str(ROOT))
    (wheel,) = wheels.glob("evroute-*.whl")
    checked(python, "-m", "venv", str(place / "venv"))
    own = str(place / "venv" / "bin" / "python")
    before_mb = size_mb(place / "venv")
    checked(own, *PIP, "install", "-c", str(ROOT / "constraints.txt"), str(wheel))
    print(checked(own, "--version").strip())
    print(f"install: {size_mb(place / 'venv') - before_mb:.0f} MB; wheel {size_mb(wheel):.1f} MB")
    loaded, empty = (import_ms(own, code, outside) for code in ("import evroute", "pass"))
    print(f"import evroute: {loaded - empty:.0f} ms")
    for line in lines_of_readme():
        print(f"{ended(own, line, outside):>4}  {line}")


def lines_of_readme() -> list[str]:
    """Return the commands of evroute in README that need no clone, in its order."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"^```(?:sh|console)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = (line.removeprefix("$ ") for block in shown for line in block.splitlines())
    return [line for line in lines if line.startswith("evroute ")]


def ended(python: str, line: str, folder: Path) -> str:
    """Return how a command ended: ``0``, or its status and last line."""
    arguments = shlex.split(line.replace(*SHORT).removeprefix("evroute "))
    done = subprocess.run(
        [python, "-m", "evroute", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.returncode:
        return "0"
    return f"{done.returncode} ({(done.stderr.splitlines() or [''])[-1]})"


def import_ms(python: str, code: str, folder: Path) -> float:
    """Return the median time of a process that runs a line of Python, ms."""
    times = []
    for _ in range(REPEATS):
        started = perf_counter()
        subprocess.run([python, "-c", code], cwd=folder, check=True)
        times.append(1000 * (perf_counter() - started))
    return median(times)


def size_mb(path: Path) -> float:
    """Return the size of a file or folder, MB."""
    files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
    return sum(each.lstat().st_size for each in files) / 1e6


def checked(*command: str) -> str:
    """Run a command and return its output; a failure ends the program with its errors."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


if __name__ == "__main__":
    main()
