"""Links and pipes in the folder of a cluster are refused, and nothing outside of it changes."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
from pathlib import Path

import pytest

from kafka_admin_proto.errors import KafkaAdminProtoError, MetadataLogError
from kafka_admin_proto.records import Batch, Record, write_batch
from kafka_admin_proto.records.metadata.log import FOLDER_NAME
from tests.server.log.stored import stored

_LOG = f"{FOLDER_NAME}/{0:020}.log"


def waits(*arguments: object) -> None:
    raise AssertionError("the cluster waits for what is no file")


async def serve(folder: Path, brokers: int) -> None:
    async with stored(folder, brokers):
        """The logs were opened and led."""


@pytest.fixture(scope="module")
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("served") / str(request.param)
    asyncio.run(serve(folder, request.param))
    return folder


#: Links and pipes are put in the place of these; "" is the folder of a node.
NAMES = (
    "", ".lock", "meta.properties", "meta.properties.part", "bootstrap.checkpoint", FOLDER_NAME,
    _LOG, f"{FOLDER_NAME}/{5:020}.log", f"{FOLDER_NAME}/{9:020}-{1:010}.checkpoint",
    f"{FOLDER_NAME}/quorum-state", f"{FOLDER_NAME}/quorum-state.part",
    f"{FOLDER_NAME}/partition.metadata",
)  # fmt: skip


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", ["link", "nothing", "pipe"])
@pytest.mark.parametrize(
    ("served", "name"),
    # The one folder of a single node is the user's, who may name a link.
    [(brokers, name) for brokers in (1, 3) for name in NAMES if name or brokers > 1],
    indirect=["served"],
)
def test_links_in_the_folder_of_a_node(served: Path, tmp_path: Path, name: str, kind: str) -> None:
    brokers = int(served.name)
    data, outside = tmp_path / "data", tmp_path / "outside"
    shutil.copytree(served, data)
    outside.mkdir()
    node = data if brokers == 1 else data / "2"
    at, to = node / name, outside / "target"
    if at.exists():
        shutil.move(at, to)
    elif kind == "link":
        to.write_text("of the victim")
    if kind == "pipe":
        os.mkfifo(at)
    else:
        at.symlink_to(to if kind == "link" else outside / "nothing")

    def found() -> dict[str, bytes]:
        return {str(x): x.read_bytes() if x.is_file() else b"" for x in outside.rglob("*")}

    before = found()
    signal.signal(signal.SIGALRM, waits)
    signal.alarm(20)
    try:
        asyncio.run(serve(data, brokers))
    except (KafkaAdminProtoError, OSError) as error:
        assert str(node) in str(error)
        assert "\n" not in str(error)
    else:
        assert name.endswith(".part")  # a leftover of a killed process, which is written anew
    finally:
        signal.alarm(0)
    assert found() == before


_QUORUM_STATE, _META = f"{FOLDER_NAME}/quorum-state", "meta.properties"
_DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *((_QUORUM_STATE, text) for text in (
            "{", "[]", _DEEP, f'{{"x": {_DEEP}', '{"leaderId": "1", "leaderEpoch": 1}',
            '{"leaderId": 1, "leaderEpoch": 99999999999}', '{"leaderId": -2, "leaderEpoch": 1}',
            '{"leaderId": 1, "leaderEpoch": -2}',
        )),
        *((_META, f"cluster.id=x\nnode.id={number}") for number in (
            "x", "-1", "99999999999", "9" * 5_000, "1_0", "",
        )),
        (_META, ""), (_META, "\0"), (_META, "cluster.id=x\nnode.id=1\ndirectory.id=x"),
    ],
    ids=lambda value: value[:60],
)  # fmt: skip
@pytest.mark.parametrize("served", [1], indirect=True)
def test_files_that_say_what_no_cluster_writes(
    served: Path, tmp_path: Path, name: str, text: str
) -> None:
    data = Path(shutil.copytree(served, tmp_path / "data"))
    (data / name).write_text(text)
    with pytest.raises(KafkaAdminProtoError) as found:
        asyncio.run(serve(data, 1))
    assert str(data) in str(found.value)
    assert name.rpartition("/")[2] in str(found.value)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("served", [3], indirect=True)
@pytest.mark.parametrize(
    ("line", "said"), [("cluster.id=", "are of clusters "), ("node.id=", "2 is of node 3")]
)
def test_a_folder_of_another_node_or_cluster(
    served: Path, tmp_path: Path, line: str, said: str
) -> None:
    data = Path(shutil.copytree(served, tmp_path / "data"))
    meta = data / "2" / _META
    text = re.sub(f"^{line}.*$", f"{line}3", meta.read_text(), flags=re.MULTILINE)
    meta.write_text(text)
    with pytest.raises(MetadataLogError, match=said):
        asyncio.run(serve(data, 3))
    assert meta.read_text() == text


@pytest.mark.parametrize("served", [1], indirect=True)
@pytest.mark.parametrize(
    "content",
    [b"no batch", write_batch(Batch.of([Record(0, 0, None, b"\xff\xff")]))],
    ids=["no batch", "no record"],
)
def test_a_bootstrap_file_that_does_not_read(served: Path, tmp_path: Path, content: bytes) -> None:
    """A new cluster begins with its records."""
    data = Path(shutil.copytree(served, tmp_path / "data"))
    shutil.rmtree(data / FOLDER_NAME)
    (data / "bootstrap.checkpoint").write_bytes(content)
    with pytest.raises(MetadataLogError, match=r"bootstrap\.checkpoint"):
        asyncio.run(serve(data, 1))


@pytest.mark.parametrize("served", [1], indirect=True)
@pytest.mark.parametrize("name", [_QUORUM_STATE, _META])
def test_files_longer_than_memory(served: Path, tmp_path: Path, name: str) -> None:
    data = Path(shutil.copytree(served, tmp_path / "data"))
    os.truncate(data / name, 1 << 40)
    with pytest.raises(KafkaAdminProtoError, match=name.rpartition("/")[2]):
        asyncio.run(serve(data, 1))


@pytest.mark.parametrize("served", [1], indirect=True)
def test_a_segment_longer_than_any(served: Path, tmp_path: Path) -> None:
    data = Path(shutil.copytree(served, tmp_path / "data"))
    (segment,) = (data / FOLDER_NAME).glob("*.log")
    os.truncate(segment, 1 << 40)
    with pytest.raises(OSError, match=f"longer than a segment can be, 2 GiB: '{segment}'"):
        asyncio.run(serve(data, 1))


@pytest.mark.parametrize("served", [1], indirect=True)
def test_the_last_epoch_that_there_is(served: Path, tmp_path: Path) -> None:
    data = Path(shutil.copytree(served, tmp_path / "data"))
    (data / _QUORUM_STATE).write_text('{"leaderId": 1, "leaderEpoch": 2147483647}')
    with pytest.raises(KafkaAdminProtoError, match=f"{data}.* epoch"):
        asyncio.run(serve(data, 1))
