"""The seams of `tests/seams.md` exist, and each package has some."""

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name

import pytest

TESTS = Path(__file__).parent
ROW = re.compile(r"^\| `([\w.]+)` \| .+ \| (.+) \|$", re.MULTILINE)
SEAMS = {
    name: re.findall("`(.+?)`", files)
    for name, files in ROW.findall((TESTS / "seams.md").read_text(encoding="utf-8"))
}


@pytest.mark.parametrize("name", SEAMS)
def test_a_seam_and_its_tests_exist(name: str) -> None:
    found = find_spec(name) if name == "app.streamlit_app" else resolve_name(name)  # a script
    assert found is not None
    assert SEAMS[name]
    assert not [file for file in SEAMS[name] if not (TESTS / file).is_file()]


def test_each_package_has_a_seam() -> None:
    packages = {path.parent.name for path in TESTS.parent.glob("evroute/*/__init__.py")}
    packages -= {"door"}  # its seams are the names of `evroute` itself
    assert packages <= {name.split(".")[1] for name in SEAMS}


def test_the_nearest_tests_are_of_the_module_then_of_its_folder_then_of_its_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(TESTS / "mutation"))
    nearest = import_module("mutate").nearest
    own, folder, package = nearest("evroute/network/places/locate.py")
    assert own[0] == "tests/network/test_locate.py"
    assert "tests/network/test_positions.py" in folder
    assert "tests/network/test_catalog.py" in package
    assert nearest("evroute/service/needs.py")[0][0] == "tests/service/test_service.py"
    assert nearest("evroute/door/tour.py")[-1][0] == "tests/test_names.py"
    assert "tests/app/test_pages.py" in nearest("app/cards.py")[-1]
