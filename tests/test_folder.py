"""Folders of results: one writer at a time, known by its process."""

import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from evroute.errors import EvrouteError
from evroute.folder import Folder

HOLD = """
import sys
from pathlib import Path
from evroute.folder import Folder
with Folder(Path(sys.argv[1])).locked():
    print("held", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def held(path: Path) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process


def test_the_writer_of_a_folder_is_known_by_its_process(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    assert folder.writer() is None
    with held(tmp_path) as process:
        assert folder.writer() == (process.pid, platform.node())
        process.kill()
    assert folder.writer() is None
    with folder.locked():
        assert folder.writer() == (os.getpid(), platform.node())
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_a_second_writer_waits_and_then_is_refused_in_one_line(tmp_path: Path, caplog) -> None:
    with held(tmp_path) as process:
        refused = pytest.raises(EvrouteError, match=r"another process is writing .*. Wait for it")
        with refused, Folder(tmp_path).locked(1.2):
            pytest.fail("two writers at once")
        (notice,) = caplog.messages
        assert "waiting 1.2 s for it" in notice
        process.stdin.write("\n")
        process.stdin.flush()
        with Folder(tmp_path).locked(60.0):
            pass


def test_a_first_writer_that_was_killed_leaves_a_folder_that_can_be_used(tmp_path: Path) -> None:
    (tmp_path / ".manifest.json.evroute-abcd1234.json").write_text("{")
    (tmp_path / ".lock").touch()
    (tmp_path / "beliefs").mkdir()
    with pytest.raises(EvrouteError, match="not a folder of runs"):
        Folder(tmp_path).open({"a": 1})
    (tmp_path / "beliefs").rmdir()
    with Folder(tmp_path).writing({"a": 1}):
        pass
    assert {path.name for path in tmp_path.iterdir()} == {".lock", "manifest.json"}


def test_files_of_killed_writers_below_a_folder_are_deleted(tmp_path: Path) -> None:
    (tmp_path / "routes").mkdir()
    left = tmp_path / "routes" / ".a.parquet.evroute-abcd1234.parquet"
    left.touch()
    (tmp_path / "routes" / "a.parquet").touch()
    with Folder(tmp_path).locked():
        assert not left.exists()
        assert (tmp_path / "routes" / "a.parquet").exists()


@pytest.mark.parametrize("name", ["configuration", "method", "networks", "vehicle"])
def test_a_manifest_whose_tables_are_none_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    (tmp_path / "manifest.json").write_text(f'{{"kind": "learned", "{name}": 5}}')
    with pytest.raises(EvrouteError, match=rf"^{name} in .*manifest\.json is no table. .*--out$"):
        Folder(tmp_path).manifest()
