"""Standard changes as recipes: new files, lines of existing files at anchors found by name.

Templates are the examples of `docs/how-to/extend.md`, word by word.
"""

import csv
import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
GUIDE = "docs/how-to/extend.md"
OBD = "data/examples/obd.csv"
TABLE = Path(__file__).with_name("prices.csv")
"""Committed prices, which may only fall."""


class AnchorError(ValueError):
    """A line that a recipe looks for is missing, or occurs twice."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Lines that replace the one place of a file that a pattern matches.

    Parameters
    ----------
    file
        Path below the root.
    anchor
        Regular expression of the place, in multi-line mode.
    lines
        Its replacement, as of `re.sub`.
    """

    file: str
    anchor: str
    lines: str


@dataclass(frozen=True, slots=True)
class Recipe:
    """A standard change.

    Parameters
    ----------
    example
        Name of what is added; pytest's ``-k`` finds its tests by it. Empty for whole files.
    suite
        Files of tests that judge the change.
    new
        Functions from the root to the contents of each new file, by path.
    edits
        Edits of existing files.
    """

    example: str
    suite: tuple[str, ...]
    new: Mapping[str, Callable[[Path], str]] = field(default_factory=dict)
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class Price:
    """Cost of a change: new files, existing files touched, and lines touched in these."""

    new_files: int
    files: int
    lines: int


def from_guide(title: str, kind: str = "python") -> Callable[[Path], str]:
    """Return a function that reads the first block of a kind below a title of the guide."""

    def read(root: Path) -> str:
        page = (root / GUIDE).read_text(encoding="utf-8")
        section = page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
        block = section.partition(f"```{kind}\n")[2].partition("```")[0]
        if not block:
            raise AnchorError(f"{GUIDE} has no block of {kind} below '{title}'")
        return block

    return read


def entry(file: str, table: str, line: str) -> Edit:
    """Return the edit that adds a line at the head of a table of names."""
    return Edit(file, rf"(^{table}\b[^\n]*\{{\n)", rf"\1    {line},\n")


def before(file: str, anchor: str, lines: str) -> Edit:
    """Return the edit that puts lines above the one line that begins with a pattern."""
    return Edit(file, rf"(?=^{anchor})", lines.replace("\\", "\\\\"))


