"""Union of run folders: parts of one experiment, with other methods or seeds, become one folder."""

import json
from collections.abc import Sequence
from glob import escape
from pathlib import Path
from typing import Any

from evroute.errors import EvrouteError, require
from evroute.experiments.experiment import Experiment
from evroute.experiments.runs import Run, RunFolder
from evroute.files import replacing

KINDS = ("routes", "timings", "diagnostics", "beliefs", "parts")
"""Folders with a file for each run, in the order of writing: the last one ends a run."""
AXES = ("methods", "seeds", "first_seed")
"""Fields of an experiment in which the parts may differ."""


def unite(paths: Sequence[Path], out: Path) -> tuple[RunFolder, list[str]]:
    """Copy the finished runs of several folders into one, and return it with the runs it lacks.

    The union is the grid of all methods with all seeds of the folders. Without missing runs its
    tables equal the tables of the experiment played as a whole. ``simulate`` plays the missing
    ones.

    Parameters
    ----------
    paths
        Two or more run folders.
    out
        The folder: new, empty, or begun by the same union.

    Raises
    ------
    EvrouteError
        If a folder is no run folder, the experiments differ in more than methods and seeds, or
        there is a gap between the seeds.
    """
    require(len(paths) > 1, f"got {len(paths)} folder. Name two or more to merge")
    folders = [RunFolder(path) for path in paths]
    manifests = [folder.manifest() for folder in folders]
    for folder, manifest in zip(folders[1:], manifests[1:], strict=True):
        _check_equal(folders[0], manifests[0], folder, manifest)
    experiment = Experiment.model_validate(_configuration(manifests))
    versions = {name: each for one in manifests for name, each in one["versions"].items()}
    configuration = experiment.model_dump(mode="json", exclude_none=True)
    whole = RunFolder(out)
    with whole.writing(manifests[0] | {"configuration": configuration, "versions": versions}):
        runs, missing = list(experiment.runs()), []
        for run in runs:
            source = next((folder for folder in folders if folder.is_finished(run)), None)
            if source is not None:
                _copy(run, source, whole)
            elif not whole.is_finished(run):
                missing.append(run.name)
        whole.merge(runs)
    return whole, missing


def _check_equal(
    first: RunFolder, expected: dict[str, Any], folder: RunFolder, found: dict[str, Any]
) -> None:
    """Refuse folders whose experiments, networks, vehicles or versions differ."""
    one, other = _without_axes(expected), _without_axes(found)
    versions = one["versions"].keys() & other["versions"].keys()
    pairs = {name: (one["versions"][name], other["versions"][name]) for name in versions}
    pairs |= {name: (one.get(name), other.get(name)) for name in one | other}
    pairs.pop("versions")
    different = sorted(name for name, (here, there) in pairs.items() if here != there)
    require(
        not different,
        f"{first.path} and {folder.path} are not parts of one experiment: they differ in "
        f"{', '.join(different)}. Parts may differ in methods and seeds",
    )


def _without_axes(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest with the fields of its configuration among its own, without the axes."""
    require(
        {"configuration", "versions"} <= manifest.keys(),
        "a folder to merge holds no runs of 'evroute simulate'. Name its run folders",
    )
    fields = manifest["configuration"].items()
    return {name: value for name, value in manifest.items() if name != "configuration"} | {
        name: value for name, value in fields if name not in AXES
    }


def _configuration(manifests: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the configuration of the union of experiments."""
    parts = [manifest["configuration"] for manifest in manifests]
    methods = {json.dumps(each, sort_keys=True): each for part in parts for each in part["methods"]}
    seeds: set[int] = set()
    for part in parts:
        first = part.get("first_seed", 0)
        seeds |= set(range(first, first + part["seeds"]))
    least, most = min(seeds), max(seeds)
    if gap := sorted(set(range(least, most)) - seeds):
        raise EvrouteError(
            f"no folder has seed {gap[0]}, between {least} and {most}. Name the folders of all "
            "seeds"
        )
    first_seed = {"first_seed": least} if least else {}
    whole = {name: value for name, value in parts[0].items() if name != "first_seed"}
    return whole | {"methods": [*methods.values()], "seeds": len(seeds)} | first_seed


def _copy(run: Run, source: RunFolder, target: RunFolder) -> None:
    for kind in KINDS:
        for pattern in (f"{escape(run.name)}.*", f"{escape(run.name)}@*"):
            for path in (source.path / kind).glob(pattern):
                with replacing(target.path / kind / path.name) as temporary:
                    temporary.write_bytes(path.read_bytes())
