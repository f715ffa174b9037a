"""Files are replaced whole, or not at all."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evroute.errors import EvrouteError
from evroute.files import private_folder, replacing

KILLED = """
import os, signal, sys
from pathlib import Path
from evroute.files import replacing
with replacing(Path(sys.argv[1])) as temporary:
    temporary.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "old.txt"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError), replacing(path) as temporary:
        temporary.write_text("half \ud800", encoding="utf-8")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_replaces_a_link_and_leaves_its_target(tmp_path: Path) -> None:
    for real in (tmp_path / "real.txt", tmp_path / "folder"):
        link = tmp_path / "link.txt"
        link.symlink_to(real)
        with replacing(link) as temporary:
            temporary.write_text("new")
        assert not link.is_symlink()
        assert link.read_text() == "new"
        assert not real.exists()
        link.unlink()


def test_a_link_that_a_user_names_stays_a_link_to_the_new_file(tmp_path: Path) -> None:
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    link.symlink_to(real)
    with replacing(link, follow=True) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert real.read_text() == "new"


def test_a_pipe_is_written_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with replacing(pipe, follow=True) as temporary:
        temporary.write_text("through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert pipe.is_fifo()


def test_a_full_disk_is_refused_by_name() -> None:
    full = Path("/dev/full")
    with (
        pytest.raises(OSError, match="No space left") as refused,
        replacing(full, follow=True) as temporary,
    ):
        temporary.write_text("more")
    assert (refused.value.errno, refused.value.filename) == (errno.ENOSPC, str(full))


def test_a_folder_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError) as refused, replacing(tmp_path):
        pass
    assert refused.value.filename == str(tmp_path)


def test_a_new_file_has_the_permissions_that_the_user_gives_new_files(tmp_path: Path) -> None:
    plain, path = tmp_path / "plain.txt", tmp_path / "new.txt"
    plain.touch()
    with replacing(path) as temporary:
        temporary.touch()
    assert path.stat().st_mode == plain.stat().st_mode


def test_the_next_writer_deletes_files_of_a_killed_writer(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, tmp_path / "a.npz"], check=False)
    assert done.returncode == -9
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".a.npz.evroute-")
    mine = tmp_path / ".a.npz.backup.npz"
    mine.touch()
    with replacing(tmp_path / "b.txt") as temporary:
        temporary.write_text("whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == [mine.name, "b.txt"]


def test_a_writer_deletes_no_file_that_another_one_writes(tmp_path: Path) -> None:
    with replacing(tmp_path / "a.txt") as first:
        first.write_text("first")
        with replacing(tmp_path / "a.txt") as second:
            second.write_text("second")
        assert first.exists()
    assert (tmp_path / "a.txt").read_text() == "first"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_private_folder_is_its_users_alone(tmp_path: Path) -> None:
    made = private_folder(tmp_path / "above" / "cache")
    assert made.stat().st_mode & 0o777 == 0o700
    assert private_folder(made) == made
    made.chmod(0o777)
    with pytest.raises(EvrouteError, match=f"other users can write {made}. Run: chmod 700 {made}"):
        private_folder(made)


def test_a_folder_of_another_user_is_refused(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(EvrouteError, match="belongs to another user"):
        private_folder(tmp_path)
