"""Check what a release needs and name what is missing: ``make release-check``.

It builds the source archive and the wheel into a temporary folder, checks their metadata, and
compares the version and the state of the repository. It publishes and tags nothing.
"""

import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from email import message_from_string
from email.message import Message
from pathlib import Path

ROOT = Path(__file__).parents[2]


def missing() -> Iterator[str]:
    """Yield a line for each thing that is missing."""
    yield from versions_that_differ()
    settings = tomllib.loads(_text("pyproject.toml"))
    if not settings["tool"]["evroute"]["home"]:
        yield "home of [tool.evroute] in pyproject.toml is empty: links of README stay relative"
    yield from repository(settings["project"]["version"])
    with tempfile.TemporaryDirectory() as folder:
        yield from packages(Path(folder), settings)


def versions_that_differ() -> Iterator[str]:
    """Yield the files whose version is not that of pyproject.toml."""
    version = tomllib.loads(_text("pyproject.toml"))["project"]["version"]
    places = {
        "evroute/__init__.py": rf'^__version__ = "{re.escape(version)}"$',
        "CITATION.cff": rf"^version: {re.escape(version)}$",
        "CHANGELOG.md": rf"^## {re.escape(version)}( |$)",
    }
    for name, pattern in places.items():
        if not re.search(pattern, _text(name), re.MULTILINE):
            yield f"{name} does not have version {version} of pyproject.toml"


def repository(version: str) -> Iterator[str]:
    """Yield what git and the changelog lack."""
    if git("status", "--porcelain"):
        yield "the working tree has changes that are not committed"
    if f"v{version}" not in git("tag", "--points-at", "HEAD").split():
        yield f"HEAD has no tag v{version}; tags are set by the maintainers"
    if re.search(rf"^## {re.escape(version)} \(unreleased\)", _text("CHANGELOG.md"), re.MULTILINE):
        yield f"CHANGELOG.md calls {version} unreleased: write its date"


def packages(folder: Path, settings: dict[str, dict[str, object]]) -> Iterator[str]:
    """Yield what the built packages lack."""
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    if done.returncode:
        yield f"python -m build: {last_line(done)}"
        return
    check = [sys.executable, "-m", "twine", "check", "--strict", *folder.iterdir()]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    if done.returncode:
        yield f"twine check --strict: {last_line(done)}"
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        names = wheel.namelist()
        about = message_from_string(
            wheel.read(next(n for n in names if n.endswith("/METADATA"))).decode()
        )
    yield from licences(names, about, settings["project"]["license-files"])


def licences(names: list[str], about: Message, wanted: object) -> Iterator[str]:
    """Yield the texts of licences that a wheel lacks, and an expression that it lacks."""
    assert isinstance(wanted, list)
    for name in wanted:
        if not any(each.endswith(f".dist-info/licenses/{name}") for each in names):
            yield f"the wheel lacks {name}"
    if not about["License-Expression"]:
        yield "the wheel's metadata have no License-Expression"


def git(*arguments: str) -> str:
    """Return the output of git in the repository."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    """Return the last line that a failed program wrote."""
    return (done.stdout + done.stderr).strip().splitlines()[-1]


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


if __name__ == "__main__":
    lines = list(missing())
    print("\n".join(f"missing: {line}" for line in lines) or "nothing is missing")
    sys.exit(bool(lines))
