"""Change the source in one place at a time and run the nearest tests; no test notices a survivor.

Mutants lie on the lines of evroute/ changed since a commit, or on lines drawn from packages. Each
runs in a copy of the tree. `equivalent.txt` lists those without effect, which count apart.
cosmic-ray restricts mutants to a diff as well, but runs one command of tests for all of them.
"""

import argparse
import multiprocessing
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import chain, groupby, product
from pathlib import Path
from queue import SimpleQueue

import pytest
from mutants import Mutant, mutants

ROOT = Path(__file__).parents[2]
SOURCES = sorted(str(file.relative_to(ROOT)) for file in ROOT.glob("evroute/**/*.py"))
FAR = {"app", "compat", "fuzz", "safety", "security", "studies"}
FAR |= {f"test_{name}.py" for name in ("architecture", "demo", "docs", "docstrings", "notebooks")}
TESTS = sorted(str(file.relative_to(ROOT)) for file in ROOT.glob("tests/**/test_*.py"))
TESTS = [test for test in TESTS if not FAR.intersection(Path(test).parts)]
EQUIVALENT = Path(__file__).with_name("equivalent.txt").read_text().splitlines()
SERVER = multiprocessing.get_context("forkserver")
LIBRARIES = ["pytest", "scipy.stats", "gpytorch", "pandas", "pyarrow.parquet", "pydantic"]


@cache
def imports(path: str, source: str) -> bool:
    module = source.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    package, _, name = module.rpartition(".")
    pattern = rf"{module}\b(?!\.)|from {package} import \(?[\w\s,]*\b{name}\b"
    return re.search(pattern, (ROOT / path).read_text()) is not None


@cache
def nearest(source: str) -> list[list[str]]:
    """Return three rings of tests: of a module and its users, of their users, and of theirs.

    Those that do not import the module itself are of its package, of contracts or of equations.
    """
    named, near = f"/test_{Path(source).name}", (source.split("/")[1], "contract", "equations")
    direct = {test for test in TESTS if named in test or imports(test, source)}
    users, rings = {source}, []
    while len(rings) < 3:
        users = users | {s for s in SOURCES if any(imports(s, user) for user in users)}
        used = {test for test in TESTS if any(imports(test, user) for user in users)}
        found = direct | {test for test in used if test.split("/")[1] in near}
        rings.append(found.difference(*rings))
    return [sorted(ring, key=lambda t: (named not in t, t not in direct, t)) for ring in rings]


def tried(tree: Path, rings: list[list[str]]) -> str:
    """Run the slow tests of each ring after its others, until one fails."""
    for tests, marks in product(rings, ("not slow", "slow")):
        if tests and (result := result_of(tree, tests, marks)) != "survived":
            return result
    return "survived"


def result_of(tree: Path, tests: list[str], marks: str, limit_s: int = 600) -> str:
    """Run tests in a process with all libraries imported, which take longer than most tests."""
    child = SERVER.Process(target=run_tests, args=(tree, tests, f"not browser and ({marks})"))
    child.start()
    child.join(limit_s)
    result = {0: "survived", 5: "survived", None: "timed out"}.get(child.exitcode, "killed")
    child.kill()
    return result


def run_tests(tree: Path, tests: list[str], marks: str) -> None:
    out = os.open(tree / ".out", os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(out, stream)
    os.chdir(tree)
    os.environ["PYTHONPATH"] = sys.path[0] = str(tree)
    sys.dont_write_bytecode = True
    options = ["-x", "-q", "-n0", "-m", marks, "-p", "no:cacheprovider"]
    os._exit(pytest.main([*options, *tests]))


def changed_lines(base: str) -> Iterator[tuple[str, int]]:
    command = ["git", "diff", "-U0", base, "--", "evroute"]
    for text in subprocess.check_output(command, cwd=ROOT, text=True).splitlines():
        if text.startswith("+++ "):
            path = text.removeprefix("+++ b/")
        elif hunk := re.match(r"@@ \S+ \+(\d+)(?:,(\d+))?", text):
            yield from ((path, int(hunk[1]) + i) for i in range(int(hunk[2] or 1)))


def chosen(base: str, packages: list[str], n: int, seed: int) -> list[Mutant]:
    inside = tuple(f"evroute/{package}" for package in packages) or "evroute"
    files = [path for path in SOURCES if path.startswith(inside)]
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
    parser.add_argument("--packages", nargs="*", default=[], help="as model or learning/readers")
    parser.add_argument("--n", type=int, default=0, help="lines to draw, one mutant on each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    if not (args.base or args.packages):
        parser.error("give --base or --packages")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    SERVER.set_forkserver_preload(LIBRARIES)
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
            result = tried(tree, nearest(path))
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
        if result_of(tree, tests, "slow or not slow", 7200) != "survived":
            sys.exit(f"{(tree / '.out').read_text()}\nthe tests fail without any mutant")
        list(pool.map(run, found))
    for (package, result), number in sorted(counts.items()):
        print(f"{package:28} {result:10} {number:4}")


if __name__ == "__main__":
    main()
