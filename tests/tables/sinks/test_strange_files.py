"""Files in an output are not believed: whatever they say, nothing outside of it changes."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest
from deltalake import DeltaTable
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_admin_proto.errors import KafkaAdminProtoError
from kafka_admin_proto.tables.sinks.delta import DeltaSink
from kafka_admin_proto.tables.sinks.parquet import ParquetSink
from kafka_admin_proto.tables.sinks.sink import TableSink
from kafka_admin_proto.tables.sinks.workspace import OutputError
from tests.helpers.confined import confined
from tests.helpers.profile import draws
from tests.tables.sinks.small_tables import SCHEMAS, contents, replacement, write_batch
from tests.tables.sinks.test_parquet import Killed, killed_at, output, run

_OLD_S = 1_000_000_000


def snapshot(folder: Path) -> dict[str, tuple[int, int, bytes | str]]:
    """All that a folder has: modes, times of files, contents."""
    found = {}
    for each in [folder, *sorted(folder.rglob("*"))]:
        about = each.lstat()
        data: bytes | str = "folder" if each.is_dir() else each.read_bytes()
        found[str(each)] = (about.st_mode, 0 if each.is_dir() else about.st_mtime_ns, data)
    return found


class Place(NamedTuple):
    """An output that a killed run left, and a folder beside it that is nobody's business."""

    out: Path
    outside: Path

    @classmethod
    def copied(cls, left: Path, folder: Path) -> Place:
        place = cls(folder / "out", folder / "outside")
        shutil.copytree(left, place.out)
        (place.outside / "data" / "batch=1").mkdir(parents=True)
        for name in ("file", "data/file", "data/x.parquet", "data/batch=1/x.parquet"):
            (place.outside / name).write_text(f"of the victim: {name}")
            os.utime(place.outside / name, (_OLD_S, _OLD_S))
        (place.out / "report.html").write_text("a report")
        return place


def said_of(
    sink: Callable[[], TableSink], act: Callable[[TableSink], None], folder: Path
) -> str | None:
    """The sentence of a run that was refused; ``folder`` has all that it may change.

    A run that waits for a pipe is ended.
    """

    def waits(*arguments: object) -> None:
        raise AssertionError("the run waits for what is no file")

    signal.signal(signal.SIGALRM, waits)
    signal.alarm(30)
    try:
        with confined(folder), sink() as opened:
            act(opened)
    except KafkaAdminProtoError as error:
        return str(error)
    finally:
        signal.alarm(0)
    return None


