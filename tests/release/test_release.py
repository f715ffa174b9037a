"""Versions agree, and the packages have their licences."""

from collections.abc import Callable
from email.message import Message
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
Program = Callable[[str, Path], ModuleType]


@pytest.fixture(scope="module")
def check(program: Program) -> Any:
    return program("release_check", HERE / "check.py")


def test_versions_agree(check: Any) -> None:
    assert list(check.versions_that_differ()) == []


def test_a_wheel_without_a_text_or_an_expression_is_named(check: Any) -> None:
    about, names = Message(), ["evroute-1.dist-info/licenses/LICENSE"]
    wanted = ["LICENSE", "THIRD_PARTY.md"]
    assert list(check.licences(names, about, wanted)) == [
        "the wheel lacks THIRD_PARTY.md",
        "the wheel's metadata have no License-Expression",
    ]
    about["License-Expression"] = "MIT"
    assert list(check.licences(names, about, ["LICENSE"])) == []


def test_links_of_readme_are_absolute_where_there_is_an_address(program: Program) -> None:
    absolute = program("hatch_build", ROOT / "hatch_build.py").absolute
    text = "[a](docs/a.md#b), ![c](docs/c.png), [d](https://d.org/e), [f](#f)"
    assert absolute(text, "") == text
    assert absolute(text, "https://e.org/main") == (
        "[a](https://e.org/main/docs/a.md#b), ![c](https://e.org/main/docs/c.png), "
        "[d](https://d.org/e), [f](#f)"
    )
