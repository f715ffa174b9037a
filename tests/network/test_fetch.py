"""Published networks come whole, once, and never with wrong bytes."""

import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evroute.errors import EvrouteError, LimitError, UnknownNameError
from evroute.network.sources import fetch
from evroute.network.sources.fetch import Published

CONTENT = bytes(range(256)) * 2000


@pytest.fixture
def wanted(file_server: Any, tmp_path: Path) -> Published:
    file_server.files["repo/commit/city.net.xml"] = CONTENT
    (tmp_path / "content").write_bytes(CONTENT)
    blob = fetch.git_blob(tmp_path / "content")
    return Published("city", f"{file_server.url}/repo/commit/city.net.xml", blob, "nobody")


def download(wanted: Published, folder: Path) -> Path:
    return fetch.download(wanted, folder, lambda so_far, total: None)


def test_a_file_is_downloaded_once(wanted: Published, file_server: Any, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    path = fetch.download(wanted, tmp_path, lambda so_far, total: seen.append((so_far, total)))
    assert path == tmp_path / wanted.git_blob / "city.net.xml"
    assert path.read_bytes() == CONTENT
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert download(wanted, tmp_path) == path
    assert len(file_server.asked) == 1


def test_a_damaged_copy_is_downloaded_again(wanted: Published, tmp_path: Path) -> None:
    path = download(wanted, tmp_path)
    path.write_bytes(CONTENT[:-1])
    assert download(wanted, tmp_path).read_bytes() == CONTENT


def test_a_download_that_breaks_off_keeps_nothing_and_begins_again(
    wanted: Published, file_server: Any, tmp_path: Path
) -> None:
    file_server.cut_after = 200_000
    with pytest.raises(
        EvrouteError, match=r"city\.net\.xml was interrupted \(.*Check the internet"
    ):
        download(wanted, tmp_path)
    assert list((tmp_path / wanted.git_blob).iterdir()) == []
    file_server.cut_after = None
    assert download(wanted, tmp_path).read_bytes() == CONTENT
    assert [p.name for p in (tmp_path / wanted.git_blob).iterdir()] == ["city.net.xml"]


def test_wrong_bytes_are_refused_and_not_kept(
    wanted: Published, file_server: Any, tmp_path: Path
) -> None:
    file_server.files["repo/commit/city.net.xml"] = CONTENT[:-1] + b"!"
    with pytest.raises(EvrouteError, match=r"not the published file .*Nothing was kept"):
        download(wanted, tmp_path)
    assert list((tmp_path / wanted.git_blob).iterdir()) == []


@pytest.mark.parametrize("announced", ["abc", "-5", "9" * 5000, "1e6"])
def test_a_length_that_is_no_number_is_left_out(
    wanted: Published, file_server: Any, tmp_path: Path, announced: str
) -> None:
    file_server.announced = announced
    seen: list[tuple[int, int]] = []
    path = fetch.download(wanted, tmp_path, lambda so_far, total: seen.append((so_far, total)))
    assert path.read_bytes() == CONTENT
    assert seen[-1] == (len(CONTENT), 0)


@pytest.mark.parametrize("announced", [None, "abc", "2000000000"])
def test_a_download_that_is_too_large_is_refused_and_not_kept(
    wanted: Published,
    file_server: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    announced: str | None,
) -> None:
    file_server.announced = announced
    file_server.files["repo/commit/city.net.xml"] = bytes(3_000_000)
    monkeypatch.setenv("EVROUTE_MAX_DOWNLOAD_MB", "2")
    with pytest.raises(
        LimitError, match=r"has [\d,]+ MB or more. The limit is 2, and EVROUTE_MAX_DOWN"
    ):
        download(wanted, tmp_path)
    assert list((tmp_path / wanted.git_blob).iterdir()) == []


def test_a_slow_download_ends_at_its_time_limit(
    wanted: Published, file_server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file_server.drip_s = 0.01
    monkeypatch.setenv("EVROUTE_MAX_DOWNLOAD_S", "1")
    started = time.monotonic()
    with pytest.raises(LimitError, match=r"was interrupted \(after 1 s, EVROUTE_MAX"):
        download(wanted, tmp_path)
    assert time.monotonic() - started < 600, "the whole file takes 85 minutes"
    file_server.drip_s = 0.0
    monkeypatch.delenv("EVROUTE_MAX_DOWNLOAD_S")
    assert download(wanted, tmp_path).read_bytes() == CONTENT


def test_a_missing_file_and_a_missing_network_are_told_in_one_line(
    wanted: Published, tmp_path: Path
) -> None:
    with pytest.raises(EvrouteError, match=r"cannot be downloaded: 404"):
        download(replace(wanted, url=wanted.url.replace("city.net", "gone")), tmp_path)
    with pytest.raises(EvrouteError, match="Check the internet connection") as caught:
        download(replace(wanted, url="http://127.0.0.1:9/city.net.xml"), tmp_path)
    assert "\n" not in str(caught.value)


def test_the_id_of_a_file_equals_git(tmp_path: Path) -> None:
    (tmp_path / "hello").write_bytes(b"hello\n")
    # git hash-object: https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
    assert fetch.git_blob(tmp_path / "hello") == "ce013625030ba8dba906f756967f9e9ca394464a"
    (tmp_path / "content").write_bytes(CONTENT)
    told = subprocess.run(
        ["git", "hash-object", tmp_path / "content"], capture_output=True, text=True, check=True
    )
    assert fetch.git_blob(tmp_path / "content") == told.stdout.strip()


def test_both_cities_are_published_at_a_fixed_commit() -> None:
    assert set(fetch.published()) == {"luxembourg", "monaco"}
    for entry in fetch.published().values():
        assert len(entry.git_blob) == 40
        assert any(len(part) == 40 for part in entry.url.split("/"))
    with pytest.raises(
        UnknownNameError, match=r"'atlantis' is published. There are: luxembourg, monaco"
    ):
        fetch.find("atlantis")