def recover(sink: TableSink) -> None:
    """Entering a sink carries the journal out."""


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of a run that was killed while it put its tables in place."""
    out = tmp_path_factory.mktemp("left") / "out"
    run(out, "old")
    for call in range(100):
        with killed_at(call), suppress(Killed):
            run(out, "new")
        if (out / ".journal.json").exists():
            return out
    raise AssertionError("no run has left a journal")


def honest(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / ".journal.json").read_bytes())
    return found


NAMES = st.sampled_from([
    "OUTSIDE/data", "OUTSIDE/data/x.parquet", "OUTSIDE/file", "../outside/data", "../outside/file",
    "frames/../../outside/data/x.parquet", "STAGING/../../outside/data", "STAGING/tables/frames",
    "STAGING/tables/frames/../../../../outside/data", "STAGING/tables", "STAGING", "frames",
    "clients/x.parquet", "frames/.x.parquet", "frames/x/y.parquet", "report.html", ".checkpoint",
    ".", "..", "", "frames/", "./frames", "a\0b", "x" * 300, ".staging-", ".staging-../..",
])  # fmt: skip
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | NAMES | st.text("ab0é\n", max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=6,
)
#: Places in a file, by the remainder: how long it is may depend on when or where it was written.
PLACES = st.integers(0, 1 << 20)
MOVES = st.lists(st.lists(NAMES, min_size=2, max_size=2), max_size=3)


@st.composite
def journals(draw: st.DrawFn, out: Path, outside: Path) -> bytes:
    """Journals that no run writes: other names, other types, damaged bytes."""
    whole = (out / ".journal.json").read_bytes()
    kind = draw(st.sampled_from(["names", "types", "flipped", "cut", "random", "enormous", "deep"]))
    if kind == "flipped":
        damaged = bytearray(whole)
        for at in draw(st.lists(PLACES, min_size=1, max_size=3)):
            damaged[at % len(whole)] ^= 1 << draw(st.integers(0, 7))
        return bytes(damaged)
    if kind == "cut":
        return whole[: draw(PLACES) % len(whole)]
    if kind == "random":
        return draw(st.binary(max_size=64))
    if kind == "deep":
        return draw(st.sampled_from([b"[", b'{"staging":', b'{"x":['])) * 100_000
    found = honest(out)
    if kind == "enormous":
        return json.dumps(found | {"removes": ["frames/x.parquet"] * 1_000_000}).encode()
    for key in draw(st.sets(st.sampled_from([*found]), min_size=1)):
        if kind == "types":
            found[key] = draw(JSON)
        elif key == "staging":
            found[key] = draw(NAMES)
        elif key == "moves":
            found[key] = draw(MOVES) + draw(st.sampled_from([[], found[key]]))
        elif key == "removes":
            found[key] = draw(st.lists(NAMES, max_size=3))
    text = json.dumps(found).replace("STAGING", honest(out)["staging"])
    return text.replace("OUTSIDE", str(outside)).encode()


@pytest.mark.exhaustive
@settings(max_examples=draws(200))
@given(data=st.data())
def test_whatever_the_journal_says(left: Path, data: st.DataObject) -> None:
    """The tables are recovered, or the run ends with one sentence that names the journal."""
    with TemporaryDirectory() as folder:
        place = Place.copied(left, Path(folder))
        (place.out / ".journal.json").write_bytes(data.draw(journals(*place)))
        before, tables = snapshot(place.outside), contents(place.out)
        said = said_of(lambda: output(place.out), recover, Path(folder))
        assert snapshot(place.outside) == before
        assert (place.out / "report.html").read_text() == "a report"
        if said is None:
            assert not (place.out / ".journal.json").exists()
            return
        assert "\n" not in said
        assert str(place.out) in said
        assert contents(place.out) == tables


LINKS = ["folder", "file", "nothing", "pipe"]


def put(kind: str, at: Path, outside: Path) -> None:
    """Put a link or a pipe in the place of what is there."""
    if at.is_dir():
        # What was there is where the link leads, so that a run finds all that it looks for.
        shutil.copytree(at, outside / "data", dirs_exist_ok=True)
        shutil.rmtree(at)
    elif at.exists():
        (outside / "file").write_bytes(at.read_bytes())
        at.unlink()
    at.parent.mkdir(parents=True, exist_ok=True)
    if kind == "pipe":
        os.mkfifo(at)
    else:
        at.symlink_to({"folder": outside / "data", "file": outside / "file"}.get(kind, "gone"))


def streaming(out: Path) -> ParquetSink:
    return ParquetSink(
        out, SCHEMAS, mode="streaming", inputs=["captures/"], replaced_by_day=["clients"]
    )


def stream(sink: TableSink) -> None:
    """What a stream does with its output: files of both tables are replaced, and put together."""
    sink.claim()
    file = write_batch(sink, "frames", [(None, "x")])
    clients = replacement([(None, "y")], [None])
    sink.append({"frames": [file]}, {"clients": clients}, sink.batch + 1)
    sink.maintain(7)
    (sink.workspace.checkpoint() / "state").write_text("")


@pytest.fixture(scope="module")
def stream_left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of a stream that may go on."""
    out = tmp_path_factory.mktemp("stream") / "out"
    with streaming(out) as sink:
        sink.claim()
        clients = replacement([(None, "y")], [None])
        sink.append(
            {"frames": [write_batch(sink, "frames", [(None, "x")])]}, {"clients": clients}, 0
        )
        (sink.workspace.checkpoint() / "flows").mkdir()
    return out


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", LINKS)
@pytest.mark.parametrize(
    "name",
    [".lock", "_pipeline.json", ".journal.json", ".staging-x", ".staging-_pipeline.json", "clients",
     "STAGING", "STAGING/tables", "STAGING/tables/frames", "STAGING/tables/clients", "STAGING/old"],
)  # fmt: skip
def test_links_where_a_journal_leads(left: Path, tmp_path: Path, name: str, kind: str) -> None:
    place = Place.copied(left, tmp_path)
    put(kind, place.out / name.replace("STAGING", honest(place.out)["staging"]), place.outside)
    untouched(lambda: output(place.out), recover, place)


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", LINKS)
@pytest.mark.parametrize(
    "name",
    ["frames", "clients", "frames/x.parquet", "frames/sub", ".lock", "_pipeline.json",
     ".journal.json", ".checkpoint", ".checkpoint/flows", ".staging-x", ".staging-_pipeline.json",
     ".staging-journal.json"],
)  # fmt: skip
def test_links_where_a_stream_writes(
    stream_left: Path, tmp_path: Path, name: str, kind: str
) -> None:
    place = Place.copied(stream_left, tmp_path)
    put(kind, place.out / name, place.outside)
    untouched(lambda: streaming(place.out), stream, place)


def untouched(
    sink: Callable[[], TableSink], act: Callable[[TableSink], None], place: Place
) -> None:
    """A run changes nothing outside, and says why where it was refused."""
    before = snapshot(place.outside)
    said = said_of(sink, act, place.out.parent)
    assert snapshot(place.outside) == before
    assert said is None or (str(place.out.parent) in said and "\n" not in said)


