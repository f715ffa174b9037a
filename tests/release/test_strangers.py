"""What a stranger finds on the day of a release names things that exist, and agrees with pyproject.

The workflows, the image and the recipe run elsewhere. So the tests read them and look up each
target, program, file and requirement that they name.
"""

import ast
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from typing_extensions import deprecated

yaml = pytest.importorskip("yaml")

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
Program = Callable[[str, Path], ModuleType]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CONDA_NAMES = {"tzdata": "python-tzdata"}


def read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


WORKFLOWS = [path.relative_to(ROOT).as_posix() for path in ROOT.glob(".github/workflows/*.yml")]


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_runs_targets_and_programs_that_exist(name: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    jobs = read(name)["jobs"].values()
    commands = [step["run"] for job in jobs for step in job["steps"] if "run" in step]
    assert set(re.findall(r"make ([a-z-]+)", "\n".join(commands))) <= targets
    for program in re.findall(r"tests/\S+\.(?:py|sh)", "\n".join(commands)):
        assert (ROOT / program).is_file(), program


def test_tests_run_on_every_python_that_the_package_names() -> None:
    named = {each.rpartition(" ")[2] for each in PROJECT["classifiers"] if "3." in each}
    run = read(".github/workflows/tests.yml")["jobs"]["tests"]["strategy"]["matrix"]["python"]
    assert named <= set(run)


@pytest.mark.parametrize("name", ["fault", "log", "wish"])
def test_an_issue_form_has_a_name_and_fields_with_labels(name: str) -> None:
    form = read(f".github/ISSUE_TEMPLATE/{name}.yml")
    assert form["name"]
    assert form["description"]
    ids = [field["id"] for field in form["body"]]
    assert len(set(ids)) == len(ids) > 0
    assert all(field["attributes"]["label"] for field in form["body"])


def test_hooks_before_a_commit_are_checks_of_make_lint() -> None:
    lint = (ROOT / "Makefile").read_text().partition("\nlint:")[2].partition("\n\n")[0]
    for hook in read(".pre-commit-config.yaml")["repos"][0]["hooks"]:
        program = hook["entry"].split()[0].rpartition("/")[2]
        assert f"$(BIN)/{program}" in lint


def test_the_recipe_has_the_version_and_the_requirements_of_the_base_install() -> None:
    recipe = read("recipe/meta.yaml")
    assert recipe["package"] == {"name": PROJECT["name"], "version": PROJECT["version"]}
    wanted = {f"python {PROJECT['requires-python']}"}
    for each in PROJECT["dependencies"]:
        name, _, version = each.partition(">=")
        wanted.add(f"{CONDA_NAMES.get(name, name)} >={version}")
    assert set(recipe["requirements"]["run"]) == wanted
    assert recipe["about"]["license"] == PROJECT["license"]
    assert recipe["about"]["license_file"] == PROJECT["license-files"]


def test_the_image_copies_files_that_exist_and_installs_extras_that_exist() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    copied = [
        source
        for line in lines
        if line.startswith("COPY ") and "--from" not in line
        for source in line.split()[1:-1]
    ]
    assert copied
    for source in copied:
        assert (ROOT / source).exists(), source
    for name in PROJECT["license-files"]:
        assert any(name == each or name.startswith(f"{each}/") for each in copied), name
    extras = re.search(r"\.\[([a-z,]+)\]", (ROOT / "recipe/install.sh").read_text())
    assert extras is not None
    assert set(extras[1].split(",")) <= set(PROJECT["optional-dependencies"])


def test_services_of_compose_run_as_a_user_without_rights_on_read_only_files() -> None:
    services = read("compose.yaml")["services"]
    ours = {name: each for name, each in services.items() if each["image"] == "evroute"}
    assert set(ours) == {"serve", "app"}
    for each in ours.values():
        assert each["read_only"]
        assert each["cap_drop"] == ["ALL"]
    for each in services.values():
        assert all(port.startswith("127.0.0.1:") for port in each.get("ports", []))
    assert re.search(r"^USER [1-9]\d*$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)


def test_every_promised_name_exists(program: Program) -> None:
    promised = program("promised", HERE / "promised.py")
    existing = promised.names()
    gone = {
        f"{group} {name}"
        for group, names in promised.read().items()
        for name in {"", *names} - {"", *existing[group]}
        if group in existing
    } | (promised.read().keys() - existing.keys())
    assert not gone, "1.0 promised these: keep them, or name the change in CHANGELOG"


def test_every_requirement_of_the_base_install_and_of_reports_has_a_least_version(
    program: Program,
) -> None:
    pinned = program("least", HERE / "least.py").least(PROJECT)
    assert len(pinned) == len(PROJECT["dependencies"]) + len(
        PROJECT["optional-dependencies"]["report"]
    )
    assert "numpy==2.1" in pinned


def test_the_paper_cites_what_its_bibliography_holds() -> None:
    text = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
    bibliography = (ROOT / "paper" / "paper.bib").read_text(encoding="utf-8")
    cited = set(re.findall(r"@([a-z]+)", text.split("\n---\n", 1)[1]))
    assert cited == set(re.findall(r"^@\w+\{(\w+),", bibliography, re.M))


def deprecations(source: str) -> list[str]:
    """Return the sentences of the decorators ``deprecated`` of a source file."""
    return [
        str(getattr(call.args[0], "value", "")) if call.args else ""
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        for call in node.decorator_list
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "deprecated"
    ]


SENTENCE = re.compile(r"Use \S+\. \S+ goes in 1\.\d+\.")
"""What a name that is to go says, by docs/promises.md."""


def test_a_name_that_is_to_go_names_the_new_one_and_its_last_release() -> None:
    by_hand = '@deprecated("Use plan. route goes in 1.2.")\ndef route(): ...\n'
    assert [bool(SENTENCE.fullmatch(each)) for each in deprecations(by_hand)] == [True]
    assert not SENTENCE.fullmatch(deprecations('@deprecated("old")\nclass A: ...\n')[0])
    wrong = {
        path.name: said
        for path in (ROOT / "evroute").rglob("*.py")
        for said in deprecations(path.read_text(encoding="utf-8"))
        if not SENTENCE.fullmatch(said)
    }
    assert not wrong

    @deprecated("Use plan. route goes in 1.2.")
    def route() -> int:
        return 1

    with pytest.warns(DeprecationWarning, match=r"Use plan\. route goes in 1\.2\."):
        assert route() == 1
