"""Files are replaced whole, or not at all."""

import os
from pathlib import Path

import pytest

from evroute.files import replacing


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "old.txt"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError), replacing(path) as temporary:
        temporary.write_text("half \ud800", encoding="utf-8")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link_to_the_new_file(tmp_path: Path) -> None:
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    link.symlink_to(real)
    with replacing(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert real.read_text() == "new"


def test_a_pipe_is_written_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with replacing(pipe) as temporary:
        temporary.write_text("through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert pipe.is_fifo()


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
