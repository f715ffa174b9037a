"""Write the least versions that pyproject.toml allows, or try them in a new environment.

``python tests/release/least.py`` prints a line ``name==version`` for each package of the base
install and of the extra `report`. ``--try FOLDER`` installs them into a new environment in FOLDER,
and runs the tests of these two. A package whose least version fails needs a higher bound.
"""

import argparse
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
LEAST = re.compile(r"(?P<name>[A-Za-z0-9_-]+)(?:\[[^\]]*\])?>=(?P<version>[0-9.]+)")
EXTRA = "report"
OTHERS = ("numba", "osmium", "osmnx", "geopandas", "rasterio", "fastapi", "httpx", "duckdb")
"""Packages of other extras that these tests need, at versions that fit."""
TOOLS = ("pytest", "pytest-benchmark", "pytest-timeout", "pytest-xdist", "hypothesis", "mpmath")
TESTS = (
    "tests/equations",
    "tests/reference",
    "tests/energy",
    "tests/policy",
    "tests/network",
    "tests/cli",
    "tests/planning",
)


def least(project: dict[str, object]) -> list[str]:
    """Return ``name==version`` for the requirements of the base install and of an extra.

    Raises
    ------
    ValueError
        If a requirement has no least version.
    """
    extras = project["optional-dependencies"]
    base = project["dependencies"]
    assert isinstance(extras, dict)
    assert isinstance(base, list)
    pinned = []
    for each in [*base, *extras[EXTRA]]:
        found = LEAST.match(each)
        if found is None:
            raise ValueError(f"{each} has no least version")
        pinned.append(f"{found['name']}=={found['version']}")
    return pinned


def tried(pinned: list[str], folder: Path) -> int:
    """Install the versions into a new environment, run the tests there, and return their status."""
    venv.create(folder, with_pip=True, clear=True)
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *pinned, *OTHERS, *TOOLS], check=True)
    subprocess.run([*pip, "--no-deps", ROOT], check=True)
    # least versions warn of what newer ones no longer do; models that need torch are left out
    pytest = [python, "-m", "pytest", "-n", "2", "-q", "-W", "default", *TESTS]
    pytest += ["-m", "not browser", "--ignore", "tests/equations/test_algorithm3_svgp.py"]
    pytest += ["-k", "not svgp and not model_options and not options_by_name"]
    return subprocess.run(pytest, cwd=ROOT, check=False).returncode


def main() -> int:
    """Print the versions, or try them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--try", dest="folder", type=Path, help="folder of the new environment")
    folder = parser.parse_args().folder
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    pinned = least(settings["project"])
    if folder is None:
        print("\n".join(pinned))
        return 0
    return tried(pinned, folder)


if __name__ == "__main__":
    sys.exit(main())
