"""THIRD_PARTY.md names each direct dependency with the licence that the package states."""

import re
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
OWN = "evroute"
NOT_FOR_TESTS = {"benchmarks", "release"}
"""Extras that `dev` does not bring."""
CLASSES = {
    "MIT License": {"MIT"},
    "BSD License": {"BSD-2-Clause", "BSD-3-Clause"},
    "Apache Software License": {"Apache-2.0"},
}
"""Licences that a classifier of PyPI stands for."""
TEXTS = {
    "MIT": "Permission is hereby granted, free of charge",
    "Apache-2.0": "Apache License",
    "BSD-2-Clause": "Redistribution and use in source and binary forms",
    "BSD-3-Clause": "Redistribution and use in source and binary forms",
}
THIRD_CLAUSE = re.compile(r"used\s+to\s+endorse")
"""What BSD-3-Clause has and BSD-2-Clause has not."""
FILE = re.compile(r"(licen[cs]e|copying)(\.\w+)?", re.IGNORECASE)


def dependencies() -> dict[str, set[str]]:
    """Return the extras of each direct dependency."""
    project = PROJECT["project"]
    groups = {"(base)": project["dependencies"], "(build)": PROJECT["build-system"]["requires"]}
    groups |= project["optional-dependencies"]
    found: dict[str, set[str]] = {}
    for group, requirements in groups.items():
        for requirement in requirements:
            name = re.match(r"[\w.-]+", requirement)[0]
            if name != OWN:
                found.setdefault(name, set()).add(group)
    return found


def table() -> dict[str, tuple[set[str], str]]:
    """Return the extras and the licence of each package of the page."""
    page = (ROOT / "THIRD_PARTY.md").read_text(encoding="utf-8").split("## Python packages")[1]
    rows = re.findall(r"^\| ([\w.-]+) \| ([^|]+) \| ([^|]+) \|$", page, re.MULTILINE)
    return {
        name: (set(extras.replace("`", "").split(", ")), licence)
        for name, extras, licence in rows
        if name not in ("package", "---")
    }


def installed(name: str) -> Distribution:
    try:
        return distribution(name)
    except PackageNotFoundError:
        assert dependencies()[name] <= NOT_FOR_TESTS, f"{name} is not installed: make setup"
        pytest.skip(f"{name} is not installed")


def texts(package: Distribution) -> list[str]:
    """Return the licence texts that a package ships beside its metadata."""
    files = [
        file
        for file in package.files or ()
        if "dist-info" in str(file) and FILE.fullmatch(file.name)
    ]
    return [file.read_text(encoding="utf-8") for file in files]


def states_licence(package: Distribution) -> bool:
    about = package.metadata
    classifiers = about.get_all("Classifier") or ()
    return bool(
        about.get("License-Expression")
        or about.get("License")
        or any(each.startswith("License ::") for each in classifiers)
        or texts(package)
    )


def test_the_page_has_every_direct_dependency_with_its_extras() -> None:
    assert {name: extras for name, (extras, _) in table().items()} == dependencies()


@pytest.mark.parametrize("name", sorted(dependencies()))
def test_the_licence_equals_the_installed_package(name: str) -> None:
    package, licence = installed(name), table()[name][1]
    if expression := package.metadata.get("License-Expression"):
        assert licence == expression
        return
    classifiers = package.metadata.get_all("Classifier") or ()
    for classifier in classifiers:
        kind = classifier.rpartition(" :: ")[2]
        assert kind not in CLASSES or licence in CLASSES[kind]
    shipped = [text for text in texts(package) if TEXTS[licence] in text]
    if shipped and licence.startswith("BSD"):
        clauses = any(THIRD_CLAUSE.search(text) for text in shipped)
        assert licence == ("BSD-3-Clause" if clauses else "BSD-2-Clause")
    assert shipped or name == "routingkit-cch", f"{name} ships no text of {licence}"


def brought_by(extra: str) -> set[str]:
    """Return the direct dependencies of an extra and of the extras that it brings."""
    extras = PROJECT["project"]["optional-dependencies"]
    names: set[str] = set()
    for requirement in extras[extra]:
        name = re.match(r"[\w.-]+", requirement)[0]
        if name == OWN:
            for other in re.search(r"\[(.+)\]", requirement)[1].split(","):
                names |= brought_by(other)
        else:
            names.add(name)
    return names


def test_all_brings_only_packages_that_state_their_licence_and_dev_brings_cch_too() -> None:
    assert [name for name in brought_by("all") if not states_licence(distribution(name))] == []
    assert not states_licence(distribution("routingkit-cch")), "it may be part of `all` again"
    assert brought_by("dev") == brought_by("all") | {
        name
        for name, extras in dependencies().items()
        if extras & {"cch", "dask", "docs", "notebooks", "sumo", "dev"}
    }
