"""Which files names mean."""

from __future__ import annotations

import gzip
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from pyarrow import fs

from kafka_admin_proto.capture.tcp.segments import IN_ORDER
from kafka_admin_proto.tables.ingest import files, locations, packets
from kafka_admin_proto.tables.ingest.files import OpenFile, list_files, parts_of, plan, probe_files
from kafka_admin_proto.tables.ingest.locations import absolute, located
from kafka_admin_proto.tables.ingest.packets import read_part
from tests.capture.packets import KINDS, conversation, pcap
from tests.capture.tcp.test_exported import exported
from tests.capture.test_captures import USUAL


def test_a_name_with_brackets_is_a_name_first(tmp_path: Path) -> None:
    """Shells hand names on as they are."""
    odd, plain = tmp_path / "broker[1].pcap", tmp_path / "broker1.pcap"
    odd.touch()
    plain.touch()
    assert list_files([str(odd)]) == [str(odd)]
    assert list_files([str(tmp_path / "broker*")]) == [str(plain), str(odd)]
    odd.unlink()
    assert list_files([str(odd)]) == [str(plain)]


@pytest.mark.parametrize("here", ["captures", "of [1] day*"])
@pytest.mark.parametrize(
    "path", ["a[1].pcap", "./a[1].pcap", "a*.pcap", ".", "../{here}/a[1].pcap"]
)
def test_names_hold_in_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, here: str, path: str
) -> None:
    """However a file is named, and whatever the current folder is called."""
    folder = tmp_path / here
    folder.mkdir()
    (folder / "a[1].pcap").touch()
    monkeypatch.chdir(folder)
    given = path.format(here=here)
    found, everywhere = list_files([given]), absolute(given)
    monkeypatch.chdir("/")
    assert [Path(located(each)[1]).resolve() for each in found] == [folder / "a[1].pcap"]
    assert list_files([everywhere]) == list_files(found) == found


@pytest.mark.parametrize("path", ["s3://bucket/2026?region=eu", "file:///a", "/a/b", ""])
def test_names_that_stay(path: str) -> None:
    assert absolute(path) == path


