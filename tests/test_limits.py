"""Every limit at its border: one below is read, one above is refused; variables move it."""

import bz2
import gzip
import json
import re
import time
import zipfile
from pathlib import Path
from xml.parsers import expat

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evroute import limits, tables
from evroute.errors import EvrouteError, LimitError
from evroute.limits import LIMITS, limit, read_toml


def lowered(monkeypatch: pytest.MonkeyPatch, name: str, value: int) -> None:
    monkeypatch.setenv(f"EVROUTE_MAX_{name.upper()}", str(value))


@pytest.mark.parametrize("name", LIMITS)
def test_each_limit_is_changed_by_the_environment(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert limit(name) == LIMITS[name][0]
    lowered(monkeypatch, name, 7)
    assert limit(name) == 7
    limits.check(name, 7, "it has {}")
    with pytest.raises(
        LimitError, match=r"it has 8. The limit is 7, and EVROUTE_MAX_\w+ changes it"
    ):
        limits.check(name, 7.2, "it has {}")


@pytest.mark.parametrize("text", ["", "0", "-1", "many", "1e6", "9" * 30])
def test_a_limit_that_is_no_number_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVROUTE_MAX_NETWORK_MB", text)
    with pytest.raises(EvrouteError, match=f"EVROUTE_MAX_NETWORK_MB is '{text}'"):
        limit("network_mb")


@pytest.mark.parametrize(
    ("parse", "good", "bad"),
    [
        (limits.parse_toml, "x = " + "[" * 99 + "]" * 99, "x = " + "[" * 100 + "]" * 100),
        (limits.parse_toml, ".".join("a" * 100) + " = 1", ".".join("a" * 101) + " = 1"),
        (limits.parse_toml, f"[{'.'.join('a' * 99)}]\nb = 1", f"[{'.'.join('a' * 101)}]\nb = 1"),
        (limits.parse_toml, "x = '...'", '\n[["a" . b' + " . c" * 99 + "]]"),
        (limits.parse_toml, "x = '...'", "x = " + "[" * 100_000),
        (limits.parse_json, "[" * 100 + "]" * 100, "[" * 101 + "]" * 101),
        (limits.parse_json, '{"a":' * 100 + "1" + "}" * 100, '{"a":' * 101 + "1" + "}" * 101),
        (limits.parse_json, "[[], {}]", "[" * 100_000),
    ],
)
def test_nesting_of_toml_and_json(parse, good: str, bad: str) -> None:
    parse(good, "it")
    with pytest.raises(LimitError, match=r"^it\b.* (nested|parts)"):
        parse(bad, "it")


def test_a_key_of_a_hundred_thousand_parts_is_refused_at_once() -> None:
    # tomllib copies each beginning of a key: 100,000 parts would take minutes
    started = time.process_time()
    for bad in (".".join("a" * 100_000) + " = 1", '"a".' * 100_000 + "b = 1", "a" * 500_000):
        with pytest.raises(ValueError if bad[-1] == "a" else LimitError):
            limits.parse_toml(bad, "it")
    assert time.process_time() - started < 20


def test_long_files_are_refused_before_they_are_read(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "x.toml"
    path.write_text("x = '" + "a" * 999_994 + "'")
    assert len(read_toml(path, "file")["x"]) == 999_994
    path.write_text("x = '" + "a" * 999_995 + "'")
    with pytest.raises(LimitError, match=r"x\.toml has 2 MB or more. The limit is 1"):
        read_toml(path, "file")
    with pytest.raises(LimitError):
        read_toml(Path("/dev/zero"), "file")
    lowered(monkeypatch, "toml_mb", 2)
    read_toml(path, "file")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_a_file_of_32_mb_may_be_packed_well_and_a_larger_one_less(pack, tmp_path: Path) -> None:
    path = tmp_path / "x"

    def length() -> int:
        with limits.unpacked(path) as stream:
            return sum(map(len, iter(lambda: stream.read(1 << 20), b"")))

    path.write_bytes(pack(bytes(32_000_000)))
    assert length() == 32_000_000
    path.write_bytes(pack(bytes(32_000_001)))
    with pytest.raises(LimitError, match=r"times its size or more. The limit is 30"):
        length()
    # 2 MB that cannot be packed: 33 MB are then less than 30 times as much
    path.write_bytes(pack(np.random.default_rng(0).bytes(2_000_000) + bytes(31_000_000)))
    assert length() == 33_000_000


def test_a_file_that_is_not_packed_has_no_such_limit(tmp_path: Path, monkeypatch) -> None:
    lowered(monkeypatch, "unpacked_mb", 1)
    (tmp_path / "x").write_bytes(bytes(2_000_000))
    with limits.unpacked(tmp_path / "x") as stream:
        assert len(stream.read()) == 2_000_000
    (tmp_path / "x.gz").write_bytes(gzip.compress(bytes(2_000_000)))
    with (
        limits.unpacked(tmp_path / "x.gz") as stream,
        pytest.raises(LimitError, match=r"2 MB or more. The limit is 1"),
    ):
        stream.read()


def archive(path: Path, *, elements: int, dtype: str, announced: tuple[int, ...] = ()) -> Path:
    head = str({"descr": dtype, "fortran_order": False, "shape": announced or (elements,)})
    magic = b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr("x.npy", magic + bytes(elements * np.dtype(dtype).itemsize))
    return path


def test_arrays_count_eight_bytes_an_element(tmp_path: Path) -> None:
    limits.check_archive(archive(tmp_path / "good.npz", elements=3_999_900, dtype="<f8"))
    limits.check_archive(archive(tmp_path / "good.npz", elements=3_999_900, dtype="|i1"))
    for dtype in ("<f8", "|i1", "|b1"):  # all become eight bytes as columns of a network
        with pytest.raises(LimitError, match="times its size"):
            limits.check_archive(archive(tmp_path / "bad.npz", elements=4_000_100, dtype=dtype))
    for shape in ((10**12,), (10**6, 10**6)):
        with pytest.raises(LimitError, match="8,000,000 MB or more"):
            limits.check_archive(
                archive(tmp_path / "bad.npz", elements=1, dtype="|i1", announced=shape)
            )


def parsed(path: Path) -> list[str]:
    tags: list[str] = []
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda tag, attributes: tags.append(tag)
    with limits.unpacked(path) as stream:
        limits.parse_xml(parser, stream, path)
    return tags


def test_nesting_and_tags_of_xml(tmp_path: Path) -> None:
    path = tmp_path / "x.xml"
    path.write_text("<a>" * 100 + "</a>" * 100)
    assert parsed(path) == ["a"] * 100
    path.write_text("<r>" + "<a/>" * 1000 + "</r>")
    assert len(parsed(path)) == 1001
    path.write_text("<a>" * 101 + "</a>" * 101)
    with pytest.raises(LimitError, match="XML is nested 101 levels deep"):
        parsed(path)
    path.write_text(f"<a b='{'x' * 900_000}'/>")
    assert parsed(path) == ["a"]
    for text in (f"<a b='{'>' * 1_200_000}'/>", f"<a><!--{'<' * 1_200_000}--></a>"):
        path.write_text(text)
        with pytest.raises(LimitError, match="has more than 1,000,000 bytes"):
            parsed(path)


def test_elements_of_xml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lowered(monkeypatch, "elements", 5)
    path = tmp_path / "x.xml"
    path.write_text("<r><a/><a b='1'/><a/></r>")
    limits.check_xml(path, counted=True)
    path.write_text("<r><a/><a b='1' c='2'/><a/></r>")
    limits.check_xml(path)
    with pytest.raises(LimitError, match="6 XML elements and attributes or more"):
        limits.check_xml(path, counted=True)


def test_columns_rows_and_texts_of_parquet(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "x.parquet"

    def read(table: pa.Table) -> pa.Table:
        pq.write_table(table, path)
        return tables.read_foreign(path)

    good = pa.table({"a": ["x" * 100] * 3, "b": [1.0, 2.0, 3.0]})
    assert read(good)["a"].cast(pa.string()).equals(good["a"])
    least = {"columns": (1, "2 columns"), "rows": (2, "3 rows"), "characters": (99, "100 bytes")}
    for name, (most, found) in least.items():
        with monkeypatch.context() as patch:
            lowered(patch, name, most)
            with pytest.raises(LimitError, match=f"has {found}"):
                read(good)
    for column in ([[1]], [{"a": 1}]):
        with pytest.raises(EvrouteError, match="column 'a': it holds lists or structures"):
            read(pa.table({"a": column}))


def test_parquet_that_repeats_a_text_is_refused_before_it_is_copied(tmp_path: Path) -> None:
    path, text = tmp_path / "x.parquet", pa.array(["x" * 9_000])
    for column in (text, text.cast(pa.large_string())):
        once = pa.DictionaryArray.from_arrays(np.zeros(10_000, np.int32), column)
        pq.write_table(pa.table({"a": once}), path)
        assert path.stat().st_size < 100_000
        with pytest.raises(LimitError, match="times its size"):  # 90 MB
            tables.read_foreign(path)
    pq.write_table(pa.table({"a": np.zeros(5_000_000)}), path)
    with pytest.raises(LimitError, match="times its size"):  # 40 MB
        tables.read_foreign(path)


def test_lines_of_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lowered(monkeypatch, "columns", 2)
    lowered(monkeypatch, "characters", 5)
    path = tmp_path / "x.csv"
    path.write_text("123456789\n1\n")
    with path.open() as handle:
        assert list(limits.lines(handle, "it")) == ["123456789\n", "1\n"]
    path.write_text("1\n12345678901")
    with path.open() as handle, pytest.raises(LimitError, match="it: a line has more than 10"):
        list(limits.lines(handle, "it"))


def test_a_call_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    assert limits.within_time(lambda over: 5, "slow") == 5
    with pytest.raises(KeyError, match="own"):
        limits.within_time(lambda over: {}["own"], "slow")
    lowered(monkeypatch, "download_s", 1)
    events = []
    started = time.monotonic()
    with pytest.raises(LimitError, match=r"^slow \(after 1 s, EVROUTE_MAX_DOWNLOAD_S"):
        limits.within_time(lambda over: events.append(over.wait(1200)), "slow")
    assert time.monotonic() - started < 600
    while not events:
        time.sleep(0.05)
    assert events == [True]


def test_the_page_has_each_limit_once() -> None:
    hook = Path(__file__).parents[1] / "docs/hooks/reference.py"
    assert '"reference/limits.md": limits' in hook.read_text()
    assert all(re.fullmatch(r"[A-Z][^.]*\.", meaning) for _, meaning in LIMITS.values())
    json.dumps(LIMITS)


def test_xml_in_an_encoding_that_nobody_knows_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "roads.xml"
    path.write_bytes(b'<?xml version="1.0" encoding="nan"?><osm/>')
    with pytest.raises(expat.ExpatError, match="unknown encoding"):
        limits.check_xml(path)
