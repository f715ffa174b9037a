"""Change the source in one place at a time and run the nearest tests; no test notices a survivor.

Mutants lie on the lines of evroute/ and app/ changed since a commit, or on lines drawn from
packages. The nearest tests are those of its package that import the changed module, then those of
the seams of its package (`tests/seams.md`), those of its folder first. Each mutant runs in a copy
of the tree, in processes of pytest's own. Tests that fail without any mutant are named and left
out. `equivalent.txt` lists the mutants without effect, which count apart. cosmic-ray restricts
mutants to a diff as well, but runs one command of tests for all of them.
"""

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from itertools import chain, groupby
from pathlib import Path
from queue import SimpleQueue

from mutants import Mutant, mutants

ROOT = Path(__file__).parents[2]
SOURCES = sorted(
    str(p.relative_to(ROOT)) for d in ("evroute", "app") for p in ROOT.glob(f"{d}/**/*.py")
)
FAR = {f"test_{name}.py" for name in ("architecture", "demo", "docs", "docstrings", "notebooks")}
FAR |= {"studies", "test_seams.py"}
TESTS = sorted(str(file.relative_to(ROOT)) for file in ROOT.glob("tests/**/test_*.py"))
TESTS = [test for test in TESTS if not FAR.intersection(Path(test).parts)]
EQUIVALENT = Path(__file__).with_name("equivalent.txt").read_text().splitlines()
SEAM = re.compile(r"^\| `([\w.]+)` \| .+ \| (.+) \|$", re.MULTILINE)
DOOR = "evroute.door"
LIMIT_S = 900
GROUPS: list[int] = []


def module_of(source: str) -> str:
    return source.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@cache
def imports(path: str, module: str) -> bool:
    package, _, name = module.rpartition(".")
    pattern = rf"{module}\b(?!\.)|from {package} import \(?[\w\s,]*\b{name}\b"
    return re.search(pattern, (ROOT / path).read_text()) is not None


@cache
def seams() -> dict[str, list[str]]:
    """Return the test files of each seam; those of calls of `evroute` itself belong to its door."""
    text = (ROOT / "tests/seams.md").read_text(encoding="utf-8")
    found = {}
    for name, files in SEAM.findall(text):
        inside = name.replace("evroute", DOOR) if name.count(".") == 1 else name
        found[inside] = [f"tests/{file}" for file in re.findall("`(.+?)`", files)]
    return found


@cache
def nearest(source: str) -> list[list[str]]:
    """Return rings of tests: of the module itself, of the seams beside it, of its package's others.

    A module of no package that has seams, such as `display`, has those of the calls of `evroute`.
    """
    module, named = module_of(source), f"/test_{Path(source).name}"
    folder = module.rpartition(".")[0]
    package = "app" if source.startswith("app/") else ".".join(module.split(".")[:2])
    near = (f"tests/{package.rpartition('.')[2]}/", "tests/contract/", "tests/equations/")
    direct = [test for test in TESTS if named in test or is_about(test, module, near)]
    rings = [sorted(direct, key=lambda test: (named not in test, test))]
    parents = [folder, package] if is_in(f"{folder}.", package) else [package]
    if not any(is_in(name, package) for name in seams()):
        parents = [DOOR]
    for parent in parents:
        files = dict.fromkeys(chain(*(seams()[name] for name in seams() if is_in(name, parent))))
        known = set(chain(*rings))
        rings.append([test for test in files if test in TESTS and test not in known])
    return [ring for ring in rings if ring]


def is_about(test: str, module: str, near: tuple[str, ...]) -> bool:
    """Return whether a test imports a module that is not a mere ingredient of it."""
    return (test.startswith(near) or test.count("/") == 1) and imports(test, module)


def is_in(name: str, package: str) -> bool:
    return name.startswith(f"{package}.")


def tried(tree: Path, rings: list[list[str]], left_out: Sequence[str]) -> str:
    """Run the tests of each ring, the slow ones after all others, until one fails."""
    for marks in ("not slow", "slow"):
        for tests in rings:
            if (result := result_of(tree, tests, marks, left_out)) != "survived":
                return result
    return "survived"