def delta(folder: Path) -> DeltaSink:
    return DeltaSink(
        str(folder / "out"), SCHEMAS, work=folder / "work", mode="streaming",
        inputs=["captures/"], replaced_by_day=["clients"],
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["[]", "{}", "1", '{"format": 3}', '{"format": 3, "mode": [], "inputs": 3}', "[" * 100_000,
     '{"format": 3, "mode": "batch", "inputs": [null]}',
     '{"format": 3, "mode": "streaming", "inputs": ["captures/"], "batch": "x"}', "\0", "\udcff"],
)  # fmt: skip
def test_a_marker_of_another_shape(tmp_path: Path, text: str) -> None:
    (tmp_path / "_pipeline.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    said = said_of(lambda: streaming(tmp_path), stream, tmp_path.parent)
    assert said is not None
    assert str(tmp_path / "_pipeline.json") in said
    assert "\n" not in said


@pytest.fixture(scope="module")
def delta_left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("delta")
    with delta(folder) as sink:
        sink.claim()
        sink.append({"frames": [write_batch(sink, "frames", [(None, "x")])]}, {}, 0)
    return folder


@pytest.mark.parametrize("kind", LINKS)
@pytest.mark.parametrize(
    "name",
    ["out/frames", "out/frames/sub", "out/frames/x.parquet", "out/frames/_delta_log",
     "out/clients/_delta_log/sub", "work/.lock", "work/.checkpoint", "work/.staging-x"],
)  # fmt: skip
def test_links_in_an_output_of_delta(
    delta_left: Path, tmp_path: Path, name: str, kind: str
) -> None:
    """The 64th batch removes all files below a table that its log does not name."""
    place = Place.copied(delta_left / "out", tmp_path)
    (tmp_path / "work").mkdir()
    put(kind, tmp_path / name, place.outside)

    def act(sink: TableSink) -> None:
        sink.maintain(63)
        (sink.workspace.checkpoint() / "state").write_text("")

    untouched(lambda: delta(tmp_path), act, place)


@pytest.mark.parametrize(
    "path",
    ["../../outside/data/x.parquet", "/gone/x.parquet", "file:///gone/x.parquet", "s3://b/x.parquet",
     "%2e%2e/%2e%2e/outside/data/x.parquet", "a/../../../x.parquet"],
)  # fmt: skip
def test_a_log_of_delta_that_names_files_elsewhere(
    delta_left: Path, tmp_path: Path, path: str
) -> None:
    shutil.copytree(delta_left, tmp_path, dirs_exist_ok=True)
    add = {"path": path, "partitionValues": {}, "size": 1, "modificationTime": 1,
           "dataChange": True, "stats": "{}"}  # fmt: skip
    log = tmp_path / "out" / "frames" / "_delta_log"
    last = max(int(each.stem) for each in log.glob("*.json"))
    (log / f"{last + 1:020}.json").write_text(json.dumps({"add": add}))
    with pytest.raises(KafkaAdminProtoError, match="out/frames") as found, delta(tmp_path) as sink:
        sink.file_names("frames")
    assert "\n" not in str(found.value)


@settings(max_examples=draws(40))
@given(data=st.data())
def test_a_damaged_log_of_delta(delta_left: Path, data: st.DataObject) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(delta_left, folder, dirs_exist_ok=True)
        logs = sorted((folder / "out" / "frames" / "_delta_log").glob("*.json"))
        log = data.draw(st.sampled_from(logs))
        damaged = bytearray(log.read_bytes())
        for at in data.draw(st.lists(PLACES, min_size=1, max_size=3)):
            damaged[at % len(damaged)] ^= 1 << data.draw(st.integers(0, 7))
        if data.draw(st.booleans()):
            del damaged[data.draw(PLACES) % len(damaged) :]
        log.write_bytes(damaged)

        def act(sink: TableSink) -> None:
            sink.file_names("frames")

        said = said_of(lambda: delta(folder), act, folder)
        assert said is None or str(folder) in said


def test_properties_of_a_delta_table_of_another_shape(tmp_path: Path) -> None:
    for number, text in enumerate(["{", "[]", "{}", '{"format": "x", "mode": 1, "inputs": 3}']):
        folder = tmp_path / str(number) / "out" / "frames"
        DeltaTable.create(
            str(folder), SCHEMAS["frames"], configuration={"kafka_admin_proto.about": text},
            raise_if_key_not_exists=False,
        )  # fmt: skip
        with pytest.raises(OutputError, match="frames is none of the pipeline's"):
            delta(tmp_path / str(number)).__enter__()