def test_uris_are_no_patterns(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no /.*\*"):
        list_files([f"file://{tmp_path}/2026-*"])


def test_two_asterisks_stand_for_any_folders(tmp_path: Path) -> None:
    """And leave out what a folder's listing does."""
    for name in ("a.pcap", "1/b.pcap", "1/2/c.pcap", "1/2/.d.pcap", "_temporary/e.pcap", "1/n.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    wanted = [str(tmp_path / each) for each in ("1/2/c.pcap", "1/b.pcap", "a.pcap")]
    assert list_files([str(tmp_path / "**" / "*.pcap")]) == wanted
    assert sorted(list_files([str(tmp_path / "**")])) == [
        *wanted[:2], str(tmp_path / "1/n.txt"), wanted[2],
    ]  # fmt: skip


@pytest.mark.parametrize("pattern", ["_l*/**/*.pcap", "**/_l*/*/*.pcap", "_l[[]1]/**"])
def test_hidden_folders_that_a_pattern_names(
    pattern: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So does the folder of the process, whose name `absolute` puts in front."""
    here = tmp_path / "_here[1]"
    file = here / "_l[1]" / "a" / "x.pcap"
    file.parent.mkdir(parents=True)
    file.touch()
    monkeypatch.chdir(here)
    for each in (pattern, absolute(pattern)):
        assert list_files([each]) == [str(file)]
    with pytest.raises(FileNotFoundError):
        list_files([absolute("**/*.pcap")])


@pytest.mark.parametrize("scheme", ["file:", "file://"])
def test_files_as_spark_names_them(tmp_path: Path, scheme: str) -> None:
    file = tmp_path / "a [1].pcap"
    file.write_bytes(pcap(conversation(USUAL)))
    name = f"{scheme}{tmp_path}/a%20[1].pcap"
    assert absolute(name) == name
    assert located(name)[1] == str(file)
    assert list_files([name]) == list_files([f"{scheme}{tmp_path}"]) == [str(file)]


def test_files_of_another_machine() -> None:
    with pytest.raises(ValueError, match="names the machine broker-1"):
        list_files(["file://broker-1/captures"])


@pytest.mark.parametrize("scheme", ["s3a", "s3n"])
def test_stores_as_hadoop_names_them(scheme: str) -> None:
    system, path = located(f"{scheme}://bucket/2026/a.pcap?region=eu-west-3")
    assert isinstance(system, fs.S3FileSystem)
    assert (system.region, path) == ("eu-west-3", "bucket/2026/a.pcap")


def ordinals(names: list[Path], split_size: int) -> list[int]:
    """Those of all packets, in the order in which the parts of these files are read."""
    found = []
    for part in plan(list(map(str, names)), split_size):
        for batch in read_part(part):
            found += batch["packet_ordinal"].to_pylist()
    return found


@pytest.mark.parametrize("bits", [10, 34])
def test_places_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bits: int) -> None:
    """Along the files and in each, however large one is: one takes several ranks, if need be."""
    names = []
    for number in range(3):
        turns = conversation(USUAL, size=40, ts=1_700_000_000_000_000 + number * 10_000_000)
        data = pcap(turns)
        names.append(tmp_path / f"{number}.pcap")
        names[-1].write_bytes(gzip.compress(data) if number == 1 else data)
    monkeypatch.setattr(files, "POSITION_BITS", bits)
    monkeypatch.setattr(packets, "POSITION_BITS", bits)
    found = ordinals(names, split_size=5000)
    assert len(data) > 1 << 12
    assert len(found) == 3 * len(turns)
    assert all(one < other for one, other in pairwise(found))


def test_more_packets_than_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is compressed takes one rank, however large it becomes."""
    name = tmp_path / "large.pcap.gz"
    name.write_bytes(gzip.compress(pcap(conversation(USUAL, size=40))))
    monkeypatch.setattr(packets, "POSITION_BITS", 5)
    (part,) = plan([str(name)])
    rows = [row for batch in read_part(part) for row in batch.to_pylist()]
    assert len(rows) == 32
    assert "are not read" in rows[-1]["problem"]


def test_many_files(tmp_path: Path) -> None:
    """A file a minute of each of a hundred brokers, for years."""
    name = tmp_path / "one.pcap"
    name.write_bytes(pcap(conversation(USUAL)))
    probes = probe_files([str(name)], 1 << 20)
    (part,) = parts_of(probes, 8 * 365 * 24 * 60 * 100)
    ordinal = next(read_part(part))["packet_ordinal"][0].as_py()
    assert 0 < ordinal < 1 << 63
    with pytest.raises(ValueError, match="a capture has at most"):
        parts_of(probes, files.MOST_RANKS)


def test_a_format_that_is_named(tmp_path: Path) -> None:
    log, capture = tmp_path / "a.txt", tmp_path / "b.pcap"
    log.write_text("no request yet\n")
    capture.write_bytes(pcap(conversation(USUAL)))
    names = [str(log), str(capture)]
    kinds = {
        given: [part.kind for part in plan(names, input_format=given)]
        for given in ("auto", "pcap", "request-log")
    }
    assert kinds == {
        "auto": ["pcap", "pcap"], "pcap": ["pcap", "pcap"], "request-log": ["log", "log"],
    }  # fmt: skip
    with pytest.raises(ValueError, match=r"no input format 'hex'; there are auto, pcap, request-l"):
        plan(names, input_format="hex")


def test_links_that_lead_nowhere_are_listed(tmp_path: Path) -> None:
    """They are no folder's missing file: who opens one says so, and reads the others."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "a.pcap").touch()
    for name in ("b.pcap", "folder/c.pcap", "folder/.hidden"):
        (tmp_path / name).symlink_to("/nowhere/x.pcap")
    wanted = [str(tmp_path / name) for name in ("a.pcap", "b.pcap", "folder/c.pcap")]
    assert list_files([str(tmp_path)]) == wanted
    assert list_files(wanted) == wanted


def test_hadoops_client_that_is_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrow lists the ninety places where it has looked."""

    def from_uri(uri: str) -> None:
        raise OSError("Unable to load libjvm\ndlopen(/a/libjvm.so) failed\ndlopen(/b) failed")

    monkeypatch.setattr(
        locations, "fs", SimpleNamespace(FileSystem=SimpleNamespace(from_uri=from_uri))
    )
    with pytest.raises(
        OSError, match=r"^hdfs://nodes:8020: Unable to load libjvm; .* CLASSPATH say$"
    ):
        located("hdfs://nodes:8020/captures")


def test_a_uri_with_options() -> None:
    """As `pyarrow.fs.FileSystem.from_uri` has them, which talks to nobody once it has a region."""
    where = "region=eu-west-3&endpoint_override=localhost:9000&scheme=http"
    system, path = located(f"s3://bucket/a b/x 50%.pcap?{where}")
    assert path == "bucket/a b/x 50%.pcap"
    made = system.__reduce__()[1][0]
    assert (made["region"], made["endpoint_override"], made["scheme"]) == (
        "eu-west-3", "localhost:9000", "http"
    )  # fmt: skip
    assert system == fs.FileSystem.from_uri(f"s3://bucket?{where}")[0]
    for name in ("s3://bucket?region=eu", "s3://bucket/?region=eu"):
        assert located(name)[1] == "bucket"
    assert located("s3://bucket/why?.pcap?region=eu")[1] == "bucket/why?.pcap"
    assert located(f"s3://other/x?{where}")[0] == system
    assert located("s3://bucket/x?region=eu")[0] != system


def test_what_is_below_has_the_options(tmp_path: Path) -> None:
    folder = tmp_path / "captures" / "of today"
    folder.mkdir(parents=True)
    (folder / "one?.pcap").write_bytes(b"one")
    local = (fs.LocalFileSystem(), str(tmp_path))
    with patch("kafka_admin_proto.tables.ingest.locations._remote", return_value=local):
        for name in ("s3://bucket/captures", "s3://bucket/captures/", "s3://bucket"):
            (found,) = list_files([f"{name}?region=eu"])
            assert found == "s3://bucket/captures/of today/one?.pcap?region=eu"
            with OpenFile(found) as file:
                assert file.read_at(0, 3) == b"one"


def test_no_password_in_a_uri() -> None:
    """Tables show the names of captures."""
    with pytest.raises(ValueError, match="s3://…@bucket: the tables would show") as caught:
        list_files(["s3://key:hidden@bucket/x?region=eu"])
    assert "hidden" not in str(caught.value)


def test_packets_that_tshark_exported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(KINDS, "exported", (252, exported))
    (tmp_path / "plain.pcap").write_bytes(pcap(conversation(USUAL), "exported"))
    (part,) = plan([str(tmp_path / "plain.pcap")])
    (batch,) = read_part(part)
    assert set(batch["flags"].to_pylist()) == {IN_ORDER}
