"""The comparison of `make same` accepts rounding, ties and new keys, and finds other changes."""

import json
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SAME = Path(__file__).parents[2] / "studies" / "same"


def loaded(name: str) -> Any:
    spec = spec_from_file_location(f"same_{name}", SAME / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


compare = loaded("compare")
ROUTE = {"edges": ["a", "b"], "energy_wh": 100.0, "parts_wh": {"climb": -50.0, "drag": 150.0}}
PLAN = {"id": "1", "verdict": "saves 3 Wh", "start_soc_percent": None, "routes": {"energy": ROUTE}}


def found(old: Any, new: Any) -> Any:
    comparison = compare.Comparison()
    comparison.add(old, new)
    return comparison


def plan(**changes: Any) -> dict[str, Any]:
    return PLAN | {"routes": {"energy": ROUTE | changes}}


@pytest.mark.parametrize(
    "new",
    [
        PLAN,
        PLAN | {"new key": 1},
        plan(new_part=3.0),
        PLAN | {"verdict": "3 Wh less"},
        plan(energy_wh=100.0 * (1 + 5e-13)),
        plan(edges=["a", "c", "b"], energy_wh=100.0, parts_wh={"climb": -40.0, "drag": 140.0}),
    ],
    ids=["itself", "new key", "new key inside", "reworded", "rounding", "a route as good"],
)
def test_accepted_changes(new: Any) -> None:
    assert found(PLAN, new).differences == []


@pytest.mark.parametrize(
    ("new", "place"),
    [
        ({name: PLAN[name] for name in ("id", "verdict", "routes")}, "start_soc_percent"),
        (PLAN | {"start_soc_percent": 80.0}, "start_soc_percent"),
        (PLAN | {"routes": {}}, "routes.energy"),
        (plan(energy_wh=100.0 * (1 + 2e-12)), "routes.energy.energy_wh"),
        (plan(energy_wh=float("nan")), "routes.energy.energy_wh"),
        (plan(parts_wh={"climb": -50.0, "drag": 150.1}), "routes.energy.parts_wh.drag"),
        (plan(edges=["a", "c", "b"], energy_wh=100.1), "routes.energy.edges"),
        (plan(edges=["a", "c"], energy_wh=100.1), "routes.energy.edges[1]"),
    ],
)
def test_differences_are_found_with_their_place(new: Any, place: str) -> None:
    differences = found(PLAN, new).differences
    assert differences[0].startswith(f"{place}:")


def test_arrays_are_compared_relative_to_their_largest_value() -> None:
    old = np.array([1000.0, 1e-3, np.nan])
    near, far = (np.array([1000.0, 1e-3 + gap, np.nan]) for gap in (9e-10, 2e-9))
    assert found(old, near).differences == []
    assert found(old, near).largest == pytest.approx(9e-13, rel=1e-3)
    assert found(old, far).differences[0].startswith("[1]:")
    assert found(old, np.array([1000.0, 1e-3, 0.0])).differences[0].startswith("[2]:")
    assert found(old, old[:2]).differences == [": shape (3,) -> (2,)"]


def test_a_family_counts_each_unit_once() -> None:
    family = compare.Family("plans")
    different, equal = found(1.0, 2.0), found(1.0, 1.0)
    for old, new in [(1.0, 1.0), (1.0, 1.0 + 1e-15), (1.0, 2.0)]:
        family.add("unit", found(old, new))
    family.add("run", equal, flips=2)
    family.add("run", different, flips=2)
    counts = (
        family.compared,
        family.identical,
        family.rounding,
        family.replayed,
        len(family.differences),
    )
    assert counts == (5, 1, 1, 1, 2)


def test_options_of_an_earlier_tree_become_its_flags() -> None:
    given = ["simulate", "--option", "soc=60", "--option", "guard=true", "--option", "rate=2"]
    found = loaded("trees").as_flags(given, {"soc", "guard"})
    assert found == ["simulate", "--soc", "60", "--guard", "--option", "rate=2"]


@pytest.fixture
def doors(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(SAME))
    return loaded("doors")


def test_the_half_of_expected_values_leaves_out_deviations(doors: Any) -> None:
    route = {"energy_wh": 5.0, "time_s": 9.0}
    answer = {"routes": {"energy": route | {"forecast": {"std_wh": 1.0}}}, "saving": 0.7, "via": []}
    assert doors.kept("eq8", {"0": answer}) == {"0": {"routes": {"energy": route}, "via": []}}
    assert doors.kept("default", {"0": answer}) == {"0": answer}


def test_numbers_of_a_refusal_are_compared_and_its_words_are_not(doors: Any) -> None:
    class Tree:
        def __init__(self, error: str) -> None:
            self.error = error

        def as_typed(self, *_: object, statuses: tuple[int, ...]) -> str:
            assert 1 in statuses
            return json.dumps({"id": 7, "error": self.error})

    words = (
        "no way to 17,24,0 keeps 2 % when starting with 3 %: needs {} kWh more. Start with 3.6 %"
    )
    old, reworded, other = (
        doors.answers(Tree(text))
        for text in (words.format(0.22), "2, 3, 0.22, 3.6", words.format(0.5))
    )
    assert old["7"]["numbers"] == [2, 3, 0.22, 3.6]
    assert found(old, reworded).differences == []
    assert found(old, other).differences[0].startswith("7.numbers")


def test_requests_without_a_limit_of_risk_stand_in_the_half_of_expected_values(
    doors: Any, tmp_path: Path
) -> None:
    class Tree:
        def as_typed(self, *arguments: object, statuses: tuple[int, ...]) -> str:
            table = Path(str(arguments[arguments.index("--batch") + 1])).read_text(encoding="utf-8")
            return json.dumps({"id": 0, "physics": "--physics" in arguments, "table": table})

    tasks = doors.asked(tmp_path, "denver", "risk", [{"from": "a", "soc": 3, "risk": "5%"}])
    asked = {half: task(Tree())["0"] for half, task in tasks.items()}
    assert asked["eq8"] == {"id": 0, "physics": True, "table": "id,from,soc\n0,a,3\n"}
    assert asked["default"] == {"id": 0, "physics": False, "table": "id,from,soc,risk\n0,a,3,5%\n"}