def template(name: str) -> Callable[[Path], str]:
    """Return a function that reads a file of `templates`."""
    return lambda root: (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")


def as_positions(root: Path) -> str:
    """Return the example of an OBD log under the headers of TeslaMate, with its power in kW."""
    rows = csv.DictReader((root / OBD).read_text(encoding="utf-8").splitlines())
    lines = ["drive_id,date,latitude,longitude,power"]
    for row in rows:
        power_w = -float(row["HV Battery Voltage [V]"]) * float(row["HV Battery Current [A]"])
        place = f"{row['Latitude']},{row['Longitude']}"
        lines.append(f"7,{row['Timestamp']},{place},{power_w / 1000:.6f}")
    return "\n".join([*lines, ""])


STEEPEST = """\
    steepest: Annotated[
        float | None,
        Number("Steepest road to drive, %.", metavar="PERCENT", unit="%", above=0),
    ] = None
"""
CLOSED = """\
        if self.steepest is not None:
            percent = 100 * np.abs(np.tan(network.incline_rad))
            rows.update(np.flatnonzero(percent > self.steepest).tolist())
"""
WET = """\
    wet_percent: Annotated[
        float,
        Number(
            "Rolling resistance more than on a dry road, %.",
            name="wet",
            metavar="PERCENT",
            unit="%",
            least=0,
            most=100,
        ),
    ] = 0.0
"""
WET_SENTENCE = """\
    wet_percent
        Rolling resistance more than on a dry road, %.
"""
WET_LOAD = """\
                vehicle,
                rolling=vehicle.rolling * (1 + self.wet_percent / 100),
                mass_kg=vehicle.mass_kg + self.payload_kg,
                auxiliary_w=auxiliary_w,
"""

RECIPES = {
    "index": Recipe(
        "cautious",
        ("tests/contract/test_pairs.py",),
        {"evroute/policy/cautious.py": from_guide("An index")},
        (
            entry(
                "evroute/methods/parts.py",
                "INDICES",
                '"cautious": "evroute.policy.cautious:CautiousOptions"',
            ),
        ),
    ),
    "kernel": Recipe(
        "rq",
        ("tests/contract/test_kernels.py",),
        {"evroute/model/context_kernels/rational_quadratic.py": from_guide("A kernel")},
        (
            entry(
                "evroute/model/context_kernels/__init__.py",
                "KERNELS",
                '"rq": "evroute.model.context_kernels.rational_quadratic:RationalQuadratic"',
            ),
        ),
    ),
    "world": Recipe(
        "rain",
        ("tests/contract/test_worlds.py",),
        {"evroute/worlds/rain.py": from_guide("A world")},
        (entry("evroute/worlds/world.py", "WORLDS", '"rain": "evroute.worlds.rain:RainWorld"'),),
    ),
    "model": Recipe(
        "newest",
        ("tests/contract/test_models.py", "tests/contract/test_pairs.py"),
        {"evroute/model/sparse/newest.py": from_guide("A dictionary rule")},
        (
            entry(
                "evroute/methods/parts.py",
                "MODELS",
                '"newest": "evroute.model.sparse.newest:NewestOptions"',
            ),
        ),
    ),
    "reader": Recipe(
        "teslamate",
        ("tests/contract/test_readers.py",),
        {
            "evroute/learning/readers/teslamate.py": from_guide("A reader of measured trips"),
            "data/examples/teslamate.csv": as_positions,
        },
        (
            entry(
                "evroute/learning/readers/formats.py",
                "READERS",
                '"teslamate": "evroute.learning.readers.teslamate:READER"',
            ),
        ),
    ),
    "vehicle": Recipe(
        "example-van",
        ("tests/contract/test_vehicles.py",),
        {"data/vehicles/example-van.toml": from_guide("A vehicle", "toml")},
    ),
    "layer": Recipe(
        "steep",
        ("tests/contract/test_layers.py",),
        {"app/layers/steep.py": from_guide("A layer of the dashboard's map")},
        (entry("app/layers/__init__.py", "LAYERS", '"steep": "layers.steep:LAYER"'),),
    ),
    "figure": Recipe(
        "on-best",
        ("tests/contract/test_charts.py",),
        {"evroute/report/charts/on_best.py": from_guide("A figure of runs")},
        (
            entry(
                "evroute/report/charts/__init__.py",
                "CURVES",
                '"on-best": "evroute.report.charts.on_best:on_best"',
            ),
        ),
    ),
    "option": Recipe(
        "",
        (
            "tests/planning/test_steepest.py",
            "tests/planning/test_request.py",
            "tests/test_forms.py",
        ),
        {"tests/planning/test_steepest.py": template("steepest.txt")},
        (
            before("evroute/planning/request.py", r"    search: Annotated\[$", STEEPEST),
            before(
                "evroute/planning/request.py", r"        return tuple\(sorted\(rows\)\)$", CLOSED
            ),
        ),
    ),
    "weather": Recipe(
        "",
        (
            "tests/energy/test_wet.py",
            "tests/energy/test_driving.py",
            "tests/test_forms.py",
            "tests/test_docstrings.py",
        ),
        {"tests/energy/test_wet.py": template("wet.txt")},
        (
            before("evroute/energy/driving.py", r"    departed_s: float \| None = Field", WET),
            before("evroute/energy/driving.py", r"    auxiliary_w\n        Power of", WET_SENTENCE),
            Edit("evroute/energy/driving.py", r"^ *vehicle, mass_kg=.*\n", WET_LOAD),
        ),
    ),
}


def changed_files(root: Path, recipe: Recipe) -> dict[str, str]:
    """Return the text of each new and each changed file after a change, by path.

    Raises
    ------
    AnchorError
        If an anchor or a template is missing, or a new file exists.
    """
    texts = {}
    for file, make in recipe.new.items():
        if (root / file).exists():
            raise AnchorError(f"{file} exists already")
        texts[file] = make(root)
    for edit in recipe.edits:
        before = texts.get(edit.file) or (root / edit.file).read_text(encoding="utf-8")
        found = re.findall(edit.anchor, before, re.MULTILINE)
        if len(found) != 1:
            raise AnchorError(f"{edit.file} has {len(found)} places like {edit.anchor!r}")
        texts[edit.file] = re.sub(edit.anchor, edit.lines, before, flags=re.MULTILINE)
    return texts


def lines_touched(before: str, after: str) -> int:
    """Return the number of lines added, removed or changed; a changed line counts once."""
    match = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    return sum(
        max(end_a - start_a, end_b - start_b)
        for kind, start_a, end_a, start_b, end_b in match.get_opcodes()
        if kind != "equal"
    )


def price(root: Path, recipe: Recipe) -> Price:
    """Return the price of a change of a tree, which stays as it is.

    Raises
    ------
    AnchorError
        As `changed_files`.
    """
    touched = [
        lines_touched((root / file).read_text(encoding="utf-8"), text)
        for file, text in changed_files(root, recipe).items()
        if file not in recipe.new
    ]
    return Price(len(recipe.new), len(touched), sum(touched))


def committed() -> dict[str, Price]:
    """Return the committed price of each change."""
    rows = csv.DictReader(TABLE.read_text(encoding="utf-8").splitlines())
    return {
        row["change"]: Price(int(row["new_files"]), int(row["files"]), int(row["lines"]))
        for row in rows
    }