def result_of(
    tree: Path, tests: list[str], marks: str, left_out: Sequence[str] = (), *, every: bool = False
) -> str:
    """Run tests on a copy of the tree; the output is beside it. ``every``: do not end early."""
    own = {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1"}
    options = ["-q", "-n0", "-p", "no:cacheprovider", "-m", f"not browser and ({marks})"]
    options += [f"--deselect={test}" for test in left_out]
    with tree.with_suffix(".out").open("w") as out:
        running = subprocess.Popen(
            [sys.executable, "-m", "pytest", *options, *([] if every else ["-x"]), *tests],
            cwd=tree,
            env=os.environ | own,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # what the tests have started ends with them
        )
        GROUPS.append(running.pid)
        try:
            status = running.wait(8 * LIMIT_S if every else LIMIT_S)
        except subprocess.TimeoutExpired:
            return "timed out"
        finally:
            end(running.pid)
            running.wait()
            GROUPS.remove(running.pid)
    return "survived" if status in (0, 5) else "killed"


def end(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def failing(tree: Path, tests: list[str]) -> list[str]:
    """Return the tests that fail without any mutant."""
    if result_of(tree, tests, "slow or not slow", every=True) == "survived":
        return []
    text = tree.with_suffix(".out").read_text()
    found = re.findall(r"^(?:FAILED|ERROR) (\S+::.+?)(?: - .*)?$", text, re.MULTILINE)
    if not found:
        sys.exit(f"{text}\nthe tests do not run without any mutant")
    return found


def changed_lines(base: str) -> Iterator[tuple[str, int]]:
    command = ["git", "diff", "-U0", base, "--", "evroute", "app"]
    for text in subprocess.check_output(command, cwd=ROOT, text=True).splitlines():
        if text.startswith("+++ "):
            path = text.removeprefix("+++ b/")
        elif hunk := re.match(r"@@ \S+ \+(\d+)(?:,(\d+))?", text):
            yield from ((path, int(hunk[1]) + i) for i in range(int(hunk[2] or 1)))


def chosen(base: str, packages: list[str], n: int, seed: int) -> list[Mutant]:
    inside = tuple("app/" if each == "app" else f"evroute/{each}" for each in packages)
    files = [path for path in SOURCES if not packages or path.startswith(inside)]
    found = [mutant for path in files for mutant in mutants(path, (ROOT / path).read_bytes())]
    if base:
        lines = set(changed_lines(base))
        found = [mutant for mutant in found if mutant[:2] in lines]
    if not n:
        return found
    rng = random.Random(seed)
    by_line = [list(some) for _, some in groupby(sorted(found), key=lambda mutant: mutant[:2])]
    return [rng.choice(some) for some in rng.sample(by_line, min(n, len(by_line)))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", help="commit: only lines changed since")
    parser.add_argument(
        "--packages", nargs="*", default=[], help="as model, learning/readers or app"
    )
    parser.add_argument("--n", type=int, default=0, help="lines to draw, one mutant on each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    if not (args.base or args.packages):
        parser.error("give --base or --packages")
    found = chosen(args.base, args.packages, args.n, args.seed)
    equivalent = {line.rpartition(" | ")[0] for line in EQUIVALENT}
    counts, trees = Counter(), SimpleQueue()

    def run(mutant: Mutant) -> None:
        path, line, change, source = mutant
        result = "equivalent"
        text = (ROOT / path).read_text().splitlines()[line - 1].strip()
        if f"{path} | {text} | {change}" not in equivalent:
            tree = trees.get()
            (tree / path).write_bytes(source)
            result = tried(tree, nearest(path), left_out)
            shutil.copy2(ROOT / path, tree / path)
            trees.put(tree)
        print(f"{result:10}  {path}:{line}  {change}", flush=True)
        counts.update([(str(Path(path).parent), result), ("all", result)])

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(args.jobs) as pool:
        for job in range(args.jobs):
            tree = Path(folder, str(job))
            shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".*", "runs", "demo"))
            trees.put(tree)
        tests = sorted({test for path, *_ in found for test in chain(*nearest(path))})
        print(
            f"{len(found)} mutants, {len(tests)} files of tests; first without any mutant",
            flush=True,
        )
        try:
            left_out = failing(tree, tests)
            for test in left_out:
                print(f"left out, it fails without any mutant: {test}", flush=True)
            list(pool.map(run, found))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for group in GROUPS:
                end(group)
    for (package, result), number in sorted(counts.items()):
        print(f"{package:28} {result:10} {number:4}")


if __name__ == "__main__":
    main()
